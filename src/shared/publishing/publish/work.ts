import type { MediaFile } from "../../networks/contract/media.ts";
import type { LegFailure } from "../../networks/contract/outcome.ts";
import type { NetworkTools } from "../../networks/contract/tools.ts";
import { findAvailable, type NetworkName } from "../../networks/lookup.ts";
import { withinWork } from "../../runtime/telemetry/work-context.ts";
import type { AccountLease, QueuedLeg } from "../accounts/account-queue-store.ts";
import type { PublishingDeps } from "../deps.ts";
import { hint } from "../hints.ts";
import { endingAt, type Leg, renewed } from "../leg.ts";
import type { PublishHint } from "../post-queue.ts";
import type { StoredLeg } from "../post-store.ts";
import type { Post, PostRef } from "../post.ts";
import type { LegReadings } from "./leg-readings.ts";
import type { Trace } from "./trace.ts";

/** Renewals within one lease, so that one may fail. */
const LEASE_RENEWALS = 3;

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
  async goOn({ ref }: QueuedLeg, network: NetworkName): Promise<void> {
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

/** One worker's work on one leg. `stored` follows every write. If another worker takes the leg, the work just ends. */
export interface Work {
  readonly services: PublishingDeps;
  readonly ref: PostRef;
  readonly post: Post;
  /** The version of the post's row when the work began. */
  readonly postEtag: string;
  readonly tools: NetworkTools;
  /** When the tools make no more calls, in milliseconds of `performance`. */
  readonly callsEndAt: number;
  readonly trace: Trace;
  stored: StoredLeg;
  /** The leg as its row has it: what `stored` notes for the next write is not in it. */
  written: StoredLeg;
  readonly before: Leg;
  readonly readings: LegReadings;
  readonly drains: AccountDrains;
  /** The last write of the leg. Each waits for the one before, whose version it names. */
  writing: Promise<unknown>;
  /** Set while the leg has its account. */
  accountLease: AccountLease | null;
  /** When an earlier call was made whose outcome is unknown. No failure may then say that nothing was published. */
  doubtSince: string | null;
}

export const begun = ({ services, stored: { leg } }: Work, now: Date) =>
  findAvailable(leg.network, services.config.networkApps)?.begin({ key: leg.key, now }) ?? null;

/** Writes the leg's next state. Returns false when another worker has taken the leg. */
export function save(work: Work, leg: Leg): Promise<boolean> {
  return change(work, () => leg);
}

/** Writes a leg of a worker that will end then: its lease ends at that time, and the sweep checks the post then. */
function writeLast({ services, ref, stored }: Work, next: Leg, endsAt: Date) {
  const leg = endingAt(next, endsAt, services.config.publishing.networkTimeoutMs);
  if (leg.leaseUntil === null) return services.posts.replaceLegIfUnchanged(ref, leg, stored.etag);
  return services.posts.replaceLegAndCheck(ref, leg, stored.etag, leg.leaseUntil);
}

/** Writes what `next` makes of the leg as it is after the writes before. */
export async function change(work: Work, next: (leg: Leg) => Leg): Promise<boolean> {
  const write = async (): Promise<boolean> => {
    const { services, ref, stored, readings } = work;
    const { endsAt } = services.stop;
    const leg = { ...next(stored.leg), readings: readings.current };
    const written = await (endsAt === undefined
      ? services.posts.replaceLegIfUnchanged(ref, leg, stored.etag)
      : writeLast(work, leg, endsAt));
    if (written === undefined) return false;
    work.stored = written;
    work.written = written;
    readings.noteStored(leg.readings);
    return true;
  };
  const writing = work.writing.then(write, write);
  work.writing = writing;
  return writing;
}

/**
 * Renews the lease while something runs that may take longer, such as large uploads. If the lease is lost nevertheless,
 * the next write of this worker fails.
 */
export async function renewingLease<T>(work: Work, run: () => Promise<T>): Promise<T> {
  const { services } = work;
  const { leaseSeconds } = services.config.publishing;
  let renewing: Promise<unknown> = Promise.resolve();
  const renew = async (): Promise<void> => {
    const now = services.clock.now();
    try {
      const isOurs = await change(work, (leg) => renewed(leg, now, leaseSeconds));
      const { leaseUntil } = work.stored.leg;
      if (isOurs && work.accountLease !== null && leaseUntil !== null)
        await services.accountQueues.extend(work.accountLease, leaseUntil);
    } catch (error) {
      services.log.warn("lease not renewed", { postId: work.ref.postId, error });
    }
  };
  const timer = setInterval(
    () => {
      renewing = renewing.then(renew);
    },
    (leaseSeconds * 1000) / LEASE_RENEWALS,
  );
  try {
    return await run();
  } finally {
    clearInterval(timer);
    await renewing;
  }
}

/**
 * Gives the leg back until its time, and sends a hint; the sweep finds a leg whose hint is lost. `failure` is absent
 * when the leg only waits for its account or its media.
 */
export async function park(work: Work, leg: Leg, failure?: LegFailure): Promise<void> {
  const { services, ref } = work;
  if (!(await save(work, leg)) || leg.notBefore === null) return;
  const { network, phase, retries, notBefore } = leg;
  work.trace.record({ step: "leg_waiting", outcome: phase, note: `until ${notBefore}` });
  const { code: reason, networkCode = null } = failure ?? {};
  const until = { phase, retries, until: notBefore };
  if (reason === undefined) services.log.info("leg waits", { network, ...until });
  else {
    services.metrics.count("legs.delayed", { network, reason });
    services.log.info("leg delayed", { network, ...until, reason, networkCode });
  }
  await hint(services, ref, { networks: [network], startAt: notBefore });
}

export interface OpenedFiles {
  readonly tools: NetworkTools;
  /** Ends open transfers, and frees files held in memory because their servers don't tell their size. */
  close(): Promise<void>;
}

/** Returns tools that keep track of every file they open, so that none stays open after its leg. */
export function keepingOpened(tools: NetworkTools): OpenedFiles {
  const files: MediaFile[] = [];
  return {
    tools: {
      ...tools,
      async openMedia(url, limits) {
        const file = await tools.openMedia(url, limits);
        files.push(file);
        return file;
      },
    },
    async close() {
      await Promise.allSettled(files.splice(0).map((file) => file.close()));
    },
  };
}
