import type { TextSegment } from "../network.ts";

/** learn.microsoft.com/linkedin/marketing/community-management/shares/little-text-format, in the order of its table. */
const RESERVED = Array.from("|{}@[]()<>#\\*_~", (character) => `\\${character}`).join("");
const CHARACTER = String.raw`(?:\\[${RESERVED}]|[^${RESERVED}])`;
const ESCAPE = new RegExp(String.raw`\\([${RESERVED}])`, "y");
const HASHTAG = new RegExp(
  String.raw`\{hashtag\|\\([#＃])\|((?:\\[${RESERVED}]|[^${RESERVED}\s])+)\}`,
  "y",
);
const MENTION = new RegExp(
  String.raw`@\[(${CHARACTER}+)\]\((urn:li:(?:person|organization(?:Brand)?):[\w-]+)\)`,
  "y",
);
/**
 * Inside an address some reserved characters may stand as they are: it would not be found as one otherwise. It ends
 * before a delimiter of RFC 3986, appendix C, escaped or not.
 */
const ADDRESS = new RegExp(
  String.raw`https?://(?:\\(?![<>])[${RESERVED}]|[^\s\\|{}[\]()<>*"])+`,
  "iy",
);
const IS_RESERVED = new RegExp(`[${RESERVED}]`);

export interface LittleText {
  readonly segments: readonly TextSegment[];
  /** What a reader sees. */
  readonly text: string;
  /** How much of the source was understood. */
  readonly length: number;
  readonly isTruncated: boolean;
}

/** Knows whom a mention may mean; a name that is not exactly theirs stays plain text. */
export type FindMention = (name: string, urn: string) => string | undefined;

export function unescaped(source: string): string {
  return source.replace(new RegExp(String.raw`\\([${RESERVED}])`, "g"), "$1");
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

/** What stands at one place: some text, perhaps linked, and where the next thing begins. */
interface Piece extends TextSegment {
  readonly end: number;
}

function addressPieces(found: string, end: number): Piece[] {
  const shown = unescaped(found);
  // Punctuation that ends a sentence does not belong to the address before it.
  const address = shown.replace(/[.,;:!?'"]+$/, "");
  const rest = shown.slice(address.length);
  const link = { text: address, href: address, end };
  return rest === "" ? [link] : [link, { text: rest, end }];
}

function piecesAt(source: string, at: number, findMention: FindMention): Piece[] {
  const escape = matchAt(ESCAPE, source, at);
  if (escape !== null) return [{ text: escape[1] ?? "", end: at + 2 }];
  const hashtag = matchAt(HASHTAG, source, at);
  if (hashtag !== null) {
    const [, sign = "", written = ""] = hashtag;
    const tag = unescaped(written);
    const href = `https://www.linkedin.com/feed/hashtag/${encodeURIComponent(tag.toLowerCase())}`;
    return [{ text: `${sign}${tag}`, href, end: at + hashtag[0].length }];
  }
  const mention = matchAt(MENTION, source, at);
  if (mention !== null) {
    const [whole, name = "", urn = ""] = mention;
    const href = findMention(unescaped(name), urn);
    const text = unescaped(name);
    const end = at + whole.length;
    return [href === undefined ? { text, end } : { text, href, end }];
  }
  const address = matchAt(ADDRESS, source, at)?.[0];
  if (address !== undefined) return addressPieces(address, at + address.length);
  const character = source.charAt(at);
  return IS_RESERVED.test(character) ? [] : [{ text: character, end: at + 1 }];
}

/**
 * Reads a commentary in LinkedIn's little text format. A reserved character that is neither escaped nor part of an
 * element ends the text there: that is what readers of the real network get to see.
 */
export function parseLittleText(source: string, findMention: FindMention): LittleText {
  const segments: TextSegment[] = [];
  let plain = "";
  let at = 0;
  const flush = () => {
    if (plain !== "") segments.push({ text: plain });
    plain = "";
  };
  while (at < source.length) {
    const pieces = piecesAt(source, at, findMention);
    const [first] = pieces;
    if (first === undefined) break;
    for (const { text, href } of pieces) {
      if (href === undefined) plain += text;
      else {
        flush();
        segments.push({ text, href });
      }
    }
    at = first.end;
  }
  flush();
  const text = segments.map((segment) => segment.text).join("");
  return { segments, text, length: at, isTruncated: at < source.length };
}
