import type { NetworkName } from "../../networks/lookup.ts";
import { withinWork } from "../../runtime/telemetry/work-context.ts";
import type { PublishingDeps } from "../deps.ts";
import { hint } from "../hints.ts";
import type { PublishHint } from "../post-queue.ts";
import type { PostRef } from "../post.ts";
import type { QueuedLeg } from "./account-queue-store.ts";

/** After this time a message continues with the queued legs, so that other accounts get workers. */
const DRAIN_MS_MAX = 5_000;

/**
 * Has the legs that wait for an account worked on one after the other by the worker that has the account, without a
 * message for each. When its time is up, or the process stops, the next leg gets a message.
 */
export class AccountDrains {
  readonly #services: PublishingDeps;
  readonly #publish: (asked: Omit<PublishHint, "v">) => Promise<void>;
  readonly #endsAt = performance.now() + DRAIN_MS_MAX;
  readonly #running = new Set<Promise<void>>();

  constructor(services: PublishingDeps, publish: (asked: Omit<PublishHint, "v">) => Promise<void>) {
    this.#services = services;
    this.#publish = publish;
  }

  /** Starts work on a leg that has been called to its account, or sends a hint for it. */
  async startNext({ ref }: QueuedLeg, network: NetworkName): Promise<void> {
    const isOver = performance.now() > this.#endsAt || this.#services.stop.endsAt !== undefined;
    if (isOver) return hint(this.#services, ref, { networks: [network] });
    const running = withinWork({ ...ref, network }, () => this.#run(ref, network));
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  async #run(ref: PostRef, network: NetworkName): Promise<void> {
    try {
      await this.#publish({ ...ref, networks: [network] });
    } catch (error) {
      // A message of its own is repeated, and set aside when it fails every time.
      this.#services.log.warn("a queued leg failed, it gets a message", { error });
      await hint(this.#services, ref, { networks: [network] });
    }
  }

  /** Waits for the legs that were started, and those that they called. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
