import { fillText, type Locale } from "../runtime/locale.ts";
import type { FindingCode, SentenceValues } from "./contract/errors.ts";
import type { Network } from "./contract/network.ts";
import { DEVELOPER_HINTS } from "./contract/developer-hints.ts";
import en from "./words/en.json" with { type: "json" };

/*
 * The sentences of findings and of legs' errors. Rows store a code, a rule and values, never a sentence: it is written for
 * each reader, in their language. Sentences are for the person who posts and know nothing of fields; hints for the caller
 * are in `contract/developer-hints.ts`. English is always there. Another language is loaded for the first request in it,
 * because all together are a large part of what a read loads.
 */

type EnglishFindings = typeof en;

interface Sentences {
  readonly message: string;
  readonly remediation: string;
}

/** The English file defines the texts. The compiler finds texts that another language lacks. */
interface FindingWords extends EnglishFindings {
  readonly codes: EnglishFindings["codes"] & Readonly<Record<FindingCode, Sentences>>;
}

const LANGUAGES: Readonly<
  Record<Exclude<Locale, "en">, () => Promise<{ readonly default: FindingWords }>>
> = {
  de: () => import("./words/de.json", { with: { type: "json" } }),
  fr: () => import("./words/fr.json", { with: { type: "json" } }),
  es: () => import("./words/es.json", { with: { type: "json" } }),
  pt: () => import("./words/pt.json", { with: { type: "json" } }),
};

const spoken = new Map<Locale, FindingWords>([["en", en]]);

/** Loads the sentences of a language, so that `inWords` has them. Until then, it speaks English. */
export async function loadSentences(locale: Locale): Promise<FindingWords> {
  const known = spoken.get(locale);
  if (known !== undefined || locale === "en") return known ?? en;
  const words = (await LANGUAGES[locale]()).default;
  spoken.set(locale, words);
  return words;
}

/** A finding or an error as it is stored. */
export interface StoredFinding<Code extends string = string> {
  readonly code: Code;
  /** `<network>.<subject>.<what>`. */
  readonly rule: string | null;
  readonly values: SentenceValues;
  /** Path of the request's field: `text`, `mediaUrls`, `platformOptions.bluesky.langs` … */
  readonly field: string | null;
}

/** Whose finding it is, and who reads it. */
export interface FindingReader {
  readonly network: string;
  readonly locale: Locale;
  /** The call that failed. The default is the one that publishes. */
  readonly call?: keyof Network["calls"];
}

/** Titles that aren't the name with a capital letter. The networks' own code, which has all, isn't loaded to read posts. */
const TITLES: Readonly<Record<string, string>> = { linkedin: "LinkedIn" };

/** Returns the title of a network. */
export function titleOf(name: string): string {
  return TITLES[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
}

type WordTable<Of> = Readonly<Record<string, Of>>;

/** Returns the entries of a table for these keys, as far as it has them. */
function entriesOf<Of>(table: WordTable<Of>, ...keys: readonly string[]): readonly Of[] {
  return keys.flatMap((key) => (Object.hasOwn(table, key) ? (table[key] ?? []) : []));
}

/** Reports whether there is a value for each placeholder. A network's refusal may lack those of a check. A path's stay. */
function isFilledBy(text: string, values: SentenceValues): boolean {
  return [...text.matchAll(/(?<!\/)\{(\w+)\}/g)].every(([, name = ""]) =>
    Object.hasOwn(values, name),
  );
}

/**
 * Returns a stored finding in the words of its reader. The sentences are those of its rule: of one network, or what all
 * have under this name. Without them, or without their values, they are those of the call that failed, or of the code.
 */
export function inWords<Of extends StoredFinding>(
  found: Of,
  { network, locale, call = "publish" }: FindingReader,
) {
  const { code, field, rule, values: given } = found;
  const words: FindingWords = spoken.get(locale) ?? en;
  const [, ...parts] = (rule ?? "").split(".");
  const name = parts.join(".");
  const ofCall: WordTable<Sentences> = call === "publish" ? {} : words.calls[call];
  const values: SentenceValues = { ...given, network: titleOf(network), platform: network };
  const said = [
    ...entriesOf<Sentences>(words.rules, rule ?? "", name),
    ...entriesOf(ofCall, code),
    ...entriesOf<Sentences>(words.codes, code),
  ].find(({ message, remediation }) => isFilledBy(message + remediation, values));
  const { message, remediation } = said ?? words.codes.invalid_request;
  // A file of the post is known by its index, and a picture by the option that names it.
  const option = parts[0] === "media" ? (field?.split(".").at(-1) ?? "") : "";
  const [picture] = entriesOf<Sentences>(words.pictures, option);
  const shown = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === "number" ? value.toLocaleString(locale) : value,
    ]),
  );
  const hints = entriesOf(DEVELOPER_HINTS, rule ?? "", name, code);
  const hint = hints.find((text) => isFilledBy(text, values));
  const { values: _values, code: _code, rule: _rule, ...place } = found;
  return {
    code: found.code as Of["code"],
    rule: found.rule as Of["rule"],
    message: fillText(picture === undefined ? message : `${picture.message} ${message}`, shown),
    remediation: fillText(picture?.remediation ?? remediation, shown),
    developerHint: hint === undefined ? null : fillText(hint, shown),
    ...place,
  };
}

/** Returns the English sentences of a code, for documents. `network` stands for the network's title. */
export function wordsOfCode(code: FindingCode, network = "The network"): Sentences {
  const { message, remediation } = (en as FindingWords).codes[code];
  const inSentence = (text: string) =>
    fillText(text.replace(/(?<=[^.!] )\{network\}/g, network.replace(/^The /, "the ")), {
      network,
    });
  return { message: inSentence(message), remediation: inSentence(remediation) };
}
