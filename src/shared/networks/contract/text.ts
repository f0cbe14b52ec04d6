let segmenter: Intl.Segmenter | undefined;

/**
 * Returns what a reader takes for one character each. The segmenter is created on first use, which takes milliseconds.
 */
export function graphemesOf(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** Returns how many characters a reader sees: a family emoji counts as one. */
export function countGraphemes(text: string): number {
  // Printable ASCII has no clusters, and most text is nothing else.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let count = 0;
  for (const segment of graphemesOf(text)) count += segment.index >= 0 ? 1 : 0;
  return count;
}

/**
 * Returns the text with at most `charactersMax` UTF-16 units: cut behind a word, and with an ellipsis, where it is
 * longer.
 */
export function shortenedText(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const head = text.slice(0, charactersMax - 1);
  const isWhole = /\s/.test(text.charAt(charactersMax - 1));
  const end = isWhole ? head.length : Math.max(head.lastIndexOf(" "), head.lastIndexOf("\n"));
  // A text without spaces is cut where it has to be, though not within an emoji.
  const kept = end > 0 ? head.slice(0, end) : head.replace(/[\ud800-\udbff]$/, "");
  return `${kept.trimEnd()}…`;
}

/**
 * The marks that one letter may carry (Unicode's Stream-Safe Text Format has 30, UAX #15, section 13; no language needs
 * ten). Normalising sorts the marks of a letter in quadratic time: without an end to them, 64 KB take seconds.
 */
const MARKS_OF_LETTER = /\p{M}{30}(?=\p{M})/gu;

/** What the format puts between: it is not seen, and no mark is sorted past it. */
const GRAPHEME_JOINER = "\u034f";

/** Returns the text in composed form (NFC), in which equal texts have equal bytes. Takes linear time for any text. */
export function composed(text: string): string {
  return text.replace(MARKS_OF_LETTER, `$&${GRAPHEME_JOINER}`).normalize("NFC");
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  hellip: "…",
  ndash: "–",
  mdash: "—",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
};

const REFERENCE = /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi;

const CODE_POINT_MAX = 0x10ffff;

/**
 * Returns the text of an attribute or element with its character references resolved. Uncommon names are left as they
 * are.
 */
export function unescapeHtml(text: string): string {
  return text.replace(
    REFERENCE,
    (reference: string, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? reference;
      const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return point > 0 && point <= CODE_POINT_MAX ? String.fromCodePoint(point) : "";
    },
  );
}

const TAG_CHARACTERS_MAX = 10_000;

/** Returns HTML without its tags. Reads every character once, whatever a server sends. */
function withoutTags(html: string): string {
  let text = "";
  let end = -1;
  let from = 0;
  for (let at = html.indexOf("<"); at !== -1; at = html.indexOf("<", from)) {
    if (end < at) end = html.indexOf(">", at);
    if (end === -1) break;
    const isTag = end - at - 1 <= TAG_CHARACTERS_MAX;
    text += html.slice(from, isTag ? at : at + 1);
    from = isTag ? end + 1 : at + 1;
  }
  return text + html.slice(from);
}

/** Returns the text of an HTML fragment. */
export function textOfHtml(html: string): string {
  return unescapeHtml(withoutTags(html.replace(/<br\s*\/?>|<\/p>/gi, "\n")));
}

const ADDRESS_CHARACTERS_MAX = 500;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Phones and chat programs add these when an address is copied: no-break spaces, joiners, direction marks. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Returns what a person typed, without invisible characters. */
export function typedText(text: string | undefined): string {
  return (text ?? "").replace(INVISIBLE, "").trim();
}

/**
 * Returns the origin of an address as people type it: `host`, `@name@host`, a profile's URL. The scheme is https,
 * except on the local machine (which the outbound client refuses to dial outside development).
 */
export function serverOrigin(typed: string): string | undefined {
  const address = typedText(typed);
  if (address === "" || address.length > ADDRESS_CHARACTERS_MAX) return undefined;
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*)$/i.exec(address) ?? [];
  const authority = rest.split(/[/?#]/, 1)[0] ?? "";
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  return originOf(`${scheme?.toLowerCase() ?? "https"}://${host}`);
}

/** Returns the origin of a URL in a network's document, by the same rules. */
export function originOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const hostname = url.hostname.replace(/\.$/, "");
  const isLoopback = LOOPBACK.test(hostname);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  if (!isLoopback && !/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(hostname)) return undefined;
  const scheme = isLoopback ? url.protocol : "https:";
  return `${scheme}//${hostname}${url.port === "" ? "" : `:${url.port}`}`;
}
