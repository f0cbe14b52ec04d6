import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  hashRecoveryCode,
  newRecoveryCodes,
  parseRecoveryCode,
  spend,
  type SecondFactor,
  codeOf,
  matchingStep,
  otpauthUrl,
  stepAt,
  toBase32,
} from "../../src/shared/people/staff/second-factor.ts";

const SECRET = Buffer.from("12345678901234567890");
const at = (seconds: number) => new Date(seconds * 1000);

describe("codes", () => {
  /** RFC 6238, appendix B: the last six digits of its SHA-1 column. */
  test.each([
    [59, "287082"],
    [1111111109, "081804"],
    [1111111111, "050471"],
    [1234567890, "005924"],
    [2000000000, "279037"],
    [20000000000, "353130"],
  ])("codes at second %i are those of RFC 6238", (seconds, code) => {
    expect(codeOf(SECRET, stepAt(at(seconds)))).toBe(code);
  });

  const now = at(1_234_567_890);
  const step = stepAt(now);

  test.each([
    [-2, undefined],
    [-1, step - 1],
    [0, step],
    [1, step + 1],
    [2, undefined],
  ])("codes of %i steps from now belong to step %s", (off, expected) => {
    expect(matchingStep(SECRET, codeOf(SECRET, step + off), { now, lastStep: 0 })).toBe(expected);
  });

  test.each([
    ["the last step", step],
    ["a later step than this", step + 1],
  ])("codes are refused when they are not later than %s", (_name, lastStep) => {
    expect(matchingStep(SECRET, codeOf(SECRET, step), { now, lastStep })).toBeUndefined();
  });

  test.each(["", "12345", "1234567", "abcdef", "００５９２４"])("codes are not like %j", (text) => {
    expect(matchingStep(SECRET, text, { now, lastStep: 0 })).toBeUndefined();
  });
});

describe("secrets as text", () => {
  /** RFC 4648, section 10, without its padding. */
  test.each([
    ["", ""],
    ["f", "MY"],
    ["fo", "MZXQ"],
    ["foo", "MZXW6"],
    ["foob", "MZXW6YQ"],
    ["fooba", "MZXW6YTB"],
    ["foobar", "MZXW6YTBOI"],
  ])("secrets as text of %j are base32", (text, expected) => {
    expect(toBase32(Buffer.from(text))).toBe(expected);
  });

  test("secrets as text are in an address that an app scans, with whatever an email may hold", () => {
    const url = new URL(otpauthUrl("Corner Büro", "a+b&c@example.com", SECRET));
    expect([url.protocol, url.host]).toEqual(["otpauth:", "totp"]);
    expect(decodeURIComponent(url.pathname)).toBe("/Corner Büro:a+b&c@example.com");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      secret: toBase32(SECRET),
      issuer: "Corner Büro",
      algorithm: "SHA1",
      digits: "6",
      period: "30",
    });
    expect(url.search).not.toContain("+");
  });
});

describe("recovery codes", () => {
  test("recovery codes are ten different ones of fifty bits", () => {
    const codes = newRecoveryCodes();
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
  });

  test.each([
    ["as shown", "7K3QM-9XW21"],
    ["in lower case", "7k3qm-9xw21"],
    ["without the dash", "7K3QM9XW21"],
    ["with spaces", " 7K3QM 9XW21 "],
    ["with a letter that looks like a digit", "7K3QM-9XW2l"],
  ])("recovery codes are read %s", (_name, text) => {
    expect(parseRecoveryCode(text)).toBe("7K3QM9XW21");
  });

  test.each(["", "123456", "7K3QM-9XW2", "7K3QM-9XW211", "7K3QM-9XW2U"])(
    "a recovery code is not like %j",
    (text) => {
      expect(parseRecoveryCode(text)).toBeUndefined();
    },
  );

  test("recovery codes have another hash for every user and every pepper", () => {
    const hashes = ["usr_1", "usr_2"].flatMap((user) =>
      ["pepper", "salt"].map((pepper) => hashRecoveryCode("7K3QM9XW21", user, pepper)),
    );
    expect(new Set(hashes).size).toBe(4);
  });
});

describe("using a code up", () => {
  const factor: SecondFactor = {
    sealedSecret: "sealed",
    confirmed: true,
    lastStep: 10,
    startedAt: "2026-03-04T10:00:00.000Z",
    recoveryHashes: ["a", "b", "c"],
  };

  test("no order of uses accepts anything twice, nor a step before an accepted one", () => {
    const proof = fc.oneof(
      fc.record({ kind: fc.constant("totp_code" as const), step: fc.integer({ min: 5, max: 20 }) }),
      fc.record({
        kind: fc.constant("recovery_code" as const),
        hash: fc.constantFrom("a", "b", "c", "d"),
      }),
    );
    fc.assert(
      fc.property(fc.array(proof, { maxLength: 30 }), (proofs) => {
        const steps = [factor.lastStep];
        const used = new Set<string>();
        let present = factor;
        for (const next of proofs) {
          const left = spend(present, next);
          if (next.kind === "totp_code") {
            expect(left !== undefined).toBe(next.step > (steps.at(-1) ?? 0));
            if (left !== undefined) steps.push(next.step);
          } else {
            expect(left !== undefined).toBe(next.hash !== "d" && !used.has(next.hash));
            if (left !== undefined) used.add(next.hash);
          }
          present = left ?? present;
        }
      }),
    );
  });
});
