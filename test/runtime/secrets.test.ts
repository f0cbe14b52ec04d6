import { randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newId } from "../../src/shared/runtime/ids.ts";
import {
  deriveKey,
  equalSecrets,
  newApiKey,
  parseApiKey,
  randomBase62,
  randomToken,
  reseal,
  seal,
  sealingKey,
  unseal,
} from "../../src/shared/runtime/secrets.ts";

describe("API keys", () => {
  const keyId = newId("key", new Date("2026-03-04T10:00:00Z"));

  test("a new key parses into what it was made of", () => {
    for (let round = 0; round < 100; round += 1) {
      const { secret, secretPart, keyPrefix } = newApiKey(keyId);
      expect(parseApiKey(secret)).toEqual({ keyId, secretPart });
      expect(secret).toMatch(/^sk_live_[0-9A-Z]{26}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
      expect(keyPrefix).toBe(secret.slice(0, "sk_live_".length + 8));
      expect(secretPart).not.toContain(keyPrefix);
    }
  });

  test("any one changed character is noticed without a look-up", () => {
    const { secret } = newApiKey(keyId);
    const start = "sk_live_".length;
    const character = fc.constantFrom(...Array.from("0123456789ABCDEFGHJKabcdefghij_-"));
    fc.assert(
      fc.property(fc.integer({ min: start, max: secret.length - 1 }), character, (at, other) => {
        fc.pre(secret[at] !== other);
        expect(parseApiKey(secret.slice(0, at) + other + secret.slice(at + 1))).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  test("two neighbors that were swapped are noticed", () => {
    const { secret } = newApiKey(keyId);
    for (let at = "sk_live_".length; at + 1 < secret.length; at += 1) {
      const [left, right] = [secret[at], secret[at + 1]];
      if (left === right) continue;
      const swapped = `${secret.slice(0, at)}${right}${left}${secret.slice(at + 2)}`;
      expect(parseApiKey(swapped)).toBeUndefined();
    }
  });

  test.each(["", "sk_live_", "sk_test_abc", " ", "sk_live_".repeat(1_000)])(
    "%j is no key",
    (text) => {
      expect(parseApiKey(text)).toBeUndefined();
    },
  );

  test("space or a line break around a key is not passed over", () => {
    const { secret } = newApiKey(keyId);
    for (const text of [` ${secret}`, `${secret} `, `${secret}\n`, `Bearer ${secret}`])
      expect(parseApiKey(text)).toBeUndefined();
  });
});

describe("random texts", () => {
  test("base62 has the length asked for and favors no character", () => {
    const text = randomBase62(62_000);
    expect(text).toMatch(/^[0-9A-Za-z]{62000}$/);
    const counts = new Map<string, number>();
    for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // Expected 1,000 each with a standard deviation of 32: eight of them happen once in 10^15 characters.
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(256);
  });

  test("tokens are URL-safe and differ", () => {
    const tokens = Array.from({ length: 1_000 }, () => randomToken());
    for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/);
    expect(new Set(tokens).size).toBe(tokens.length);
  });
});

describe("comparing and deriving", () => {
  test("only equal secrets are equal; another length is no error", () => {
    const bytes = fc.uint8Array({ maxLength: 40 });
    fc.assert(
      fc.property(bytes, bytes, (left, right) => {
        expect(equalSecrets(left, right)).toBe(Buffer.compare(left, right) === 0);
        expect(equalSecrets(left, Uint8Array.from(left))).toBe(true);
      }),
    );
  });

  test("one master gives every purpose a key of its own, the same each time", () => {
    const master = "m".repeat(32);
    expect(deriveKey(master, "session")).toEqual(deriveKey(master, "session"));
    expect(deriveKey(master, "session")).not.toEqual(deriveKey(master, "profile grant"));
    expect(deriveKey(master, "session")).not.toEqual(deriveKey("n".repeat(32), "session"));
    expect(deriveKey(master, "session")).toHaveLength(32);
  });
});

describe("sealing", () => {
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const keys = new Map([["a", first]]);
  const place = "connections|prf_1|bluesky";

  test("what was sealed opens in its place, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(unseal(seal(text, place, keys), place, keys)).toBe(text);
      }),
    );
  });

  test("the same text is sealed differently each time, and is not in it", () => {
    const text = "refresh-token-value";
    const sealed = seal(text, place, keys);
    expect(seal(text, place, keys)).not.toBe(sealed);
    expect(sealed).not.toContain(text);
    expect(sealed).not.toContain(Buffer.from(text).toString("base64url"));
  });

  test("copied to another place it does not open", () => {
    expect(unseal(seal("text", place, keys), "connections|prf_2|bluesky", keys)).toBeUndefined();
  });

  test("any changed character keeps it shut", () => {
    const sealed = seal("a secret of some length", place, keys);
    for (let at = 0; at < sealed.length; at += 1) {
      const other = sealed[at] === "A" ? "B" : "A";
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      const opened = unseal(changed, place, keys);
      // The last character of a base64 part can carry bits that say nothing.
      expect([undefined, "a secret of some length"]).toContain(opened);
      const partEnds = sealed[at + 1] === undefined || sealed[at + 1] === ".";
      if (!partEnds) expect(opened).toBeUndefined();
    }
  });

  test("the first key seals and all open, so that keys can be changed in turn", () => {
    const rotated = new Map([
      ["b", second],
      ["a", first],
    ]);
    const old = seal("text", place, keys);
    expect(unseal(old, place, rotated)).toBe("text");
    const fresh = seal("text", place, rotated);
    expect(fresh).toContain(".b.");
    expect(unseal(fresh, place, keys)).toBeUndefined();
  });

  test("text is sealed again with the first key alone, and only where it opens", () => {
    const rotated = new Map([
      ["b", second],
      ["a", first],
    ]);
    const old = seal("text", place, keys);
    const again = reseal(old, place, rotated) ?? "";
    expect([sealingKey(old), sealingKey(again)]).toEqual(["a", "b"]);
    expect(unseal(again, place, new Map([["b", second]]))).toBe("text");
    expect(reseal(again, place, rotated)).toBeUndefined();
    expect(reseal(old, "another place", rotated)).toBeUndefined();
    expect(reseal(old, place, new Map([["b", second]]))).toBeUndefined();
    expect(reseal("", place, rotated)).toBeUndefined();
  });

  test.each(["", "v1", "v1.a", "v1.a.b.c", "v2.a.b.c.d", "....", "v1.a.AAAA.AAAA.AAAA"])(
    "%j opens to nothing",
    (text) => {
      expect(unseal(text, place, keys)).toBeUndefined();
    },
  );
});
