import { chooseLocale, fillText, type Locale } from "../../runtime/locale.ts";
import { html, type Markup } from "./markup.ts";
import { de } from "./languages/de.ts";
import { en, type Words } from "./languages/en.ts";
import { es } from "./languages/es.ts";
import { fr } from "./languages/fr.ts";
import { pt } from "./languages/pt.ts";

export const LANGUAGES = { en, de, es, fr, pt } as const satisfies Record<Language, Words>;
export type Language = Locale;

export function languageWords(language: Language): Words {
  return LANGUAGES[language];
}

/** Replaces the placeholders of a sentence and returns markup. Values may be markup themselves. */
export function fill(sentence: string, values: Readonly<Record<string, string | Markup>>): Markup {
  const parts = sentence.split(/\{(\w+)\}/).map((part, index) => {
    const value = index % 2 === 0 ? part : (values[part] ?? "");
    return html`${value}`;
  });
  return html`${parts}`;
}

export { chooseLocale as chooseLanguage, fillText };
