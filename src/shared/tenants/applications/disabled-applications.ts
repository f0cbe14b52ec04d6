import { fromChunks, toChunks, type Row } from "../../runtime/storage/row.ts";

/** Of the platform itself, in its partition of table `tenants`. */
export const PLATFORM_ROW_KEY = "P";

/**
 * Which applications are disabled stands in the platform's row as well, changed in one transaction with theirs: every
 * request reads that row anyway.
 */
export function disabledApplicationIds(row: Row): readonly string[] {
  const text = fromChunks("disabled", row);
  return text === "" ? [] : text.split(" ");
}

export function withDisabled(row: Row, applicationId: string, isDisabled: boolean): Row {
  const others = disabledApplicationIds(row).filter((id) => id !== applicationId);
  const ids = isDisabled ? [...others, applicationId] : others;
  return { rowKey: PLATFORM_ROW_KEY, ...toChunks("disabled", ids.join(" ")) };
}
