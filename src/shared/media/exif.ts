/** From 5 on, EXIF orientations turn the image sideways: the stored width is the visible height. */
export const FIRST_SIDEWAYS = 5;
export const UPRIGHT = 1;

/** A directory with one entry: the orientation as one short number. */
const ORIENTATION_ENTRY = "4d4d002a000000080001011200030000000100";

/** Makes an EXIF block that has only the orientation, or null for an upright picture, which needs none. */
export function orientationBlock(orientation: number): Buffer | null {
  if (orientation === UPRIGHT) return null;
  const value = orientation.toString(16).padStart(2, "0");
  return Buffer.from(`${ORIENTATION_ENTRY}${value}000000000000`, "hex");
}

/** The block of a picture that is only turned has about 200 bytes. Longer ones may hide anything between fields. */
const SILENT_BYTES_MAX = 400;
const EXIF_DIRECTORY = 0x8769;
/** Tags for size, resolution, orientation and the color model. */
const SILENT_TAGS: ReadonlySet<number> = new Set([
  0x0100, 0x0101, 0x0102, 0x0103, 0x0106, 0x0112, 0x0115, 0x011a, 0x011b, 0x011c, 0x0128, 0x0213,
  0x9000, 0x9101, 0xa000, 0xa001, 0xa002, 0xa003,
]);
const ENTRY_BYTES = 12;
const HEADER = "Exif\0\0";

/**
 * Reports whether an EXIF block (with or without JPEG's header) only says how to show the picture's pixels, and not
 * where, when or with what it was taken.
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
    // After its entries, a directory may point to another one, which describes the thumbnail.
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
