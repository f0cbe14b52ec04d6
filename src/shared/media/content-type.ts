import { boxTypeOf } from "./box-type.ts";

export const PDF = "application/pdf";
/** The type of finished pictures and of most cameras' raw files, which only the directories tell apart. */
export const TIFF = "image/tiff";

/** File signatures. The first match counts, so of two with the same start, the longer one is first. */
const SIGNATURES: readonly (readonly [offset: number, text: string, contentType: string])[] = [
  [0, "\xff\xd8\xff", "image/jpeg"],
  [0, "\x89PNG\r\n\x1a\n", "image/png"],
  [0, "GIF87a", "image/gif"],
  [0, "GIF89a", "image/gif"],
  [0, "\xff\x0a", "image/jxl"],
  [4, "JXL \r\n\x87\n", "image/jxl"],
  [0, "\x00\x00\x01\xba", "video/mpeg"],
  [0, "\x00\x00\x01\xb3", "video/mpeg"],
  [0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/x-ms-asf"],
  [0, "FLV\x01", "video/x-flv"],
  [0, "fLaC", "audio/flac"],
  [0, "RF64", "audio/wav"],
  [8, "CR\x02", "image/x-canon-cr2"],
  [6, "HEAPCCDR", "image/x-canon-crw"],
  [0, "FUJIFILMCCD-RAW", "image/x-fuji-raf"],
  [0, "\0MRM", "image/x-minolta-mrw"],
  [0, "IIRO", "image/x-olympus-orf"],
  [0, "IIRS", "image/x-olympus-orf"],
  [0, "MMOR", "image/x-olympus-orf"],
  [0, "IIU\0", "image/x-panasonic-rw2"],
  [0, "FOVb", "image/x-sigma-x3f"],
  [0, "II*\0", TIFF],
  [0, "MM\0*", TIFF],
  [0, "II+\0", TIFF],
  [0, "MM\0+", TIFF],
  [0, "%PDF-", PDF],
];

/** Types of RIFF files, by the four letters after the length. */
const RIFF: Readonly<Record<string, string>> = {
  WEBP: "image/webp",
  WAVE: "audio/wav",
  "AVI ": "video/x-msvideo",
};

const HEAD_BYTES = 4_096;
/** The type of a file that has no known signature. */
export const UNKNOWN_TYPE = "application/octet-stream";

/** Lengths of bitmap headers. They are checked because any file may begin with the two letters `BM`. */
const BITMAP_HEADERS: readonly number[] = [12, 16, 40, 52, 56, 64, 108, 124];
const BITMAP_HEADER_AT = 14;

function isBitmap(head: Buffer): boolean {
  const length = head.length >= BITMAP_HEADER_AT + 4 ? head.readUInt32LE(BITMAP_HEADER_AT) : 0;
  return BITMAP_HEADERS.includes(length);
}

const EBML = "\x1a\x45\xdf\xa3";
/** The element whose text tells apart the formats that share this beginning. Its length is below 128. */
const DOC_TYPE = /\x42\x82[\x84-\x90](webm|matroska)/;

function matroskaType(text: string): string {
  const [, docType] = DOC_TYPE.exec(text.slice(0, 128)) ?? [];
  return docType === "webm" ? "video/webm" : "video/x-matroska";
}

const ID3_BYTES = 10;

/** Finds where the sound starts, after the tag with title and artist. Each byte of the tag's length has seven bits. */
function soundAt(bytes: Buffer): number {
  if (bytes.toString("latin1", 0, 3) !== "ID3") return 0;
  const length = [6, 7, 8, 9].reduce((sum, index) => sum * 128 + ((bytes[index] ?? 0) & 127), 0);
  return ID3_BYTES + length;
}

function isMpegFrame([sync, version = 0, rates = 0xff]: Uint8Array): boolean {
  const isFrame = sync === 0xff && (version & 0xe0) === 0xe0 && (version & 0x18) !== 0x08;
  // Layers II and III. Layer I is rare, and looks like the byte order mark of a text, which is frequent.
  const isLayer = [1, 2].includes((version >> 1) & 3);
  return isFrame && isLayer && rates >> 4 !== 15 && (rates & 12) !== 12;
}

function soundType(bytes: Buffer): string | undefined {
  const start = soundAt(bytes);
  const frame = bytes.subarray(start);
  if (frame[0] === 0xff && ((frame[1] ?? 0) & 0xf6) === 0xf0) return "audio/aac";
  if (start === 0) return isMpegFrame(bytes) ? "audio/mpeg" : undefined;
  return frame.toString("latin1", 0, 4) === "fLaC" ? "audio/flac" : "audio/mpeg";
}

const PACKET_BYTES = 188;
const PACKET_START = 0x47;

const TEXT_DOCUMENT = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const PRESENTATION = "application/vnd.openxmlformats-officedocument.presentationml.presentation";

/** Types of the same documents with macros, which networks don't accept as those without. */
export const WITH_MACROS: Readonly<Record<string, string>> = {
  [TEXT_DOCUMENT]: "application/vnd.ms-word.document.macroEnabled.12",
  [PRESENTATION]: "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
};

/** Tells the type of a newer Office document by the names of its parts. The first known name counts. */
function officeType(bytes: Buffer): string | undefined {
  const [, part] = /(word|ppt)\//.exec(bytes.toString("latin1")) ?? [];
  if (part === undefined) return undefined;
  return part === "word" ? TEXT_DOCUMENT : PRESENTATION;
}

/** Beginnings that several types share, and functions that tell which type it is. */
const SHARED: Readonly<Record<string, (text: string, bytes: Buffer) => string | undefined>> = {
  RIFF: (text) => RIFF[text.slice(8, 12)],
  [EBML]: matroskaType,
  OggS: (text) => (text.includes("\x80theora") ? "video/ogg" : "audio/ogg"),
  BM: (_text, bytes) => (isBitmap(bytes) ? "image/bmp" : undefined),
  "PK\x03\x04": (_text, bytes) => officeType(bytes),
};

/** The type of a web page, which no network accepts. It is usually the page of a cloud drive or a login page. */
export const WEB_PAGE = "text/html";
/** Elements that a page begins with, after a byte order mark, white space, comments and declarations. */
const PAGE_ELEMENTS: ReadonlySet<string> = new Set(
  // https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type
  "html head script iframe h1 div font table a style title b body br p meta link".split(" "),
);
const BEFORE_PAGE = /^\s*(?:<!--[^]*?-->|<\?xml[^>]*\?>)/;
/** Comments and declarations that may come first. */
const BEFORE_PAGE_MAX = 8;

/** Decodes the beginning of a text by its byte order mark. Without one, all signatures of pages are ASCII. */
function textOf(bytes: Buffer): string {
  const head = bytes.subarray(0, HEAD_BYTES);
  const mark = head.toString("latin1", 0, 3);
  if (mark.startsWith("\xff\xfe")) return head.toString("utf16le", 2);
  if (mark.startsWith("\xfe\xff") && head.length > 3)
    return Buffer.from(head.subarray(2, head.length - (head.length % 2)))
      .swap16()
      .toString("utf16le");
  return head.toString("latin1", mark === "\xef\xbb\xbf" ? 3 : 0);
}

function looksLikeWebPage(bytes: Buffer): boolean {
  let text = textOf(bytes).trimStart();
  for (let count = 0; count < BEFORE_PAGE_MAX; count += 1)
    text = text.replace(BEFORE_PAGE, "").trimStart();
  const [, name = ""] = /^<(!?[a-z0-9]{1,8})[\s>/]/i.exec(text) ?? [];
  if (PAGE_ELEMENTS.has(name.toLowerCase())) return true;
  const kind = text.slice(name.length + 1).trimStart();
  return name.toLowerCase() === "!doctype" && kind.slice(0, 4).toLowerCase() === "html";
}

/** Readers accept a PDF whose header is within its first 1,024 bytes (PDF Reference 1.7, appendix H, note 13). */
const PDF_HEADER_BYTES = 1_024;

/**
 * Returns where a PDF begins, which may be after a byte order mark, a line break or the rest of a form. Undefined if no
 * PDF begins there.
 */
export function pdfStart(bytes: Uint8Array): number | undefined {
  const head = Buffer.from(bytes.subarray(0, PDF_HEADER_BYTES + 8)).toString("latin1");
  const at = head.search(/%PDF-\d\.\d/);
  return at < 0 || at >= PDF_HEADER_BYTES ? undefined : at;
}

/** Tells the type of a file by its first bytes, because the type that a server states is often wrong. */
export function contentTypeOf(file: Uint8Array): string {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const text = bytes.toString("latin1", 0, Math.min(bytes.length, HEAD_BYTES));
  const [, tell] = Object.entries(SHARED).find(([head]) => text.startsWith(head)) ?? [];
  if (tell !== undefined) return tell(text, bytes) ?? UNKNOWN_TYPE;
  const [, , signed] = SIGNATURES.find(([offset, start]) => text.startsWith(start, offset)) ?? [];
  const found = signed ?? boxTypeOf(bytes) ?? soundType(bytes);
  if (found !== undefined) return found;
  // Whether a file is a transport stream. Some cameras put four bytes before each packet.
  if (
    [0, 4].some((extra) =>
      [0, 1, 2, 3].every(
        (packet) => bytes[extra + packet * (PACKET_BYTES + extra)] === PACKET_START,
      ),
    )
  )
    return "video/mp2t";
  if (looksLikeWebPage(bytes)) return WEB_PAGE;
  return pdfStart(bytes) === undefined ? UNKNOWN_TYPE : PDF;
}
