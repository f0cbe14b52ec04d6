import { domainToASCII } from "node:url";
import { hostEndings } from "./host-endings.ts";

/*
 * What a Mastodon server counts of a text, by the rules of twitter-text 3.1 with Mastodon's own paths, queries and schemes.
 * Hosts are found in one run from the end of the text, since the server's pattern goes back over what it has read.
 */

const LATIN = String.raw`\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0253\u0254\u0256\u0257\u0259\u025b\u0263\u0268\u026f\u0272\u0289\u028b\u02bb\u0300-\u036f\u1e00-\u1eff`;
const NAME = String.raw`\p{L}\p{M}\p{Nd}\p{Pc}`;
const MENTION = new RegExp(
  String.raw`(?<![=/${NAME}])@([a-z0-9_]+(?:[.-]+[a-z0-9_]+)*)` +
    String.raw`(?:@([${NAME}]+(?:[.-]+[${NAME}]+)*))?`,
  "giu",
);
/** What follows a mention that is none. */
const NO_MENTION = new RegExp(String.raw`[@＠${LATIN}]|:\/\/`, "iuy");
const DOMAIN_CHARACTERS_MAX = 253;

const SCHEME = /(?:https?|dat|dweb|ipfs|ipns|ssb|gopher|gemini):\/\//iuy;
/** What may not stand before an address. */
const NOT_BEFORE = /[a-z0-9@＠$#＃\ufffe\ufeff\uffff]/iu;
/** Characters that no host has: direction marks, punctuation except the backslash, spaces and control characters. */
const NO_HOST = String.raw`\p{Cc}\p{White_Space}\u061c\u180e\u200e\u200f\u202a-\u202e\u2066-\u2069!-\/:-@[\]-\u0060{-~\ufffe\ufeff\uffff`;
const NOT_IN_HOST = new RegExp(`[${NO_HOST}]`, "u");
/** The longest ending has 18 characters. */
const ENDING = new RegExp(`(?:[^${NO_HOST}]|-){1,18}`, "uy");
const ENCODED_ENDING = /xn--[0-9a-z]+/iuy;
/** Characters after which the host continues, so that they can't follow its ending. */
const HOST_GOES_ON = /[0-9a-z@+-]/iu;
const IN_PATH = String.raw`[^\p{White_Space}<>()?]`;
/** What ends a path: the rest belongs to the sentence around. Brackets do where all in them is one of the last. */
const PATH_END = String.raw`[^\p{White_Space}()?!*"'「」<>;:=,.$%[\]~&|@]`;
const IN_LAST = String.raw`[a-z\p{Script=Cyrillic}0-9!*';:=+,.$\/%#[\]\p{Pd}_~&|@${LATIN}]`;
const BRACKETS = String.raw`\((?:${IN_PATH}+|${IN_PATH}*\(${IN_PATH}+\)${IN_PATH}*)\)`;
const LAST_BRACKETS = String.raw`\((?:${IN_LAST}+|${IN_LAST}*\(${IN_LAST}+\)${IN_LAST}*)\)`;
const IN_QUERY = String.raw`\p{Cc} "<>\\\u0060{}\ufff0-\uffff\p{Noncharacter_Code_Point}\u{e0000}-\u{e0fff}`;
/** What an address has behind its host: a port, a path and a query. */
const BEHIND_HOST = new RegExp(
  String.raw`(?::\d+)?(?:\/(?:(?:${IN_PATH}|${BRACKETS})*(?:${PATH_END}|${LAST_BRACKETS}))?)?` +
    String.raw`(?:\?[^${IN_QUERY}]*[^${IN_QUERY}!?*'();:+$%[\].,~|@^])?`,
  "iuy",
);
/** The server doesn't count longer addresses as links. */
const URL_CHARACTERS_MAX = 4_096;
/** The longest part of a host name (RFC 1034). */
const LABEL_CHARACTERS_MAX = 63;

/** Returns where a pattern that matches here ends; 0 where it does not. */
function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : 0;
}

/** Returns the end of the host ending that begins here, or 0. */
function endingAt(text: string, start: number): number {
  const endings = hostEndings();
  for (let end = endOf(ENDING, text, start); end > start; end -= 1) {
    const isKnown = endings.has(text.slice(start, end).toLowerCase());
    if (isKnown && !HOST_GOES_ON.test(text.charAt(end))) return end;
  }
  return endOf(ENCODED_ENDING, text, start);
}

/** Returns for each character where the host that begins there ends, at the last ending that is known; 0: there is none. */
function hostEnds(text: string): Int32Array {
  const ends = new Int32Array(text.length + 2);
  // Where the host behind the next dot ends, and its ending alone, which no underscore may stand before.
  let [rest, own] = [0, 0];
  for (let at = text.length - 1; at >= 0; at -= 1) {
    const character = text.charAt(at);
    const isHost = !NOT_IN_HOST.test(character);
    if (!isHost && character !== "-" && character !== "_") [rest, own] = [0, 0];
    if (text[at + 1] === ".")
      [rest, own] = isHost ? [ends[at + 2] ?? 0, endingAt(text, at + 2)] : [0, 0];
    if (character === "_") own = 0;
    if (isHost) ends[at] = rest || own;
  }
  return ends;
}

/** A part of a text, and what the server counts instead of it. */
interface CountedPart {
  readonly start: number;
  readonly end: number;
  readonly as: string;
}

const LINK = "x";

function linksOf(text: string): CountedPart[] {
  const ends = hostEnds(text);
  // A host without a scheme is no link, and neither is the part after it.
  const addressAt = (start: number) => {
    const host = endOf(SCHEME, text, start);
    const linked = ends[host] ?? 0;
    const hostEnd = (host > 0 && linked) || (ends[start] ?? 0);
    if (hostEnd === 0) return undefined;
    const end = endOf(BEHIND_HOST, text, hostEnd);
    const isLink =
      host > 0 && linked > 0 && isHostName(text.slice(host, linked), text.slice(start, end));
    return { start, end, as: isLink ? LINK : "" };
  };
  const found: CountedPart[] = [];
  for (let at = 0; at < text.length;) {
    const behind = NOT_BEFORE.test(text.charAt(at)) ? undefined : addressAt(at + 1);
    const beginsLine = at === 0 || text[at - 1] === "\n";
    const address = behind ?? (beginsLine ? addressAt(at) : undefined);
    if (address?.as === LINK) found.push(address);
    at = address?.end ?? at + 1;
  }
  return found;
}

/** Full-width forms of ASCII and dots in one character, which the server's check accepts as their ASCII forms. */
const STANDS_FOR_ASCII = /[\uff01-\uff5e\u2024-\u2026]/gu;
/** Joiners, which the server leaves out. */
const JOINERS = /[\u200c\u200d]/gu;
/** Unknown to the tables of 2002 by which the server checks hosts. */
const LATER_EMOJI = /[\u{1f000}-\u{1ffff}]/u;

/** Returns a part of a host name in the form of the name system, or "" when it can't be part of one. */
function encodedLabel(label: string): string {
  if (LATER_EMOJI.test(label)) return "";
  if (/^\p{ASCII}*$/u.test(label)) return label;
  return domainToASCII(label.replaceAll(JOINERS, "").replaceAll(STANDS_FOR_ASCII, "x"));
}

/** Reports whether a host is valid by the rules of international names, and the address not too long with it. */
function isHostName(name: string, url: string): boolean {
  const labels = name.split(".").map(encodedLabel);
  const added = Math.max(0, labels.join(".").length - Array.from(name).length);
  return (
    labels.every(({ length }) => length > 0 && length <= LABEL_CHARACTERS_MAX) &&
    Array.from(url).length + added <= URL_CHARACTERS_MAX
  );
}

/**
 * Returns the text with mentions of remote accounts replaced by what the server counts, and each link by one character.
 * `links` is their number. A link is never expanded to its counted length, because the server states that and may state
 * anything.
 */
export function countedText(text: string): { readonly text: string; readonly links: number } {
  if (!/\P{White_Space}/u.test(text)) return { text: "", links: 0 };
  const all = [
    ...linksOf(text),
    ...[...text.matchAll(MENTION)].flatMap(({ 0: whole, 1: name, 2: domain = "", index }) => {
      const end = index + whole.length;
      const isNone =
        endOf(NO_MENTION, text, end) > 0 || Array.from(domain).length > DOMAIN_CHARACTERS_MAX;
      return isNone ? [] : [{ start: index, end, as: `@${name}` }];
    }),
  ].toSorted((left, right) => left.start - right.start);
  const parts: string[] = [];
  let [links, end] = [0, 0];
  for (const one of all) {
    // A part that overlaps an earlier one doesn't count.
    if (one.start < end) continue;
    parts.push(text.slice(end, one.start), one.as);
    if (one.as === LINK) links += 1;
    end = one.end;
  }
  return { text: [...parts, text.slice(end)].join(""), links };
}
