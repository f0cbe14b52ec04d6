import type { SentenceValues } from "./errors.ts";
import type { StreamedBody } from "../../runtime/http-call.ts";

export interface FetchedMedia {
  readonly bytes: Uint8Array;
  /** By the content, not by what the server claims. */
  readonly contentType: string;
  readonly width: number | null;
  readonly height: number | null;
}

/** How a film is coded, as far as its index tells. What it doesn't tell is null. */
export interface FilmFacts {
  /** Whether nobody can play it without a key. */
  readonly isEncrypted: boolean;
  /** Pictures and bits a second of its video. */
  readonly frameRate: number | null;
  readonly bitRate: number | null;
  /** How many pixels share a color, as `4:2:0`. */
  readonly chroma: string | null;
  /** Bits of a sample of an H.264 video. */
  readonly h264Bits: number | null;
  /** Whether parts of it are not to be shown, or in another order. */
  readonly isCut: boolean;
}

/** Facts about a media file, from its first bytes. */
export interface MediaFacts {
  /** By the content, not by what the server claims. */
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** As displayed: a photo taken sideways is measured upright. */
  readonly width: number | null;
  readonly height: number | null;
  /** For videos and audio, if it is known without reading the whole file. */
  readonly durationSeconds: number | null;
  /** Whether it is an animated image. The default is no. */
  readonly isMoving?: boolean;
  /** Whether it is a document that nobody can open without a password. The default is no. */
  readonly needsPassword?: boolean;
  /** Number of pages or slides of a document, if it is known without reading the whole file. */
  readonly pages?: number;
  /** Whether it is a PDF whose pages are made by the program that shows it, which few do. The default is no. */
  readonly isDynamicForm?: boolean;
  /** Absent for all but films in the ISO base media format. */
  readonly film?: FilmFacts;
}

/** A customer's media file, opened but not downloaded. Its bytes are fetched piece by piece when they are read. */
export interface MediaFile extends MediaFacts, StreamedBody {
  /** Tells this version of the file from a later one at the same address, by its size and first bytes. */
  readonly version: string;
  /** What the server calls the file, if it says so. It may differ from the last part of its address. */
  readonly name?: string;
  /** Returns the bytes from `first` to `last`, both included. @throws MediaFailure, also when the file has changed */
  read(first: number, last: number): Promise<Uint8Array>;
  /** Ends open requests. Not needed for a file that was read to its end. */
  close(): Promise<void>;
}

/** What was done to an image so that a network accepts it. Part of the warning's rule: `bluesky.media.recompressed`. */
export const MEDIA_REPAIRS = [
  "converted",
  "recompressed",
  "resized",
  "rotated",
  "flattened",
  "stilled",
  "completed",
  "shownFlat",
  "metadataRemoved",
  "extrasRemoved",
] as const;

export type MediaRepair = (typeof MEDIA_REPAIRS)[number];

/** Why a file can't be fetched or made to fit. Part of the rule that it breaks: `instagram.media.ratio`. */
export type MediaReason =
  | "size"
  | "type"
  | "raw"
  | "imageType"
  | "imageCoding"
  | "password"
  | "encrypted"
  | "frameRate"
  | "bitRate"
  | "chroma"
  | "wide"
  | "pages"
  | "webPage"
  | "address"
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

/** The images that a network accepts. Others are repaired, but a shape out of range is refused, never cropped. */
export interface ImageTarget {
  readonly types: readonly string[];
  readonly bytesMax: number;
  /** Longest side. */
  readonly edgeMax?: number;
  /** Widths of an image that is encoded again. The network scales it further itself. */
  readonly madeWidth?: { readonly min: number; readonly max: number };
  readonly pixelsMax?: number;
  /** Maximum number of pixels of a GIF, where that is less than of other images. */
  readonly gifPixelsMax?: number;
  /** Width divided by height. */
  readonly ratio?: { readonly min: number; readonly max: number };
  /** Types of animated images that are shown animated. Others become still images. */
  readonly plays: readonly string[];
  /** Maximum number of frames of an animation. */
  readonly framesMax?: number;
  /** Whether it turns a JPEG by its EXIF orientation itself. */
  readonly turnsByExif: boolean;
  /** An opaque PNG larger than this is better as a JPEG. */
  readonly pngBytesMax?: number;
}

/** The files that a network accepts unchanged. The network itself checks what is absent here. */
export interface FileTarget {
  /** Types that the network accepts. The default is all of the kind. */
  readonly types?: readonly string[];
  readonly bytesMax?: number;
  readonly secondsMin?: number;
  readonly secondsMax?: number;
  readonly pagesMax?: number;
  /** Pictures a second. */
  readonly frameRate?: { readonly min: number; readonly max: number };
  /** Bits a second of the video, without its sound. */
  readonly bitRateMax?: number;
  readonly chroma?: readonly string[];
  readonly widthMax?: number;
}

/** The media files that a network accepts, as data. It accepts none of a kind that is absent. */
export interface MediaTargets {
  readonly image: ImageTarget;
  readonly video?: FileTarget;
  readonly audio?: FileTarget;
  readonly document?: FileTarget;
  /** Types of animated images that are published as videos, unchanged. The default is none. */
  readonly moving?: readonly string[];
}

/** A picture that an option of a network names. */
export interface OptionPicture {
  /** The option's path within `platformOptions.<network>`. */
  readonly option: string;
  readonly url: string;
  readonly target: ImageTarget;
}

export interface FittedImage extends FetchedMedia {
  /** Empty when it is the file itself, byte for byte. */
  readonly repairs: readonly MediaRepair[];
}

/** Largest image that is downloaded to be made smaller. */
export const IMAGE_SOURCE_BYTES_MAX = 50 * 1024 * 1024;

/** Types that can be read, and therefore converted if a network doesn't accept them. */
export const READABLE_IMAGES: readonly string[] = [
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/tiff",
  "image/heic",
  "image/heif",
];

/** Types of cameras' raw photos. Their sensor data isn't a picture yet, and the preview in them isn't the picture. */
export const RAW_PHOTOS: readonly string[] = [
  "image/x-adobe-dng",
  "image/x-canon-cr2",
  "image/x-canon-cr3",
  "image/x-canon-crw",
  "image/x-epson-erf",
  "image/x-fuji-raf",
  "image/x-hasselblad-3fr",
  "image/x-kodak-dcr",
  "image/x-minolta-mrw",
  "image/x-nikon-nef",
  "image/x-olympus-orf",
  "image/x-panasonic-rw2",
  "image/x-pentax-pef",
  "image/x-phaseone-iiq",
  "image/x-raw",
  "image/x-samsung-srw",
  "image/x-sigma-x3f",
  "image/x-sony-arw",
];

/** Why a file that was uploaded here can't be used, as the last two parts of a rule that every network has. */
export type FileRule = "file.unusable" | "file.waiting" | "file.expires";

/** A media file could not be fetched: `media_unreachable`, or `media_rejected` when it isn't what was expected. */
export class MediaFailure extends Error {
  readonly code: "media_unreachable" | "media_rejected";
  readonly reason: MediaReason | null;
  /** The values of the rule's sentences. */
  readonly values: SentenceValues | undefined;
  /** The last part of the rule that the cause has. Undefined for a file that is refused, whose reason names the rule. */
  readonly subject: string | undefined;
  /** Why a file that was uploaded here can't be used. Trying again doesn't help then. */
  readonly fileRule: FileRule | undefined;
  /** Whether the file was uploaded here, so that no network can fetch it by its address either. */
  readonly isStored: boolean;

  constructor(
    code: MediaFailure["code"],
    message: string,
    options: {
      readonly cause?: unknown;
      readonly reason?: MediaReason;
      readonly values?: SentenceValues;
      readonly subject?: string;
      readonly fileRule?: FileRule;
      readonly isStored?: true;
    } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "MediaFailure";
    this.code = code;
    this.reason = options.reason ?? (code === "media_rejected" ? "size" : null);
    this.values = options.values;
    this.subject = options.subject;
    this.fileRule = options.fileRule;
    this.isStored = options.isStored === true || options.fileRule !== undefined;
  }
}

/** How much of a slice is in memory at a time. */
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
