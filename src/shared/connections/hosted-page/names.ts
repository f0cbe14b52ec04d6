import { graphemesOf } from "../../networks/contract/graphemes.ts";
import { html, type Markup } from "./markup.ts";

/** Control characters, and the marks that make text read in an order other than the one it is written in. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const GRAPHEMES_MAX = 80;

/** A name that somebody else chose, so that it can be nothing but read. */
export function plainName(text: string): string {
  const plain = text.replace(UNSEEN, "");
  if (plain.length <= GRAPHEMES_MAX) return plain;
  let count = 0;
  for (const { index } of graphemesOf(plain)) {
    if (count === GRAPHEMES_MAX) return `${plain.slice(0, index)}…`;
    count += 1;
  }
  return plain;
}

/** The same for the middle of a sentence: its direction ends with it. */
export function nameOf(text: string): Markup {
  return html`<bdi>${plainName(text)}</bdi>`;
}

/** Stands in for a picture that is not there. */
export function initialOf(name: string): string {
  const text = plainName(name).replace(/^[\s@]+/, "");
  const [first] = graphemesOf(text);
  return (first?.segment ?? "?").toUpperCase();
}
