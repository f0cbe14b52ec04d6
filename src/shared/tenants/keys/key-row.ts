import type { Actor } from "../../callers/caller.ts";
import {
  longJson,
  longText,
  namesForm,
  oneOf,
  rowCodec,
  text,
  textOrNull,
} from "../../runtime/storage/codec.ts";
import { newestFirst } from "../../runtime/storage/newest-first.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { ApiKey } from "./key.ts";

/** An API key, in its platform's partition. The row key has its id. */
export const keyRow = rowCodec("API key", {
  applicationId: text(),
  name: text(),
  scope: oneOf(["app_admin", "restricted"]),
  allowedProfileIds: longJson(namesForm()),
  keyPrefix: text(),
  keyHash: text(),
  status: oneOf(["active", "revoked"]),
  expiresAt: textOrNull(),
  createdAt: text(),
  creatorKind: text<Actor["kind"]>(),
  creatorId: text(),
  // "" for a key that a person made. A separate column, so that descendants can be selected by it.
  origin: text(),
  lineage: longText(),
});

/** Leads from a key's id, which is the partition, to the key. It doesn't say what the key may do. */
export const keyPointerRow = rowCodec("API key pointer", {
  platformId: text(),
  applicationId: text(),
});

/** When a key was last used. A separate row, so that writing it never conflicts with a revoke. */
export const keyUsageRow = rowCodec("API key usage", { lastUsedAt: text() });

/** The keys of a platform, without their last use. */
export const keyRows = newestFirst("key", "K|", toKey);
export const keyRowKey = keyRows.key;

/** The keys that a key descends from, the first one first. Empty for a key that a person made. */
export type Lineage = readonly string[];

/** Returns the stored lineage. Each key has its whole lineage, so deleting one in between breaks no chain. */
export function lineageOfRow(row: Row): Lineage {
  return keyRow.decode(row).lineage.split(" ").filter(Boolean);
}

export function toKeyRow(key: ApiKey, hash: Uint8Array, lineage: Lineage): Row {
  const { kind: creatorKind, id: creatorId } = key.createdBy;
  const columns = keyRow.encode({
    ...key,
    ...hashColumns(hash),
    status: "active",
    creatorKind,
    creatorId,
    origin: lineage[0] ?? "",
    lineage: lineage.join(" "),
  });
  return { ...columns, rowKey: keyRowKey(key.id) };
}

export const hashColumns = (hash: Uint8Array) => ({ keyHash: Buffer.from(hash).toString("hex") });

/** Decodes a key, without its last use. @throws DamagedRow */
export function toKey(platformId: string, row: Row): ApiKey {
  const stored = keyRow.decode(row);
  const { applicationId, name, scope, allowedProfileIds, keyPrefix, expiresAt, createdAt } = stored;
  return {
    id: keyRows.idOf(row),
    platformId,
    applicationId,
    name,
    scope,
    allowedProfileIds,
    keyPrefix,
    revoked: stored.status === "revoked",
    expiresAt,
    lastUsedAt: null,
    createdAt,
    createdBy: { kind: stored.creatorKind, id: stored.creatorId },
  };
}
