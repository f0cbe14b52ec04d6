import * as z from "zod";
import { networkOptions } from "../../../../src/shared/networks/options.ts";
import { shape } from "../../../../src/shared/runtime/shape.ts";

const ownFields = shape(() => ({ board: z.string().min(1).max(40).optional() }));

export const pinboardOptions = shape(() => networkOptions(ownFields()));

export function boardOf(options: Readonly<Record<string, unknown>>): string {
  return z.object(ownFields()).parse(options).board ?? "home";
}
