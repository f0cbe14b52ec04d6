import { FILE_FAULTS } from "../../src/shared/files/file.ts";
import { describe, expect, test } from "vitest";
import { DEVELOPER_HINTS } from "../../src/shared/networks/contract/developer-hints.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { inWords, loadSentences, titleOf } from "../../src/shared/networks/wording.ts";
import { LOCALES } from "../../src/shared/runtime/locale.ts";
import { describeRules } from "../../tools/describe-rules.ts";

const described = describeRules(NETWORK_NAMES.map(networkOf));
const READING = { network: "facebook", locale: "en" } as const;
const found = (rule: string | null, code: string, values = {}, field: string | null = null) => ({
  code,
  rule,
  values,
  field,
});

/** Every sentence of a language by its place: `rules.text.length.message`. */
function sentencesIn(words: unknown, place = ""): readonly (readonly [string, string])[] {
  if (typeof words === "string") return [[place.slice(1), words]];
  return Object.entries(words as object).flatMap(([name, part]) =>
    sentencesIn(part, `${place}.${name}`),
  );
}

const languages = await Promise.all(
  LOCALES.map(async (locale) => [locale, await loadSentences(locale)] as const),
);
const english = await loadSentences("en");

describe.each(languages)("the sentences of findings in %s", (_locale, words) => {
  const sentences = sentencesIn(words);

  test("are whole sentences for the person who posts, and know no field of the API", () => {
    const odd = sentences.filter(
      ([, text]) =>
        !/^(?:[\p{Lu}¿¡]|\{network\}).*[.]$/u.test(text) || /platformOptions|`|https?:/.test(text),
    );
    expect(odd).toEqual([]);
  });

  test("are there for every sentence in English, with its values, and for no other", () => {
    const inEnglish = new Map(sentencesIn(english));
    const valuesOf = (text = "") => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name);
    expect(sentences.map(([place]) => place)).toEqual([...inEnglish.keys()]);
    // A language may name the network where another does not.
    const named = (text?: string) =>
      [...new Set(valuesOf(text))].filter((name) => name !== "{network}").toSorted();
    for (const [place, text] of sentences)
      expect([place, named(text)]).toEqual([place, named(inEnglish.get(place))]);
  });
});

test.each([
  ["es", /\b(?:vuelva|espere|elija)\b/i],
  ["fr", /'/],
  ["pt", /ficheiro|carreg|elimin/i],
] as const)(
  "the sentences in %s address the reader and write words in one way",
  async (locale, odd) => {
    const sentences = sentencesIn(await loadSentences(locale));
    expect(sentences.filter(([, text]) => odd.test(text))).toEqual([]);
  },
);

describe("a finding in words", () => {
  test("has the sentences of the network's own rule, of the rule's name, or of its code", () => {
    const message = (rule: string | null, code: string, values = {}) =>
      inWords(found(rule, code, values), READING).message;
    expect(message("facebook.media.type", "media_rejected")).toContain("Facebook accepts JPEG");
    expect(message("facebook.media.size", "media_rejected")).toContain("larger than Facebook");
    expect(message("facebook.quota.reels", "quota_exceeded")).toContain("in 24 hours");
    expect(message(null, "network_unavailable")).toContain("Facebook could not be reached");
  });

  test("has the sentences of its code where it lacks the values of its rule's", () => {
    const values = { used: 63_207, limit: 63_206 };
    const long = (given: object) =>
      inWords(found("facebook.text.length", "text_too_long", given), READING).message;
    expect(long(values)).toBe("The text has 63,207 characters. Facebook allows 63,206.");
    expect(long({ limit: 63_206 })).toBe("The text is longer than Facebook allows.");
  });

  test("names the picture of an option, and tells the caller the exact cause", () => {
    const field = "platformOptions.instagram.coverUrl";
    const missing = found(
      "instagram.media.statusMissing",
      "media_unreachable",
      { value: 404 },
      field,
    );
    const { message, developerHint } = inWords(missing, { ...READING, network: "instagram" });
    expect(message).toBe(
      "The cover can't be used. A file of the post was not found at its address.",
    );
    expect(developerHint).toContain("HTTP 404");
  });

  test("has hints for the caller that need no values but the network and one of the finding", () => {
    const names = Object.values(DEVELOPER_HINTS).flatMap(
      (hint) => hint.match(/(?<!\/)\{\w+\}/g) ?? [],
    );
    expect([...new Set(names)].toSorted()).toEqual(["{platform}", "{value}"]);
  });

  test("of a later build is told in general words", () => {
    const { message, developerHint } = inWords(found("facebook.new.rule", "new_code"), READING);
    expect([message, developerHint]).toEqual(["Facebook refused the request.", null]);
  });

  test.each(["__proto__", "constructor", "facebook.constructor", "toString"])(
    "is no part of the program: %s",
    (name) => {
      const { message, developerHint } = inWords(found(name, name), READING);
      expect([message, developerHint]).toEqual(["Facebook refused the request.", null]);
    },
  );

  test("stores no sentence: code, rule and values make it", () => {
    for (const { message, remediation } of described)
      expect([message, remediation].join(" ")).not.toMatch(/\{\w+\}/);
  });

  test("says the networks' own titles", () => {
    expect(NETWORK_NAMES.map(titleOf)).toEqual(NETWORK_NAMES.map((name) => networkOf(name).title));
  });

  test("no rule in words is unknown", () => {
    const ofUploads = FILE_FAULTS.map((fault) => `upload.${fault}`);
    const known = new Set([
      ...described.flatMap(({ network, rule }) => [rule, rule.slice(network.length + 1)]),
      ...ofUploads,
    ]);
    expect(Object.keys(english.rules).filter((rule) => !known.has(rule))).toEqual([]);
  });
});
