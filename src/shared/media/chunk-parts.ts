import { crc32 } from "node:zlib";
import { isSilentExif, orientationBlock } from "./exif.ts";
import type { PartsOptions, PictureParts } from "./parts.ts";

export const PNG_START = 8;
/** The chunk that ends a PNG. It is the same in every file. */
export const PNG_END = Buffer.from("0000000049454e44ae426082", "hex");
const PNG_PICTURE: ReadonlySet<string> = new Set(
  "IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sRGB cICP mDCV cLLI sBIT bKGD pHYs".split(" "),
);
const PNG_FRAMES: ReadonlySet<string> = new Set(["acTL", "fcTL", "fdAT"]);
const PNG_METADATA: ReadonlySet<string> = new Set(["eXIf", "tEXt", "zTXt", "iTXt", "tIME"]);

interface Chunk {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Yields the complete chunks of a PNG, up to its end chunk. */
export function* pngChunks(png: Buffer): Generator<Chunk> {
  let at = PNG_START;
  while (at + 12 <= png.length) {
    const end = at + 12 + png.readUInt32BE(at);
    if (end > png.length) return;
    const type = png.toString("latin1", at + 4, at + 8);
    yield { type, bytes: png.subarray(at, end) };
    if (type === "IEND") return;
    at = end;
  }
}

const isTellingChunk = ({ type, bytes }: Chunk) =>
  PNG_METADATA.has(type) && (type !== "eXIf" || !isSilentExif(bytes.subarray(8, -4)));

/** Keeps the pixels, colors and frames of a PNG. Of its EXIF, only the orientation is kept, in a new block. */
export function pngParts(
  png: Buffer,
  { orientation, isStill = false }: PartsOptions,
): PictureParts {
  const chunks = [...pngChunks(png)];
  const frames = chunks.find(({ type, bytes }) => type === "acTL" && bytes.length === 20);
  const isPicture = ({ type }: Chunk) =>
    PNG_PICTURE.has(type) || (PNG_FRAMES.has(type) && !isStill);
  const isKnown = ({ type }: Chunk) =>
    PNG_PICTURE.has(type) || PNG_FRAMES.has(type) || PNG_METADATA.has(type);
  const exif = exifChunk(orientation);
  const [header, ...others] = chunks.filter(isPicture).map(({ bytes }) => bytes);
  const length = chunks.reduce((sum, { bytes }) => sum + bytes.length, PNG_START);
  const isEnded = chunks.at(-1)?.type === "IEND" && header !== undefined;
  return {
    hasMetadata: chunks.some(isTellingChunk),
    hasExtras: !chunks.every(isKnown) || (isEnded && length < png.length),
    frames: Math.max(1, frames?.bytes.readUInt32BE(8) ?? 1),
    kept: isEnded
      ? [png.subarray(0, PNG_START), header, ...(exif === null ? [] : [exif]), ...others]
      : null,
  };
}

function exifChunk(orientation: number): Buffer | null {
  const block = orientationBlock(orientation);
  if (block === null) return null;
  const named = Buffer.concat([Buffer.from("eXIf"), block]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(block.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

const WEBP_START = 12;
const FRAME = "ANMF";
const FRAME_HEAD = 16;
const WEBP_PICTURE: ReadonlySet<string> = new Set(["VP8X", "VP8 ", "VP8L", "ALPH", "ANIM", "ICCP"]);
const WEBP_FRAME: ReadonlySet<string> = new Set(["VP8 ", "VP8L", "ALPH"]);
const WEBP_METADATA: ReadonlySet<string> = new Set(["EXIF", "XMP "]);
const METADATA_FLAGS = 0b0000_1100;
const EXIF_FLAG = 0b0000_1000;

interface WebpFacts {
  hasMetadata: boolean;
  hasExtras: boolean;
  frames: number;
}

/** Keeps the pixels, colors and frames of a WebP. Of its EXIF, only the orientation is kept, in a new block. */
export function webpParts(webp: Buffer, { orientation }: PartsOptions): PictureParts {
  const exif = orientationBlock(orientation);
  const facts: WebpFacts = { hasMetadata: false, hasExtras: false, frames: 0 };
  const last = webp.readUInt32LE(4) + 8;
  // The last byte may be missing, because some programs omit the padding.
  const isWhole = last <= webp.length + 1;
  facts.hasExtras = last < webp.length;
  const chunks = webpChunks(webp.subarray(WEBP_START, last), WEBP_PICTURE, facts);
  const frames = Math.max(1, facts.frames);
  if (chunks === undefined || !isWhole) return { ...facts, frames, kept: null };
  // Corrects the header, which states whether metadata follow.
  const hasExif = exif !== null;
  const extended = chunks.map((chunk) => {
    if (chunk.toString("latin1", 0, 4) !== "VP8X") return chunk;
    const head = Buffer.from(chunk);
    head.writeUInt8((head.readUInt8(8) & ~METADATA_FLAGS) | (hasExif ? EXIF_FLAG : 0), 8);
    return head;
  });
  const body = exif === null ? extended : [...extended, riffChunk("EXIF", exif)];
  const size = Buffer.alloc(4);
  size.writeUInt32LE(4 + body.reduce((sum, { length }) => sum + length, 0));
  const head = Buffer.concat([Buffer.from("RIFF"), size, Buffer.from("WEBP")]);
  return { ...facts, frames, kept: [head, ...body] };
}

function riffChunk(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(content.length);
  return Buffer.concat([Buffer.from(type), length, content, Buffer.alloc(content.length % 2)]);
}

/** Returns the chunks that are on the list, or undefined when the last one is incomplete. */
function webpChunks(
  body: Buffer,
  list: ReadonlySet<string>,
  facts: WebpFacts,
): Buffer[] | undefined {
  const kept: Buffer[] = [];
  let at = 0;
  while (at + 8 <= body.length) {
    const length = body.readUInt32LE(at + 4);
    const end = at + 8 + length;
    if (end > body.length) return undefined;
    const type = body.toString("latin1", at, at + 4);
    const content = body.subarray(at + 8, end);
    at = end + (length % 2);
    if (list.has(type)) kept.push(riffChunk(type, content));
    else if (type === FRAME && list === WEBP_PICTURE) {
      facts.frames += 1;
      const parts = webpChunks(content.subarray(FRAME_HEAD), WEBP_FRAME, facts);
      if (parts === undefined) return undefined;
      kept.push(riffChunk(FRAME, Buffer.concat([content.subarray(0, FRAME_HEAD), ...parts])));
    } else if (WEBP_METADATA.has(type))
      facts.hasMetadata ||= type !== "EXIF" || !isSilentExif(content);
    else facts.hasExtras = true;
  }
  return at >= body.length ? kept : undefined;
}

const BITMAP_HEAD = 14;
/** Lengths of headers with the fields below. The longest may point to a color profile or to another file. */
const FIRST_HEADER = 40;
const LAST_HEADER = 124;
/** Ways of storing pixels besides uncompressed (0): run lengths of two kinds, or masks for the colors. */
const RUNS: readonly number[] = [1, 2];
const MASKED = 3;

/** Finds the start and the end of a bitmap's pixels, which follow the header, masks and colors. */
function pixelRange(bitmap: Buffer): readonly [start: number, end: number] {
  const long = (at: number) => bitmap.readUInt32LE(at);
  const [header, bits, storage] = [long(BITMAP_HEAD), bitmap.readUInt16LE(28), long(30)];
  const masks = header === FIRST_HEADER && storage === MASKED ? 12 : 0;
  const colors = 4 * (long(46) || (bits <= 8 ? 2 ** bits : 0));
  const start = BITMAP_HEAD + header + masks + colors;
  const rows = Math.ceil((long(18) * bits) / 32) * 4 * Math.abs(bitmap.readInt32LE(22));
  return [start, start + (RUNS.includes(storage) ? long(34) : rows)];
}

/** Keeps a bitmap if its parts follow one another without gaps. */
export function bitmapParts(bitmap: Buffer): PictureParts {
  const long = (at: number) => bitmap.readUInt32LE(at);
  const [header, [start, end]] = [long(BITMAP_HEAD), pixelRange(bitmap)];
  const hasProfile = header >= LAST_HEADER && long(BITMAP_HEAD + 112) !== 0;
  const isKnown = header >= FIRST_HEADER && long(30) <= MASKED && !hasProfile && long(10) === start;
  const facts = { hasMetadata: false, hasExtras: !isKnown || end < bitmap.length, frames: 1 };
  if (!isKnown || end > bitmap.length) return { ...facts, kept: null };
  const head = Buffer.from(bitmap.subarray(0, start));
  head.writeUInt32LE(end, 2);
  return { ...facts, kept: [head, bitmap.subarray(start, end)] };
}
