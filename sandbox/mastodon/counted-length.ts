import { domainToASCII } from "node:url";
import tlds from "tlds" with { type: "json" };

/*
 * How a Mastodon server counts a text, written from the server's source: one large pattern, as there. The relay counts in
 * another way, so that a mistake of either shows in a refusal.
 *
 * - `app/validators/status_length_validator.rb`: grapheme clusters of the content warning and the text, in which each
 *   address is 23 letters and a remote mention has no host
 * - `config/initializers/twitter_regex.rb`: paths, queries and schemes of its own
 * - twitter-text 3.1, `lib/twitter-text/regex.rb`: hosts, and what may stand before an address
 * - `app/models/account.rb`, `app/lib/extractor.rb`: mentions, and which matches count
 */

const PLACEHOLDER = "x".repeat(23);
/** Nobody posts this; the pattern would take a while. */
const COUNTED_MAX = 20_000;

const anyOf = (...alternatives: readonly string[]): string => `(?:${alternatives.join("|")})`;
const maybe = (pattern: string): string => `(?:${pattern})?`;

const ACCENTED =
  "\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\xff\\u0100-\\u024f\\u0253\\u0254\\u0256\\u0257\\u0259\\u025b\\u0263\\u0268\\u026f\\u0272\\u0289\\u028b\\u02bb\\u0300-\\u036f\\u1e00-\\u1eff";
const INVALID = "\\ufffe\\ufeff\\uffff";
const DIRECTION = "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069";
const ASCII_MARKS = "!-\\/:-@\\[\\]\\^_`{-~";

const LETTER = `[^${ASCII_MARKS}${DIRECTION}${INVALID}\\p{Cc}\\p{White_Space}\\u180e]`;
const SUBDOMAIN = `${maybe(`${LETTER}(?:[-_]|${LETTER})*`)}${LETTER}\\.`;
const DOMAIN = `${maybe(`${LETTER}(?:-|${LETTER})*`)}${LETTER}\\.`;
/** Those of twitter-text's list: `onion` is no registry's, and some are younger than the list. */
const YOUNGER = new Set(["kids", "music", "spa"]);
const ENDINGS = ["onion", ...tlds.filter((ending) => !YOUNGER.has(ending))];
const ENDING = anyOf(
  `${anyOf(...[...ENDINGS].sort((one, other) => other.length - one.length))}(?=[^0-9a-z@+-]|$)`,
  "xn--[0-9a-z]+",
);
const HOST = `(?:${SUBDOMAIN})*${DOMAIN}${ENDING}`;

/** Brackets around characters of one kind, which may be nested once. */
const brackets = (inside: string): string =>
  `\\(${anyOf(`${inside}+`, `${inside}*\\(${inside}+\\)${inside}*`)}\\)`;

const PATH_CHARACTER = "[^\\p{White_Space}<>()?]";
const OLD_PATH_CHARACTER = `[a-z\\p{Script=Cyrillic}0-9!*';:=+,.$\\/%#\\[\\]\\p{Pd}_~&|@${ACCENTED}]`;
const PATH_ENDING = anyOf(
  "[^\\p{White_Space}()?!*\"'「」<>;:=,.$%\\[\\]~&|@]",
  brackets(OLD_PATH_CHARACTER),
);
const PATH = anyOf(
  `${PATH_CHARACTER}*(?:${brackets(PATH_CHARACTER)}${PATH_CHARACTER}*)*${PATH_ENDING}`,
  `${PATH_CHARACTER}+\\/`,
);
const FAR =
  "\\u{a0}-\\u{d7ff}\\u{e000}-\\u{fdcf}\\u{fdf0}-\\u{ffef}\\u{10000}-\\u{1fffd}\\u{20000}-\\u{2fffd}\\u{30000}-\\u{3fffd}\\u{40000}-\\u{dfffd}\\u{e1000}-\\u{10fffd}";
const QUERY = `\\?[a-z0-9!?*'();:&=+$\\/%#\\[\\]\\-_.,~|@\\^${FAR}]*[a-z0-9_&=#\\/\\-${FAR}]`;
const SCHEME = "(?:https?|dat|dweb|ipfs|ipns|ssb|gopher|gemini):\\/\\/";
const BEFORE = anyOf(`[^a-z0-9@＠$#＃${INVALID}]`, `[${DIRECTION}]`, "^");

const ADDRESS = new RegExp(
  `(${BEFORE})((${SCHEME})?(${HOST})${maybe(":[0-9]+")}${maybe(`\\/${PATH}*`)}${maybe(QUERY)})`,
  "gimu",
);
const ADDRESS_MAX = 4096;
const LABEL_MAX = 63;

const WORD = "[\\p{L}\\p{M}\\p{Nd}\\p{Pc}]";
const MENTION = new RegExp(
  `(?<![=\\/]|${WORD})@([a-z0-9_]+(?:[.-]+[a-z0-9_]+)*)(?:@(${WORD}+(?:[.-]+${WORD}+)*))?`,
  "giu",
);
/** What follows the whole match of a mention that is none. */
const GOES_ON = new RegExp(`^(?:[@＠${ACCENTED}]|:\\/\\/)`, "iu");
/** The longest name of a host (RFC 1035). */
const HOST_MAX = 253;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

interface Entity {
  readonly start: number;
  readonly end: number;
  readonly countsAs: string;
}

/** International names are checked by the tables of 2002, which know no later emoji and leave joiners out. */
function encoded(label: string): string {
  if (/^[\x20-\x7e]+$/.test(label)) return label;
  return /[\u{1f000}-\u{1faff}]/u.test(label)
    ? ""
    : domainToASCII(label.replace(/\u200c|\u200d/g, ""));
}

function isHost(host: string, address: string): boolean {
  const labels = host.split(".").map(encoded);
  const added = Math.max(0, labels.join(".").length - Array.from(host).length);
  const isNamed = labels.every(({ length }) => length > 0 && length <= LABEL_MAX);
  return isNamed && Array.from(address).length + added <= ADDRESS_MAX;
}

function entitiesOf(text: string): Entity[] {
  const addresses = [...text.matchAll(ADDRESS)].flatMap((match): Entity[] => {
    const [, before = "", address = "", scheme, host = ""] = match;
    if (scheme === undefined || !isHost(host, address)) return [];
    const start = match.index + before.length;
    return [{ start, end: start + address.length, countsAs: PLACEHOLDER }];
  });
  const mentions = [...text.matchAll(MENTION)].flatMap((match): Entity[] => {
    const [whole, name = "", host = ""] = match;
    const end = match.index + whole.length;
    if (GOES_ON.test(text.slice(end, end + 3)) || host.length > HOST_MAX) return [];
    return [{ start: match.index, end, countsAs: `@${name}` }];
  });
  return [...addresses, ...mentions].sort((one, other) => one.start - other.start);
}

/** Returns the text as it is counted. */
export function countedText(text: string): string {
  if (/^\p{White_Space}*$/u.test(text)) return "";
  let counted = "";
  let at = 0;
  for (const { start, end, countsAs } of entitiesOf(text)) {
    // One that overlaps the one before is none.
    if (start < at) continue;
    counted += text.slice(at, start) + countsAs;
    at = end;
  }
  return counted + text.slice(at);
}

/** Characters of a post as the server counts them. Addresses in the content warning are not shortened. */
export function countedLength(text: string, spoilerText: string): number {
  if (text.length > COUNTED_MAX) return text.length;
  return [...graphemes.segment(spoilerText + countedText(text))].length;
}
