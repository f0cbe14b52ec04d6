/** Languages of the pages and mails that people see. The first is the default. */
export const LOCALES = ["en", "de", "fr", "es", "pt"] as const;
export type Locale = (typeof LOCALES)[number];

const HEADER_CHARACTERS_MAX = 1_000;
const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

export function isLocale(text: string): text is Locale {
  return LOCALES.some((known) => known === text);
}

/** Chooses a language by the `Accept-Language` header (RFC 9110, 12.5.4). A region counts as its language. */
export function chooseLocale(header: string | null): Locale {
  let chosen: Locale = "en";
  let weight = 0;
  for (const part of (header ?? "").slice(0, HEADER_CHARACTERS_MAX).split(",")) {
    const [range = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const given = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    const quality = QUALITY.test(given) ? Number(given) : 0;
    const name = range === "*" ? "en" : (range.split("-")[0] ?? "");
    if (quality <= weight || !isLocale(name)) continue;
    chosen = name;
    weight = quality;
  }
  return chosen;
}

const NAME = /\{(\w+)\}/;

/** Replaces the placeholders in a sentence with the values, as plain text. */
export function fillText(sentence: string, values: Readonly<Record<string, string>>): string {
  return sentence.replace(new RegExp(NAME, "g"), (braced, name: string) => values[name] ?? braced);
}
