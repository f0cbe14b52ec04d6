import { endedByRequest, undoIfRefused } from "../../callers/access-check.ts";
import { isId } from "../../runtime/ids.ts";
import { longJson, oneOf, rowCodec, text, textOrNull } from "../../runtime/storage/codec.ts";
import { undefinedIfDamaged } from "../../runtime/storage/damaged-row.ts";
import type { Scanned } from "../../runtime/storage/scan.ts";
import type { Table } from "../../runtime/storage/table.ts";
import type { RaiseAccess } from "../../billing/access-version.ts";
import { KeyIndexStore, type Descendant, type KeyRef, type Lineage } from "./key-index-store.ts";
import type { ApiKey } from "./key.ts";
import type { Actor } from "../../callers/caller.ts";

/** An API key as requests are authenticated with it; the partition key is its id. */
export const keyRow = rowCodec("API key", {
  platformId: text(),
  applicationId: text(),
  name: text(),
  scope: oneOf(["app_admin", "restricted"]),
  allowedProfileIds: longJson<readonly string[]>(),
  keyPrefix: text(),
  keyHash: text(),
  status: oneOf(["active", "revoked"]),
  expiresAt: textOrNull(),
  createdAt: text(),
  creatorKind: text<Actor["kind"]>(),
  creatorId: text(),
});

/** When a key was last used. A row of its own, so that noting it never conflicts with a revoke. */
export const keyUsageRow = rowCodec("API key usage", { lastUsedAt: text() });

const KEY = "K";
const USAGE = "U";

const BINDINGS_MAX = 10_000;
/** Keys whose rows are changed at the same time. */
const AT_ONCE = 16;
/** The precision of `lastUsedAt`. */
const USAGE_INTERVAL_MS = 60_000;

/** The platform and the application of a key, which never change. */
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

const hashColumns = (hash: Uint8Array) => ({ keyHash: Buffer.from(hash).toString("hex") });

function toKey(id: string, stored: ReturnType<typeof keyRow.decode>): ApiKey {
  const { status, creatorKind: kind, creatorId, keyHash: _hash, ...key } = stored;
  const createdBy = { kind, id: creatorId };
  return { ...key, id, revoked: status === "revoked", lastUsedAt: null, createdBy };
}

const orAbsent = (key: ApiKey | undefined) => key ?? "absent";

/** Runs `work` for each item, a bounded number at a time. */
async function inBatches<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < items.length; start += AT_ONCE)
    await Promise.all(items.slice(start, start + AT_ONCE).map(work));
}

function putBounded<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.size >= BINDINGS_MAX && !map.has(key)) {
    const oldest = map.keys().next().value;
    if (oldest !== undefined) map.delete(oldest);
  }
  map.set(key, value);
}

/**
 * Stores API keys: each in a partition of its own in table `keys`, so that one point read authenticates, and in an
 * index in its platform's partition, for lists and counts. The index is written second, so that it never has a key that
 * does not exist. A crash in between leaves a key whose secret nobody has seen.
 */
export class KeyStore {
  readonly #keys: Table;
  readonly #index: KeyIndexStore;
  readonly #raiseAccess: RaiseAccess;
  readonly #bindings = new Map<string, KeyBinding>();
  readonly #usedAt = new Map<string, number>();

  constructor(keys: Table, core: Table, raiseAccess: RaiseAccess) {
    this.#keys = keys;
    this.#raiseAccess = raiseAccess;
    this.#index = new KeyIndexStore(core);
  }

  /** Returns the binding of a key that this process has read before. Says nothing about the key's present state. */
  bindingOf(keyId: string): KeyBinding | undefined {
    return this.#bindings.get(keyId);
  }

  /** Finds the key that a secret is to be checked against; `lastUsedAt` is not read. @throws DamagedRow */
  async findWithHash(keyId: string): Promise<KeyWithHash | undefined> {
    const stored = await this.#keys.find(keyId, KEY);
    if (stored === undefined) return undefined;
    const columns = keyRow.decode(stored.row);
    const key = toKey(keyId, columns);
    const { platformId, applicationId } = key;
    putBounded(this.#bindings, keyId, { platformId, applicationId });
    return { key, hash: Buffer.from(columns.keyHash, "hex"), etag: stored.etag };
  }

  /** Finds a key of the platform. Another platform's key is not found. @throws DamagedRow */
  async find(platformId: string, keyId: string): Promise<ApiKey | undefined> {
    if (!isId("key", keyId)) return undefined;
    const rows = await this.#keys.list({ partitionKey: keyId, limit: 2 });
    const [stored, usage] = [KEY, USAGE].map((name) => rows.find(({ row }) => row.rowKey === name));
    if (stored === undefined) return undefined;
    const key = toKey(keyId, keyRow.decode(stored.row));
    if (key.platformId !== platformId) return undefined;
    return usage === undefined ? key : { ...key, ...keyUsageRow.decode(usage.row) };
  }

  /** Stores a new key. Returns false, and stores nothing, when the application has as many keys as it may have. */
  async create(key: ApiKey, hash: Uint8Array, lineage: Lineage): Promise<boolean> {
    const columns = keyRow.encode({
      ...key,
      ...hashColumns(hash),
      status: "active",
      creatorKind: key.createdBy.kind,
      creatorId: key.createdBy.id,
    });
    undoIfRefused(() => this.purge(key));
    await this.#keys.put(key.id, { ...columns, rowKey: KEY });
    if (await this.#index.add(key, lineage)) return true;
    await this.#keys.delete(key.id, KEY);
    return false;
  }

  /** Renames a key. Returns undefined when there is none. */
  async rename(key: ApiKey, name: string): Promise<ApiKey | undefined> {
    undoIfRefused(() =>
      this.#keys.update(key.id, KEY, (row) =>
        row["name"] === name ? keyRow.encodePart({ name: key.name }) : undefined,
      ),
    );
    const row = await this.#keys.update(key.id, KEY, () => keyRow.encodePart({ name }));
    return row === undefined ? undefined : { ...key, name };
  }

  /** Revokes a key. Every request that comes after this is answered, on any process, is refused. May be repeated. */
  revoke(key: KeyRef): Promise<void> {
    return this.revokeAll([key]);
  }

  /** Revokes several keys of one application: their own rows first, then raises the access version. May be repeated. */
  async revokeAll(keys: readonly KeyRef[]): Promise<void> {
    const revoked = new Set<string>();
    undoIfRefused(() =>
      inBatches([...revoked], (id) =>
        this.#keys.update(id, KEY, () => keyRow.encodePart({ status: "active" })),
      ),
    );
    await inBatches(keys, ({ id }) =>
      this.#keys.update(id, KEY, (row) => {
        if (row["status"] === "revoked") return undefined;
        revoked.add(id);
        return keyRow.encodePart({ status: "revoked" });
      }),
    );
    for (const id of revoked) endedByRequest(id);
    const [first] = keys;
    if (first !== undefined) await this.#raiseAccess(first.platformId);
    await this.#index.end(keys);
  }

  /** Returns the keys that the key descends from. @throws DamagedRow */
  lineage(key: Pick<KeyRef, "id" | "platformId">): Promise<Lineage> {
    return this.#index.lineage(key);
  }

  /** Returns the keys that the key made, and those that these made, newest first. @throws DamagedRow */
  descendants(key: KeyRef): Promise<readonly Descendant[]> {
    return this.#index.descendants(key);
  }

  /** Replaces the hash with another one of the same secret, unless the key changed since it was read. */
  async replaceHashIfUnchanged(keyId: string, hash: Uint8Array, etag: string): Promise<void> {
    await this.#keys.mergeIfUnchanged(keyId, { rowKey: KEY, ...hashColumns(hash) }, etag);
  }

  /** Removes every row of a key. Revokes it first, so that what a crash leaves behind is not counted. May be repeated. */
  purge(key: KeyRef): Promise<void> {
    return this.purgeAll([key]);
  }

  /** Removes every row of several keys of one application. May be repeated. */
  async purgeAll(keys: readonly KeyRef[]): Promise<void> {
    await this.revokeAll(keys);
    await inBatches(keys, async (key) => {
      await this.#keys.delete(key.id, KEY);
      await this.#keys.delete(key.id, USAGE);
      await this.#index.removeEnded(key);
    });
  }

  /**
   * Lists the keys of one application or of all, newest first; `after` is where the last page ended. Leaves out damaged
   * keys, and entries of the index whose key is gone because a delete was cut short; these it removes. A revoke that was
   * cut short is completed before the key is listed as revoked.
   */
  async list(
    platformId: string,
    applicationId: string | null,
    position: { readonly after: string | undefined; readonly limit: number },
  ): Promise<Scanned<ApiKey>> {
    const { items, next } = await this.#index.list(platformId, applicationId, position);
    const found = await Promise.all(
      items.map(async (ref) => {
        const key = await undefinedIfDamaged(this.find(platformId, ref.id).then(orAbsent));
        if (key === "absent") await this.#index.remove(ref);
        // Its revoke was cut short: until the version is raised, another process may still allow it.
        else if (key?.revoked === true && !ref.isEnded) await this.revoke(ref);
        return key;
      }),
    );
    return { items: found.filter((key) => key !== undefined && key !== "absent"), next };
  }

  /** Counts the keys of one application or of all that are in use, from the index alone. */
  countActive(platformId: string, applicationId: string | null, now: Date): Promise<number> {
    return this.#index.countActive(platformId, applicationId, now);
  }

  /**
   * Notes that a key was used, at most once a minute in this process. Does not wait for the write, whose loss does no
   * harm. Returns whether it was noted this time.
   */
  noteUse(keyId: string, now: Date): boolean {
    const time = now.getTime();
    if (time - (this.#usedAt.get(keyId) ?? 0) < USAGE_INTERVAL_MS) return false;
    putBounded(this.#usedAt, keyId, time);
    this.#keys
      .putProperties(keyId, {
        ...keyUsageRow.encode({ lastUsedAt: now.toISOString() }),
        rowKey: USAGE,
      })
      .catch(() => this.#usedAt.delete(keyId));
    return true;
  }
}
