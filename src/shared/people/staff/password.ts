import { genSaltSync, getRounds } from "bcryptjs";
import type { Config } from "../../config/config.ts";
import { composed } from "../../networks/contract/text.ts";
import { invariant, type FailedCheck } from "../../runtime/errors.ts";
import { deriveKey, hmacSha256 } from "../../runtime/secrets.ts";
import type { Asker, CostlyWork } from "../../limits/limits.ts";
import { hashingThreads, type Hasher, type HashingAnswer } from "./hashing-threads.ts";

const BCRYPT_HASH_LENGTH = 60;
const PEPPER_ID_LENGTH = 8;
/** What is rated of a password. Rating takes longer the longer it is, and the first characters decide. */
const RATED_CHARACTERS = 100;

/** What costs a core for a third of a second. Only work whose turn has come has it. */
export interface Hashing {
  /** Hashes a password. */
  hash(password: string): Promise<string>;
  /** Hashes a new password, or returns what makes it easy to guess for somebody who knows these words. */
  hashUnlessWeak(
    password: string,
    words: readonly string[],
  ): Promise<Exclude<HashingAnswer, { readonly isRight: boolean }>>;
  /**
   * Compares a password with a hash. For an unknown user, whose hash is undefined, it takes the same work as for a
   * known one, whatever the cost of the hash.
   */
  matches(password: string, passwordHash: string | undefined): Promise<boolean>;
}

/** Passwords are compared in NFC: a letter with an accent is the same however the keyboard has written it. */
export interface Passwords {
  /**
   * Runs work that needs hashes, once its turn has come. Nothing else waits for as long.
   * @throws AppError `service_unavailable` before anything is done, when too many wait; and what the work throws
   */
  inTurn<T>(asker: Asker, work: (hashing: Hashing) => Promise<T>): Promise<T>;
  /** Reports whether a hash has another cost or pepper than a new one would have. */
  needsNewHash(passwordHash: string): boolean;
  /** Returns why no password can match a hash: its pepper is gone. Undefined when the pepper exists. */
  missingPepper(passwordHash: string): FailedCheck | undefined;
}

/** Parses `<pepper id>:<bcrypt hash>`. The id only identifies the pepper, and reveals nothing about it. */
function parseHash(passwordHash: string): { readonly pepperId: string; readonly bcrypt: string } {
  const [pepperId = "", bcrypt = ""] = passwordHash.split(":");
  return { pepperId, bcrypt };
}

const pepperIdOf = (pepper: Uint8Array) =>
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
  costlyWork: CostlyWork,
  hasher: Hasher = hashingThreads,
): Passwords {
  const { bcryptCost } = config;
  const keyPepper = derived(config.keyPepper);
  const currentId = pepperIdOf(keyPepper);
  const given = [config.keyPepper, config.previousKeyPepper].filter((one) => one !== undefined);
  const peppers = new Map(given.map(derived).map((pepper) => [pepperIdOf(pepper), pepper]));
  const prehash = (password: string, pepper: Uint8Array) =>
    hmacSha256(pepper, `password|${composed(password)}`).toString("base64");
  const stored = (answer: HashingAnswer) => {
    invariant("hash" in answer, "a hashing thread made no hash");
    return `${currentId}:${answer.hash}`;
  };
  // A well-formed hash of no password. Comparing with it takes as long as with any other.
  const nobody = genSaltSync(bcryptCost).padEnd(BCRYPT_HASH_LENGTH, ".");
  // Higher than the setting after comparing a hash from before the setting was lowered.
  let highestCost = bcryptCost;
  const hashing: Hashing = {
    async hash(password) {
      const task = { kind: "hash", text: prehash(password, keyPepper), cost: bcryptCost } as const;
      return stored(await hasher.run(task));
    },
    async hashUnlessWeak(password, words) {
      const rated = composed(password).slice(0, RATED_CHARACTERS);
      const answer = await hasher.run({
        kind: "hash",
        text: prehash(password, keyPepper),
        cost: bcryptCost,
        unlessWeak: { password: rated, words },
      });
      return "weakness" in answer ? answer : { hash: stored(answer) };
    },
    async matches(password, passwordHash) {
      const { pepperId, bcrypt } = parseHash(passwordHash ?? "");
      const pepper = peppers.get(pepperId);
      const text = prehash(password, pepper ?? keyPepper);
      const hash = pepper === undefined ? nobody : bcrypt;
      const cost = getRounds(hash);
      highestCost = Math.max(highestCost, cost);
      const burntCosts = costsBetween(cost, highestCost);
      const answer = await hasher.run({ kind: "compare", text, hash, burntCosts });
      return "isRight" in answer && answer.isRight && pepper !== undefined;
    },
  };
  return {
    inTurn: (asker, work) => costlyWork.run(asker, () => work(hashing)),
    needsNewHash(passwordHash) {
      const { pepperId, bcrypt } = parseHash(passwordHash);
      return pepperId !== currentId || getRounds(bcrypt) !== bcryptCost;
    },
    missingPepper(passwordHash) {
      const { pepperId } = parseHash(passwordHash);
      if (peppers.has(pepperId)) return undefined;
      const expected = "a hash made with KEY_PEPPER or KEY_PEPPER_PREVIOUS";
      return { check: "pepper", expected, found: pepperId };
    },
  };
}
