import { html, type Markup } from "./markup.ts";
import { de } from "./languages/de.ts";
import { en, type Words } from "./languages/en.ts";
import { es } from "./languages/es.ts";
import { fr } from "./languages/fr.ts";
import { pt } from "./languages/pt.ts";
import type { PAGE_LOCALES } from "../schema.ts";

/** Every language of the page. The first is the default. */
export const LANGUAGES = { en, de, es, fr, pt } as const satisfies Record<Language, Words>;
export type Language = (typeof PAGE_LOCALES)[number];

const HEADER_CHARACTERS_MAX = 1_000;

export function wordsOf(language: Language): Words {
  return LANGUAGES[language];
}

function isLanguage(text: string): text is Language {
  return Object.hasOwn(LANGUAGES, text);
}

/** Chooses the page's language for an `Accept-Language` (RFC 9110, 12.5.4). A region is as good as its language. */
export function chooseLanguage(header: string | null): Language {
  let chosen: Language = "en";
  let weight = 0;
  for (const part of (header ?? "").slice(0, HEADER_CHARACTERS_MAX).split(",")) {
    const [range = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const quality = weightOf(parameters);
    const name = range === "*" ? "en" : (range.split("-")[0] ?? "");
    if (quality <= weight || !isLanguage(name)) continue;
    chosen = name;
    weight = quality;
  }
  return chosen;
}

function weightOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  if (given === undefined) return 1;
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(given) ? Number(given) : 0;
}

const NAME = /\{(\w+)\}/;

/** Fills the values into a sentence, as text. */
export function fillText(sentence: string, values: Readonly<Record<string, string>>): string {
  return sentence.replace(new RegExp(NAME, "g"), (braced, name: string) => values[name] ?? braced);
}

/** Fills the values into a sentence, as markup. Values may be markup themselves. */
export function fill(sentence: string, values: Readonly<Record<string, string | Markup>>): Markup {
  const parts = sentence.split(NAME).map((part, index) => {
    const value = index % 2 === 0 ? part : (values[part] ?? "");
    return html`${value}`;
  });
  return html`${parts}`;
}
