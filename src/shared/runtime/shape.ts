import type * as z from "zod/v4/core";

/** A schema that is built when it is first used, so that it doesn't slow down the start. */
export type Shape<Schema extends z.$ZodType> = () => Schema;

/** Builds a value on first use and returns the same one from then on. */
export function shape<Made>(build: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= build());
}

export type ShapeOf<Of extends Shape<z.$ZodType>> = z.output<ReturnType<Of>>;
