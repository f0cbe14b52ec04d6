import { textOrNull, type Row } from "../storage/row.ts";

/** The request that something goes back to. Kept in rows, so that whoever works on them later tells of it too. */
export interface Origin {
  readonly traceId: string | null;
  readonly requestId: string | null;
}

/** Of what no request asked for, and of rows from before origins were kept. */
export const NO_ORIGIN: Origin = { traceId: null, requestId: null };

export function originProperties({ traceId, requestId }: Origin): Record<string, string> {
  return { traceId: traceId ?? "", requestId: requestId ?? "" };
}

export function originOf(row: Row): Origin {
  return { traceId: textOrNull(row, "traceId"), requestId: textOrNull(row, "requestId") };
}
