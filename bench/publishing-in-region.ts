import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startInstantNetwork, visibleKey, type InstantNetwork } from "./instant-network.ts";
import { startRelayInRegion, type RelayInRegion } from "./region.ts";
import { acceptAsk, succeed, type Tenant } from "./relay.ts";
import { openLinked } from "./whole-relay.ts";

const DEADLINE_MS = 120_000;
const POLL_MS = 2;
/** post.processing, leg.succeeded, post.succeeded. */
export const EVENTS_OF_POST = 3;

export interface AcceptedPost {
  readonly text: string;
  readonly acceptedAt: number;
  readonly answeredMs: number;
}

/** Waits for what must come true. @throws Error when it does not within two minutes */
export async function until(isTrue: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`${what} did not happen`);
    await delay(POLL_MS);
  }
}

function collectGarbage(): () => void {
  setFlagsFromString("--expose-gc");
  // Safe: the flag makes it.
  return runInNewContext("gc") as () => void;
}

/** Tenants whose posts go to networks that answer at once, on storage of a region. */
export class PublishingInRegion {
  readonly network: InstantNetwork;
  readonly #relay: RelayInRegion;
  readonly #tenants: readonly Tenant[];
  readonly #collectGarbage = collectGarbage();
  readonly #deliveriesBefore: number;
  accepted = 0;

  private constructor(network: InstantNetwork, relay: RelayInRegion, tenants: readonly Tenant[]) {
    this.network = network;
    this.#relay = relay;
    this.#tenants = tenants;
    this.#deliveriesBefore = network.deliveries.length;
  }

  static async start(tenants: number): Promise<PublishingInRegion> {
    const network = await startInstantNetwork();
    const relay = startRelayInRegion(network.settings);
    const opened = await openLinked(relay.services, network, tenants);
    return new PublishingInRegion(network, relay, opened);
  }

  async post(platforms: readonly string[] = ["mastodon"]): Promise<AcceptedPost> {
    const tenant = this.#tenants[this.accepted % this.#tenants.length];
    if (tenant === undefined) throw new Error("there is no tenant to post for");
    this.accepted += 1;
    const from = performance.now();
    const ask = acceptAsk(tenant, { platforms });
    const { text } = await succeed<{ text: string }>(this.#relay.services, ask);
    const acceptedAt = performance.now();
    return { text, acceptedAt, answeredMs: acceptedAt - from };
  }

  visibleAt(text: string, network = "mastodon"): number | undefined {
    return this.network.visible.get(visibleKey(network, text));
  }

  /** From the answer to the moment at which a reader could see the post; waits for the last of them. */
  async latencies(posts: readonly AcceptedPost[]): Promise<number[]> {
    await until(() => posts.every(({ text }) => this.visibleAt(text) !== undefined), "publishing");
    return posts.map(({ text, acceptedAt }) =>
      Math.max(0, (this.visibleAt(text) ?? 0) - acceptedAt),
    );
  }

  /** Until every webhook of every post has come; for posts of one leg. */
  async untilTold(): Promise<void> {
    const told = () => this.network.deliveries.length - this.#deliveriesBefore;
    await until(() => told() >= this.accepted * EVENTS_OF_POST, "delivering");
  }

  requests(): number {
    return this.#relay.requests();
  }

  waiting(): number {
    return this.#relay.waiting();
  }

  /** What is left of posts that ended is not the product's to keep in memory. */
  trim(unwrittenMs?: number): void {
    this.#relay.trim(unwrittenMs);
    this.network.forget();
  }

  /** After everything was let go that nobody holds. */
  heapBytes(): number {
    this.#collectGarbage();
    return process.memoryUsage().heapUsed;
  }

  async stop(): Promise<void> {
    this.#relay.stop();
    await this.network.stop();
  }
}
