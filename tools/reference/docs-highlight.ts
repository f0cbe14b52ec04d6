import { html, Markup } from "../../src/shared/connections/connections.ts";

const JSON_TOKENS =
  /(?<k>"(?:[^"\\]|\\.)*"(?=\s*:))|(?<s>"(?:[^"\\]|\\.)*")|(?<w>\b(?:true|false|null)\b)|(?<n>-?\b\d[\d.]*\b)/g;

const TOKENS = {
  json: JSON_TOKENS,
  js: /(?<k>(?:"(?:[^"\\]|\\.)*"|\b[a-zA-Z]+)(?=:\s))|(?<s>"(?:[^"\\]|\\.)*"|`[^`]*`)|(?<w>\b(?:const|await|true|false|null)\b)|(?<n>\b\d[\d.]*\b)/g,
  python:
    /(?<k>"(?:[^"\\]|\\.)*"(?=:\s)|\b[a-z]+(?==[^=]))|(?<s>f?"(?:[^"\\]|\\.)*")|(?<w>\b(?:import|True|False|None)\b)|(?<n>\b\d[\d.]*\b)/g,
  sh: /(?<s>'(?:[^']|'\\'')*'|"(?:[^"\\]|\\.)*")|(?<k>(?<=\s)-[A-Za-z]\b)|(?<w>^curl\b)/g,
} as const;

export type CodeLanguage = keyof typeof TOKENS;

function pieces(tokens: RegExp, text: string, nested?: RegExp): string {
  const parts: string[] = [];
  let end = 0;
  for (const { 0: token, index, groups = {} } of text.matchAll(tokens)) {
    const [name = ""] = Object.entries(groups).find(([, found]) => found !== undefined) ?? [];
    const escaped =
      nested !== undefined && /^'[[{]/.test(token)
        ? pieces(nested, token)
        : html`<span class="${name}">${token}</span>`.text;
    parts.push(html`${text.slice(end, index)}`.text, escaped);
    end = index + token.length;
  }
  return [...parts, html`${text.slice(end)}`.text].join("");
}

/** Marks the names, texts, numbers and words of code, for the stylesheet to color. */
export function highlighted(language: CodeLanguage, text: string): Markup {
  return new Markup(pieces(TOKENS[language], text, language === "sh" ? JSON_TOKENS : undefined));
}
