import { imageSize } from "image-size";
import { contentTypeOf } from "./content-type.ts";
import { FIRST_SIDEWAYS } from "./exif.ts";

export interface MediaType {
  readonly contentType: string;
  readonly width: number | null;
  readonly height: number | null;
}

/** Tells what a file is by its first bytes. Size as it is seen, for images alone: it is read where it may be stopped. */
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
    // A damaged header: the network says what it makes of the file.
    return undefined;
  }
}
