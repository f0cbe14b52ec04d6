import { genSaltSync, getRounds } from "bcryptjs";
import type { Config } from "../config.ts";
import { deriveKey, hmacSha256 } from "../secrets.ts";
import { bcryptHash, bcryptMatches } from "./hashing-threads.ts";

const BCRYPT_HASH_LENGTH = 60;
const PEPPER_ID_LENGTH = 8;

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes as long for an unknown user, whose hash is undefined, as for a known one. */
  matches(password: string, passwordHash: string | undefined): Promise<boolean>;
  /** Whether the hash was made at another cost, with another pepper or otherwise derived than it would be now. */
  isOutdated(passwordHash: string): boolean;
}

/** `<pepper id>:<bcrypt hash>`: the id says which pepper was used, in which derivation, and nothing about it. */
function parse(passwordHash: string): { readonly pepperId: string; readonly bcrypt: string } {
  const [pepperId = "", bcrypt = ""] = passwordHash.split(":");
  return { pepperId, bcrypt };
}

const idOf = (pepper: string | Uint8Array) =>
  hmacSha256(pepper, "pepper id").toString("hex").slice(0, PEPPER_ID_LENGTH);

const derived = (pepper: string) => deriveKey(pepper, "password hashes");

/** Password hashes: bcrypt over a peppered hash, because bcrypt itself ignores everything beyond 72 bytes. */
export function createPasswords(config: Config["identity"]): Passwords {
  const { bcryptCost } = config;
  const keyPepper = derived(config.keyPepper);
  const currentId = idOf(keyPepper);
  const given = [config.keyPepper, config.previousKeyPepper].filter((one) => one !== undefined);
  // Version 0.2.0 hashed with the setting as it is.
  const usable = given.flatMap((pepper) => [derived(pepper), pepper]);
  const peppers = new Map(usable.map((pepper) => [idOf(pepper), pepper]));
  const prehash = (password: string, pepper: string | Uint8Array) =>
    hmacSha256(pepper, `password|${password}`).toString("base64");
  // Well formed and of nobody: comparing with it takes as long as with any other hash.
  const nobody = genSaltSync(bcryptCost).padEnd(BCRYPT_HASH_LENGTH, ".");
  return {
    async hash(password) {
      return `${currentId}:${await bcryptHash(prehash(password, keyPepper), bcryptCost)}`;
    },
    async matches(password, passwordHash) {
      const { pepperId, bcrypt } = parse(passwordHash ?? "");
      const pepper = peppers.get(pepperId);
      const right = await bcryptMatches(
        prehash(password, pepper ?? keyPepper),
        pepper === undefined ? nobody : bcrypt,
      );
      return right && pepper !== undefined;
    },
    isOutdated(passwordHash) {
      const { pepperId, bcrypt } = parse(passwordHash);
      return pepperId !== currentId || getRounds(bcrypt) !== bcryptCost;
    },
  };
}
