import * as z from "zod";
import { type ImageTarget, MEDIA_REPAIRS } from "../networks/contract/media.ts";
import { MEDIA_REASONS } from "../networks/contract/media-check.ts";
import { URL_LENGTH_MAX } from "../runtime/http-call.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";

/** A part of a file, and the offset where it begins. */
export interface Piece {
  readonly start: number;
  readonly bytes: Uint8Array;
}

/**
 * A job for a reading process. Its bytes follow, piece after piece. `facts` reads the facts that the pieces show. `fit`
 * makes a whole image fit a target. `page` reads what a web page says of itself.
 */
export type FileJob =
  | {
      readonly kind: "facts";
      readonly contentType: string;
      readonly size: number;
      readonly pieces: readonly { readonly start: number; readonly length: number }[];
      /** Whether the whole image is wanted, because its beginning doesn't show everything. */
      readonly isThorough: boolean;
    }
  | { readonly kind: "fit"; readonly target: ImageTarget }
  | { readonly kind: "page"; readonly url: string; readonly contentType: string };

/** Sent when the libraries are loaded. If the process ends after that, the file is the cause. */
export const BEGUN = "begun";

const length = () => z.number().nonnegative();

/** Facts that decide whether an image fits. */
export const imageFactsShape = shape(() =>
  z.strictObject({
    contentType: z.string(),
    /** Size of the picture in bytes, without the rest of its file. */
    size: length(),
    /** Visible width and height, or 0 when unknown. */
    width: length(),
    height: length(),
    orientation: length(),
    /** Metadata, and everything else besides the picture: further pictures, films, bytes after its end. */
    hasMetadata: z.boolean(),
    hasExtras: z.boolean(),
    /** Whether the picture can be separated from its file, so that it can be published without the rest. */
    isSeparable: z.boolean(),
    /** Whether only its end marker is missing, which is added. */
    lacksEnd: z.boolean(),
    /** Number of known frames of an animation, or 1 for a still picture. */
    frames: length(),
    hasAlpha: z.boolean(),
    /** Whether few programs show it as it is meant: colors for print (CMYK) or of high range, arithmetic coding. */
    isRare: z.boolean(),
    /** Whether it shows everything around the camera, for viewers that let their readers look about. */
    isPanorama: z.boolean(),
  }),
);
export type ImageFacts = Readonly<ShapeOf<typeof imageFactsShape>>;

/**
 * The answer of a reading process. The process has read an untrusted file, so its answer is validated too. `bytes` is
 * the number of bytes of the image that follows, or null when the file fits unchanged.
 */
export const fileAnswerShape = shape(() =>
  z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("facts"),
      width: length().nullable(),
      height: length().nullable(),
      durationSeconds: length().nullable(),
      film: z
        .strictObject({
          isEncrypted: z.boolean(),
          frameRate: length().nullable(),
          bitRate: length().nullable(),
          chroma: z.string().max(10).nullable(),
          h264Bits: length().nullable(),
          isCut: z.boolean(),
        })
        .nullable(),
      image: imageFactsShape().nullable(),
    }),
    /** The bytes from `start` (inclusive) to `end` (exclusive) are needed too. */
    z.strictObject({ kind: z.literal("missing"), start: length().int(), end: length().int() }),
    z.strictObject({
      kind: z.literal("refused"),
      reason: z.enum(MEDIA_REASONS),
      message: z.string().max(500),
    }),
    z.strictObject({
      kind: z.literal("fitted"),
      contentType: z.string().max(100),
      width: length().nullable(),
      height: length().nullable(),
      repairs: z.array(z.enum(MEDIA_REPAIRS)).max(MEDIA_REPAIRS.length),
      bytes: length().int().nullable(),
    }),
    z.strictObject({
      kind: z.literal("page"),
      card: z
        .strictObject({
          title: z.string(),
          description: z.string(),
          imageUrls: z.array(z.url().max(URL_LENGTH_MAX)),
        })
        .nullable(),
      next: z.url().max(URL_LENGTH_MAX).nullable(),
    }),
  ]),
);
export type FileAnswer = ShapeOf<typeof fileAnswerShape>;
