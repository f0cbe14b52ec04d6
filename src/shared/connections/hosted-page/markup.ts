import { graphemesOf, withoutMarks } from "../../networks/contract/text.ts";
import { html, type Markup } from "../../runtime/markup.ts";

export { html, Markup } from "../../runtime/markup.ts";

const GRAPHEMES_MAX = 80;

/** Returns a name from outside as plain text, without control characters and shortened. */
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

/** Returns a name for use in a sentence, isolated so that its writing direction doesn't affect what follows. */
export function isolatedName(text: string): Markup {
  return html`<bdi>${plainName(text)}</bdi>`;
}

export function initialOf(name: string): string {
  const text = plainName(name).replace(/^[\s@]+/, "");
  const [first] = graphemesOf(text);
  return (first?.segment ?? "?").toUpperCase();
}
