import { compare, getRounds, hash } from "bcryptjs";
import type { Config } from "../config.ts";
import { hmacSha256 } from "../secrets.ts";

/** Hashing is pure JavaScript: more at once would leave the event loop no room for other requests. */
const PARALLEL_MAX = 2;

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes as long for an unknown user, whose hash is undefined, as for a known one. */
  matches(password: string, passwordHash: string | undefined): Promise<boolean>;
  /** Whether the hash was made at another cost than the settings ask for now. */
  isOutdated(passwordHash: string): boolean;
}

/** Lets a few at a time through, in the order in which they came. */
function semaphore(places: number) {
  const waiting: (() => void)[] = [];
  let free = places;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

/** Password hashes: bcrypt over a peppered hash, because bcrypt itself ignores everything beyond 72 bytes. */
export function createPasswords({ keyPepper, bcryptCost }: Config["identity"]): Passwords {
  const limited = semaphore(PARALLEL_MAX);
  const prehash = (password: string) =>
    hmacSha256(keyPepper, `password|${password}`).toString("base64");
  let nobody: Promise<string> | undefined;
  return {
    hash: (password) => limited(() => hash(prehash(password), bcryptCost)),
    async matches(password, passwordHash) {
      if (passwordHash !== undefined)
        return await limited(() => compare(prehash(password), passwordHash));
      nobody ??= limited(() => hash(prehash(""), bcryptCost));
      const standIn = await nobody;
      await limited(() => compare(prehash(password), standIn));
      return false;
    },
    isOutdated: (passwordHash) => getRounds(passwordHash) !== bcryptCost,
  };
}
