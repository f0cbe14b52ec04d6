import { imageSize } from "image-size";
import type { Metadata } from "sharp";
import type { MediaFacts } from "../networks/contract/media.ts";
import { exifFacts, FIRST_SIDEWAYS, jpegFacts, chunksHaveLocation } from "./metadata.ts";
import { contentTypeOf } from "./content-type.ts";
import type { ImageFacts } from "./file-job.ts";

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

/** Assumed when an image's first bytes don't show it. */
const PLAIN = {
  orientation: 1,
  hasLocation: false,
  isAnimated: false,
  hasAlpha: false,
  isPrint: false,
} as const;

/** Returns the facts of an image by its first bytes; assumes the usual for what they don't show. */
export function factsOfSample(
  { contentType, size, width, height }: MediaFacts,
  sample: Uint8Array,
): ImageFacts {
  const facts = { ...PLAIN, contentType, size, width: width ?? 0, height: height ?? 0 };
  if (contentType === "image/jpeg") return { ...facts, ...jpegFacts(sample) };
  const start = Buffer.from(sample.buffer, sample.byteOffset, sample.byteLength);
  const hasLocation = chunksHaveLocation(contentType, sample);
  return { ...facts, hasLocation, isAnimated: isMoving(contentType, start) };
}

/** Each frame of an animated GIF begins with a control block; a GIF that repeats has a mark before the first. */
const GIF_CONTROL = "\x21\xf9\x04";

function isMoving(contentType: string, start: Buffer): boolean {
  if (contentType === "image/webp") return start.subarray(0, 64).includes("ANIM");
  if (contentType !== "image/gif") return false;
  const frames = start.toString("latin1").split(GIF_CONTROL).length - 1;
  return frames > 1 || start.includes("NETSCAPE2.0");
}

/** Returns the facts of an image by the whole file, as the image library reads it. */
export function factsOfImage(
  contentType: string,
  bytes: Uint8Array,
  metadata: Metadata,
): ImageFacts {
  const exif = metadata.exif === undefined ? PLAIN : exifFacts(metadata.exif);
  const orientation = metadata.orientation ?? exif.orientation;
  const isSideways = orientation >= FIRST_SIDEWAYS;
  const { width, height, pageHeight = height } = metadata;
  // The library reads only metadata that are stored before the picture.
  const hasLocation =
    exif.hasLocation ||
    metadata.xmp?.includes("GPSL") === true ||
    chunksHaveLocation(contentType, bytes);
  return {
    contentType,
    size: bytes.length,
    width: isSideways ? pageHeight : width,
    height: isSideways ? width : pageHeight,
    orientation,
    hasLocation,
    isAnimated: (metadata.pages ?? 1) > 1 && /gif|webp/.test(contentType),
    hasAlpha: metadata.hasAlpha,
    isPrint: metadata.space === "cmyk",
  };
}
