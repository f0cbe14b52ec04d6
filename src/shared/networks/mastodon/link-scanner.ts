import { domainToASCII } from "node:url";
import { HOST_ENDING_MAX, hostEndings } from "./host-endings.ts";

/** Asks whether a character is of a class. ASCII, which is most of all text, is asked once. */
class CharacterClass {
  readonly #pattern: RegExp;
  #ascii: readonly boolean[] | undefined;

  constructor(pattern: RegExp) {
    this.#pattern = pattern;
  }

  has(character: string): boolean {
    const code = character.codePointAt(0) ?? 0;
    if (code >= ASCII_SIZE) return this.#pattern.test(character);
    this.#ascii ??= Array.from({ length: ASCII_SIZE }, (_, one) =>
      this.#pattern.test(String.fromCharCode(one)),
    );
    return this.#ascii[code] === true;
  }
}

const ASCII_SIZE = 128;

/** A part of a text, in code points. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Longer addresses are none to the server. */
const URL_CHARACTERS_MAX = 4_096;
/** The longest part of a host name (RFC 1034). */
const LABEL_CHARACTERS_MAX = 63;
/** The longest path of an address of Twitter's own service; longer ones are no links. */
const SHORT_PATH_MAX = 40;

const SCHEME = /^(?:https?|dat|dweb|ipfs|ipns|ssb|gopher|gemini):\/\//iu;
const SCHEME_START = new CharacterClass(/[dghis]/iu);
const SCHEME_CHARACTERS_MAX = 9;
/** What may not stand before a link. */
const NOT_BEFORE = new CharacterClass(/[a-z0-9@＠$#＃\ufffe\ufeff\uffff]/iu);
/** What no host has: direction marks, punctuation but the backslash, spaces and control characters. */
const NOT_IN_HOST = new CharacterClass(
  /[\p{Cc}\p{White_Space}\u061c\u180e\u200e\u200f\u202a-\u202e\u2066-\u2069!-/:-@[\]-`{-~\ufffe\ufeff\uffff]/u,
);
/** What can't follow an ending of a host: there the host goes on. */
const HOST_GOES_ON = new CharacterClass(/[0-9a-z@+-]/iu);
const ENCODED_LABEL = new CharacterClass(/[0-9a-z]/iu);
const DIGIT = new CharacterClass(/[0-9]/u);
const NOT_IN_PATH = new CharacterClass(/[\p{White_Space}<>()?]/u);
/** What may be in a path and does not end it: it belongs to the sentence around. */
const NOT_AT_PATH_END = new CharacterClass(/[\p{White_Space}()?!*"'「」<>;:=,.$%[\]~&|@]/u);
const LATIN = String.raw`\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0253\u0254\u0256\u0257\u0259\u025b\u0263\u0268\u026f\u0272\u0289\u028b\u02bb\u0300-\u036f\u1e00-\u1eff`;
/** Latin letters beyond ASCII, and accents. */
export const LATIN_LETTER = new CharacterClass(new RegExp(`[${LATIN}]`, "iu"));
/** Brackets end a path only where all in them is one of these. */
const IN_LAST_BRACKETS = new CharacterClass(
  new RegExp(String.raw`[a-z\p{Script=Cyrillic}0-9!*';:=+,.$/%#[\]\p{Pd}_~&|@()${LATIN}]`, "iu"),
);
const NOT_IN_QUERY = new CharacterClass(
  /[\p{Cc} "<>\\`{}\ufff0-\uffff\p{Noncharacter_Code_Point}\u{e0000}-\u{e0fff}]/u,
);
/** What may be in a query and does not end it. */
const NOT_AT_QUERY_END = new CharacterClass(/[!?*'();:+$%[\].,~|@^]/u);
const BEYOND_ASCII = /\P{ASCII}/u;
/** Unknown to the tables of the year 2002 by which the server judges hosts. */
const LATER_EMOJI = /[\u{1f000}-\u{1ffff}]/u;

/** A part of a host, up to a dot. */
interface Label {
  /** Where the host ends that goes on behind the dot; 0: none does. */
  readonly restEnd: number;
  /** Where the ending behind the dot ends, if this is the name before it, which has no underscore; 0: there is none. */
  readonly ownEnd: number;
}

/**
 * Finds the links of a text as a Mastodon server does: by the rules of twitter-text 3.1 with Mastodon's own paths,
 * queries and schemes. Written as a scanner, since the server's pattern goes back over what it has read. Each character
 * is read a bounded number of times.
 */
export class LinkScanner {
  readonly #text: readonly string[];
  /** Where the host that begins at a character ends, at the last ending that is known; 0: there is none. */
  readonly #hostEnds: Int32Array;

  constructor(text: readonly string[]) {
    this.#text = text;
    this.#hostEnds = this.#findHosts();
  }

  /** Returns the links, first to last. */
  links(): Stretch[] {
    const found: Stretch[] = [];
    let at = 0;
    while (at < this.#text.length) {
      const next = this.#addressNear(at);
      if (next?.link !== undefined) found.push(next.link);
      at = next?.end ?? at + 1;
    }
    return found;
  }

  #is(kind: CharacterClass, at: number): boolean {
    const character = this.#text[at];
    return character !== undefined && kind.has(character);
  }

  /** Returns whether there is a character, and it is none of these. */
  #isOutside(kind: CharacterClass, at: number): boolean {
    const character = this.#text[at];
    return character !== undefined && !kind.has(character);
  }

  #isHost(at: number): boolean {
    return this.#isOutside(NOT_IN_HOST, at);
  }

  #isPath(at: number): boolean {
    return this.#isOutside(NOT_IN_PATH, at);
  }

  /** Reads the text once, from its end: a host that begins earlier ends where the rest of it ends. */
  #findHosts(): Int32Array {
    const text = this.#text;
    const ends = new Int32Array(text.length + 1);
    let label: Label | undefined;
    for (let at = text.length - 1; at >= 0; at -= 1) {
      const character = text[at];
      const isHost = this.#isHost(at);
      if (text[at + 1] === ".") label = isHost ? this.#labelBefore(at + 1, ends) : undefined;
      if (!isHost && character !== "-" && character !== "_") label = undefined;
      if (character === "_" && label !== undefined) label = { ...label, ownEnd: 0 };
      if (label !== undefined && isHost)
        ends[at] = label.restEnd > 0 ? label.restEnd : label.ownEnd;
    }
    return ends;
  }

  #labelBefore(dot: number, ends: Int32Array): Label {
    return { restEnd: ends[dot + 1] ?? 0, ownEnd: this.#endingAt(dot + 1) };
  }

  /** Returns the end of the ending of a host that begins here; 0 when it is none. */
  #endingAt(start: number): number {
    const endings = hostEndings();
    let name = "";
    let end = 0;
    for (
      let at = start;
      at < start + HOST_ENDING_MAX && (this.#isHost(at) || this.#text[at] === "-");
      at += 1
    ) {
      name += this.#text[at]?.toLowerCase();
      if (endings.has(name) && !this.#is(HOST_GOES_ON, at + 1)) end = at + 1;
    }
    if (end > 0 || !name.startsWith("xn--")) return end;
    const encoded = start + "xn--".length;
    const encodedEnd = this.#skip(encoded, (at) => this.#is(ENCODED_LABEL, at));
    return encodedEnd > encoded ? encodedEnd : 0;
  }

  #skip(start: number, belongs: (at: number) => boolean): number {
    let at = start;
    while (belongs(at)) at += 1;
    return at;
  }

  /** Returns the address that begins here or behind this character; its `link` is absent where it is none. */
  #addressNear(at: number): { readonly end: number; readonly link?: Stretch } | undefined {
    const behind = this.#is(NOT_BEFORE, at) ? undefined : this.#addressAt(at + 1);
    if (behind !== undefined) return behind;
    const beginsLine = at === 0 || this.#text[at - 1] === "\n";
    return beginsLine ? this.#addressAt(at) : undefined;
  }

  #addressAt(start: number): { readonly end: number; readonly link?: Stretch } | undefined {
    const scheme = this.#schemeAt(start);
    const withScheme = scheme === "" ? 0 : (this.#hostEnds[start + scheme.length] ?? 0);
    const hostEnd = withScheme > 0 ? withScheme : (this.#hostEnds[start] ?? 0);
    if (hostEnd === 0) return undefined;
    const end = this.#queryEnd(this.#pathEnd(this.#portEnd(hostEnd)));
    // A host without a scheme is no link, and neither is what it has behind it.
    if (withScheme === 0) return { end };
    const link = this.#linkOf({ start, end }, { start: start + scheme.length, end: hostEnd });
    return link === undefined ? { end } : { end, link };
  }

  #schemeAt(start: number): string {
    if (!this.#is(SCHEME_START, start)) return "";
    const text = this.#text.slice(start, start + SCHEME_CHARACTERS_MAX).join("");
    return SCHEME.exec(text)?.[0] ?? "";
  }

  #portEnd(start: number): number {
    if (this.#text[start] !== ":" || !this.#is(DIGIT, start + 1)) return start;
    return this.#skip(start + 1, (at) => this.#is(DIGIT, at));
  }

  #pathEnd(start: number): number {
    if (this.#text[start] !== "/") return start;
    let end = start + 1;
    for (let at = end; at < this.#text.length;) {
      if (this.#isPath(at)) {
        at += 1;
        if (!this.#is(NOT_AT_PATH_END, at - 1)) end = at;
        continue;
      }
      const bracketsEnd = this.#text[at] === "(" ? this.#bracketsEnd(at) : 0;
      if (bracketsEnd === 0) return end;
      if (this.#text.slice(at, bracketsEnd).every((one) => IN_LAST_BRACKETS.has(one)))
        end = bracketsEnd;
      at = bracketsEnd;
    }
    return end;
  }

  /** Returns the end of a pair of brackets that are not empty and have at most one pair in them; 0 when they are not so. */
  #bracketsEnd(start: number): number {
    const isPath = (at: number) => this.#isPath(at);
    const first = this.#skip(start + 1, isPath);
    if (this.#text[first] === ")") return first > start + 1 ? first + 1 : 0;
    if (this.#text[first] !== "(") return 0;
    const inner = this.#skip(first + 1, isPath);
    if (inner === first + 1 || this.#text[inner] !== ")") return 0;
    const last = this.#skip(inner + 1, isPath);
    return this.#text[last] === ")" ? last + 1 : 0;
  }

  #queryEnd(start: number): number {
    if (this.#text[start] !== "?") return start;
    let end = start;
    for (let at = start + 1; this.#isOutside(NOT_IN_QUERY, at); at += 1)
      if (!this.#is(NOT_AT_QUERY_END, at)) end = at + 1;
    return end;
  }

  /** Returns the link of an address with a scheme; undefined if the server does not count it as a link. */
  #linkOf({ start, end }: Stretch, host: Stretch): Stretch | undefined {
    const url = this.#text.slice(start, end).join("");
    const [short, path = ""] = /^https?:\/\/t\.co\/([a-z0-9]+)/iu.exec(url) ?? [];
    if (path.length > SHORT_PATH_MAX) return undefined;
    const length = short?.length ?? end - start;
    const name = this.#text.slice(host.start, host.end);
    return isHostName(name, length) ? { start, end: start + length } : undefined;
  }
}

/** Full-width forms of ASCII and dots in one character, which the server's check lets pass as what they stand for. */
const STANDS_FOR_ASCII = /[\uff01-\uff5e\u2024-\u2026]/gu;

/** Joiners, which the server leaves out. */
const JOINERS = /[\u200c\u200d]/gu;

/** Returns a part of a host name as the name system has it; empty when it can't be there. */
function encodedLabel(label: string): string {
  if (LATER_EMOJI.test(label)) return "";
  if (!BEYOND_ASCII.test(label)) return label;
  return domainToASCII(label.replaceAll(JOINERS, "").replaceAll(STANDS_FOR_ASCII, "x"));
}

/** Returns whether a host exists by the rules of international names, and the address is not too long with it. */
function isHostName(name: readonly string[], urlLength: number): boolean {
  const encoded = name.join("").split(".").map(encodedLabel).join(".");
  const labels = encoded.split(".");
  return (
    labels.every(({ length }) => length > 0 && length <= LABEL_CHARACTERS_MAX) &&
    urlLength + Math.max(0, encoded.length - name.length) <= URL_CHARACTERS_MAX
  );
}
