import type { StreamedBody } from "../../runtime/http-call.ts";

export interface FetchedMedia {
  readonly bytes: Uint8Array;
  /** By the content, not by what the server claims. */
  readonly contentType: string;
  readonly width: number | null;
  readonly height: number | null;
}

/** What a media file is, as its first bytes tell. */
export interface MediaFacts {
  /** By the content, not by what the server claims. */
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** As it is seen: a photo that was taken on its side is measured upright. */
  readonly width: number | null;
  readonly height: number | null;
  /** Of videos and audio, if it is known without reading the whole file. */
  readonly durationSeconds: number | null;
  /** Whether it is an image that moves; absent: it is none. */
  readonly isMoving?: boolean;
}

/** A customer's media file, opened but not downloaded: what is read is fetched then, in bounded pieces. */
export interface MediaFile extends MediaFacts, StreamedBody {
  /** Tells this version of the file from a later one at the same address; null where the server gives no sign. */
  readonly version: string | null;
  /** Returns the bytes from `first` to `last`, both included. Throws `MediaFailure`, also when the file has changed. */
  read(first: number, last: number): Promise<Uint8Array>;
  /** Ends open requests; not needed for a file that was read to its end. */
  close(): Promise<void>;
}

/** What was done to an image so that a network takes it; part of the warning's rule: `bluesky.media.recompressed`. */
export const MEDIA_REPAIRS = [
  "converted",
  "recompressed",
  "resized",
  "rotated",
  "flattened",
  "stilled",
  "metadataRemoved",
  "extrasRemoved",
] as const;

export type MediaRepair = (typeof MEDIA_REPAIRS)[number];

/** Why a file can't be had or made to fit; part of the rule that it breaks: `instagram.media.ratio`. */
export type MediaReason =
  | "size"
  | "type"
  | "ratio"
  | "pixels"
  | "damaged"
  | "animation"
  | "frames"
  | "duration"
  | "changed"
  | "memory"
  | "time"
  | "crash";

/** What a network takes of images. What does not fit is repaired; a shape out of range is refused, never cropped. */
export interface ImageTarget {
  readonly types: readonly string[];
  readonly bytesMax: number;
  /** Longest side. */
  readonly edgeMax?: number;
  /** Widths of an image that is encoded again: the network scales it further itself. */
  readonly madeWidth?: { readonly min: number; readonly max: number };
  readonly pixelsMax?: number;
  /** Width divided by height. */
  readonly ratio?: { readonly min: number; readonly max: number };
  /** Types of moving images that move where readers see them; what moves otherwise becomes a still. */
  readonly plays: readonly string[];
  /** Most frames of a moving image. */
  readonly framesMax?: number;
  /** Whether it turns a JPEG by its EXIF itself. */
  readonly turnsByExif: boolean;
  /** An opaque PNG larger than this is better off as a JPEG. */
  readonly pngBytesMax?: number;
}

/** The files that a network takes unchanged. The network itself checks what is absent. */
export interface FileTarget {
  /** Types that the network takes; absent: all of the kind. */
  readonly types?: readonly string[];
  readonly bytesMax?: number;
  readonly secondsMin?: number;
  readonly secondsMax?: number;
}

/** What a network takes of media files, as data. Of a kind that is absent it takes none. */
export interface MediaTargets {
  readonly image: ImageTarget;
  readonly video?: FileTarget;
  readonly audio?: FileTarget;
  readonly document?: FileTarget;
  /** Types of moving images that are published as videos, unchanged; absent: none. */
  readonly moving?: readonly string[];
}

export interface FittedImage extends FetchedMedia {
  /** Empty when it is the file itself, byte for byte. */
  readonly repairs: readonly MediaRepair[];
}

/** Largest image that is downloaded to be made smaller. */
export const IMAGE_SOURCE_BYTES_MAX = 50 * 1024 * 1024;

/** Types that can be read, and so made into another where a network does not take them. */
export const READABLE_IMAGES: readonly string[] = [
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/tiff",
];

/** A media file could not be had: `media_unreachable`, or `media_rejected` when it is not what was asked for. */
export class MediaFailure extends Error {
  readonly code: "media_unreachable" | "media_rejected";
  readonly reason: MediaReason | null;
  /** What to do about it; absent: what the code's words say. */
  readonly remediation: string | undefined;

  constructor(
    code: MediaFailure["code"],
    message: string,
    options: {
      readonly cause?: unknown;
      readonly reason?: MediaReason;
      readonly remediation?: string;
    } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "MediaFailure";
    this.code = code;
    this.reason = options.reason ?? (code === "media_rejected" ? "size" : null);
    this.remediation = options.remediation;
  }
}

/** What a slice holds in memory at a time. */
const PIECE_BYTES = 2 * 1024 * 1024;

/** Returns the bytes of a file from `first` up to and including `last`, which are fetched while they are sent. */
export function sliceOf(file: Pick<MediaFile, "read">, first: number, last: number): StreamedBody {
  return {
    size: last - first + 1,
    async *chunks() {
      for (let at = first; at <= last; at += PIECE_BYTES)
        yield await file.read(at, Math.min(at + PIECE_BYTES - 1, last));
    },
  };
}
