import { imageSize } from "image-size";
import type { Metadata } from "sharp";
import { contentTypeOf } from "./content-type.ts";
import { FIRST_SIDEWAYS, UPRIGHT } from "./exif.ts";
import type { ImageFacts } from "./file-job.ts";
import { pictureParts } from "./picture-parts.ts";

export interface MediaType {
  readonly contentType: string;
  readonly width: number | null;
  readonly height: number | null;
}

/** Returns the type of a file by its first bytes, and for an image its size as it is seen. */
export function mediaTypeOf(bytes: Uint8Array): MediaType {
  const contentType = contentTypeOf(bytes);
  const size = contentType.startsWith("image/") ? sizeOf(bytes) : undefined;
  return { contentType, width: size?.width ?? null, height: size?.height ?? null };
}

function sizeOf(bytes: Uint8Array): { width: number; height: number } | undefined {
  try {
    const { width, height, orientation = 1 } = imageSize(bytes);
    return orientation >= FIRST_SIDEWAYS ? { width: height, height: width } : { width, height };
  } catch {
    // A damaged header: whether the file is published is up to the network.
    return undefined;
  }
}

/** Turned by a property of the picture, which the decoder follows; its EXIF has no say. */
const HEIF = /^image\/(?:avif|hei[cf])$/;

/** Returns how a picture is turned (EXIF, 1 to 8). */
function orientationOf(contentType: string, metadata: Metadata | undefined): number {
  return HEIF.test(contentType) ? UPRIGHT : (metadata?.orientation ?? UPRIGHT);
}

/** Types that are always made into another one: only the library knows what is in them. */
const TOLD_BY_LIBRARY: ReadonlySet<string> = new Set(["image/tiff"]);

const hasWords = (metadata: Metadata | undefined) =>
  metadata?.xmp !== undefined || metadata?.iptc !== undefined;

/** An image as far as its bytes are known. `metadata`: as the image library reads it, if it can. */
export interface KnownImage {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** Of the file, which may have more bytes than are known. */
  readonly size: number;
  readonly metadata: Metadata | undefined;
}

/**
 * Returns the facts of an image by its bytes. Assumes the usual for what they don't show when they are only the first.
 */
export function factsOfImage({ contentType, bytes, size, metadata }: KnownImage): ImageFacts {
  const isWhole = bytes.length === size;
  const orientation = orientationOf(contentType, metadata);
  const { kept, hasExtras, ...parts } = pictureParts(contentType, bytes, { orientation });
  const isTold = TOLD_BY_LIBRARY.has(contentType);
  return {
    contentType,
    size: kept?.reduce((sum, { length }) => sum + length, 0) ?? size,
    ...frameOf(bytes, orientation, metadata),
    orientation,
    ...parts,
    hasMetadata: parts.hasMetadata || (isTold && hasWords(metadata)),
    // What can't be told from the picture may be anything.
    hasExtras: hasExtras || (isWhole && kept === null && !isTold),
    isSeparable: kept !== null || !isWhole,
    hasAlpha: metadata?.hasAlpha ?? false,
    isPrint: metadata?.space === "cmyk",
  };
}

function frameOf(bytes: Uint8Array, orientation: number, metadata: Metadata | undefined) {
  if (metadata === undefined) {
    const { width, height } = mediaTypeOf(bytes);
    return { width: width ?? 0, height: height ?? 0 };
  }
  const { width, height, pageHeight = height } = metadata;
  const isSideways = orientation >= FIRST_SIDEWAYS;
  return isSideways ? { width: pageHeight, height: width } : { width, height: pageHeight };
}
