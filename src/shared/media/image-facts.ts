import { imageSize } from "image-size";
import type { Metadata } from "sharp";
import { FIRST_SIDEWAYS, isSilentExif, UPRIGHT } from "./exif.ts";
import type { ImageFacts } from "./file-job.ts";
import { jpegCoding } from "./jpeg-parts.ts";
import type { PictureParts } from "./parts.ts";
import { isSeparableType, pictureParts } from "./picture-parts.ts";
import { statedColors } from "./stated-colors.ts";

interface PixelSize {
  readonly width: number;
  readonly height: number;
}

const AVIF = "image/avif";

const BRANDS_END = 64;

/** Reports whether the metadata say more than how to show the pixels. */
function hasTellingMetadata({ exif, xmp, iptc }: Partial<Metadata> = {}): boolean {
  const isLoud = exif !== undefined && !isSilentExif(exif);
  return isLoud || xmp !== undefined || iptc !== undefined;
}

/** Facts of types that are always encoded again, from the library: if an AVIF is animated, if a scan has pages. */
function partsByLibrary({ contentType, bytes, metadata }: KnownImage): PictureParts {
  const isMoving =
    contentType === AVIF && Buffer.from(bytes.subarray(0, BRANDS_END)).includes("avis");
  const hasExtras = !isMoving && (metadata?.pages ?? 1) > 1;
  return {
    hasMetadata: hasTellingMetadata(metadata),
    hasExtras,
    frames: isMoving ? 2 : 1,
    kept: null,
  };
}

/** An image as far as its bytes are known, with the metadata that the image library read, if it could. */
export interface KnownImage {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** Size of the file. It may be larger than the known bytes. */
  readonly size: number;
  readonly metadata: Metadata | undefined;
}

/** What cameras and programs write of a photo all around (Photo Sphere XMP), as an attribute or an element. */
export const PANORAMA = /ProjectionType\s{0,9}(?:>|=\s{0,9}["'])\s{0,9}equirectangular/i;

/** Determines the facts of an image from its bytes. When they are only the first, the usual is assumed for the rest. */
export function factsOfImage(image: KnownImage): ImageFacts {
  const { contentType, bytes, size, metadata } = image;
  const isWhole = bytes.length === size;
  // A picture's orientation (EXIF, 1 to 8). AVIF has a property for it, which the decoder follows.
  const orientation = contentType === AVIF ? UPRIGHT : (metadata?.orientation ?? UPRIGHT);
  const isKnownType = isSeparableType(contentType);
  const { kept, hasExtras, ...parts } = isKnownType
    ? pictureParts(contentType, bytes, { orientation })
    : partsByLibrary(image);
  // Whether few programs show the picture as it is meant: its coding or its colors are rare.
  const file = Buffer.from(image.bytes.buffer, image.bytes.byteOffset, image.bytes.byteLength);
  return {
    contentType,
    size: kept?.reduce((sum, { length }) => sum + length, 0) ?? size,
    ...frameOf(bytes, orientation, metadata),
    orientation,
    ...parts,
    // What can't be separated from the picture may be anything.
    hasExtras: hasExtras || (isWhole && kept === null && isKnownType),
    isSeparable: kept !== null || (!isWhole && isKnownType),
    lacksEnd: false,
    hasAlpha: metadata?.hasAlpha ?? false,
    isRare:
      image.metadata?.space === "cmyk" ||
      (image.contentType === "image/jpeg" && jpegCoding(file) === "arithmetic") ||
      statedColors(image.contentType, image.bytes) !== undefined,
    isPanorama: metadata?.xmp !== undefined && PANORAMA.test(metadata.xmp.toString("latin1")),
  };
}

function frameOf(
  bytes: Uint8Array,
  orientation: number,
  metadata: Metadata | undefined,
): PixelSize {
  if (metadata === undefined) {
    // The visible frame of an image that the library can't read, or zeros when unknown.
    try {
      const { width, height, orientation = UPRIGHT } = imageSize(bytes);
      return orientation >= FIRST_SIDEWAYS ? { width: height, height: width } : { width, height };
    } catch {
      // The header is damaged. The network decides whether the file is published.
      return { width: 0, height: 0 };
    }
  }
  const { width, height, pageHeight = height } = metadata;
  const isSideways = orientation >= FIRST_SIDEWAYS;
  return isSideways ? { width: pageHeight, height: width } : { width, height: pageHeight };
}
