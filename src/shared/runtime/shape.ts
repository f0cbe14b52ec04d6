import type * as z from "zod";

/** A schema that is built when it is first asked for: a start need not pay for what the reference alone reads. */
export type Shape<Schema extends z.ZodType> = () => Schema;

/** The same on every call, so that the reference can tell that a schema is one. */
export function shape<Made>(build: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= build());
}

/** What the schema describes. */
export type ShapeOf<Of extends Shape<z.ZodType>> = z.output<ReturnType<Of>>;
