import { Parser } from "htmlparser2";

const TITLE_CHARACTERS_MAX = 300;
const DESCRIPTION_CHARACTERS_MAX = 1000;

export interface PageCard {
  readonly title: string;
  readonly description: string;
  readonly imageUrl: string | null;
}

export interface Page {
  readonly url: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}

const TITLES = ["og:title", "twitter:title"];
const DESCRIPTIONS = ["og:description", "twitter:description", "description"];
const IMAGES = [
  "og:image:secure_url",
  "og:image",
  "og:image:url",
  "twitter:image",
  "twitter:image:src",
];

/** Returns title, description and image of a page, from its Open Graph or Twitter tags or from plain HTML. */
export function pageCard({ url, contentType, body }: Page): PageCard | undefined {
  const head = readHead(body, contentType);
  const title = tidy(firstOf(head, TITLES) ?? head.title, TITLE_CHARACTERS_MAX);
  if (title === "") return undefined;
  const base = baseOf(head, url);
  // A page may name an image for others that can't be fetched, such as one within the page itself.
  const images = [...IMAGES.map((name) => head.metas.get(name)), head.picture];
  const [image = null] = images.flatMap((address = "") => webUrl(address, base) ?? []);
  return {
    title,
    description: tidy(firstOf(head, DESCRIPTIONS) ?? "", DESCRIPTION_CHARACTERS_MAX),
    imageUrl: image,
  };
}

function firstOf({ metas }: PageHead, names: readonly string[]): string | undefined {
  return names.map((name) => metas.get(name)).find((content) => content !== undefined);
}

function tidy(text: string, charactersMax: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  // The cut may leave half an emoji, which would make the whole record invalid.
  return line.slice(0, charactersMax).toWellFormed();
}

function baseOf({ base }: PageHead, url: string): string {
  return base === undefined ? url : (webUrl(base, url) ?? url);
}

function webUrl(address: string, base: string): string | undefined {
  if (address === "" || !URL.canParse(address, base)) return undefined;
  const url = new URL(address, base);
  return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
}

/** What describes a page is at its start. */
const HEAD_CHARACTERS_MAX = 300_000;
/** No browser nests deeper, and the parser takes the longer the deeper it is. */
const DEPTH_MAX = 512;

/** What a page says of itself. */
interface PageHead {
  title: string;
  /** First contents by name or property, in lower case. */
  readonly metas: Map<string, string>;
  /** The image as older pages name it, by `itemprop="image"` or `rel="image_src"`, or "". */
  picture: string;
  /** What relative addresses are relative to, if the page says so. */
  base?: string | undefined;
  /** The label of the encoding that the page states. */
  charset?: string | undefined;
}

type Attributes = Readonly<Record<string, string>>;

/** Elements with titles of their own, and one whose content is not part of the page. */
const ASIDE: ReadonlySet<string> = new Set(["svg", "math", "template"]);

function readHtml(html: string): PageHead {
  const head: PageHead = { title: "", metas: new Map(), picture: "" };
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
  if (name === "meta" || name === "link") takePicture(head, attributes);
  if (name === "meta") takeMeta(head, attributes);
}

function takePicture(head: PageHead, { itemprop, rel, href, content }: Attributes): void {
  const isPicture = /(?:^|\s)image(?:_src)?(?:\s|$)/i.test(`${itemprop ?? ""} ${rel ?? ""}`);
  if (isPicture) head.picture ||= (href ?? content ?? "").trim();
}

function takeMeta(head: PageHead, attributes: Attributes): void {
  // Some pages have `value` instead of `content`, which Twitter read as well.
  const { name = "", property = "", value = "", content = value } = attributes;
  const text = content.trim();
  head.charset ??= attributes["charset"] ?? charsetIn(attributes, text);
  for (const each of [name, ...property.split(/\s+/)]) {
    const key = each.trim().toLowerCase();
    if (key !== "" && text !== "" && !head.metas.has(key)) head.metas.set(key, text);
  }
}

function charsetIn({ "http-equiv": name = "" }: Attributes, content: string): string | undefined {
  return name.trim().toLowerCase() === "content-type" ? charsetOf(content) : undefined;
}

function charsetOf(contentType: string): string | undefined {
  return /charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType)?.[1];
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

function markedEncoding(bytes: Uint8Array): string | undefined {
  return BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))?.[0];
}

/** Returns the label in an XML declaration, which counts if nothing else says more (HTML Standard, 13.2.3.2). */
function xmlEncodingOf(text: string): string | undefined {
  const declaration = text.startsWith("<?xml") ? text.slice(0, text.indexOf(">")) : "";
  return /\bencoding\s*=\s*["']([\w-]+)/i.exec(declaration)?.[1];
}

/** Returns the encoding that a page declares within itself (HTML Standard, 13.2.3.2). */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder("windows-1252").decode(bytes.subarray(0, HEAD_CHARACTERS_MAX));
  const { charset } = readHtml(text);
  const declared = encodingOf(charset) ?? encodingOf(xmlEncodingOf(text));
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
 * Reads a page's start in its encoding: by its order mark, its header, its own declaration, or its bytes (HTML
 * Standard, 13.2.3). Takes linear time for any page.
 */
function readHead(bytes: Uint8Array, contentType: string): PageHead {
  const encoding =
    markedEncoding(bytes) ??
    encodingOf(charsetOf(contentType)) ??
    declaredEncoding(bytes) ??
    (isUtf8(bytes) ? "utf-8" : "windows-1252");
  // In titles and attributes, the standard replaces null characters, at which some programs end a text.
  const html = new TextDecoder(encoding).decode(bytes).replaceAll("\0", "\ufffd");
  return readHtml(html.slice(0, HEAD_CHARACTERS_MAX));
}
