import type { UserDelegationKey } from "@azure/storage-blob";
import { SingleFlight } from "../promises.ts";

const HOUR_MS = 3_600_000;
/** How long a key is valid. It is fetched again daily, so each address has two days at least. */
const VALID_MS = 72 * HOUR_MS;
const FRESH_MS = 24 * HOUR_MS;
/** When the service is asked again after it gave no new key, while the one before is still valid. */
const RETRY_MS = 60_000;
/** The service's clock may be behind. */
const CLOCK_SKEW_MS = 15 * 60_000;

type FetchKey = (startsOn: Date, expiresOn: Date) => Promise<UserDelegationKey>;

/** The keys by which a process without a secret of its storage account signs addresses. */
export class DelegationKeys {
  readonly #fetch: FetchKey;
  readonly #now: () => number;
  readonly #fetching = new SingleFlight<UserDelegationKey>();
  #latest: { readonly key: UserDelegationKey; readonly fetchedAt: number } | undefined;
  #triedAt = -Infinity;

  constructor(fetch: FetchKey, now = () => Date.now()) {
    this.#fetch = fetch;
    this.#now = now;
  }

  /**
   * Returns a key that is valid for longer than an address that ends then. While the service gives no new key, the one
   * before signs until it can't outlive the address. Rejects with the service's error when there is none.
   */
  async keyFor(addressEndsAt: Date): Promise<UserDelegationKey> {
    const now = this.#now();
    const latest = this.#latest;
    const outlives =
      latest !== undefined && latest.fetchedAt + VALID_MS - CLOCK_SKEW_MS > addressEndsAt.getTime();
    // A clock that was set back says nothing about the age of a key.
    const isFresh = latest !== undefined && Math.abs(now - latest.fetchedAt) <= FRESH_MS;
    const isTried = Math.abs(now - this.#triedAt) < RETRY_MS;
    if (outlives && (isFresh || isTried)) return latest.key;
    this.#triedAt = now;
    try {
      const [startsOn, expiresOn] = [new Date(now - CLOCK_SKEW_MS), new Date(now + VALID_MS)];
      const key = await this.#fetching.run("", () => this.#fetch(startsOn, expiresOn));
      this.#latest = { key, fetchedAt: now };
      return key;
    } catch (error) {
      if (outlives) return latest.key;
      throw error;
    }
  }
}
