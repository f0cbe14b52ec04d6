import { countGraphemes } from "../contract/draft-rules.ts";

const LETTERS = String.raw`a-z0-9\u00c0-\u024f\u0400-\u04ff`;
const PATH = String.raw`(?:\([${LETTERS}_\-.~%/]*\)|[${LETTERS}_\-.~!*';:=+,$%/|@&#])`;
const PATH_END = String.raw`(?:\([${LETTERS}_\-.~%/]*\)|[${LETTERS}=_#/+\-])`;
const QUERY = String.raw`[a-z0-9!?*'();:&=+$%#\[\]\-_.,~/|@]`;
/**
 * What the server shortens: a scheme, a host with a dot, and a path and query that do not end in punctuation, which
 * counts on its own. A scheme in the middle of a word is no link.
 */
const URLS = new RegExp(
  String.raw`(?<=^|[^a-z0-9@＠$#＃])https?:\/\/[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+(?::\d{1,5})?` +
    String.raw`(?:\/(?:${PATH}{0,2000}${PATH_END})?)?(?:\?${QUERY}{0,2000}[a-z0-9_&=#/-])?`,
  "giu",
);
/** A name neither begins nor ends with a dot or dash; said by looking around, so that no part of it can be read in two ways. */
const MENTIONS =
  /(?<![=/\p{L}\p{N}_])@(?![.-])([a-z0-9_.-]+)(?<![.-])@[\p{L}\p{N}_.-]*[\p{L}\p{N}_]/giu;

/** The text with what the server counts in place of links and of mentions of accounts elsewhere. */
export function countedText(text: string, charactersPerUrl: number): string {
  return text.replace(URLS, "x".repeat(charactersPerUrl)).replace(MENTIONS, "@$1");
}

/** A post's length as the server judges it: the content warning counts, too. */
export function countCharacters(
  text: string,
  spoilerText: string,
  charactersPerUrl: number,
): number {
  return countGraphemes(spoilerText + countedText(text, charactersPerUrl));
}
