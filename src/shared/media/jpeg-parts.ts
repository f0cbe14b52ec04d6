import { isSilentExif, orientationBlock } from "./exif.ts";
import type { PartsOptions, PictureParts } from "./parts.ts";

const START = 0xd8;
const END = 0xd9;
const START_OF_SCAN = 0xda;
const APP0 = 0xe0;
const APP1 = 0xe1;
const APP2 = 0xe2;
const APP13 = 0xed;
const ADOBE = 0xee;
const COMMENT = 0xfe;
/** Tables and frames: all markers from here up to the application segments, except those above. */
const FIRST_FRAME = 0xc0;
const LAST_TABLE = 0xdf;
const JFIF_BYTES = 16;
const ADOBE_BYTES = 14;
const EXIF = "Exif\0\0";

interface JpegContents {
  readonly kept: Uint8Array[];
  hasMetadata: boolean;
  hasExtras: boolean;
}

interface Segment {
  readonly marker: number;
  readonly bytes: Buffer;
}

/** Yields the segments after the first marker. A segment that begins a scan includes the scan. */
export function* jpegSegments(jpeg: Buffer): Generator<Segment> {
  let at = 2;
  while (jpeg[at] === 0xff && at + 1 < jpeg.length) {
    const marker = jpeg[at + 1] ?? 0;
    if (marker === 0xff) {
      // This is a fill byte before a marker.
      at += 1;
      continue;
    }
    if (marker === END) return yield { marker, bytes: jpeg.subarray(at) };
    if (at + 4 > jpeg.length) return;
    const head = at + 2 + jpeg.readUInt16BE(at + 2);
    const end = marker === START_OF_SCAN ? endOfScan(jpeg, head) : head;
    if (head > jpeg.length || marker === START) return;
    yield { marker, bytes: jpeg.subarray(at, end) };
    at = end;
  }
}

/** Frames by how they are coded: those that all programs show, and those with arithmetic coding, which few do. */
const COMMON_FRAMES: readonly number[] = [0xc0, 0xc1, 0xc2];
const ARITHMETIC_FRAMES: readonly number[] = [0xc9, 0xca];
/** The markers of frames that can't be read here. Others of this range are tables. */
const OTHER_FRAMES: readonly number[] = [0xc3, 0xc5, 0xc6, 0xc7, 0xcb, 0xcd, 0xce, 0xcf];

/**
 * Tells how a JPEG is coded: `arithmetic`, which can be read here and which browsers don't show, or `other`, which can't
 * be read, such as one without loss or of 12 bits. Undefined if its frame isn't among the bytes.
 */
export function jpegCoding(jpeg: Buffer): "common" | "arithmetic" | "other" | undefined {
  for (const { marker, bytes } of jpegSegments(jpeg)) {
    const isArithmetic = ARITHMETIC_FRAMES.includes(marker);
    const isRead = isArithmetic || COMMON_FRAMES.includes(marker);
    if (OTHER_FRAMES.includes(marker) || (isRead && bytes[4] !== 8)) return "other";
    if (isRead) return isArithmetic ? "arithmetic" : "common";
  }
  return undefined;
}

/** Keeps a JPEG's frames, tables, scans, color profile and orientation. */
export function jpegParts(jpeg: Buffer, { orientation }: PartsOptions): PictureParts {
  const found: JpegContents = { kept: [], hasMetadata: false, hasExtras: false };
  let isEnded = false;
  for (const { marker, bytes } of jpegSegments(jpeg)) {
    isEnded = marker === END;
    if (!isEnded) {
      const [, , needed = 0] =
        NEEDED.find(
          ([known, name]) => marker === known && bytes.toString("latin1", 4).startsWith(name),
        ) ?? [];
      const isTable = marker >= FIRST_FRAME && marker <= LAST_TABLE;
      if (isTable || needed === Infinity) found.kept.push(bytes);
      else if (needed > 0) takeFixed(found, bytes, needed);
      else if (marker === APP1) found.hasMetadata ||= !isSilentExif(bytes.subarray(4));
      else if (marker === APP13 || marker === COMMENT) found.hasMetadata = true;
      // Thumbnails, indexes of further pictures, and anything else that programs add.
      else found.hasExtras = true;
    }
    // These are bytes after the end of the image.
    else found.hasExtras ||= bytes.length > 2;
  }
  const { kept, ...facts } = found;
  if (!isEnded) return { ...facts, frames: 1, kept: null };
  // Programs expect the orientation after the segment that a JPEG begins with, if it has that one.
  const first = kept[0]?.[1] === APP0 ? 1 : 0;
  kept.splice(first, 0, ...exifSegment(orientation));
  const [start, end] = [START, END].map((marker) => Buffer.from([0xff, marker]));
  return { ...facts, frames: 1, kept: [start ?? jpeg, ...kept, end ?? jpeg] };
}

function exifSegment(orientation: number): Buffer[] {
  const block = orientationBlock(orientation);
  if (block === null) return [];
  const length = EXIF.length + block.length + 2;
  return [Buffer.concat([Buffer.from([0xff, APP1, 0, length]), Buffer.from(EXIF), block])];
}

/** Finds the marker after a scan. Within a scan, 0xff is followed by zero or by a restart marker. */
function endOfScan(jpeg: Buffer, start: number): number {
  for (let at = jpeg.indexOf(0xff, start); at >= 0; at = jpeg.indexOf(0xff, at + 1)) {
    const next = jpeg[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  return jpeg.length;
}

/** Application segments that are partly needed to show the picture, by marker and first letters. */
const NEEDED: readonly (readonly [marker: number, name: string, length: number])[] = [
  [APP0, "JFIF\0", JFIF_BYTES],
  [APP2, "ICC_PROFILE\0", Infinity],
  [ADOBE, "Adobe", ADOBE_BYTES],
];

/** Keeps the known fields of a segment, without the thumbnail that may follow. */
function takeFixed(found: JpegContents, segment: Buffer, length: number): void {
  if (segment.length === length + 2) {
    found.kept.push(segment);
    return;
  }
  found.hasExtras = true;
  if (segment.length < length + 2) return;
  const fixed = Buffer.from(segment.subarray(0, length + 2));
  fixed.writeUInt16BE(length, 2);
  // The last two bytes are the width and height of the thumbnail.
  if (length === JFIF_BYTES) fixed.writeUInt16BE(0, length);
  found.kept.push(fixed);
}
