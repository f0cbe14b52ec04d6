import { describe, expect, test } from "vitest";
import { canonicalEmail, comparedEmail } from "../../src/shared/runtime/email.ts";

describe("an email address", () => {
  test.each([
    ["olga@xn--e1afmkfd.xn--p1ai", "olga@xn--e1afmkfd.xn--p1ai"],
    ["olga@пример.рф", "olga@xn--e1afmkfd.xn--p1ai"],
    ["li@xn--fiqs8s.xn--fiqs8s", "li@xn--fiqs8s.xn--fiqs8s"],
    ["info@BÜCHER.example", "info@xn--bcher-kva.example"],
    ["x@例え。テスト", "x@xn--r8jz45g.xn--zckzah"],
    [" Ann.O'Neil+a!#$%&*/=?^_`{|}~-@Example.COM ", "Ann.O'Neil+a!#$%&*/=?^_`{|}~-@example.com"],
    ["a@b.c.example.test", "a@b.c.example.test"],
  ])("%s is stored as %s", (written, stored) => {
    expect(canonicalEmail(written)).toBe(stored);
    expect(comparedEmail(written)).toBe(stored.toLowerCase());
  });

  test("text that only looks like an address is not compared as one", () => {
    for (const written of [
      "\u212aate@example.com",
      "\u0130an@example.com",
      "\uff4bate@example.com",
    ])
      expect(comparedEmail(written)).toBe(written);
  });

  test.each([
    "ann",
    "@example.com",
    "ann@localhost",
    "a..b@example.com",
    ".a@example.com",
    "a b@example.com",
    "a@b@example.com",
    "ann@1.2.3.4",
    "ann@-a.example",
    "ann@a_b.example",
    "ann@a%2eb.example",
    "ann@[192.0.2.1]",
    "ann@xn--zzzzzz--.example.",
    `${"a".repeat(65)}@example.com`,
    `ann@${"a".repeat(64)}.example`,
    `ann@${"a.".repeat(125)}example`,
  ])("%s is none", (written) => {
    expect(canonicalEmail(written)).toBeUndefined();
  });

  test.each(["\u212Aiki@example.com", "ki\u212Ai@example.com", "K\u0130KI@example.com"])(
    "%j is compared as nobody's address",
    (typed) => {
      expect(comparedEmail(typed)).not.toMatch(/^[\x20-\x7e]*$/);
    },
  );
});
