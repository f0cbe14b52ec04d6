import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  foldedName,
  foldText,
  idOfNameKey,
  foldedNameKey,
} from "../../src/shared/runtime/folded-name.ts";

const text = fc.string({ unit: "grapheme", maxLength: 120 });

describe("a folded name", () => {
  test.each([
    ["Café Zoë", "cafe zoe"],
    ["  Corner\t\n Bakery ", "corner bakery"],
    ["STRASSE", "strasse"],
    ["Straße", "strasse"],
    ["ﬁne ＬＴＤ", "fine ltd"],
    ["İstanbul ılık", "istanbul ilik"],
    ["ΟΔΟΣ", "οδοσ"],
    ["東京 ベーカリー", "東京 ヘーカリー"],
    ["a/b\\c#d?e", "a!2fb!5cc!23d!3fe"],
    ["50 % & Joe's | ~!", "50 !25 !26 joe!27s !7c !7e!21"],
    ["bell\u0007and\u0085\uFFFF", "bell and"],
    ["\u0301\u0302", ""],
  ])("of %j is %j", (name, folded) => {
    expect(foldedName(name)).toBe(folded);
  });

  test("begins with the folded beginning of the name", () => {
    fc.assert(
      fc.property(text, fc.nat(120), (name, length) => {
        const beginning = Array.from(name).slice(0, length).join("");
        expect(foldedName(name).startsWith(foldedName(beginning))).toBe(true);
      }),
    );
  });

  test("is the same for each form of the name, and folds no further", () => {
    fc.assert(
      fc.property(text, (name) => {
        const folded = foldedName(name);
        for (const form of ["NFC", "NFD", "NFKC", "NFKD"] as const)
          expect(foldedName(name.normalize(form))).toBe(folded);
        expect(foldText(foldText(name))).toBe(foldText(name));
      }),
    );
  });

  test("has only characters that keys can have, in at most 64 characters of the name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (name) => {
        const folded = foldedName(name);
        expect(folded).not.toMatch(/[/\\#?%'|\p{Cc}\p{Cs}]/u);
        expect(Array.from(folded.replace(/![\da-f]{2}/g, "!")).length).toBeLessThanOrEqual(64);
      }),
    );
    expect(foldedName("a".repeat(300))).toBe("a".repeat(64));
    expect(foldedName(`${"a".repeat(63)} b`)).toBe("a".repeat(63));
    expect(foldedName("🥐".repeat(65))).toBe("🥐".repeat(64));
  });

  test("sorts a name before those that it begins, and spaces before punctuation and letters", () => {
    const names = ["ab", "ab c", "ab-c", "ab/c", "ab1", "abc", "b"];
    const keys = names.map((name) => foldedNameKey(foldedName(name), "plt_1"));
    expect(keys.toSorted()).toEqual(keys);
    expect(keys.map(idOfNameKey)).toEqual(names.map(() => "plt_1"));
  });
});
