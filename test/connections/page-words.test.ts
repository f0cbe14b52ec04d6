import { describe, expect, test } from "vitest";
import {
  fill,
  fillText,
  LANGUAGES,
  languageWords,
  type Language,
} from "../../src/shared/connections/hosted-page/language.ts";
import {
  initialOf,
  isolatedName,
  plainName,
} from "../../src/shared/connections/hosted-page/markup.ts";
import { chooseLocale } from "../../src/shared/runtime/locale.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import type { LinkField } from "../../src/shared/networks/contract/link.ts";
import { gallery } from "../outside/browser/gallery.ts";
import { readable } from "./browser.ts";

const OTHERS = (Object.keys(LANGUAGES) as Language[]).filter((language) => language !== "en");

/** Every sentence by its path; those of the networks' forms aside. */
function sentences(words: object, path = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(words) as [string, unknown][]) {
    const at = path === "" ? name : `${path}.${name}`;
    if (at === "fields") continue;
    if (typeof value === "string") found.set(at, value);
    else if (typeof value === "object" && value !== null)
      for (const [key, text] of sentences(value, at)) found.set(key, text);
  }
  return found;
}

const placesOf = (sentence: string) => (sentence.match(/\{\w+\}/g) ?? []).toSorted();

/** What each network's forms ask for, by the path of its words. */
function formFields(): readonly (readonly [string, LinkField])[] {
  return NETWORK_NAMES.flatMap((name) => {
    const { link } = networkOf(name);
    const own = link.fields.map((field) => [`${name}.${field.name}`, field] as const);
    if (link.kind !== "oauth" || link.alternative === undefined) return own;
    const others = link.alternative.fields.map(
      (field) => [`${name}.alternative.${field.name}`, field] as const,
    );
    return [...own, ...others];
  });
}

describe.each(OTHERS)("in %s", (language) => {
  const english = sentences(LANGUAGES.en);
  const own = sentences(LANGUAGES[language]);

  test("everything is said, and nothing that English does not say", () => {
    expect([...own.keys()].toSorted()).toEqual([...english.keys()].toSorted());
  });

  test("every sentence names what the English one names", () => {
    // A sentence may name its network twice, or once.
    const names = (sentence = "") => [...new Set(placesOf(sentence))];
    const differing = [...english].filter(
      ([path, sentence]) => names(own.get(path)).join() !== names(sentence).join(),
    );
    expect(differing).toEqual([]);
  });

  test("nothing is left in English", () => {
    const same = [...english].filter(([path, sentence]) => own.get(path) === sentence);
    expect(same).toEqual([]);
    const left = [...own].filter(([, sentence]) =>
      /\b(?:the|this|that|with|you|your|which|again|please)\b/i.test(sentence),
    );
    expect(left).toEqual([]);
  });

  test.each(formFields())("the form's field %s has its words", (path, field) => {
    const words = languageWords(language).fields?.[path];
    expect(words).toBeDefined();
    expect(words?.label).not.toBe(field.label);
    expect(words?.hint).not.toBe(field.hint);
    const values = field.choices?.map(({ value }) => value) ?? [];
    expect(Object.keys(words?.choices ?? {}).toSorted()).toEqual(values.toSorted());
  });

  test("no page shows an empty place or a word of English", () => {
    for (const { name, render } of gallery(language)) {
      const text = render("n");
      expect(text).toContain(`<html lang="${language}">`);
      expect(`${name}: ${readable(text)}`).not.toMatch(/\{\w+\}|\b(?:the|this|you|which)\b/i);
    }
  });
});

test.each<[string | null, Language]>([
  [null, "en"],
  ["", "en"],
  ["de", "de"],
  ["DE-at", "de"],
  ["pt-BR,pt;q=0.9,en;q=0.8", "pt"],
  ["nl, fr;q=0.5, es;q=0.7", "es"],
  ["en;q=0.1, fr;q=0.2", "fr"],
  ["fr;q=0, de;q=0.001", "de"],
  ["fr;q=0", "en"],
  ["*", "en"],
  ["nl,*;q=0.5,de;q=0.4", "en"],
  ["ja, zh-Hant", "en"],
  ["fr;q=2, de;q=0.3", "de"],
  ["fr;q=abc, de;q=0.3", "de"],
  ["constructor, __proto__, de;q=0.1", "de"],
  ["fr , es", "fr"],
  [`${"x,".repeat(10_000)}de`, "en"],
])("a browser that accepts %j reads %s", (header, language) => {
  expect(chooseLocale(header)).toBe(language);
});

describe("a sentence", () => {
  test("takes text and markup into its places, escaped", () => {
    expect(fillText("{a} and {b}", { a: "1", b: "{a}" })).toBe("1 and {a}");
    expect(fill("<{a}> {b}", { a: "<i>", b: isolatedName("x") }).text).toBe(
      "&lt;&lt;i&gt;&gt; <bdi>x</bdi>",
    );
  });
});

describe("a name", () => {
  test.each([
    ["Ada", "Ada"],
    ["\u202eadA\u202c", "adA"],
    ["a\u0000b\nc", "abc"],
    ["مرحبا", "مرحبا"],
    ["x".repeat(200), `${"x".repeat(80)}…`],
    ["👩‍👩‍👧".repeat(81), `${"👩‍👩‍👧".repeat(80)}…`],
    ["👩‍👩‍👧", "👩‍👩‍👧"],
  ])("%j is shown as %j", (name, shown) => {
    expect(plainName(name)).toBe(shown);
  });

  test.each([
    ["ada", "A"],
    ["@bob", "B"],
    ["👩‍👩‍👧 family", "👩‍👩‍👧"],
    ["", "?"],
    ["\u202e", "?"],
  ])("the initial of %j is %j", (name, initial) => {
    expect(initialOf(name)).toBe(initial);
  });
});
