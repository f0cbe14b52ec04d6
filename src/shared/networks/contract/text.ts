let segmenter: Intl.Segmenter | undefined;

/** Returns what a reader sees as single characters. The segmenter is created on first use, which takes milliseconds. */
export function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** Returns the number of characters that a reader sees. A family emoji counts as one. */
export function countGraphemes(text: string): number {
  // Printable ASCII has no clusters, and most text is nothing else.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let count = 0;
  for (const segment of graphemesOf(text)) count += segment.index >= 0 ? 1 : 0;
  return count;
}

/** How far before its limit a text may end so that the cut is between words. Longer words are cut. */
const NEAR_CHARACTERS = 40;
/** Enough text before a cut to find the word there, and little enough that finding it costs nothing. */
const WORD_CONTEXT_CHARACTERS = 500;

let wordSegmenter: Intl.Segmenter | undefined;

/**
 * Cuts a text to at most `charactersMax` UTF-16 units, with an ellipsis: after a word if one ends near the limit, and
 * never within what a reader sees as one character. Many scripts have no spaces, so the words are those of Unicode.
 */
export function shortenedText(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const limit = charactersMax - 1;
  const from = Math.max(0, limit - WORD_CONTEXT_CHARACTERS);
  const around = text.slice(from, limit + WORD_CONTEXT_CHARACTERS);
  wordSegmenter ??= new Intl.Segmenter("en", { granularity: "word" });
  const isSpace = (index: number) => /\s/.test(around.charAt(index));
  const at = limit - from;
  const nearest = Math.max(at - NEAR_CHARACTERS, 1);
  let space = at;
  while (space >= nearest && !isSpace(space)) space -= 1;
  const word = wordSegmenter.segment(around).containing(at)?.index ?? 0;
  const letter = graphemesOf(around).containing(at)?.index ?? 0;
  // A single letter with hundreds of marks is cut anywhere, but not within a surrogate pair.
  const anywhere = /[\ud800-\udbff]/.test(around.charAt(at - 1)) ? at - 1 : at;
  const end =
    space >= nearest ? space : word >= nearest ? word : letter >= nearest ? letter : anywhere;
  return `${text.slice(0, from + end).trimEnd()}…`;
}

/** Characters that show nothing: white space, control characters, joiners, fillers, marks of direction. */
const BLANK = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** Reports whether a text shows nothing, since it is empty or has only white space and invisible characters. */
export function isBlank(text: string): boolean {
  return BLANK.test(text);
}

/**
 * The marks that one letter may carry (Unicode's Stream-Safe Text Format allows 30, UAX #15, section 13; no language
 * needs ten). Normalizing sorts the marks of a letter in quadratic time, so without a limit 64 KB would take seconds.
 */
const MARKS_OF_LETTER = /\p{M}{30}(?=\p{M})/gu;

/** The format inserts this. It is invisible, and no mark is sorted past it. */
const GRAPHEME_JOINER = "\u034f";

/** Returns the text in composed form (NFC), in which equal texts have equal bytes. Takes linear time for any text. */
export function composed(text: string): string {
  return text.replace(MARKS_OF_LETTER, `$&${GRAPHEME_JOINER}`).normalize("NFC");
}

/** Returns the form in which the texts of a draft and of a list are compared: networks trim and fold spaces. */
export function comparable(text: string): string {
  return composed(text).replace(/\s+/g, " ").trim();
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};

const REFERENCE = /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi;

const CODE_POINT_MAX = 0x10ffff;

/** Resolves the character references in an attribute or element. Uncommon names stay unchanged. */
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

/** Returns the text of an HTML fragment. */
export function textOfHtml(html: string): string {
  return unescapeHtml(html.replace(/<br\s*\/?>|<\/p>/gi, "\n").replace(/<[^<>]*>/g, ""));
}

/** Control characters, and marks that change the order in which text is read. */
const MARKS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Removes invisible characters from a name that could make it look like another one. */
export function withoutMarks(text: string): string {
  return text.replace(MARKS, "");
}

const ADDRESS_CHARACTERS_MAX = 500;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Phones and chat programs add these when an address is copied: joiners, direction marks, tabs, emoji styles. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\ufe0e|\ufe0f/g;

/** The wide forms of ASCII, which keyboards of East Asia type. */
const WIDE = /[\uff01-\uff5e]/g;
const WIDE_OFFSET = 0xfee0;

/** Returns typed text without invisible characters, and with wide forms as plain ASCII. */
export function typedText(text: string | undefined): string {
  return (text ?? "")
    .replace(INVISIBLE, "")
    .replace(WIDE, (wide) => String.fromCharCode(wide.charCodeAt(0) - WIDE_OFFSET))
    .replace(/[\u3002\uff61]/g, ".")
    .trim();
}

/** Marks that text puts before and after an address. */
const OPENING: ReadonlySet<string> = new Set("<(\"'`«“„‘‚「【");
const CLOSING: ReadonlySet<string> = new Set(">)\"'`»”“’‘」】.,;:!?");

/**
 * Returns the word of a text that is an account or an address, such as a name with its account in brackets or a
 * Markdown link. Without one, it returns the text itself. Two that name different things mean nothing, because it is
 * unknown which one is meant, and it returns "".
 */
function addressIn(text: string): string {
  // Some keyboards put spaces around the sign.
  const line = text.split(/\s+/).join(" ").replaceAll(" @ ", "@").replaceAll("@ ", "@");
  const words = line.split(/[ ()[\]<>]/);
  const addresses = words.filter((word) => word.includes(".") && /@|:\//.test(word));
  const last = addresses.at(-1);
  if (last === undefined) return text;
  const names = addressNames(last);
  // An account and its page have the same names, or one has more.
  const areSame = addresses.every((address) => {
    const others = addressNames(address);
    const [fewer, more] = others.size <= names.size ? [others, names] : [names, others];
    return [...fewer].every((name) => more.has(name));
  });
  return areSame ? last : "";
}

function addressNames(address: string): ReadonlySet<string> {
  const parts = trimmed(address)
    .toLowerCase()
    .split(/[/@:?#]/);
  return new Set(parts.filter((part) => part !== "" && part !== "http" && part !== "https"));
}

/** Returns an address without the marks around it. */
function trimmed(address: string): string {
  let start = 0;
  let end = address.length;
  while (start < end && OPENING.has(address.charAt(start))) start += 1;
  while (end > start && CLOSING.has(address.charAt(end - 1))) end -= 1;
  return address.slice(start, end);
}

/** Schemes as people repeat and misspell them. */
const SCHEMES = /^(?:(https?):?\/+)+/i;

/**
 * Returns an address as a person typed or copied it, without surrounding text and marks, and without the scheme of an
 * account or an email address.
 */
export function typedAddress(text: string): string {
  return trimmed(addressIn(typedText(text)))
    .trim()
    .replace(/^(?:acct|mailto|web\+ap):(?:\/\/)?/i, "")
    .replace(SCHEMES, "$1://")
    .replace(/%40/g, "@");
}

/** A server, and the name of the account there if one was typed. */
export interface TypedServer {
  readonly origin: string;
  readonly name: string | undefined;
}

/** An account of another server, as a server shows it: `@name@host`. */
const HANDLE = /^@?([\w.-]+)@([^@\s]+)$/;
/** An account of the server itself: `/@name`, `/users/name`. */
const LOCAL = /(?:^|\/)(?:@|users\/|author\/)([\w.-]+)(?:$|\/)/;
/**
 * Returns the server of an address as people type it: `host`, `@name@host`, a profile's URL at its server, at another
 * server or in a client. The scheme is https, except on the local machine (which the outbound client refuses to dial
 * outside development).
 */
export function readServer(typed: string): TypedServer | undefined {
  const address = typedAddress(typed);
  if (address === "" || address.length > ADDRESS_CHARACTERS_MAX) return undefined;
  const scheme = /^https?(?=:\/\/)/i.exec(address)?.[0].toLowerCase();
  const rest = scheme === undefined ? address : address.slice(scheme.length + "://".length);
  // The pages of some clients come after this mark, and their addresses begin with the server.
  const isRoute = rest.includes("/#/");
  const [authority = "", ...path] = rest
    .replace("/#/", "/")
    .replace(/[?#][^]*/, "")
    .split("/");
  const name = LOCAL.exec(path.join("/"))?.[1];
  const shown = shownElsewhere(path, name, isRoute);
  if (shown !== undefined) return shown;
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  if (scheme !== undefined) return serverOf(scheme, host, name);
  return serverOf("https", host, HANDLE.exec(authority)?.[1] ?? name);
}

/** Returns the server that another server or a client shows: `/@name@host`, `/host/@name`, `/#/host/…`. */
function shownElsewhere(
  path: readonly string[],
  name: string | undefined,
  isRoute: boolean,
): TypedServer | undefined {
  const handle = path.map((segment) => HANDLE.exec(segment)).find((found) => found !== null);
  if (handle !== undefined) return serverOf("https", handle[2] ?? "", handle[1]);
  const [host = "", account = ""] = path;
  const isHost = host.includes(".") && (isRoute || account.startsWith("@"));
  return isHost ? serverOf("https", host, name) : undefined;
}

function serverOf(scheme: string, host: string, name: string | undefined): TypedServer | undefined {
  const origin = originOf(`${scheme}://${host}`);
  return origin === undefined ? undefined : { origin, name };
}

/** Returns the origin of a server's address as people type it. */
export function serverOrigin(typed: string): string | undefined {
  return readServer(typed)?.origin;
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

const ID_CHARACTERS_MAX = 500;

/**
 * Reports whether a text may be an id. Customers store and show ids, so none has control characters. Ids are parts of
 * addresses, so none leads elsewhere there.
 */
export const isNetworkId = (id: string): boolean =>
  id !== "" &&
  id.length <= ID_CHARACTERS_MAX &&
  !/\p{Cc}/u.test(id) &&
  !id.split(/[/\\]/).some((part) => part === "." || part === "..") &&
  id.isWellFormed();
