import { exifFacts, type ExifFacts } from "./exif.ts";

const APP1 = 0xe1;
const START_OF_SCAN = 0xda;
const SEGMENTS_MAX = 1_000;

interface Segment {
  readonly marker: number;
  readonly start: number;
  readonly end: number;
}

/** The segments in front of the picture data. */
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

const asBuffer = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Of a JPEG or the beginning of one. XMP can tell a place as well as EXIF. */
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

/** The same picture, bit for bit, without its EXIF and XMP; colours are told elsewhere and stay. */
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
