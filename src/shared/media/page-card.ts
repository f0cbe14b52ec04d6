import { Parser } from "htmlparser2";
import iconv from "iconv-lite";
import { type WebPage, type ReadPage, shownCard } from "../networks/contract/page-card.ts";
import { isBlank } from "../networks/contract/text.ts";
import { URL_LENGTH_MAX } from "../runtime/http-call.ts";

const TITLES = ["og:title", "twitter:title"];
const DESCRIPTIONS = ["og:description", "twitter:description", "description"];
const IMAGES = [
  "og:image:secure_url",
  "og:image",
  "og:image:url",
  "twitter:image",
  "twitter:image:src",
];

/**
 * Reads a page's card, from its Open Graph or Twitter tags or from plain HTML. A page of two megabytes can take seconds
 * of a core, so this runs in a process that can be stopped.
 */
export function readPageCard({ url, contentType, body }: WebPage): ReadPage {
  const head = readHead(body, contentType);
  const base = head.base === undefined ? url : (webUrl(head.base, url) ?? url);
  const next = head.refresh === undefined ? undefined : webUrl(head.refresh, base);
  const isSentOn = next !== undefined && next !== url;
  const title = firstOf(head, TITLES) ?? head.title;
  // A page may name pictures for others that can't be fetched, such as one within the page itself.
  const named = [...IMAGES.flatMap((name) => head.metas.get(name) ?? []), ...head.pictures];
  const imageUrls = named.flatMap((address) => webUrl(address, base) ?? []);
  return {
    card: shownCard({ title, description: firstOf(head, DESCRIPTIONS) ?? "", imageUrls }),
    next: isSentOn ? next : undefined,
  };
}

/** Returns the first content that shows something. */
function firstOf({ metas }: PageHead, names: readonly string[]): string | undefined {
  return names.flatMap((name) => metas.get(name) ?? []).find((content) => !isBlank(content));
}

function webUrl(address: string, base: string): string | undefined {
  if (address === "" || !URL.canParse(address, base)) return undefined;
  const url = new URL(address, base);
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  return isWeb && url.href.length <= URL_LENGTH_MAX ? url.href : undefined;
}

/** How much is read to find the encoding, which is stated at the start. */
const DECLARATION_BYTES_MAX = 300_000;
/** Contents that are kept of one name. */
const CONTENTS_MAX = 8;
/** No browser nests deeper, and the parser takes the longer the deeper it is. */
const DEPTH_MAX = 512;

/** What a page says of itself. */
interface PageHead {
  title: string;
  /** Contents by name or property, in lower case. */
  readonly metas: Map<string, string[]>;
  /** Images as older pages name them, by `itemprop="image"` or `rel="image_src"`. */
  readonly pictures: string[];
  /** The address to which the page sends its readers on. */
  refresh?: string | undefined;
  /** What relative addresses are relative to, if the page says so. */
  base?: string | undefined;
  /** The encoding that the page states. */
  charset?: string | undefined;
}

type Attributes = Readonly<Record<string, string>>;

/** Elements with titles of their own, and one whose content is not part of the page. */
const ASIDE: ReadonlySet<string> = new Set(["svg", "math", "template"]);

function readHtml(html: string): PageHead {
  const head: PageHead = { title: "", metas: new Map(), pictures: [] };
  let [depth, aside, isInTitle] = [0, 0, false];
  const parser = new Parser({
    onopentag(name, attributes) {
      depth += 1;
      if (depth > DEPTH_MAX) parser.pause();
      if (ASIDE.has(name)) aside += 1;
      if (aside > 0) return;
      take(head, name, attributes);
      isInTitle = name === "title" && head.title.trim() === "";
      if (isInTitle) head.title = "";
    },
    ontext(text) {
      if (isInTitle) head.title += text;
    },
    onclosetag(name) {
      depth -= 1;
      isInTitle = false;
      if (ASIDE.has(name)) aside -= 1;
    },
  });
  parser.end(html);
  return head;
}

function take(head: PageHead, name: string, attributes: Attributes): void {
  if (name === "base") head.base ??= attributes["href"];
  if (name === "meta" || name === "link") {
    const isPicture = /(?:^|\s)image(?:_src)?(?:\s|$)/i.test(
      `${attributes.itemprop ?? ""} ${attributes.rel ?? ""}`,
    );
    const picture = (attributes.href ?? attributes.content ?? "").trim();
    if (isPicture && picture !== "" && head.pictures.length < CONTENTS_MAX)
      head.pictures.push(picture);
  }
  if (name === "meta") takeMeta(head, attributes);
}

function takeMeta(head: PageHead, attributes: Attributes): void {
  // Some pages have `value` instead of `content`, which Twitter read as well.
  const { name = "", property = "", value = "", content = value } = attributes;
  const text = content.trim();
  // An encoding that does not exist hides none that does.
  head.charset ??=
    encodingOf(attributes["charset"]) ??
    encodingOf(httpEquivContent(attributes, "content-type", CHARSET));
  head.refresh ??= httpEquivContent(attributes, "refresh", REFRESH);
  for (const each of [name, ...property.split(/\s+/)]) {
    const key = each.trim().toLowerCase();
    if (key === "" || text === "") continue;
    const contents = head.metas.get(key) ?? [];
    if (contents.length < CONTENTS_MAX) head.metas.set(key, [...contents, text]);
  }
}

const CHARSET = /charset\s*=\s*["']?([^\s"';]+)/i;
/** Sends readers on without asking or waiting: the page is only on the way. */
const REFRESH = /^\s*[01](?:\.\d*)?\s*[;,]\s*url\s*=\s*["']?([^"']+)/i;

/** Returns what a tag says instead of a header of this name. */
function httpEquivContent(
  { "http-equiv": name = "", content = "" }: Attributes,
  header: string,
  pattern: RegExp,
): string | undefined {
  return name.trim().toLowerCase() === header ? pattern.exec(content)?.[1]?.trim() : undefined;
}

/** Returns the name of an encoding by one of its labels (Encoding Standard, 4.2). Undefined for an unknown one. */
function encodingOf(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

const BYTE_ORDER_MARKS: readonly (readonly [string, readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16be", [0xfe, 0xff]],
  ["utf-16le", [0xff, 0xfe]],
];

/** Returns the label in an XML declaration, which counts if nothing else says more (HTML Standard, 13.2.3.2). */
function xmlEncodingOf(text: string): string | undefined {
  const declaration = text.startsWith("<?xml") ? text.slice(0, text.indexOf(">")) : "";
  return /\bencoding\s*=\s*["']([\w-]+)/i.exec(declaration)?.[1];
}

/** Returns the encoding that a page declares within itself (HTML Standard, 13.2.3.2). */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder("windows-1252").decode(bytes.subarray(0, DECLARATION_BYTES_MAX));
  const { charset } = readHtml(text);
  const declared = charset ?? encodingOf(xmlEncodingOf(text));
  // A page whose tags could be read is not in UTF-16, whatever it says.
  if (declared?.startsWith("utf-16") === true) return "utf-8";
  return declared === "x-user-defined" ? "windows-1252" : declared;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    // The last character may be cut off.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * Encodings for which the Encoding Standard has more characters than Node's decoder: most Korean syllables, and the
 * characters of Hong Kong.
 */
const FULLER: Readonly<Record<string, string>> = { "euc-kr": "cp949", big5: "big5hkscs" };

/**
 * Reads a page in its encoding: by its order mark, its header, its own declaration, or its bytes (HTML
 * Standard, 13.2.3). Takes linear time for any page.
 */
function readHead(bytes: Uint8Array, contentType: string): PageHead {
  const encoding =
    BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))?.[0] ??
    encodingOf(CHARSET.exec(contentType)?.[1]) ??
    declaredEncoding(bytes) ??
    (isUtf8(bytes) ? "utf-8" : "windows-1252");
  // In titles and attributes, the standard replaces null characters, at which some programs end a text.
  const fuller = FULLER[encoding];
  const html = (
    fuller === undefined
      ? new TextDecoder(encoding).decode(bytes)
      : iconv.decode(Buffer.from(bytes), fuller)
  ).replaceAll("\0", "\ufffd");
  return readHtml(html);
}
