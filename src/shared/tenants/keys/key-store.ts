import { isId } from "../../runtime/ids.ts";
import { undefinedIfDamaged } from "../../runtime/storage/damaged-row.ts";
import { textOf, textOrNull, type Row } from "../../runtime/storage/row.ts";
import type { Scanned } from "../../runtime/storage/scan.ts";
import type { Table } from "../../runtime/storage/table.ts";
import type { ApiKey } from "./key.ts";
import { KeyIndexStore, type Descendant, type KeyPlace } from "./key-index-store.ts";
import { keyRow } from "./key-row.ts";
import type { Lineage } from "./key-lineage.ts";

const TRUTH = "K";
const USAGE = "U";

const BINDINGS_MAX = 10_000;
/** Keys whose rows are changed side by side. */
const AT_ONCE = 16;
/** `lastUsedAt` is right to the minute. */
const USAGE_INTERVAL_MS = 60_000;

/** Where a key belongs, for ever. */
export interface KeyBinding {
  readonly platformId: string;
  readonly applicationId: string;
}

export interface KeyWithHash {
  readonly key: ApiKey;
  readonly hash: Uint8Array;
  /** Whether the hash's key was derived from the pepper; version 0.2.0 took the pepper itself. */
  readonly isDerived: boolean;
  readonly etag: string;
}

/** How the key of `keyHash` comes from the pepper; rows of version 0.2.0 don't say. */
const DERIVATION = "hkdf";
const hashColumns = (hash: Uint8Array) => ({
  keyHash: Buffer.from(hash).toString("hex"),
  keyDerivation: DERIVATION,
});

function toKey(id: string, row: Row, usage: Row | undefined): ApiKey {
  const { status, creatorKind, creatorId, ...columns } = keyRow.decode(row);
  const { keyHash: _hash, keyDerivation: _derivation, ...key } = columns;
  return {
    ...key,
    id,
    revoked: status === "revoked",
    lastUsedAt: usage === undefined ? null : textOrNull(usage, "lastUsedAt"),
    createdBy: creatorOf(creatorKind, creatorId),
  };
}

function creatorOf(kind: string, id: string): ApiKey["createdBy"] {
  return id === "" ? null : { kind: kind === "api_key" ? "api_key" : "session", id };
}

const orAbsent = (key: ApiKey | undefined) => key ?? "absent";

/** Does the work for each, a few at a time. */
async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
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
 * API keys: the truth in table `keys` under the key's own id, so that one point read authenticates, and an index in the
 * platform's partition for lists and counts. The index is written after the truth, so that it lists and counts no key
 * that never was; of a creation that was cut short in between nobody ever got the secret.
 */
export class KeyStore {
  readonly #keys: Table;
  readonly #index: KeyIndexStore;
  readonly #bindings = new Map<string, KeyBinding>();
  readonly #usedAt = new Map<string, number>();

  constructor(keys: Table, tenants: Table) {
    this.#keys = keys;
    this.#index = new KeyIndexStore(tenants);
  }

  /** Where a key that this process has seen belongs; says nothing about its present state. */
  bindingOf(keyId: string): KeyBinding | undefined {
    return this.#bindings.get(keyId);
  }

  /** The key for checking a secret against; without `lastUsedAt`. */
  async findWithHash(keyId: string): Promise<KeyWithHash | undefined> {
    const stored = await this.#keys.find(keyId, TRUTH);
    if (stored === undefined) return undefined;
    const key = toKey(keyId, stored.row, undefined);
    const { platformId, applicationId } = key;
    putBounded(this.#bindings, keyId, { platformId, applicationId });
    const { row, etag } = stored;
    const isDerived = row["keyDerivation"] === DERIVATION;
    return { key, hash: Buffer.from(textOf(row, "keyHash"), "hex"), isDerived, etag };
  }

  /** The platform's key; another platform's is not found. */
  async find(platformId: string, keyId: string): Promise<ApiKey | undefined> {
    if (!isId("key", keyId)) return undefined;
    const rows = await this.#keys.list({ partitionKey: keyId, limit: 2 });
    const truth = rows.find(({ row }) => row.rowKey === TRUTH);
    if (truth === undefined) return undefined;
    const key = toKey(keyId, truth.row, rows.find(({ row }) => row.rowKey === USAGE)?.row);
    return key.platformId === platformId ? key : undefined;
  }

  /** False when the application has as many keys as it may have. */
  async create(key: ApiKey, hash: Uint8Array, lineage: Lineage): Promise<boolean> {
    const columns = keyRow.encode({
      ...key,
      ...hashColumns(hash),
      status: "active",
      creatorKind: key.createdBy?.kind ?? "",
      creatorId: key.createdBy?.id ?? "",
    });
    await this.#keys.put(key.id, { ...columns, rowKey: TRUTH });
    if (await this.#index.add(key, lineage)) return true;
    await this.#keys.delete(key.id, TRUTH);
    return false;
  }

  async rename(key: ApiKey, name: string): Promise<ApiKey | undefined> {
    const row = await this.#keys.update(key.id, TRUTH, () => ({ name }));
    return row === undefined ? undefined : { ...key, name: textOf(row, "name") };
  }

  /** The truth first: from then on the key is refused everywhere. Repeating it is harmless. */
  revoke(key: KeyPlace): Promise<void> {
    return this.revokeAll([key]);
  }

  /** The same of several keys of one application. */
  async revokeAll(keys: readonly KeyPlace[]): Promise<void> {
    await inTurns(keys, ({ id }) =>
      this.#keys.update(id, TRUTH, (row) =>
        textOf(row, "status") === "revoked" ? undefined : { status: "revoked" },
      ),
    );
    await this.#index.end(keys);
  }

  /** What the key descends from. */
  lineage(key: Pick<KeyPlace, "id" | "platformId">): Promise<Lineage> {
    return this.#index.lineage(key);
  }

  /** What the key made, and what those made, newest first. */
  descendants(key: KeyPlace): Promise<readonly Descendant[]> {
    return this.#index.descendants(key);
  }

  /** Puts another hash of the same secret in the place of the one that was read, unless the key changed since. */
  async replaceHashIfUnchanged(keyId: string, hash: Uint8Array, etag: string): Promise<void> {
    await this.#keys.mergeIfUnchanged(keyId, { rowKey: TRUTH, ...hashColumns(hash) }, etag);
  }

  /** Leaves nothing of the key behind. Ended first, so that what a crash leaves behind does not count. */
  purge(key: KeyPlace): Promise<void> {
    return this.purgeAll([key]);
  }

  /** The same of several keys of one application. */
  async purgeAll(keys: readonly KeyPlace[]): Promise<void> {
    await this.revokeAll(keys);
    await inTurns(keys, async (key) => {
      await this.#keys.delete(key.id, TRUTH);
      await this.#keys.delete(key.id, USAGE);
      await this.#index.forget(key);
    });
  }

  /**
   * Newest first, of one application or of all; `after` is where the last listing stopped. Passes over what a delete
   * that was cut short left in the index, and removes it.
   */
  async list(
    platformId: string,
    applicationId: string | null,
    position: { readonly after: string | undefined; readonly limit: number },
  ): Promise<Scanned<ApiKey>> {
    const { items, next } = await this.#index.list(platformId, applicationId, position);
    const found = await Promise.all(
      items.map(async (place) => {
        const key = await undefinedIfDamaged(this.find(platformId, place.id).then(orAbsent));
        if (key === "absent") await this.#index.remove(place);
        return key;
      }),
    );
    return { items: found.filter((key) => key !== undefined && key !== "absent"), next };
  }

  /** Counted on the index alone. */
  countActive(platformId: string, applicationId: string | null, now: Date): Promise<number> {
    return this.#index.countActive(platformId, applicationId, now);
  }

  /**
   * Notes that a key was used, at most once a minute and process. In a row of its own, so that it never stands in the
   * way of a revoke; not waited for, and lost without harm. Answers whether it was noted this time.
   */
  noteUse(keyId: string, now: Date): boolean {
    const time = now.getTime();
    if (time - (this.#usedAt.get(keyId) ?? 0) < USAGE_INTERVAL_MS) return false;
    putBounded(this.#usedAt, keyId, time);
    this.#keys
      .put(keyId, { rowKey: USAGE, lastUsedAt: now.toISOString() })
      .catch(() => this.#usedAt.delete(keyId));
    return true;
  }
}
