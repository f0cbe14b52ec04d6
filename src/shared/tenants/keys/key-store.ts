import {
  accessOperation,
  type Commit,
  countsKey,
  countsWrite,
  toCounts,
} from "../../partition/partition.ts";
import { idBefore, isId } from "../../runtime/ids.ts";
import { inBatches } from "../../runtime/promises.ts";
import { RecentMap } from "../../runtime/recent-map.ts";
import type { Row, RowWrite, StoredRow } from "../../runtime/storage/row.ts";
import { unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import type { ListPosition } from "../../runtime/storage/newest-first.ts";
import { findAll, type ScannedPage } from "../../runtime/storage/scan.ts";
import type { Table } from "../../runtime/storage/table.ts";
import {
  hashColumns,
  keyRows,
  keyPointerRow,
  keyRow,
  keyRowKey,
  keyUsageRow,
  lineageOfRow,
  toKey,
  toKeyRow,
  type Lineage,
} from "./key-row.ts";
import type { ApiKey } from "./key.ts";
import { withKey, withoutKey } from "./live-keys.ts";

const POINTER = "K";
const USAGE = "U";

const BINDINGS_MAX = 10_000;
/** How many keys change in one transaction, together with the counts of their application. */
const TOGETHER_MAX = 80;
/** Pointers that one step of the purge checks. */
const STRAY_PAGE_ROWS = 200;
/** How many keys' other rows are removed at the same time. */
const AT_ONCE = 16;
/** The precision of `lastUsedAt`. */
const USAGE_INTERVAL_MS = 60_000;

/** The platform and application of a key, which never change. */
export interface KeyBinding {
  readonly platformId: string;
  readonly applicationId: string;
}

/** A key with what its secret is checked against. */
export interface KeyWithHash {
  readonly key: ApiKey;
  readonly hash: Uint8Array;
  readonly etag: string;
}

/** Identifies a key and its owner. */
export type KeyRef = Pick<ApiKey, "id" | "platformId" | "applicationId">;

/** A key that descends from another one. */
export interface Descendant extends KeyRef {
  readonly revoked: boolean;
  readonly expiresAt: string | null;
}

/** How several keys of one application end: their rows are changed or removed. */
type End = (stored: StoredRow) => RowWrite;

const revoked: End = ({ row: { rowKey }, etag }) => {
  const columns = keyRow.encodePart({ status: "revoked" });
  return { kind: "merge", row: { ...columns, rowKey }, etag };
};
const removed: End = ({ row: { rowKey } }) => ({ kind: "delete", rowKey });

/**
 * Stores API keys in their platform's partition. A row in the table `keys` leads from a key's id to the key. It is
 * written before the key and removed after it, so a crash leaves at most one that leads nowhere.
 */
export class KeyStore {
  readonly #pointers: Table;
  readonly #core: Table;
  readonly #commit: Commit;
  readonly #bindings = new RecentMap<KeyBinding>(BINDINGS_MAX);
  readonly #usedAt = new RecentMap<number>(BINDINGS_MAX);

  constructor(keys: Table, core: Table, commit: Commit) {
    this.#pointers = keys;
    this.#core = core;
    this.#commit = commit;
  }

  /** Returns the binding of a key that this process has read before, without checking the key. */
  bindingOf(keyId: string): KeyBinding | undefined {
    return this.#bindings.get(keyId);
  }

  /** Finds the key that a secret is to be checked against, without its `lastUsedAt`. @throws DamagedRow */
  async findWithHash(keyId: string): Promise<KeyWithHash | undefined> {
    if (!isId("key", keyId)) return undefined;
    const binding = this.#bindings.get(keyId) ?? (await this.#readBinding(keyId));
    // Also read for an unknown id, so that the response time doesn't tell the two apart.
    const stored = await this.#core.find(binding?.platformId ?? keyId, keyRowKey(keyId));
    if (binding === undefined || stored === undefined) return undefined;
    const hash = Buffer.from(keyRow.decode(stored.row).keyHash, "hex");
    return { key: toKey(binding.platformId, stored.row), hash, etag: stored.etag };
  }

  async #readBinding(keyId: string): Promise<KeyBinding | undefined> {
    const stored = await this.#pointers.find(keyId, POINTER);
    if (stored === undefined) return undefined;
    const binding = keyPointerRow.decode(stored.row);
    this.#bindings.set(keyId, binding);
    return binding;
  }

  /** Finds a key of the platform. Another platform's key is not found. @throws DamagedRow */
  async find(platformId: string, keyId: string): Promise<ApiKey | undefined> {
    if (!isId("key", keyId)) return undefined;
    const [key, lastUsedAt] = await Promise.all([
      keyRows.find(this.#core, platformId, keyId),
      this.#readUse(keyId),
    ]);
    return key && { ...key, lastUsedAt };
  }

  async #readUse(keyId: string): Promise<string | null> {
    const usage = await this.#pointers.find(keyId, USAGE);
    return usage === undefined ? null : keyUsageRow.decode(usage.row).lastUsedAt;
  }

  /** Stores a new key with `more` new rows. Returns false, and stores nothing, when there are too many keys. */
  async create(
    key: ApiKey,
    hash: Uint8Array,
    { lineage, more }: { readonly lineage: Lineage; readonly more: readonly Row[] },
  ): Promise<boolean> {
    const { id, platformId, applicationId, expiresAt, createdAt } = key;
    const pointer = { ...keyPointerRow.encode({ platformId, applicationId }), rowKey: POINTER };
    await this.#pointers.put(id, pointer);
    const [rowKey, counts] = [keyRowKey(id), countsKey(applicationId)];
    const isStored = await this.#commit<boolean>(
      platformId,
      accessOperation([rowKey, counts], ({ row }) => {
        if (row(rowKey) !== undefined) return { answer: true };
        const live = withKey(toCounts(row(counts)), expiresAt, new Date(createdAt));
        if (live === undefined) return { answer: false };
        const writes: RowWrite[] = [
          { kind: "create", row: toKeyRow(key, hash, lineage) },
          countsWrite(applicationId, row(counts), live),
          ...more.map((row) => ({ kind: "create", row }) as const),
        ];
        return { answer: true, writes, raises: false };
      }),
    );
    if (!isStored) await this.#pointers.delete(id, POINTER);
    return isStored;
  }

  rename(key: ApiKey, name: string): Promise<ApiKey | undefined> {
    const rowKey = keyRowKey(key.id);
    return this.#commit<ApiKey | undefined>(
      key.platformId,
      accessOperation([rowKey], ({ row }) => {
        const stored = row(rowKey);
        if (stored === undefined) return { answer: undefined };
        const renamed = { ...keyRow.encodePart({ name }), rowKey };
        const writes: RowWrite[] = [{ kind: "merge", row: renamed, etag: stored.etag }];
        return { answer: { ...key, name }, writes, raises: false };
      }),
    );
  }

  /** Revokes a key. All later requests with it are refused by every process. May be repeated. */
  revoke(key: KeyRef): Promise<void> {
    return this.revokeAll([key]);
  }

  revokeAll(keys: readonly KeyRef[]): Promise<void> {
    return this.#endAll(keys, revoked);
  }

  /** Ends keys of one application, so that they no longer count as in use. */
  async #endAll(keys: readonly KeyRef[], end: End): Promise<void> {
    for (let start = 0; start < keys.length; start += TOGETHER_MAX) {
      const together = keys.slice(start, start + TOGETHER_MAX);
      const [first] = together;
      if (first === undefined) return;
      const counts = countsKey(first.applicationId);
      const rowKeys = together.map(({ id }) => keyRowKey(id));
      await this.#commit<void>(
        first.platformId,
        accessOperation([counts, ...rowKeys], ({ row }) => {
          const rows = rowKeys.map(row).filter((stored) => stored !== undefined);
          const active = rows.filter(({ row }) => row["status"] !== "revoked");
          const ending = end === removed ? rows : active;
          if (ending.length === 0) return { answer: undefined };
          const live = active
            .map(({ row }) => keyRow.decode(row).expiresAt)
            .reduce(withoutKey, toCounts(row(counts)));
          const writes = [...ending.map(end), countsWrite(first.applicationId, row(counts), live)];
          return { answer: undefined, writes, raises: true };
        }),
      );
    }
  }

  async lineage({ id, platformId }: Pick<KeyRef, "id" | "platformId">): Promise<Lineage> {
    const stored = await this.#core.find(platformId, keyRowKey(id));
    return stored === undefined ? [] : lineageOfRow(stored.row);
  }

  /**
   * Lists the keys that the key made, and those that these made, newest first.
   * @throws DamagedRow instead of leaving one out, because all of them are to be ended
   */
  async descendants({ id, platformId }: KeyRef): Promise<readonly Descendant[]> {
    const [origin = id] = await this.lineage({ id, platformId });
    const range = { partitionKey: platformId, ...keyRows.range };
    const selection = { ...range, property: "origin", values: [origin] };
    const found: Descendant[] = [];
    let after: string | undefined;
    do {
      const { rows, next } = await this.#core.select(selection, after);
      for (const { row } of rows)
        if (lineageOfRow(row).includes(id)) found.push(toKey(platformId, row));
      after = next;
    } while (after !== undefined);
    return found;
  }

  /** Replaces the hash with another one of the same secret, unless the key has changed since it was read. */
  async replaceHashIfUnchanged(key: KeyRef, hash: Uint8Array, etag: string): Promise<void> {
    const row = { rowKey: keyRowKey(key.id), ...hashColumns(hash) };
    await this.#core.mergeIfUnchanged(key.platformId, row, etag);
  }

  /** Removes every row of a key. May be repeated. */
  purge(key: KeyRef): Promise<void> {
    return this.purgeAll([key]);
  }

  async purgeAll(keys: readonly KeyRef[]): Promise<void> {
    await this.#endAll(keys, removed);
    await inBatches(keys, AT_ONCE, ({ id }) => this.#pointers.deleteAll(id, [POINTER, USAGE]));
  }

  /** Removes a page of the pointers that were made before the time and lead to no key. A crash leaves them behind. */
  async removeStray(time: Date, after: string | undefined) {
    const { rows, next } = await this.#pointers.select(
      {
        partitions: { before: idBefore("key", time.getTime()) },
        property: "RowKey",
        values: [POINTER],
        pageRows: STRAY_PAGE_ROWS,
      },
      after,
    );
    const pointers = rows.flatMap(({ partitionKey: id, row }) => {
      const pointer = unlessDamaged(() => keyPointerRow.decode(row));
      return pointer === undefined ? [] : [{ id, platformId: pointer.platformId }];
    });
    const stray: string[] = [];
    const byPlatform = [...Map.groupBy(pointers, ({ platformId }) => platformId)];
    await inBatches(byPlatform, AT_ONCE, async ([platformId, own]) => {
      const found = await findAll(
        this.#core,
        platformId,
        own.map(({ id }) => keyRowKey(id)),
      );
      stray.push(...own.map(({ id }) => id).filter((id) => !found.has(keyRowKey(id))));
    });
    await inBatches(stray, AT_ONCE, (id) => this.#pointers.deleteAll(id, [POINTER, USAGE]));
    return { removed: stray.length, next };
  }

  /**
   * Lists keys of one application or of all, newest first, without damaged ones. `after` is where the last page ended.
   */
  async list(
    platformId: string,
    applicationId: string | null,
    position: ListPosition,
  ): Promise<ScannedPage<ApiKey>> {
    const fits = (one: ApiKey) => applicationId === null || one.applicationId === applicationId;
    const { items, next } = await keyRows.list(this.#core, platformId, position, fits);
    const used = await Promise.all(
      items.map(async (key) => ({ ...key, lastUsedAt: await this.#readUse(key.id) })),
    );
    return { items: used, next };
  }

  /**
   * Records the use of a key, at most once a minute per process. It doesn't wait for the write, which may be lost
   * without harm. Returns whether it wrote this time.
   */
  noteUse(keyId: string, now: Date): boolean {
    const time = now.getTime();
    if (time - (this.#usedAt.get(keyId) ?? 0) < USAGE_INTERVAL_MS) return false;
    this.#usedAt.set(keyId, time);
    const row = { ...keyUsageRow.encode({ lastUsedAt: now.toISOString() }), rowKey: USAGE };
    this.#pointers.putProperties(keyId, row).catch(() => this.#usedAt.set(keyId, 0));
    return true;
  }
}
