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
   * Compares a password with a hash. For an unknown user, whose hash is undefined, it takes the same work as for a
   * known one, whatever the cost of the hash.
   * @throws AppError `service_unavailable` when too many wait
   */
  matches(password: string, passwordHash: string | undefined, urgency?: Urgency): Promise<boolean>;
  /** Returns what makes a password easy to guess for somebody who knows these words. Undefined when it is hard. */
  weakness(password: string, words: readonly string[]): Promise<Weakness | undefined>;
  /** Reports whether a hash has another cost or pepper than a new one would have. */
  needsNewHash(passwordHash: string): boolean;
  /** Returns why no password can match a hash: its pepper is gone. Undefined when the pepper exists. */
  missingPepper(passwordHash: string): FailedCheck | undefined;
}

/** Parses `<pepper id>:<bcrypt hash>`. The id only identifies the pepper, and reveals nothing about it. */
function parse(passwordHash: string): { readonly pepperId: string; readonly bcrypt: string } {
  const [pepperId = "", bcrypt = ""] = passwordHash.split(":");
  return { pepperId, bcrypt };
}

const idOf = (pepper: Uint8Array) =>
  hmacSha256(pepper, "pepper id").toString("hex").slice(0, PEPPER_ID_LENGTH);

const derived = (pepper: string) => deriveKey(pepper, "password hashes");

/**
 * Returns the costs of hashes to add to one of cost `spent`, so that all together take as long as one of cost
 * `highest`. Each step doubles the work, so one hash of each cost in between makes up the difference.
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
  // A well-formed hash of no password. Comparing with it takes as long as with any other.
  const nobody = genSaltSync(bcryptCost).padEnd(BCRYPT_HASH_LENGTH, ".");
  // Higher than the setting after comparing a hash from before the setting was lowered.
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
      // Safe: the thread gives this answer to this task.
      const found = (await hasher.run(task, "other")) as Weakness | null;
      return found ?? undefined;
    },
    needsNewHash(passwordHash) {
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
