import tlds from "tlds" with { type: "json" };
import { countGraphemes } from "../contract/text.ts";

const TOP_LEVEL_DOMAINS: ReadonlySet<string> = new Set(tlds);
const TAG_GRAPHEMES_MAX = 64;
const TAG_BYTES_MAX = 640;

const SENTENCE_MARKS: ReadonlySet<string> = new Set(".,;:!?");

type FoundFacet =
  | { readonly kind: "link"; readonly uri: string }
  | { readonly kind: "mention"; readonly handle: string }
  | { readonly kind: "tag"; readonly tag: string };

/** Positions count UTF-16 units, and the end is exclusive. */
export type Stretch = FoundFacet & { readonly start: number; readonly end: number };

export interface Facet {
  readonly index: { readonly byteStart: number; readonly byteEnd: number };
  readonly features: readonly [Readonly<Record<string, string>>];
}

/** Marks of the direction of writing, which are seen by nobody (UAX #9, 2). */
const DIRECTIONS = String.raw`\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`;
const OPENING = String.raw`(\[{<«‹“‘„‚「『（【《〈`;
/** What may come before a link, a mention or a tag: among others the elided word of "l'@alice" or "d'example.com". */
const BEFORE = String.raw`^|[\s${OPENING}${DIRECTIONS}]|(?<=^|[\s${OPENING}${DIRECTIONS}])(?:["'»›]|\p{L}{1,8}['\u2019])`;
/** What closes what was opened. Some quotation marks do either, depending on the language. */
const CLOSING: Readonly<Record<string, string>> = {
  "(": ")",
  "[": "]",
  "{": "}",
  "<": ">",
  '"': '"',
  "'": "'",
  "«": "»",
  "»": "«",
  "‹": "›",
  "›": "‹",
  "“": "”",
  "„": "“”",
  "‘": "’",
  "‚": "‘’",
  "「": "」",
  "『": "』",
  "（": "）",
  "【": "】",
  "《": "》",
  "〈": "〉",
};
const APOSTROPHES: ReadonlySet<string> = new Set(["'", "’"]);
const LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
/** What a host with its port and user may have. An apostrophe after it, as in "example.com's", belongs to the sentence. */
const IN_NAME = String.raw`\p{L}\p{M}\p{N}\u200c\u200d.:@%[\]_-`;
const EMOJI = String.raw`\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}`;
/** An emoji belongs to a host only if an ending follows. After "https://example.com" it belongs to the sentence. */
const IN_AUTHORITY = String.raw`(?:[${IN_NAME}]|[${EMOJI}](?=[\p{L}\p{M}\p{N}\u200d${EMOJI}-]{0,62}\.[a-z]{2}))`;
/** No address has a delimiter of RFC 3986, appendix C. */
const BEHIND_HOST = String.raw`(?:[/?#][^\s<>"${DIRECTIONS}]*)?`;
// The form without a scheme must not continue with a letter of another script, because that would be another name. In
// brackets other than round ones it is more likely code.
const LINK = new RegExp(
  String.raw`(?<=${BEFORE})(?:(?<schemed>https?:\/\/${IN_AUTHORITY}+${BEHIND_HOST})|(?<![<[{"])(?<domain>${LABEL}(?:\.${LABEL})+)(?![\p{L}\p{M}\p{N}@])(?::\d{1,5}(?!\d))?${BEHIND_HOST})`,
  "giu",
);
/** An address of the fediverse, "@ann.example@ann.example", may begin like a handle and names somebody else. */
const MENTION = new RegExp(
  String.raw`(?<=${BEFORE})@(?![A-Za-z0-9._-]*@[A-Za-z0-9])([A-Za-z0-9.-]*[A-Za-z0-9])`,
  "gu",
);
/** Characters that separate nothing visible, but would end up inside a tag. */
const UNSEEN = String.raw`\u00ad\u2060\u200a-\u200d\u20e2`;
/** A mark after the sign belongs to the sign: with U+20E3 it is the emoji of a key. Tags may be joined: "#one/#two". */
const TAG = new RegExp(
  String.raw`(?<=${BEFORE}|[#＃][\p{L}\p{M}\p{N}_]{1,64}\/)[#＃](?!\p{M})([^\s#＃${UNSEEN}${DIRECTIONS}]+)`,
  "gu",
);
/** Begins with a look-behind, so that punctuation within a tag is read once and not from each character. */
const TRAILING_MARKS = /(?<!\p{P})\p{P}+$/u;
const CASHTAG = /(?<=^|[\s(])\$([a-z][a-z0-9]{0,4})(?=$|[\s.,;:!?)"'\u2019])/gi;

/** Finds everything in the text that Bluesky's own clients make clickable, in text order and without overlaps. */
export function findStretches(text: string): readonly Stretch[] {
  const stretches = [...links(text), ...mentions(text), ...tags(text), ...cashtags(text)].sort(
    (left, right) => left.start - right.start || right.end - left.end,
  );
  let end = 0;
  return stretches.filter((stretch) => {
    if (stretch.start < end) return false;
    end = stretch.end;
    return true;
  });
}

/**
 * Returns the record's facets. Offsets count UTF-8 bytes. The network accepts a wrong one and shows it misplaced.
 * Handles that `didByHandle` doesn't contain stay plain text.
 */
export function facetsOf(
  text: string,
  stretches: readonly Stretch[],
  didByHandle: ReadonlyMap<string, string>,
): readonly Facet[] {
  let counted = 0;
  let bytes = 0;
  const bytesUntil = (end: number): number => {
    bytes += Buffer.byteLength(text.slice(counted, end));
    counted = end;
    return bytes;
  };
  return stretches.flatMap((stretch) => {
    const byteStart = bytesUntil(stretch.start);
    const byteEnd = bytesUntil(stretch.end);
    const feature = featureOf(stretch, didByHandle);
    if (feature === undefined) return [];
    return [{ index: { byteStart, byteEnd }, features: [feature] as const }];
  });
}

function featureOf(
  found: FoundFacet,
  didByHandle: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> | undefined {
  switch (found.kind) {
    case "link":
      return { $type: "app.bsky.richtext.facet#link", uri: found.uri };
    case "tag":
      return { $type: "app.bsky.richtext.facet#tag", tag: found.tag };
    default: {
      const did = didByHandle.get(found.handle);
      return did === undefined ? undefined : { $type: "app.bsky.richtext.facet#mention", did };
    }
  }
}

function* links(text: string): Generator<Stretch> {
  for (const match of text.matchAll(LINK)) {
    const domain = match.groups?.["domain"];
    if (domain !== undefined && !hasKnownEnding(domain)) continue;
    // Removes what belongs to the sentence around a link: punctuation, and a bracket that was opened before it.
    const link = withinBrackets(match[0], text, match.index);
    let unopened = count(link, ")") - count(link, "(");
    let end = link.length;
    for (; end > 0; end -= 1) {
      const last = link.charAt(end - 1);
      const isUnopened = last === ")" && unopened > 0;
      if (!isUnopened && !SENTENCE_MARKS.has(last)) break;
      if (isUnopened) unopened -= 1;
    }
    const shown = link.slice(0, end);
    const uri = domain === undefined ? shown : `https://${shown}`;
    if (!URL.canParse(uri) || new URL(uri).hostname === "") continue;
    yield { kind: "link", uri, start: match.index, end: match.index + shown.length };
  }
}

/** Cuts what was found where the bracket or quotation mark directly before it is closed. */
function withinBrackets(found: string, text: string, start: number): string {
  const opening = text.charAt(start - 1);
  const closing = CLOSING[opening];
  if (closing === undefined) return found;
  let depth = 0;
  for (let at = 0; at < found.length; at += 1) {
    const character = found.charAt(at);
    if (closing.includes(character)) {
      const isApostrophe = APOSTROPHES.has(character) && /[\p{L}\p{N}]/u.test(found.charAt(at + 1));
      if (isApostrophe) continue;
      if (depth === 0) return found.slice(0, at);
      depth -= 1;
    } else if (character === opening) depth += 1;
  }
  return found;
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}

function* mentions(text: string): Generator<Stretch> {
  for (const match of text.matchAll(MENTION)) {
    const handle = (match[1] ?? "").toLowerCase();
    const isHandle = /^[^.]+(?:\.[^.]+)+$/.test(handle);
    // `.test` is no real ending. The network reserves it for handles of test servers.
    if (!isHandle || !(hasKnownEnding(handle) || handle.endsWith(".test"))) continue;
    yield { kind: "mention", handle, start: match.index, end: match.index + match[0].length };
  }
}

function* tags(text: string): Generator<Stretch> {
  for (const match of text.matchAll(TAG)) {
    const whole = withinBrackets(match[1] ?? "", text, match.index);
    const tag = whole.replace(TRAILING_MARKS, "");
    if (!isTag(tag)) continue;
    yield { kind: "tag", tag, start: match.index, end: match.index + 1 + tag.length };
  }
}

function isTag(tag: string): boolean {
  if (/^[\d\p{P}]*$/u.test(tag)) return false;
  return countGraphemes(tag) <= TAG_GRAPHEMES_MAX && Buffer.byteLength(tag) <= TAG_BYTES_MAX;
}

function* cashtags(text: string): Generator<Stretch> {
  for (const match of text.matchAll(CASHTAG)) {
    const tag = `$${(match[1] ?? "").toUpperCase()}`;
    yield { kind: "tag", tag, start: match.index, end: match.index + match[0].length };
  }
}

function hasKnownEnding(domain: string): boolean {
  return TOP_LEVEL_DOMAINS.has(domain.slice(domain.lastIndexOf(".") + 1).toLowerCase());
}
