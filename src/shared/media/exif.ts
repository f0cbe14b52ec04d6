/** EXIF orientations from 5 on lie on their side: what is stored as width is seen as height. */
export const FIRST_SIDEWAYS = 5;
export const UPRIGHT = 1;

/** A directory of one entry: the orientation, as one short number. */
const ORIENTATION_ENTRY = "4d4d002a000000080001011200030000000100";

/** Returns an EXIF block that has the orientation and nothing else; null for an upright picture, which needs none. */
export function orientationBlock(orientation: number): Buffer | null {
  if (orientation === UPRIGHT) return null;
  const value = orientation.toString(16).padStart(2, "0");
  return Buffer.from(`${ORIENTATION_ENTRY}${value}000000000000`, "hex");
}

/** The block of a picture that is only turned has about 200 bytes. Longer ones may have anything between their fields. */
const SILENT_BYTES_MAX = 400;
const EXIF_DIRECTORY = 0x8769;
/** Size, resolution, orientation and the way colours are stored. */
const SILENT_TAGS: ReadonlySet<number> = new Set([
  0x0100, 0x0101, 0x0102, 0x0103, 0x0106, 0x0112, 0x0115, 0x011a, 0x011b, 0x011c, 0x0128, 0x0213,
  0x9000, 0x9101, 0xa000, 0xa001, 0xa002, 0xa003,
]);
const ENTRY_BYTES = 12;
const HEADER = "Exif\0\0";

/**
 * Returns whether an EXIF block, with or without JPEG's header before it, says only how the picture's pixels are to be
 * shown, and nothing of where, when or with what it was taken.
 */
export function isSilentExif(block: Buffer): boolean {
  const tiff = block.toString("latin1", 0, HEADER.length) === HEADER ? block.subarray(6) : block;
  const order = tiff.toString("latin1", 0, 4);
  if (tiff.length > SILENT_BYTES_MAX || (order !== "II*\0" && order !== "MM\0*")) return false;
  const isLittle = order === "II*\0";
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const long = (at: number) => (isLittle ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));
  const isSilent = (directory: number, depth: number): boolean => {
    const count = short(directory);
    // Behind the entries, a directory may lead to another one: that of the thumbnail.
    const isLast = long(directory + 2 + count * ENTRY_BYTES) === 0;
    const entries = Array.from(
      { length: count },
      (_, index) => directory + 2 + index * ENTRY_BYTES,
    );
    return (
      isLast &&
      entries.every((at) => {
        if (short(at) !== EXIF_DIRECTORY) return SILENT_TAGS.has(short(at));
        return depth === 0 && isSilent(long(at + 8), 1);
      })
    );
  };
  try {
    return isSilent(long(4), 0);
  } catch {
    return false;
  }
}
