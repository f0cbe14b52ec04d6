import { genSaltSync, getRounds } from "bcryptjs";
import type { Config } from "../../config/config.ts";
import type { FailedCheck } from "../../runtime/errors.ts";
import { deriveKey, hmacSha256 } from "../../runtime/secrets.ts";
import type { Weakness } from "./password-strength.ts";
import { hashingThreads, type Hasher, type Urgency } from "./hashing-threads.ts";

const BCRYPT_HASH_LENGTH = 60;
const PEPPER_ID_LENGTH = 8;

export interface Passwords {
  /** Hashes a password. @throws AppError `service_unavailable` when too many wait */
  hash(password: string, urgency?: Urgency): Promise<string>;
  /**
   * Returns whether a password is that of a hash. Takes the same work for an unknown user, whose hash is undefined, as for
   * a known one, whatever the cost of their hash.
   * @throws AppError `service_unavailable` when too many wait
   */
  matches(password: string, passwordHash: string | undefined, urgency?: Urgency): Promise<boolean>;
  /** Returns what makes a password easy to guess for who knows these words; undefined when it is hard. */
  weakness(password: string, words: readonly string[]): Promise<Weakness | undefined>;
  /** Returns whether a hash was made with another cost or pepper than a new one would be. */
  isOutdated(passwordHash: string): boolean;
  /** Returns why no password at all can match a hash: its pepper is gone; undefined when it is there. */
  missingPepper(passwordHash: string): FailedCheck | undefined;
}

/** Parses `<pepper id>:<bcrypt hash>`. The id says which pepper was used, and reveals nothing about it. */
function parse(passwordHash: string): { readonly pepperId: string; readonly bcrypt: string } {
  const [pepperId = "", bcrypt = ""] = passwordHash.split(":");
  return { pepperId, bcrypt };
}

const idOf = (pepper: Uint8Array) =>
  hmacSha256(pepper, "pepper id").toString("hex").slice(0, PEPPER_ID_LENGTH);

const derived = (pepper: string) => deriveKey(pepper, "password hashes");

/**
 * Returns the costs of the hashes to make after one of cost `spent`, so that all together take as long as one of cost
 * `highest`: each step doubles the work, so one hash of each cost in between makes up the difference.
 */
const costsBetween = (spent: number, highest: number): number[] =>
  Array.from({ length: Math.max(0, highest - spent) }, (_, index) => spent + index);

/** Makes password hashes: bcrypt of a peppered hash, because bcrypt itself ignores everything beyond 72 bytes. */
export function createPasswords(
  config: Config["identity"],
  hasher: Hasher = hashingThreads,
): Passwords {
  const { bcryptCost } = config;
  const keyPepper = derived(config.keyPepper);
  const currentId = idOf(keyPepper);
  const given = [config.keyPepper, config.previousKeyPepper].filter((one) => one !== undefined);
  const peppers = new Map(given.map(derived).map((pepper) => [idOf(pepper), pepper]));
  const prehash = (password: string, pepper: Uint8Array) =>
    hmacSha256(pepper, `password|${password}`).toString("base64");
  // A well-formed hash of no password: comparing with it takes as long as with any other.
  const nobody = genSaltSync(bcryptCost).padEnd(BCRYPT_HASH_LENGTH, ".");
  // Higher than the setting once a hash from before it was lowered has been compared.
  let highestCost = bcryptCost;
  return {
    async hash(password, urgency = "other") {
      const task = { kind: "hash", text: prehash(password, keyPepper), cost: bcryptCost } as const;
      return `${currentId}:${String(await hasher.run(task, urgency))}`;
    },
    async matches(password, passwordHash, urgency = "other") {
      const { pepperId, bcrypt } = parse(passwordHash ?? "");
      const pepper = peppers.get(pepperId);
      const text = prehash(password, pepper ?? keyPepper);
      const hash = pepper === undefined ? nobody : bcrypt;
      const cost = getRounds(hash);
      highestCost = Math.max(highestCost, cost);
      const burntCosts = costsBetween(cost, highestCost);
      const right = await hasher.run({ kind: "compare", text, hash, burntCosts }, urgency);
      return right === true && pepper !== undefined;
    },
    async weakness(password, words) {
      const task = { kind: "estimate", text: password, words } as const;
      // Safe: that is what the thread answers to this task.
      const found = (await hasher.run(task, "other")) as Weakness | null;
      return found ?? undefined;
    },
    isOutdated(passwordHash) {
      const { pepperId, bcrypt } = parse(passwordHash);
      return pepperId !== currentId || getRounds(bcrypt) !== bcryptCost;
    },
    missingPepper(passwordHash) {
      const { pepperId } = parse(passwordHash);
      if (peppers.has(pepperId)) return undefined;
      const expected = "a hash made with KEY_PEPPER or KEY_PEPPER_PREVIOUS";
      return { check: "pepper", expected, found: pepperId };
    },
  };
}
