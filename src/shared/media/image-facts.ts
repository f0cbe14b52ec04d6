import { imageSize } from "image-size";
import type { Metadata } from "sharp";
import { FIRST_SIDEWAYS, isSilentExif, UPRIGHT } from "./exif.ts";
import type { ImageFacts } from "./file-job.ts";
import type { PictureParts } from "./parts.ts";
import { isSeparableType, pictureParts } from "./picture-parts.ts";

interface Frame {
  readonly width: number;
  readonly height: number;
}

/** Returns the frame of an image that the library can't read, as it is seen; zeros when unknown. */
function frameBySize(bytes: Uint8Array): Frame {
  try {
    const { width, height, orientation = UPRIGHT } = imageSize(bytes);
    return orientation >= FIRST_SIDEWAYS ? { width: height, height: width } : { width, height };
  } catch {
    // A damaged header: whether the file is published is up to the network.
    return { width: 0, height: 0 };
  }
}

const AVIF = "image/avif";

/** Returns the orientation of a picture (EXIF, 1 to 8). AVIF has a property for it, which the decoder follows. */
function orientationOf(contentType: string, metadata: Metadata | undefined): number {
  return contentType === AVIF ? UPRIGHT : (metadata?.orientation ?? UPRIGHT);
}

const BRANDS_END = 64;

/** Returns whether an image says more than how its pixels are to be shown. */
function tells({ exif, xmp, iptc }: Partial<Metadata> = {}): boolean {
  const isLoud = exif !== undefined && !isSilentExif(exif);
  return isLoud || xmp !== undefined || iptc !== undefined;
}

/** Returns what the library knows of the types that are always encoded again: if an AVIF moves, if a scan has pages. */
function partsByLibrary({ contentType, bytes, metadata }: KnownImage): PictureParts {
  const isMoving =
    contentType === AVIF && Buffer.from(bytes.subarray(0, BRANDS_END)).includes("avis");
  const hasExtras = !isMoving && (metadata?.pages ?? 1) > 1;
  return { hasMetadata: tells(metadata), hasExtras, frames: isMoving ? 2 : 1, kept: null };
}

/** An image as far as its bytes are known. `metadata`: as the image library reads it, if it can. */
export interface KnownImage {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** Size of the file, which may have more bytes than are known. */
  readonly size: number;
  readonly metadata: Metadata | undefined;
}

/**
 * Returns the facts of an image by its bytes. Assumes the usual for what they don't show when they are only the first.
 */
export function factsOfImage(image: KnownImage): ImageFacts {
  const { contentType, bytes, size, metadata } = image;
  const isWhole = bytes.length === size;
  const orientation = orientationOf(contentType, metadata);
  const isKnownType = isSeparableType(contentType);
  const { kept, hasExtras, ...parts } = isKnownType
    ? pictureParts(contentType, bytes, { orientation })
    : partsByLibrary(image);
  return {
    contentType,
    size: kept?.reduce((sum, { length }) => sum + length, 0) ?? size,
    ...frameOf(bytes, orientation, metadata),
    orientation,
    ...parts,
    // What can't be told from the picture may be anything.
    hasExtras: hasExtras || (isWhole && kept === null && isKnownType),
    isSeparable: kept !== null || (!isWhole && isKnownType),
    hasAlpha: metadata?.hasAlpha ?? false,
    isPrint: metadata?.space === "cmyk",
  };
}

function frameOf(bytes: Uint8Array, orientation: number, metadata: Metadata | undefined): Frame {
  if (metadata === undefined) return frameBySize(bytes);
  const { width, height, pageHeight = height } = metadata;
  const isSideways = orientation >= FIRST_SIDEWAYS;
  return isSideways ? { width: pageHeight, height: width } : { width, height: pageHeight };
}
