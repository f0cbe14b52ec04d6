import { randomBytes } from "node:crypto";

/** Where a piece of work stands in a trace (W3C Trace Context): the whole's id, and that of the step that asked. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
}

/** A version of the future may add fields at the end; the fields of this one keep their places. */
const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const ZEROS = /^0+$/;
const LONGEST = 512;

/** The header's content, or undefined where it is not a valid one: then a trace of our own begins. */
export function parseTraceParent(text: unknown): TraceParent | undefined {
  if (typeof text !== "string" || text.length > LONGEST) return undefined;
  const [, version, traceId = "", spanId = "", more] = TRACE_PARENT.exec(text.trim()) ?? [];
  if (version === undefined || version === "ff") return undefined;
  if (version === "00" && more !== undefined) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  return { traceId, spanId };
}

/** Always flagged as recorded, which it is: a log line is written for each of our steps. */
export function formatTraceParent({ traceId, spanId }: TraceParent): string {
  return `00-${traceId}-${spanId}-01`;
}

export function newTraceId(): string {
  return randomBytes(16).toString("hex");
}

export function newSpanId(): string {
  return randomBytes(8).toString("hex");
}
