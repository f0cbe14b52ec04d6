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
 * What a reading process is asked; the bytes come along with it, piece after piece.
 * `facts`: what the file is, as far as the pieces tell. `fit`: the whole image, made to fit a target.
 */
export type FileJob =
  | {
      readonly kind: "facts";
      readonly contentType: string;
      readonly size: number;
      readonly pieces: readonly { readonly start: number; readonly length: number }[];
    }
  | { readonly kind: "fit"; readonly target: ImageTarget };

/** Said of a job when all that reads it is there: from then on, what ends the process is the file. */
export const BEGUN = "begun";

const length = () => z.number().nonnegative();

/** What decides whether an image fits. */
const imageFactsShape = shape(() =>
  z.strictObject({
    contentType: z.string(),
    /** In bytes. */
    size: length(),
    /** As it is seen; 0 where it can't be told. */
    width: length(),
    height: length(),
    orientation: length(),
    hasLocation: z.boolean(),
    isAnimated: z.boolean(),
    hasAlpha: z.boolean(),
    /** Whether its colours are of print, which few readers show right. */
    isPrint: z.boolean(),
  }),
);
export type ImageFacts = Readonly<ShapeOf<typeof imageFactsShape>>;

/**
 * What a reading process answers. It has read what a stranger sent, so that its answer is checked like a stranger's.
 * `bytes`: how many of an image come along with it; null: the file itself fits.
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
    /** Nothing can be said before the bytes from `start` up to and without `end` are there as well. */
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
