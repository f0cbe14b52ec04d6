import { FairLimit } from "../runtime/fair-limit.ts";
import { rateLimited } from "./rate-limiter.ts";

/**
 * How many requests of one process may wait for servers that customers chose. `host.json` admits 100 requests at a time
 * (`maxConcurrentRequests`), and such a server holds a request for up to a minute. This leaves room for all other
 * requests. None waits for a slot, because waiting would take up the room as well.
 */
const LIMITS = { capacity: 60, perOwner: 12, waitingMax: 0 };
const RETRY_SECONDS = 5;

/** Limits the requests that wait for servers that customers chose, in total and per owner. */
export class WaitingRequests {
  readonly #limit = new FairLimit(LIMITS);

  /**
   * Runs work that waits for a server. `owner` is the platform, or stands for its visitors.
   * @throws AppError `rate_limited` before anything is done, when too many requests wait already
   */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const ended = await this.#limit.run(owner, 1, work);
    if (ended === undefined) throw rateLimited(RETRY_SECONDS);
    return ended.result;
  }
}
