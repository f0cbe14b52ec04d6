import * as z from "zod";
import { shape } from "../shape.ts";
import { currentTraceParent, type WorkFields } from "./work-context.ts";

/** The part of a queue message that says whose work it is. Optional, and never a reason to refuse the message. */
export const HINT_TRACE = shape(() => ({ trace: z.string().optional().catch(undefined) }));

/** The same for a message that is about to be sent. */
export function hintTrace(): { trace?: string } {
  const trace = currentTraceParent();
  return trace === undefined ? {} : { trace };
}

const SHOWN = ["platformId", "profileId", "postId", "endpointId", "deliveryId"] as const;
const ID_LENGTH_MAX = 64;

function textIn(message: unknown, name: string): string | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const value: unknown = Reflect.get(message, name);
  return typeof value === "string" ? value : undefined;
}

export function traceOfHint(message: unknown): string | undefined {
  return textIn(message, "trace");
}

/** The ids in a message, which may be anything: also what no worker could read is to be found by them. */
export function hintFields(message: unknown): WorkFields {
  const found = SHOWN.flatMap((name) => {
    const value = textIn(message, name);
    return value === undefined || value.length > ID_LENGTH_MAX ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}
