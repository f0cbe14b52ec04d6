import { addressGroup, addressSite, SITE_FACTOR } from "../callers/caller-address.ts";
import { isWellFormed, type Credential } from "../callers/credential.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import { RecentMap } from "../runtime/recent-map.ts";
import { hasRoom, minuteIndex, secondsUntilRoom, weightedCount } from "./sliding-window.ts";

const ADDRESSES_MAX = 10_000;
const CREDENTIALS_MAX = 10_000;
/** How many credentials an address may still try after reaching the limit, as a multiple of the limit. */
const FIRST_LOOKS_PER_LIMIT = 4;

interface Window {
  readonly minute: number;
  readonly current: number;
  readonly previous: number;
  /** The number of these checks in this minute. */
  readonly looks: number;
}

interface FailureCounter {
  readonly subject: string;
  readonly limit: number;
}

const EMPTY: Window = { minute: 0, current: 0, previous: 0, looks: 0 };

function rolled(window: Window, minute: number): Window {
  if (minute <= window.minute) return window;
  const previous = minute === window.minute + 1 ? window.current : 0;
  return { minute, current: 0, previous, looks: 0 };
}

/**
 * Counts wrong credentials by address within this process, so that guesses are refused before storage is read. A caller
 * isn't locked out by others behind the same address: a credential that was right recently is still checked. One that
 * has the right form but isn't known to this process is checked once a minute, up to a limit per address. Each of these
 * is a full check.
 */
export class BadCredentials {
  readonly #limit: number;
  readonly #addresses = new RecentMap<Window>(ADDRESSES_MAX);
  readonly #right = new RecentMap<true>(CREDENTIALS_MAX);
  /** The minute in which an unknown credential was last checked. */
  readonly #lookedAt = new RecentMap<number>(CREDENTIALS_MAX);

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns the address as it counts and, of IPv6, its site, each with its limit. */
  #countersOf(ip: string): readonly FailureCounter[] {
    const site = addressSite(ip);
    const own = { subject: addressGroup(ip), limit: this.#limit };
    return site === undefined ? [own] : [own, { subject: site, limit: SITE_FACTOR * this.#limit }];
  }

  /** Seconds until the credential may be tried. Undefined when it may be tried now. */
  secondsUntilTry(ip: string, credential: Credential, now: number): number | undefined {
    const full = this.#countersOf(ip).flatMap((counter) => {
      const window = rolled(this.#addresses.get(counter.subject) ?? EMPTY, minuteIndex(now));
      return hasRoom(weightedCount(window, now), counter.limit) ? [] : [{ ...counter, window }];
    });
    if (full.length === 0) return undefined;
    if (this.#right.get(sha256Hex(credential.text)) === true) return undefined;
    if (this.#mayHaveFirstLook(full, credential, minuteIndex(now))) return undefined;
    return Math.max(...full.map(({ window, limit }) => secondsUntilRoom(window, limit, now)));
  }

  #mayHaveFirstLook(
    full: readonly (FailureCounter & { readonly window: Window })[],
    credential: Credential,
    minute: number,
  ): boolean {
    if (!isWellFormed(credential)) return false;
    if (full.some(({ window, limit }) => window.looks >= FIRST_LOOKS_PER_LIMIT * limit))
      return false;
    const id = sha256Hex(credential.text);
    if (this.#lookedAt.get(id) === minute) return false;
    this.#lookedAt.set(id, minute);
    for (const { subject, window } of full)
      this.#addresses.set(subject, { ...window, looks: window.looks + 1 });
    return true;
  }

  noteRight(credential: string): void {
    this.#right.set(sha256Hex(credential), true);
  }

  noteWrong(ip: string, credential: string, now: number): void {
    const id = sha256Hex(credential);
    const minute = minuteIndex(now);
    this.#right.delete(id);
    this.#lookedAt.set(id, minute);
    for (const { subject } of this.#countersOf(ip)) {
      const window = rolled(this.#addresses.get(subject) ?? EMPTY, minute);
      this.#addresses.set(subject, { ...window, current: window.current + 1 });
    }
  }
}
