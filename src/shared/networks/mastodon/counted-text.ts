import { LATIN_LETTER, LinkScanner, type Stretch } from "./link-scanner.ts";

const NAME_CHARACTERS = String.raw`\p{L}\p{M}\p{Nd}\p{Pc}`;
const MENTION = new RegExp(
  String.raw`(?<![=/${NAME_CHARACTERS}])@([a-z0-9_]+(?:[.-]+[a-z0-9_]+)*)` +
    String.raw`(?:@([${NAME_CHARACTERS}]+(?:[.-]+[${NAME_CHARACTERS}]+)*))?`,
  "giu",
);
const DOMAIN_CHARACTERS_MAX = 253;
const NOT_BLANK = /\P{White_Space}/u;

/** A part of a text, and what the server counts in its place. */
interface Counted extends Stretch {
  readonly as: string;
  readonly isLink: boolean;
}

/** Returns whether what follows a mention shows that it was none. */
function isNoMention(text: string, end: number): boolean {
  const next = text.charAt(end);
  return /[@＠]/u.test(next) || LATIN_LETTER.has(next) || text.startsWith("://", end);
}

function mentionsOf(text: string): Counted[] {
  return [...text.matchAll(MENTION)].flatMap(({ 0: whole, 1: name, 2: domain = "", index }) => {
    const end = index + whole.length;
    if (isNoMention(text, end) || Array.from(domain).length > DOMAIN_CHARACTERS_MAX) return [];
    return [{ start: index, end, as: `@${name}`, isLink: false }];
  });
}

function linksOf(text: string): Counted[] {
  const characters = Array.from(text);
  const found = new LinkScanner(characters).links();
  if (characters.length === text.length)
    return found.map((link) => ({ ...link, as: "x", isLink: true }));
  const offsets = new Int32Array(characters.length + 1);
  for (const [at, character] of characters.entries())
    offsets[at + 1] = (offsets[at] ?? 0) + character.length;
  const offsetOf = (at: number) => offsets[at] ?? text.length;
  return found.map(({ start, end }) => ({
    start: offsetOf(start),
    end: offsetOf(end),
    as: "x",
    isLink: true,
  }));
}

/**
 * Returns the text with mentions of remote accounts replaced by what the server counts for them, and each link by one
 * character; `links` is how many there were. A link is never written out at its counted length: the server says what
 * that is, and may say anything.
 */
export function countedText(text: string): { readonly text: string; readonly links: number } {
  if (!NOT_BLANK.test(text)) return { text: "", links: 0 };
  const all = [...linksOf(text), ...mentionsOf(text)].toSorted(
    (left, right) => left.start - right.start,
  );
  const parts: string[] = [];
  let [links, end] = [0, 0];
  for (const one of all) {
    // What overlaps with an earlier one does not count.
    if (one.start < end) continue;
    parts.push(text.slice(end, one.start), one.as);
    if (one.isLink) links += 1;
    end = one.end;
  }
  return { text: [...parts, text.slice(end)].join(""), links };
}
