import { graphemesOf, withoutMarks } from "../../networks/contract/text.ts";

/** HTML made by `html` alone, so that everything from outside is escaped. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Markup | readonly Markup[] | null | undefined | false;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

function render(value: Value): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Markup) return value.text;
  if (typeof value === "string" || typeof value === "number") return escape(String(value));
  return value.map((part) => part.text).join("");
}

/**
 * Makes HTML of a template; nothing else does. Escapes every value for text and for quoted attributes. Attributes must
 * be quoted, and URLs checked before.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Markup {
  let text = strings[0] ?? "";
  for (const [index, value] of values.entries()) text += render(value) + (strings[index + 1] ?? "");
  return new Markup(text);
}

const GRAPHEMES_MAX = 80;

/** Returns a name from outside as plain text, without control characters, and bounded. */
export function plainName(text: string): string {
  const plain = withoutMarks(text);
  if (plain.length <= GRAPHEMES_MAX) return plain;
  let count = 0;
  for (const { index } of graphemesOf(plain)) {
    if (count === GRAPHEMES_MAX) return `${plain.slice(0, index)}…`;
    count += 1;
  }
  return plain;
}

/** Returns a name for use within a sentence: isolated, so that its direction of writing does not go on after it. */
export function nameOf(text: string): Markup {
  return html`<bdi>${plainName(text)}</bdi>`;
}

/** Returns the initial that replaces a missing picture. */
export function initialOf(name: string): string {
  const text = plainName(name).replace(/^[\s@]+/, "");
  const [first] = graphemesOf(text);
  return (first?.segment ?? "?").toUpperCase();
}
