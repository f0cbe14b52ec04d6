import { integer, longText, oneOf, rowCodec, text } from "../runtime/storage/codec.ts";
import {
  replacedChunks,
  type Columns,
  type Row,
  type RowWrite,
  type StoredRow,
} from "../runtime/storage/row.ts";

/** The row key of the platform itself, in its partition of table `core`. */
export const PLATFORM_ROW_KEY = "P";

/** A platform; the partition key is its id. */
export const platformRow = rowCodec("platform", {
  name: text(),
  status: oneOf(["active", "suspended"]),
  createdAt: text(),
  updatedAt: text(),
  // The ids of the disabled applications, which every request asks for: it reads this row anyway. Each changes in one
  // transaction with the application's own row.
  disabled: longText(),
  // How many users it has: the last one can't be removed.
  users: integer(),
});

export function parseDisabled(disabled: string): readonly string[] {
  return disabled === "" ? [] : disabled.split(" ");
}

/** Returns the columns to merge into a platform's row when an application is disabled or enabled. @throws DamagedRow */
export function disabledColumns(row: Row, applicationId: string, isDisabled: boolean): Columns {
  const others = parseDisabled(platformRow.decode(row).disabled).filter(
    (id) => id !== applicationId,
  );
  const ids = isDisabled ? [...others, applicationId] : others;
  return replacedChunks("disabled", ids.join(" "), row);
}

/** Returns the write that counts a user more or less of a platform. @throws DamagedRow */
export function userCountWrite({ row, etag }: StoredRow, by: 1 | -1): RowWrite {
  const columns = platformRow.encodePart({ users: platformRow.decode(row).users + by });
  return { kind: "merge", row: { ...columns, rowKey: PLATFORM_ROW_KEY }, etag };
}

/** Returns whether the platform would be left without a user. @throws DamagedRow */
export const isLastUser = (row: Row) => platformRow.decode(row).users < 2;
