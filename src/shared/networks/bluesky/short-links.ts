import { countGraphemes, graphemesOf } from "../contract/text.ts";
import { findStretches, type Stretch } from "./facets.ts";

export const GRAPHEMES_MAX = 300;
export const BYTES_MAX = 3000;

/** A text as it is published, and what is clickable in it. */
export interface ShownText {
  readonly text: string;
  readonly stretches: readonly Stretch[];
  /** Whether links are shown shorter than they were written. */
  readonly isShortened: boolean;
}

/**
 * Returns a text as it is published. A text that is too long shows its links shortened, as the network's own app does,
 * and each leads to its whole address. Any other text stays as it is.
 */
export function shownText(text: string): ShownText {
  const stretches = findStretches(text);
  const asWritten = { text, stretches, isShortened: false };
  if (fits(text)) return asWritten;
  const parts: string[] = [];
  const moved: Stretch[] = [];
  let [from, length] = [0, 0];
  const add = (part: string) => {
    parts.push(part);
    length += part.length;
  };
  for (const stretch of stretches) {
    add(text.slice(from, stretch.start));
    const start = length;
    const written = text.slice(stretch.start, stretch.end);
    add(stretch.kind === "link" ? shortLink(written) : written);
    moved.push({ ...stretch, start, end: length });
    from = stretch.end;
  }
  add(text.slice(from));
  const short = parts.join("");
  return short.length < text.length
    ? { text: short, stretches: moved, isShortened: true }
    : asWritten;
}

export function fits(text: string): boolean {
  return countGraphemes(text) <= GRAPHEMES_MAX && Buffer.byteLength(text) <= BYTES_MAX;
}

/** Lengths of the network's app (`toShortUrl` of bluesky-social/social-app, `src/lib/strings/url-helpers.ts`). */
const PATH_GRAPHEMES_MAX = 15;
const SHOWN_GRAPHEMES = 13;

/** Returns a link without its scheme, and with the beginning of its path and query alone. */
function shortLink(link: string): string {
  const [, host = link, path = ""] = /^(?:https?:\/\/)?([^/?#]*)([^]*)$/i.exec(link) ?? [];
  if (path === "/") return host;
  const letters = Array.from(graphemesOf(path), ({ segment }) => segment);
  return letters.length <= PATH_GRAPHEMES_MAX
    ? `${host}${path}`
    : `${host}${letters.slice(0, SHOWN_GRAPHEMES).join("")}…`;
}
