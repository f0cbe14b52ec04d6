import type * as z from "zod/v4/core";

/** A schema that is built when it is first used, so that a start does not pay for it. */
export type Shape<Schema extends z.$ZodType> = () => Schema;

/** Builds a value when it is first used. Returns the same one on every call. */
export function shape<Made>(build: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= build());
}

/** What the schema describes. */
export type ShapeOf<Of extends Shape<z.$ZodType>> = z.output<ReturnType<Of>>;
