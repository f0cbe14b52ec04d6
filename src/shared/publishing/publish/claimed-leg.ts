import { randomUUID } from "node:crypto";
import { releaseOrRetry } from "../../runtime/release.ts";
import type { AccountLease } from "../accounts/account-queue-store.ts";
import type { PublishingDeps } from "../deps.ts";
import { hint } from "../hints.ts";
import type { Leg } from "../leg.ts";
import type { StoredLeg } from "../post-store.ts";
import type { PostRef } from "../post.ts";
import { endingAt, givenBack, renewed } from "./leg-attempt.ts";

/** Renewals within one lease, so that one may fail. */
const LEASE_RENEWALS = 3;

/** How long a leg waits that was given back because storage did not answer: the next worker should find it well again. */
const GIVEN_BACK_SECONDS = 10;

/**
 * A leg that a worker has claimed, as it is stored. Nothing else writes it meanwhile, except for the transaction that ends
 * its call. When another worker has taken the leg, the next write fails and the work just ends. What the phases of a call
 * make of the leg is theirs until they write it here.
 */
export class ClaimedLeg {
  /** The name of the claim that the worker writes. */
  readonly claimId = randomUUID();
  /** The leg before the claim. */
  readonly before: Leg;
  /** Set while the leg has its account. */
  accountLease: AccountLease | null = null;
  readonly #services: PublishingDeps;
  readonly #ref: PostRef;
  #stored: StoredLeg;
  /** The last write. Each waits for the one before, whose version it names. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(deps: PublishingDeps, ref: PostRef, stored: StoredLeg) {
    this.before = stored.leg;
    this.#services = deps;
    this.#ref = ref;
    this.#stored = stored;
  }

  /** The leg as it was last read or written. */
  get leg(): Leg {
    return this.#stored.leg;
  }

  /** Writes the leg as it is given: claimed, or given back. Returns false when another worker has taken it. */
  write(leg: Leg): Promise<boolean> {
    return this.#write(() => leg);
  }

  /** Writes the leg under the lease as it was last renewed. Returns false when another worker has taken it. */
  save(leg: Leg): Promise<boolean> {
    return this.#write(({ leaseUntil }) => ({ ...leg, leaseUntil }));
  }

  /** Writes the leg as it is stored, so that its lease ends with the process if that is to stop. */
  shortenLease(): Promise<boolean> {
    return this.#write((stored) => stored);
  }

  /** Writes what `next` makes of the leg as it is after the writes before. */
  #write(next: (stored: Leg) => Leg): Promise<boolean> {
    const write = async () => {
      const written = await this.#store(next(this.leg));
      if (written !== undefined) this.#stored = written;
      return written !== undefined;
    };
    const writing = this.#writing.then(write, write);
    this.#writing = writing;
    return writing;
  }

  /** Stores the leg; that of a worker that will end with a lease that ends then, and the sweep checks the post then. */
  #store(next: Leg): Promise<StoredLeg | undefined> {
    const { stores, work, config } = this.#services;
    const { etag } = this.#stored;
    const { endsAt } = work.stop;
    const leg =
      endsAt === undefined ? next : endingAt(next, endsAt, config.publishing.networkTimeoutMs);
    return endsAt === undefined || leg.leaseUntil === null
      ? stores.posts.replaceLegIfUnchanged(this.#ref, leg, etag)
      : stores.posts.replaceLegAndCheck(this.#ref, leg, etag, leg.leaseUntil);
  }

  /** Returns the leg as it is stored after the writes that were begun, whatever they come to. */
  async written(): Promise<StoredLeg> {
    await Promise.allSettled([this.#writing]);
    return this.#stored;
  }

  /**
   * Renews the lease while something runs that may take longer, such as large uploads. If the lease is lost nevertheless,
   * the next write of this worker fails.
   */
  async renewing<T>(action: () => Promise<T>): Promise<T> {
    const { clock, config, log, stores } = this.#services;
    const { leaseSeconds } = config.publishing;
    const renew = async () => {
      const now = clock.now();
      try {
        const isOurs = await this.#write((leg) => renewed(leg, now, leaseSeconds));
        const { leaseUntil } = this.leg;
        if (isOurs && this.accountLease !== null && leaseUntil !== null)
          await stores.accountQueues.extend(this.accountLease, leaseUntil);
      } catch (error) {
        log.warn("lease not renewed", { postId: this.#ref.postId, error });
      }
    };
    let renewal: Promise<unknown> = Promise.resolve();
    const timer = setInterval(
      () => {
        renewal = renewal.then(renew);
      },
      (leaseSeconds * 1000) / LEASE_RENEWALS,
    );
    try {
      return await action();
    } finally {
      clearInterval(timer);
      await renewal;
    }
  }

  /**
   * Gives back a leg whose worker got no answer from storage, or could not write it, so that the leg doesn't wait for the
   * lease to end. If another worker has claimed it, nothing changes. This is no crash and no retry. A visible call may still take effect, so a leg that was sent waits until the call is over. A
   * leg that had waited before gets no hint: the sweep finds it, later each time, so storage may stay away for long.
   */
  async giveBack(): Promise<void> {
    const deps = this.#services;
    const { clock, config, log, stores } = deps;
    const { network } = this.leg;
    const ref = this.#ref;
    await this.written();
    await releaseOrRetry(
      { log, what: "a leg", fields: { postId: ref.postId, network } },
      async () => {
        const found = await stores.posts.findLeg(ref, network);
        if (found?.leg.claimId !== this.claimId) return;
        const { networkTimeoutMs } = config.publishing;
        const back = givenBack(found.leg, clock.now(), GIVEN_BACK_SECONDS, networkTimeoutMs);
        const isFirst = this.before.notBefore === null;
        const written = isFirst
          ? await stores.posts.replaceLegAndCheck(ref, back, found.etag, back.notBefore)
          : await stores.posts.replaceLegIfUnchanged(ref, back, found.etag);
        if (written === undefined) throw new Error("the leg was changed meanwhile");
        if (isFirst) await hint(deps, ref, { networks: [network], startAt: back.notBefore });
      },
    );
  }
}
