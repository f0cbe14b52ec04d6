import { genSaltSync } from "bcryptjs";
import { describe, expect, test } from "vitest";
import type { HashingAnswer, HashingTask } from "../../src/shared/people/staff/hashing-threads.ts";
import {
  createPasswords,
  type Hashing,
  type Passwords,
} from "../../src/shared/people/staff/password.ts";
import { CostlyWork, knownUser } from "../../src/shared/limits/limits.ts";
import { parseConfig } from "../../src/shared/config/config.ts";

function identityOf(more: Record<string, string> = {}) {
  return parseConfig({
    AZURE_FUNCTIONS_ENVIRONMENT: "Development",
    AzureWebJobsStorage: "UseDevelopmentStorage=true",
    BCRYPT_COST: "4",
    ...more,
  }).identity;
}

const asker = knownUser("plt_anybody", "usr_1");

/** Passwords whose turn comes without limits. */
function inTurns(passwords: Passwords): Hashing & Pick<Passwords, "needsNewHash"> {
  return {
    needsNewHash: (hash) => passwords.needsNewHash(hash),
    hash: (password) => passwords.inTurn(asker, (hashing) => hashing.hash(password)),
    matches: (password, hash) =>
      passwords.inTurn(asker, (hashing) => hashing.matches(password, hash)),
    hashUnlessWeak: (password, words) =>
      passwords.inTurn(asker, (hashing) => hashing.hashUnlessWeak(password, words)),
  };
}

const unlimited = new CostlyWork(() => undefined, { capacity: 2, perOwner: 2, waitingMax: 1_000 });

const passwordsOf = (more: Record<string, string> = {}) =>
  inTurns(createPasswords(identityOf(more), unlimited));

/** Passwords whose work is counted and not done: a hash of each cost is twice the work of one of the cost before. */
function countedPasswords(cost: string) {
  let work = 0;
  const hasher = {
    run(task: HashingTask): Promise<HashingAnswer> {
      const costs =
        task.kind === "compare"
          ? [Number(task.hash.split("$")[2]), ...task.burntCosts]
          : [task.cost];
      work += costs.reduce((sum, each) => sum + 2 ** each, 0);
      return Promise.resolve(
        task.kind === "hash"
          ? { hash: genSaltSync(task.cost).padEnd(60, ".") }
          : { isRight: false },
      );
    },
  };
  const passwords = inTurns(createPasswords(identityOf({ BCRYPT_COST: cost }), unlimited, hasher));
  return {
    passwords,
    workOf: async (hash: string | undefined): Promise<number> => {
      work = 0;
      await passwords.matches("a password", hash);
      return work;
    },
  };
}

describe("passwords", () => {
  const passwords = passwordsOf();

  test("match their own hash, and a hash is never the same twice", async () => {
    const [first, second] = [
      await passwords.hash("correct horse"),
      await passwords.hash("correct horse"),
    ];
    expect(first).not.toBe(second);
    for (const hash of [first, second]) {
      expect(await passwords.matches("correct horse", hash)).toBe(true);
      expect(await passwords.matches("correct horsf", hash)).toBe(false);
    }
  });

  test.each([
    ["a byte beyond the 72nd", `${"a".repeat(72)}x`, `${"a".repeat(72)}y`],
    ["a character of several bytes", `${"é".repeat(40)}x`, `${"é".repeat(40)}y`],
    ["a NUL character", "abc\u0000def-and-more", "abc\u0000xyz-and-more"],
    ["an empty end", "password", "password "],
  ])("differ by %s", async (_name, left, right) => {
    expect(await passwords.matches(right, await passwords.hash(left))).toBe(false);
  });

  test("passwords of nobody never match, whatever is tried", async () => {
    for (const password of ["", "anything", "x".repeat(1_000)])
      expect(await passwords.matches(password, undefined)).toBe(false);
  });

  test("passwords are of no use without the pepper", async () => {
    const hash = await passwords.hash("correct horse");
    const other = passwordsOf({ KEY_PEPPER: "p".repeat(40) });
    expect(await other.matches("correct horse", hash)).toBe(false);
  });

  test("are the same however a keyboard composes their letters", async () => {
    const text = "Füße größer Österreich";
    const hash = await passwords.hash(text.normalize("NFC"));
    expect(await passwords.matches(text.normalize("NFD"), hash)).toBe(true);
    const decomposed = await passwords.hash(text.normalize("NFD"));
    expect(await passwords.matches(text.normalize("NFC"), decomposed)).toBe(true);
    expect(await passwords.matches("Fusse grosser Osterreich", hash)).toBe(false);
  });

  test("know a hash of another cost", async () => {
    const hash = await passwords.hash("correct horse");
    expect(passwords.needsNewHash(hash)).toBe(false);
    expect(passwordsOf({ BCRYPT_COST: "5" }).needsNewHash(hash)).toBe(true);
  });

  test("made with the pepper before still match, and are known to be outdated", async () => {
    const older = { KEY_PEPPER: "o".repeat(40) };
    const hash = await passwordsOf(older).hash("correct horse");
    const newer = passwordsOf({
      KEY_PEPPER: "n".repeat(40),
      KEY_PEPPER_PREVIOUS: older.KEY_PEPPER,
    });
    expect(await newer.matches("correct horse", hash)).toBe(true);
    expect(await newer.matches("correct horsf", hash)).toBe(false);
    expect(newer.needsNewHash(hash)).toBe(true);
    expect(newer.needsNewHash(await newer.hash("correct horse"))).toBe(false);
  });

  test("many at once all get their answer", async () => {
    const hash = await passwords.hash("correct horse");
    const tried = Array.from({ length: 20 }, (_, index) =>
      index % 3 === 0 ? "correct horse" : "no",
    );
    const answers = await Promise.all(tried.map((password) => passwords.matches(password, hash)));
    expect(answers).toEqual(tried.map((password) => password === "correct horse"));
  });
});

describe("the work of a comparison", () => {
  test("the work of a comparison is the same for hashes of every lower cost and for nobody's", async () => {
    const { workOf } = countedPasswords("12");
    for (const cost of ["4", "10", "11", "12"]) {
      const hash = await countedPasswords(cost).passwords.hash("a password");
      expect(await workOf(hash)).toBe(2 ** 12);
    }
    expect(await workOf(undefined)).toBe(2 ** 12);
    expect(await workOf("00000000:$2b$04$of-a-pepper-that-is-gone")).toBe(2 ** 12);
  });

  test("the work of a comparison is that of the costliest hash seen, once the cost was lowered", async () => {
    const costly = await countedPasswords("12").passwords.hash("a password");
    const { workOf, passwords } = countedPasswords("10");
    expect(await workOf(undefined)).toBe(2 ** 10);
    expect(await workOf(costly)).toBe(2 ** 12);
    expect(await workOf(undefined)).toBe(2 ** 12);
    expect(await workOf(await passwords.hash("a password"))).toBe(2 ** 12);
  });
});
