import { fillText, type Locale } from "../../runtime/locale.ts";
import { html, type Markup } from "./markup.ts";
import type { Words } from "./words.ts";
import de from "./languages/de.json" with { type: "json" };
import en from "./languages/en.json" with { type: "json" };
import es from "./languages/es.json" with { type: "json" };
import fr from "./languages/fr.json" with { type: "json" };
import pt from "./languages/pt.json" with { type: "json" };

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

export { fillText };
