import { imageSize } from "image-size";
import { FIRST_SIDEWAYS } from "./exif.ts";

interface Signature {
  readonly contentType: string;
  readonly offset: number;
  readonly text: string;
}

const at = (offset: number, text: string, contentType: string): Signature => ({
  contentType,
  offset,
  text,
});

/** File signatures; the first that fits counts, so the longer of two that start alike comes first. */
const SIGNATURES: readonly Signature[] = [
  at(0, "\xff\xd8\xff", "image/jpeg"),
  at(0, "\x89PNG\r\n\x1a\n", "image/png"),
  at(0, "GIF87a", "image/gif"),
  at(0, "GIF89a", "image/gif"),
  at(8, "WEBP", "image/webp"),
  at(8, "WAVE", "audio/wav"),
  at(8, "AVI ", "video/x-msvideo"),
  at(4, "ftypavif", "image/avif"),
  at(4, "ftypavis", "image/avif"),
  at(4, "ftypheic", "image/heic"),
  at(4, "ftypheix", "image/heic"),
  at(4, "ftypmif1", "image/heif"),
  at(4, "ftypqt  ", "video/quicktime"),
  at(4, "ftypM4A ", "audio/mp4"),
  at(4, "ftyp3gp", "video/3gpp"),
  at(4, "ftyp", "video/mp4"),
  at(4, "moov", "video/quicktime"),
  at(0, "\x1a\x45\xdf\xa3", "video/webm"),
  at(0, "\x00\x00\x01\xba", "video/mpeg"),
  at(0, "OggS", "audio/ogg"),
  at(0, "fLaC", "audio/flac"),
  at(0, "ID3", "audio/mpeg"),
  at(0, "\xff\xfb", "audio/mpeg"),
  at(0, "\xff\xf3", "audio/mpeg"),
  at(0, "\xff\xf1", "audio/aac"),
  at(0, "\xff\xf9", "audio/aac"),
  at(0, "BM", "image/bmp"),
  at(0, "II*\0", "image/tiff"),
  at(0, "MM\0*", "image/tiff"),
  at(0, "%PDF-", "application/pdf"),
];
const HEAD_BYTES = 64;
const UNKNOWN = "application/octet-stream";

export interface MediaType {
  readonly contentType: string;
  readonly width: number | null;
  readonly height: number | null;
}

/** What a file is by its first bytes; a server's own word is often wrong. Size as it is seen, for images alone. */
export function mediaTypeOf(bytes: Uint8Array): MediaType {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES));
  const text = head.toString("latin1");
  const signature = SIGNATURES.find((known) => text.startsWith(known.text, known.offset));
  const contentType = signature?.contentType ?? UNKNOWN;
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
