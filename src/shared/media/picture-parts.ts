import { gifParts } from "./gif-parts.ts";
import { bitmapParts, pngParts, webpParts } from "./chunk-parts.ts";
import { jpegParts } from "./jpeg-parts.ts";
import type { PartsOptions, PictureParts, ReadParts } from "./parts.ts";

/** Readers by type. Files of other types are never passed on: it is not known what of them is the picture. */
const READERS: Readonly<Record<string, ReadParts>> = {
  "image/jpeg": jpegParts,
  "image/png": pngParts,
  "image/gif": gifParts,
  "image/webp": webpParts,
  "image/bmp": bitmapParts,
};

/** Returns whether the picture of such a file can be told from the rest of it. */
export const isSeparableType = (contentType: string) => READERS[contentType] !== undefined;

/** The parts of a file of which nothing is known. */
const UNKNOWN_PARTS: PictureParts = { hasMetadata: false, hasExtras: false, frames: 1, kept: null };

/**
 * Tells the picture from the rest of its file, by a list of what belongs to a picture: what is not on the list is left
 * out, whatever it is. The file may be cut off.
 */
export function pictureParts(
  contentType: string,
  bytes: Uint8Array,
  options: PartsOptions,
): PictureParts {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return READERS[contentType]?.(file, options) ?? UNKNOWN_PARTS;
  } catch {
    // Offsets that lead out of the file: it is damaged, or made to look like a picture.
    return UNKNOWN_PARTS;
  }
}
