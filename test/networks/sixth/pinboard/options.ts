import * as z from "zod";
import { networkOptions } from "../../../../src/shared/networks/options.ts";

const ownFields = { board: z.string().min(1).max(40).optional() };

export const pinboardOptions = networkOptions(ownFields);

export function boardOf(options: Readonly<Record<string, unknown>>): string {
  return z.object(ownFields).parse(options).board ?? "home";
}
