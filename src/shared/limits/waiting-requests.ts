import { FairLimit } from "../runtime/fair-limit.ts";
import { rateLimited } from "./rate-limiter.ts";

/**
 * How many requests of one process wait for servers that customers chose. `host.json` lets in 100 requests at a time
 * (`maxConcurrentRequests`), and such a server holds a request for up to a minute: the others always find room. None
 * waits for a slot, since that would take the room as well.
 */
const LIMITS = { capacity: 60, perOwner: 12, waitingMax: 0 };
const RETRY_SECONDS = 5;

/** Bounds the requests that wait for servers that customers chose: in all, and for each owner. */
export class WaitingRequests {
  readonly #limit = new FairLimit(LIMITS);

  /**
   * Runs what waits for a server. `owner`: the platform, or its visitors.
   * @throws AppError `rate_limited`, before anything was done, when too many requests wait already
   */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const ended = await this.#limit.run(owner, 1, work);
    if (ended === undefined) throw rateLimited(RETRY_SECONDS);
    return ended.result;
  }
}
