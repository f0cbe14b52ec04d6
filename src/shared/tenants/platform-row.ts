import type { UserRole } from "../callers/caller.ts";
import { integer, longText, oneOf, rowCodec, text, textOrNull } from "../runtime/storage/codec.ts";
import {
  replacedChunks,
  type Columns,
  type Row,
  type RowWrite,
  type StoredRow,
} from "../runtime/storage/row.ts";
import { PLATFORM_STATUSES, type PlatformStatus } from "./platform.ts";

/** The row key of the platform itself, in its partition of the table `core`. */
export const PLATFORM_ROW_KEY = "P";

/** A platform. The partition key is its id. */
export const platformRow = rowCodec("platform", {
  name: text(),
  // `erasing`: closed, and too late to be opened again. Every change of the status but this last one sets `updatedAt`,
  // so that of a closed platform is the time when it was closed.
  status: oneOf([...PLATFORM_STATUSES, "erasing"]),
  createdAt: text(),
  updatedAt: text(),
  // The ids of the disabled applications. Every request needs them and reads this row anyway. Each changes in one
  // transaction with the application's own row.
  disabled: longText(),
  // The number of users, and of owners among them. The last owner can't be removed.
  users: integer(),
  owners: integer(),
});

/** A platform in the list of all, which walks use. The row key has its id. */
export const listedPlatformRow = rowCodec("platform in the list", {
  /** The row key of its name. Null for a name that can't be searched for. */
  nameKey: textOrNull(),
});

/** A name by which operators find a platform. The row key has both. */
export const platformNameRow = rowCodec("name of a platform", {});

/** Returns the status of a platform's row as callers see it. @throws DamagedRow */
export function platformStatusOf(row: Row): PlatformStatus {
  const { status } = platformRow.decode(row);
  return status === "erasing" ? "closed" : status;
}

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

/**
 * Returns the write that counts one user more or less. With `suspendedAt`, it also suspends an active platform.
 * @throws DamagedRow
 */
export function userCountWrite(
  stored: StoredRow,
  by: 1 | -1,
  role: UserRole,
  suspendedAt?: string,
): RowWrite {
  const { users, owners, status } = platformRow.decode(stored.row);
  const isSuspended = suspendedAt !== undefined && status === "active";
  return mergeCounts(stored, {
    users: users + by,
    owners: role === "owner" ? owners + by : owners,
    ...(isSuspended ? { status: "suspended", updatedAt: suspendedAt } : {}),
  });
}

/** Returns the write that changes the number of owners by one. @throws DamagedRow */
export function ownerCountWrite(stored: StoredRow, by: 1 | -1): RowWrite {
  return mergeCounts(stored, { owners: platformRow.decode(stored.row).owners + by });
}

function mergeCounts(
  { etag }: StoredRow,
  counts: {
    readonly users?: number;
    readonly owners: number;
    readonly status?: "suspended";
    readonly updatedAt?: string;
  },
): RowWrite {
  const columns = platformRow.encodePart(counts);
  return { kind: "merge", row: { ...columns, rowKey: PLATFORM_ROW_KEY }, etag };
}

/** Reports whether the platform has only one user. @throws DamagedRow */
export const isLastUser = (row: Row) => platformRow.decode(row).users < 2;

/** Reports whether the platform has only one owner. @throws DamagedRow */
export const isLastOwner = (row: Row) => platformRow.decode(row).owners < 2;
