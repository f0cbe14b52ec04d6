import { sha256Hex } from "../runtime/secrets.ts";
import type { Row } from "../runtime/storage/row.ts";

export const MARKER_ROWS = "O|";

/** Where the trace of an operation that may happen only once lies; hashed, since callers choose references freely. */
export function markerKey(operationId: string): string {
  return MARKER_ROWS + sha256Hex(operationId);
}

export function markerRow(
  operationId: string,
  what: { readonly operation: string; readonly tokens: number },
  now: Date,
): Row {
  return {
    rowKey: markerKey(operationId),
    operation: what.operation,
    tokens: what.tokens,
    createdAt: now.toISOString(),
  };
}
