import { AppError } from "../runtime/errors.ts";
import { FairLimit, type FairLimits } from "../runtime/fair-limit.ts";
import { addressNetwork } from "../callers/caller-address.ts";

/**
 * How much costly work a process does at a time, and how much may wait for it. Each waiting request takes one of the
 * host's slots (`host.json` admits 100), which reads and posts of all customers need. With the two that run, 20 requests
 * are in it: three of one network of strangers, seven of one platform, and three of one of its users.
 */
export const COSTLY_WORK: FairLimits = {
  // Hashing takes a core, so more would only compete for the cores.
  capacity: 2,
  // Strangers' work never takes all of it: known callers find a thread free, and the event loop a core.
  capacityReserved: 1,
  perOwner: 1,
  waitingMax: 18,
  waitingOfOwnerMax: 2,
  // Colleagues who log in at the same time wait for one another, and give way to other platforms.
  preferredOfOwnerMax: 6,
  waitingOfMemberMax: 2,
  // For callers who are known, while strangers fill the others.
  waitingReserved: 6,
  // Callers give up later than that, and their work would be for nobody.
  waitMsMax: 10_000,
};

/** In this time, most of what waits is done. */
const RETRY_SECONDS = 5;

/** The caller that costly work is for. Owners share fairly, and known callers come first. */
export interface Asker {
  readonly owner: string;
  readonly isKnown: boolean;
  /** The user of a platform. They share the platform's places fairly. */
  readonly member?: string;
}

/** Returns the asker for a caller about whom nothing is known. All of an IPv4 /24 or an IPv6 /48 are one. */
export const strangerFrom = (ip: string): Asker => ({
  owner: `network|${addressNetwork(ip)}`,
  isKnown: false,
});

/**
 * Returns the asker for a caller with a session, a link or a device token. All users of a platform share its places,
 * because a platform can have as many as it likes.
 */
export const knownUser = (platformId: string, userId: string): Asker => ({
  owner: `platform|${platformId}`,
  isKnown: true,
  member: userId,
});

export type AskerKind = "known" | "stranger";

/**
 * Admits work that takes long and that callers may ask for before they have proved who they are. What can't wait is
 * refused immediately.
 */
export class CostlyWork {
  readonly #limit: FairLimit;
  readonly #onRefused: (kind: AskerKind) => void;

  constructor(onRefused: (kind: AskerKind) => void, limits: FairLimits = COSTLY_WORK) {
    this.#limit = new FairLimit(limits);
    this.#onRefused = onRefused;
  }

  /**
   * Runs the work once its turn has come.
   * @throws AppError `service_unavailable` before anything is done, when too many wait or none was done in time
   */
  async run<T>({ owner, isKnown, member }: Asker, work: () => Promise<T>): Promise<T> {
    const ended = await this.#limit.run(owner, 1, work, { isPreferred: isKnown, member });
    if (ended !== undefined) return ended.result;
    this.#onRefused(isKnown ? "known" : "stranger");
    throw new AppError(
      "service_unavailable",
      `Too many logins and new passwords wait. Try again in ${RETRY_SECONDS} s.`,
      { retryAfterSeconds: RETRY_SECONDS, isOverload: true },
    );
  }
}
