import { Tokenizer } from "htmlparser2";

/** What describes a page is at its start. */
const HEAD_CHARACTERS_MAX = 300_000;
const META_TAGS_MAX = 300;
const TITLE_CHARACTERS_MAX = 1_000;
/** Deeper nesting of drawings and formulas is not followed. */
const FOREIGN_DEPTH_MAX = 100;

/** What a page says of itself, by the HTML Standard. */
export interface PageHead {
  /** The text of the first title that has one. */
  readonly title: string;
  /** First contents by name or property, in lower case. */
  readonly metas: ReadonlyMap<string, string>;
  /** Its picture as older pages name it: by `itemprop="image"` or `rel="image_src"`; empty without one. */
  readonly picture: string;
  /** What relative addresses are relative to, if the page says so. */
  readonly base: string | undefined;
  /** The label of the encoding that the page says it has. */
  readonly charset: string | undefined;
}

/** Inside these, which belong to drawings and formulas, is HTML again (HTML Standard, 13.2.6.5). */
const INTEGRATION_POINTS: ReadonlySet<string> = new Set(
  "foreignobject desc title mi mo mn ms mtext annotation-xml".split(" "),
);
/** These end a drawing or a formula that was left open (HTML Standard, 13.2.6.5). */
const BREAKOUTS: ReadonlySet<string> = new Set(
  (
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta " +
    "nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
  ).split(" "),
);

type Callbacks = ConstructorParameters<typeof Tokenizer>[1];
type Attributes = ReadonlyMap<string, string>;

/**
 * Collects what a page says of itself from its tokens. Builds no tree: the standard's rules for that take quadratic time
 * for pages that are made for it.
 */
class HeadReader implements Callbacks {
  readonly metas = new Map<string, string>();
  title = "";
  picture = "";
  base: string | undefined;
  charset: string | undefined;
  readonly #html: string;
  readonly #tokenizer: Tokenizer;
  /** Open drawings and formulas, and the parts of them that hold HTML. */
  readonly #foreign: string[] = [];
  #templates = 0;
  #metaTags = 0;
  #isInTitle = false;
  #tag = "";
  #attributes = new Map<string, string>();
  #attribute = "";
  #value = "";

  constructor(html: string) {
    this.#html = html;
    this.#tokenizer = new Tokenizer({}, this);
  }

  read(): PageHead {
    this.#tokenizer.write(this.#html);
    this.#tokenizer.end();
    return this;
  }

  isInForeignContext(): boolean {
    const inner = this.#foreign.at(-1);
    return inner !== undefined && !INTEGRATION_POINTS.has(inner);
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#html.slice(start, end).toLowerCase();
    this.#attributes = new Map();
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#html.slice(start, end).toLowerCase();
    this.#value = "";
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.#html.slice(start, end);
  }

  onattribentity(codePoint: number): void {
    this.#value += String.fromCodePoint(codePoint);
  }

  onattribend(): void {
    // Of two attributes with one name the first counts.
    if (!this.#attributes.has(this.#attribute)) this.#attributes.set(this.#attribute, this.#value);
  }

  onopentagend(): void {
    this.#open(false);
  }

  onselfclosingtag(): void {
    this.#open(true);
  }

  onclosetag(start: number, end: number): void {
    const name = this.#html.slice(start, end).toLowerCase();
    if (name === "title") this.#isInTitle = false;
    if (name === "template") this.#templates = Math.max(0, this.#templates - 1);
    const opened = this.#foreign.lastIndexOf(name);
    if (opened >= 0) this.#foreign.length = opened;
  }

  ontext(start: number, end: number): void {
    if (this.#isInTitle) this.#addToTitle(this.#html.slice(start, end));
  }

  ontextentity(codePoint: number): void {
    if (this.#isInTitle) this.#addToTitle(String.fromCodePoint(codePoint));
  }

  #addToTitle(text: string): void {
    if (this.title.length < TITLE_CHARACTERS_MAX) this.title += text;
  }

  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #open(isSelfClosing: boolean): void {
    const name = this.#tag;
    if (this.isInForeignContext() && BREAKOUTS.has(name))
      while (this.isInForeignContext()) this.#foreign.pop();
    const isForeign = this.isInForeignContext();
    if (!isSelfClosing) this.#enter(name, isForeign);
    if (isForeign) return;
    if (name === "template") this.#templates += 1;
    // What is in a template is not part of the page.
    if (this.#templates === 0) this.#take(name, this.#attributes);
  }

  #enter(name: string, isForeign: boolean): void {
    const isKept = name === "svg" || name === "math" || (isForeign && INTEGRATION_POINTS.has(name));
    if (isKept && this.#foreign.length < FOREIGN_DEPTH_MAX) this.#foreign.push(name);
  }

  #take(name: string, attributes: Attributes): void {
    if (name === "title") this.#isInTitle = this.title.trim() === "";
    if (name === "base") this.base ??= attributes.get("href");
    if (name === "meta" || name === "link") this.#takePicture(attributes);
    if (name !== "meta") return;
    this.#metaTags += 1;
    if (this.#metaTags > META_TAGS_MAX) this.#tokenizer.pause();
    this.#takeMeta(attributes);
  }

  #takePicture(attributes: Attributes): void {
    const names = [attributes.get("itemprop"), attributes.get("rel")].join(" ").toLowerCase();
    const address = attributes.get("href") ?? attributes.get("content") ?? "";
    if (/(?:^|\s)image(?:_src)?(?:\s|$)/.test(names)) this.picture ||= address.trim();
  }

  #takeMeta(attributes: Attributes): void {
    // Some pages give what belongs into `content` as `value`, which Twitter read as well.
    const content = (attributes.get("content") ?? attributes.get("value") ?? "").trim();
    this.charset ??= attributes.get("charset") ?? charsetIn(attributes, content);
    const names = [
      attributes.get("name") ?? "",
      ...(attributes.get("property") ?? "").split(/\s+/),
    ];
    for (const each of names) {
      const key = each.trim().toLowerCase();
      if (key !== "" && content !== "" && !this.metas.has(key)) this.metas.set(key, content);
    }
  }
}

function charsetIn(attributes: Attributes, content: string): string | undefined {
  if (attributes.get("http-equiv")?.trim().toLowerCase() !== "content-type") return undefined;
  return charsetOf(content);
}

function charsetOf(contentType: string): string | undefined {
  return /charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType)?.[1];
}

/** Returns the name of an encoding by one of its labels (Encoding Standard, 4.2); undefined for an unknown one. */
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

/** Returns the label in an XML declaration, which counts where nothing else says more (HTML Standard, 13.2.3.2). */
function xmlEncodingOf(text: string): string | undefined {
  const declaration = text.startsWith("<?xml") ? text.slice(0, text.indexOf(">")) : "";
  return /\bencoding\s*=\s*["']([\w-]+)/i.exec(declaration)?.[1];
}

/** Returns the encoding that a page declares within itself (HTML Standard, 13.2.3.2). */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder("windows-1252").decode(bytes.subarray(0, HEAD_CHARACTERS_MAX));
  const { charset } = new HeadReader(text).read();
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
 * Reads a page's start in its encoding: by its order mark, its header, its own declaration, or as it looks (HTML
 * Standard, 13.2.3). Takes linear time for any page.
 */
export function readHead(bytes: Uint8Array, contentType: string): PageHead {
  const encoding =
    markedEncoding(bytes) ??
    encodingOf(charsetOf(contentType)) ??
    declaredEncoding(bytes) ??
    (isUtf8(bytes) ? "utf-8" : "windows-1252");
  // In titles and attributes the standard replaces null characters, at which some programs end a text.
  const html = new TextDecoder(encoding).decode(bytes).replaceAll("\0", "\ufffd");
  return new HeadReader(html.slice(0, HEAD_CHARACTERS_MAX)).read();
}
