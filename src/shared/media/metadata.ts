import { inflateSync } from "node:zlib";

const asBuffer = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Orientation of a photo, and whether its metadata contain a location. */
export interface ExifFacts {
  readonly orientation: number;
  readonly hasLocation: boolean;
}

/** EXIF orientations from 5 on lie on their side: what is stored as width is seen as height. */
export const FIRST_SIDEWAYS = 5;
const UPRIGHT = 1;
const ORIENTATION_TAG = 0x0112;
const GPS_TAG = 0x8825;
const ENTRY_BYTES = 12;
const ENTRIES_MAX = 512;
const HEADER = "Exif\0\0";

/** Reads a TIFF block, with or without JPEG's header before it. Ignores the damaged rest of one. */
export function exifFacts(block: Uint8Array): ExifFacts {
  const all = asBuffer(block);
  const tiff = all.toString("latin1", 0, HEADER.length) === HEADER ? all.subarray(6) : all;
  let orientation = UPRIGHT;
  let hasLocation = false;
  for (const { tag, value } of entries(tiff)) {
    if (tag === ORIENTATION_TAG && value >= 1 && value <= 8) orientation = value;
    if (tag === GPS_TAG) hasLocation = true;
  }
  return { orientation, hasLocation };
}

/** Yields the entries of the first directory, the only one with these tags. */
function* entries(tiff: Buffer): Generator<{ readonly tag: number; readonly value: number }> {
  const order = tiff.toString("latin1", 0, 2);
  if (tiff.length < 8 || (order !== "II" && order !== "MM")) return;
  const isLittle = order === "II";
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (directory + 2 > tiff.length) return;
  const count = Math.min(short(directory), ENTRIES_MAX);
  for (let index = 0; index < count; index += 1) {
    const at = directory + 2 + index * ENTRY_BYTES;
    if (at + ENTRY_BYTES > tiff.length) return;
    yield { tag: short(at), value: short(at + 8) };
  }
}

const APP1 = 0xe1;
const START_OF_SCAN = 0xda;
const SEGMENTS_MAX = 1_000;

interface Segment {
  readonly marker: number;
  readonly start: number;
  readonly end: number;
}

/** Yields the segments before the picture data. */
function* segments(jpeg: Buffer): Generator<Segment> {
  let start = 2;
  for (let count = 0; count < SEGMENTS_MAX && start + 4 <= jpeg.length; count += 1) {
    const marker = jpeg[start + 1] ?? 0;
    if (jpeg[start] !== 0xff || marker === START_OF_SCAN) return;
    const end = start + 2 + jpeg.readUInt16BE(start + 2);
    if (end > jpeg.length) return;
    yield { marker, start, end };
    start = end;
  }
}

/** Reads a JPEG or the beginning of one. XMP may contain a location as well as EXIF. */
export function jpegFacts(bytes: Uint8Array): ExifFacts {
  const jpeg = asBuffer(bytes);
  let facts: ExifFacts = { orientation: 1, hasLocation: false };
  for (const { marker, start, end } of segments(jpeg)) {
    if (marker !== APP1) continue;
    const content = jpeg.subarray(start + 4, end);
    if (content.toString("latin1", 0, 6) === "Exif\0\0") {
      const { orientation, hasLocation } = exifFacts(content);
      facts = { orientation, hasLocation: facts.hasLocation || hasLocation };
    } else if (content.includes("GPSL")) facts = { ...facts, hasLocation: true };
  }
  return facts;
}

/** Removes EXIF and XMP. The picture and its colour profile stay the same, bit for bit. */
export function withoutMetadata(bytes: Uint8Array): Uint8Array {
  const jpeg = asBuffer(bytes);
  const kept: Buffer[] = [];
  let at = 0;
  for (const { marker, start, end } of segments(jpeg)) {
    if (marker !== APP1) continue;
    kept.push(jpeg.subarray(at, start));
    at = end;
  }
  return Buffer.concat([...kept, jpeg.subarray(at)]);
}

/** A chunk of a PNG or WebP file; chunks with metadata may come after the picture. */
interface Chunk {
  readonly type: string;
  readonly content: Buffer;
  readonly start: number;
  readonly end: number;
}

const PNG_START = 8;
const WEBP_START = 12;
const TEXT_BYTES_MAX = 4 * 1024 * 1024;

/** Yields the complete chunks; the file may be cut off. */
function* pngChunks(png: Buffer): Generator<Chunk> {
  let start = PNG_START;
  while (start + 12 <= png.length) {
    const content = start + 8;
    const last = content + png.readUInt32BE(start);
    const end = last + 4;
    if (end > png.length) return;
    const type = png.toString("latin1", start + 4, content);
    yield { type, content: png.subarray(content, last), start, end };
    start = end;
  }
}

function* webpChunks(webp: Buffer): Generator<Chunk> {
  let start = WEBP_START;
  while (start + 8 <= webp.length) {
    const content = start + 8;
    const length = webp.readUInt32LE(start + 4);
    const last = content + length;
    if (last > webp.length) return;
    // Some programs leave out the padding after the last chunk.
    const end = Math.min(last + (length % 2), webp.length);
    const type = webp.toString("latin1", start, start + 4);
    yield { type, content: webp.subarray(content, last), start, end };
    start = end;
  }
}

const PNG_METADATA: ReadonlySet<string> = new Set(["eXIf", "tEXt", "zTXt", "iTXt"]);
const WEBP_METADATA: ReadonlySet<string> = new Set(["EXIF", "XMP "]);

/** Returns whether the format's metadata may come after the picture. */
export function hasChunks(contentType: string): boolean {
  return contentType === "image/png" || contentType === "image/webp";
}

/** Returns whether a PNG or WebP, or the beginning of one, contains a location. */
export function chunksHaveLocation(contentType: string, bytes: Uint8Array): boolean {
  const file = asBuffer(bytes);
  if (contentType === "image/png") return [...pngChunks(file)].some(pngHasLocation);
  if (contentType === "image/webp") return [...webpChunks(file)].some(webpHasLocation);
  return false;
}

function webpHasLocation({ type, content }: Chunk): boolean {
  if (type === "EXIF") return exifFacts(content).hasLocation;
  return type === "XMP " && content.includes("GPSL");
}

function pngHasLocation({ type, content }: Chunk): boolean {
  if (type === "eXIf") return exifFacts(content).hasLocation;
  if (!PNG_METADATA.has(type)) return false;
  const text = chunkText(type, content);
  // Older tools write a JPEG's block as text, in hexadecimal after three heading lines.
  const block = /^Raw profile type \w+\0+\s*\w+\s+\d+\s+([\da-f\s]+)/i.exec(text)?.[1];
  if (block === undefined) return text.includes("GPSL");
  const profile = Buffer.from(block.replace(/\s/g, ""), "hex");
  return exifFacts(profile).hasLocation || profile.includes("GPSL");
}

/** Returns keyword and text of a text chunk; "" when it can't be unpacked. */
function chunkText(type: string, content: Buffer): string {
  const keyword = content.indexOf(0);
  if (keyword < 0) return "";
  const isPacked = type === "zTXt" || (type === "iTXt" && content[keyword + 1] === 1);
  if (!isPacked) return content.toString("latin1");
  const packed = type === "zTXt" ? keyword + 2 : afterTranslation(content, keyword + 3);
  try {
    const text = inflateSync(content.subarray(packed), { maxOutputLength: TEXT_BYTES_MAX });
    return `${content.toString("latin1", 0, keyword + 1)}${text.toString("latin1")}`;
  } catch {
    return "";
  }
}

/** Returns the offset after the language and the translated keyword, each of which ends with a zero. */
function afterTranslation(content: Buffer, start: number): number {
  return content.indexOf(0, content.indexOf(0, start) + 1) + 1;
}

/** Removes the metadata. The picture and its colour profile stay the same, bit for bit. */
export function withoutChunks(contentType: string, bytes: Uint8Array): Uint8Array {
  const file = asBuffer(bytes);
  return contentType === "image/png"
    ? without(file, pngChunks(file), PNG_METADATA)
    : withHeader(without(file, webpChunks(file), WEBP_METADATA));
}

function without(file: Buffer, chunks: Iterable<Chunk>, left: ReadonlySet<string>): Buffer {
  const kept: Buffer[] = [];
  let at = 0;
  for (const { type, start, end } of chunks) {
    if (!left.has(type)) continue;
    kept.push(file.subarray(at, start));
    at = end;
  }
  return Buffer.concat([...kept, file.subarray(at)]);
}

const EXIF_AND_XMP_FLAGS = 0b0000_1100;

/** Corrects a WebP's header, which states the length and whether metadata follow. */
function withHeader(webp: Buffer): Buffer {
  webp.writeUInt32LE(webp.length - 8, 4);
  const flags = WEBP_START + 8;
  if (webp.toString("latin1", WEBP_START, WEBP_START + 4) === "VP8X")
    webp.writeUInt8(webp.readUInt8(flags) & ~EXIF_AND_XMP_FLAGS, flags);
  return webp;
}
