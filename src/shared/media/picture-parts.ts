import { gifParts } from "./gif-parts.ts";
import { bitmapParts, pngParts, webpParts } from "./chunk-parts.ts";
import { jpegParts } from "./jpeg-parts.ts";
import type { PartsOptions, PictureParts, ReadParts } from "./parts.ts";

/** Readers by type. Files of other types are never passed on, because it isn't known what in them is the picture. */
const READERS: Readonly<Record<string, ReadParts>> = {
  "image/jpeg": jpegParts,
  "image/png": pngParts,
  "image/gif": gifParts,
  "image/webp": webpParts,
  "image/bmp": bitmapParts,
};

/** Reports whether the picture in a file of this type can be separated from the rest. */
export const isSeparableType = (contentType: string) => READERS[contentType] !== undefined;

/** Used for a file whose parts can't be told apart. */
const UNKNOWN_PARTS: PictureParts = { hasMetadata: false, hasExtras: false, frames: 1, kept: null };

/**
 * Separates the picture from the rest of its file, by a list of what belongs to a picture. Everything else is left out.
 * The file may be incomplete.
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
    // Offsets lead out of the file, so it is damaged or made to look like a picture.
    return UNKNOWN_PARTS;
  }
}
