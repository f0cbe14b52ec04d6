import * as z from "zod";
import { type ImageTarget, MEDIA_REPAIRS } from "../networks/contract/media.ts";
import { MEDIA_REASONS } from "../networks/contract/media-check.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";

/** A part of a file, by where it begins. */
export interface Piece {
  readonly start: number;
  readonly bytes: Uint8Array;
}

/**
 * A job for a reading process; the bytes follow it, piece after piece. `facts`: reads what the pieces show of the file.
 * `fit`: makes a whole image fit a target.
 */
export type FileJob =
  | {
      readonly kind: "facts";
      readonly contentType: string;
      readonly size: number;
      readonly pieces: readonly { readonly start: number; readonly length: number }[];
      /** Whether all of an image is wanted, where the beginning does not show everything. */
      readonly isThorough: boolean;
    }
  | { readonly kind: "fit"; readonly target: ImageTarget };

/** Sent when the libraries are loaded: from then on, the file is the cause when the process ends. */
export const BEGUN = "begun";

const length = () => z.number().nonnegative();

/** What decides whether an image fits. */
const imageFactsShape = shape(() =>
  z.strictObject({
    contentType: z.string(),
    /** Bytes of the picture, without the rest of its file. */
    size: length(),
    /** As it is seen; 0 when unknown. */
    width: length(),
    height: length(),
    orientation: length(),
    /** Metadata, and whatever else is not the picture: further pictures, films, bytes after its end. */
    hasMetadata: z.boolean(),
    hasExtras: z.boolean(),
    /** Whether the picture can be told from the rest of its file, and so be published without it. */
    isSeparable: z.boolean(),
    /** Known frames of a moving picture; 1 for a still one. */
    frames: length(),
    hasAlpha: z.boolean(),
    /** Whether its colours are for print (CMYK), which few readers show correctly. */
    isPrint: z.boolean(),
  }),
);
export type ImageFacts = Readonly<ShapeOf<typeof imageFactsShape>>;

/**
 * The answer of a reading process. The process has read an untrusted file, so its answer is checked as untrusted too.
 * `bytes`: how many bytes of an image follow; null: the file itself fits.
 */
export const fileAnswerShape = shape(() =>
  z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("facts"),
      width: length().nullable(),
      height: length().nullable(),
      durationSeconds: length().nullable(),
      image: imageFactsShape().nullable(),
    }),
    /** The bytes from `start` (inclusive) to `end` (exclusive) are needed as well. */
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
  ]),
);
export type FileAnswer = ShapeOf<typeof fileAnswerShape>;
