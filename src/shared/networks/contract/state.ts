import type * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import type { NetworkData } from "./draft.ts";

/** Returns the reader of what a network once wrote of a leg or an account. Anything else is a defect, and thrown. */
export function readerOf<Form extends z.ZodType>(
  build: () => Form,
): (data: NetworkData) => z.output<Form> {
  const form = shape(build);
  return (data) => form().parse(data);
}
