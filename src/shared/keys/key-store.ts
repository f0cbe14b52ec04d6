import { inverted, isId, timeOfId } from "../ids.ts";
import { fromChunks, textOf, textOrNull, toChunks, type Row } from "../storage/row.ts";
import { scan, type Scanned } from "../storage/scan.ts";
import { afterPrefix, type Table } from "../storage/table.ts";
import { keyStatus, type ApiKey } from "./key.ts";

const TRUTH = "K";
const USAGE = "U";
const INDEX_PREFIX = "K|";
const INDEX_ID_START = "K|0000000000000000|".length;
const COUNT_MAX = 100_000;
/** Far longer than any request takes. */
const ABANDONED_MS = 10 * 60 * 1000;

const BINDINGS_MAX = 10_000;
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
}

const indexKey = (keyId: string) => `${INDEX_PREFIX}${inverted(timeOfId("key", keyId))}|${keyId}`;

function toKey(id: string, row: Row, usage: Row | undefined): ApiKey {
  return {
    id,
    platformId: textOf(row, "platformId"),
    applicationId: textOf(row, "applicationId"),
    name: textOf(row, "name"),
    scope: textOf(row, "scope") === "app_admin" ? "app_admin" : "restricted",
    allowedProfileIds: JSON.parse(fromChunks("allowedProfileIds", row) || "[]") as string[],
    keyPrefix: textOf(row, "keyPrefix"),
    revoked: textOf(row, "status") === "revoked",
    expiresAt: textOrNull(row, "expiresAt"),
    lastUsedAt: usage === undefined ? null : textOrNull(usage, "lastUsedAt"),
    createdAt: textOf(row, "createdAt"),
  };
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
 * platform's partition for lists. The index is written before the truth and removed after it.
 */
export class KeyStore {
  readonly #keys: Table;
  readonly #tenants: Table;
  readonly #bindings = new Map<string, KeyBinding>();
  readonly #usedAt = new Map<string, number>();

  constructor(keys: Table, tenants: Table) {
    this.#keys = keys;
    this.#tenants = tenants;
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
    return { key, hash: Buffer.from(textOf(stored.row, "keyHash"), "hex") };
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

  async create(key: ApiKey, hash: Uint8Array): Promise<void> {
    const { platformId, applicationId, name, scope, keyPrefix, createdAt } = key;
    const expiresAt = key.expiresAt ?? "";
    const status = "active";
    await this.#tenants.put(platformId, {
      rowKey: indexKey(key.id),
      applicationId,
      status,
      expiresAt,
    });
    await this.#keys.put(key.id, {
      rowKey: TRUTH,
      platformId,
      applicationId,
      name,
      scope,
      ...toChunks("allowedProfileIds", JSON.stringify(key.allowedProfileIds)),
      keyPrefix,
      keyHash: Buffer.from(hash).toString("hex"),
      status,
      expiresAt,
      createdAt,
    });
  }

  async rename(key: ApiKey, name: string): Promise<ApiKey | undefined> {
    const row = await this.#keys.update(key.id, TRUTH, () => ({ name }));
    return row === undefined ? undefined : { ...key, name: textOf(row, "name") };
  }

  /** The truth first: from then on the key is refused everywhere. Repeating it is harmless. */
  async revoke(key: ApiKey): Promise<void> {
    await this.#keys.update(key.id, TRUTH, () => ({ status: "revoked" }));
    await this.#tenants.update(key.platformId, indexKey(key.id), () => ({ status: "revoked" }));
  }

  /** Puts another hash of the same secret in the place of this one, unless somebody was first. */
  async replaceHash(keyId: string, before: Uint8Array, after: Uint8Array): Promise<void> {
    const hex = (hash: Uint8Array) => Buffer.from(hash).toString("hex");
    await this.#keys.update(keyId, TRUTH, (row) =>
      textOf(row, "keyHash") === hex(before) ? { keyHash: hex(after) } : undefined,
    );
  }

  /** Leaves nothing of the key behind. */
  async purge(key: ApiKey): Promise<void> {
    await this.#keys.delete(key.id, TRUTH);
    await this.#keys.delete(key.id, USAGE);
    await this.#tenants.delete(key.platformId, indexKey(key.id));
  }

  /**
   * Newest first, of one application or of all; `after` is where the last listing stopped. Passes over what a create or
   * delete that was cut short left in the index, and removes it once no create can still be under way.
   */
  async list(
    platformId: string,
    applicationId: string | null,
    position: { readonly after: string | undefined; readonly limit: number },
    now: Date,
  ): Promise<Scanned<ApiKey>> {
    const { items, next } = await scan(this.#tenants, {
      partitionKey: platformId,
      from: position.after ?? INDEX_PREFIX,
      before: afterPrefix(INDEX_PREFIX),
      limit: position.limit,
      pick: ({ row }) =>
        applicationId === null || row["applicationId"] === applicationId
          ? row.rowKey.slice(INDEX_ID_START)
          : undefined,
    });
    const found = await Promise.all(items.map((keyId) => this.find(platformId, keyId)));
    const abandoned = items.filter(
      (keyId, index) =>
        found[index] === undefined && now.getTime() - timeOfId("key", keyId) > ABANDONED_MS,
    );
    await Promise.all(abandoned.map((keyId) => this.#tenants.delete(platformId, indexKey(keyId))));
    return { items: found.filter((key) => key !== undefined), next };
  }

  /** Counted on the index alone. */
  async countActive(platformId: string, applicationId: string | null, now: Date): Promise<number> {
    const rows = await this.#tenants.list({
      partitionKey: platformId,
      from: INDEX_PREFIX,
      before: afterPrefix(INDEX_PREFIX),
      limit: COUNT_MAX,
    });
    return rows.filter(({ row }) => {
      if (applicationId !== null && row["applicationId"] !== applicationId) return false;
      const revoked = row["status"] === "revoked";
      return keyStatus({ revoked, expiresAt: textOrNull(row, "expiresAt") }, now) === "active";
    }).length;
  }

  /**
   * Notes that a key was used, at most once a minute and process. In a row of its own, so that it never stands in the
   * way of a revoke; not waited for, and lost without harm.
   */
  noteUse(keyId: string, now: Date): void {
    const time = now.getTime();
    if (time - (this.#usedAt.get(keyId) ?? 0) < USAGE_INTERVAL_MS) return;
    putBounded(this.#usedAt, keyId, time);
    this.#keys
      .put(keyId, { rowKey: USAGE, lastUsedAt: now.toISOString() })
      .catch(() => this.#usedAt.delete(keyId));
  }
}
