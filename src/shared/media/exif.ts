/** What of a photo's EXIF block matters: how it was held, and whether it tells where it was taken. */
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

/** Reads a TIFF block, with or without the header that JPEG puts in front. A damaged one tells nothing. */
export function exifFacts(block: Uint8Array): ExifFacts {
  const all = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
  const tiff = all.toString("latin1", 0, HEADER.length) === HEADER ? all.subarray(6) : all;
  let orientation = UPRIGHT;
  let hasLocation = false;
  for (const { tag, value } of entries(tiff)) {
    if (tag === ORIENTATION_TAG && value >= 1 && value <= 8) orientation = value;
    if (tag === GPS_TAG) hasLocation = true;
  }
  return { orientation, hasLocation };
}

/** The entries of the first directory, which alone says these things. */
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
