import { serviceUnavailable, type AppError } from "../../runtime/errors.ts";
import { inverted, timeOfId } from "../../runtime/ids.ts";
import type { RowWrite, StoredRow } from "../../runtime/storage/row.ts";
import { LOST, untilWon } from "../../runtime/until-won.ts";
import { RowQueues } from "../../runtime/storage/row-queues.ts";
import { unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { ApiKey } from "./key.ts";
import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import {
  integer,
  longJson,
  longText,
  oneOf,
  rowCodec,
  text,
  textOrNull,
} from "../../runtime/storage/codec.ts";

/** The most keys that a key can descend from. */
export const LINEAGE_MAX = 500;
/** The most keys of an application that are in use. */
export const LIVE_KEYS_MAX = 1_000;
/** The most keys of an application that will expire or did so lately: their times have to fit into one row. */
export const EXPIRING_KEYS_MAX = 10_000;
/** The clocks of instances differ, so only a key that has expired for all of them is dropped from the list of times. */
const DROPPED_AFTER_MS = 60 * 60 * 1000;

/** An entry of a platform's key index; the row key has the id of the API key. */
export const keyIndexRow = rowCodec("key index entry", {
  applicationId: text(),
  status: oneOf(["active", "revoked"]),
  expiresAt: textOrNull(),
  // "" for a key that a person made. A column of its own, so that descendants can be selected by it.
  origin: text(),
  lineage: longText(),
});

/** The keys of an application that are in use; its row changes together with the entries of the index. */
export const liveKeysRow = rowCodec("live keys", {
  lasting: integer(),
  expiring: longJson<readonly number[]>(shape(() => z.array(z.number()))),
});

/** The keys that a key descends from, the first one first; empty for a key that a person made. */
export type Lineage = readonly string[];

/**
 * Returns the columns of a lineage. Every entry has its whole lineage, so deleting a key in between breaks no chain.
 */
function lineageColumns(lineage: Lineage): {
  readonly origin: string;
  readonly lineage: string;
} {
  return { origin: lineage[0] ?? "", lineage: lineage.join(" ") };
}

/** Parses the lineage that an entry of the index stores. */
function parseLineage(lineage: string): Lineage {
  return lineage.split(" ").filter(Boolean);
}

/**
 * How many keys of an application are in use. The times at which keys expire are enough to answer that for any moment
 * without reading the keys.
 */
export interface LiveKeys {
  readonly lasting: number;
  /** When the others expire, in milliseconds. */
  readonly expiring: readonly number[];
}

/** What is stored for an application that has had no key yet. */
const NO_LIVE_KEYS: LiveKeys = { lasting: 0, expiring: [] };

/** Adds a key, and drops those that expired long ago. Undefined when the application has as many keys as it may have. */
function withKey(
  { lasting, expiring }: LiveKeys,
  expiresAt: string | null,
  now: Date,
): LiveKeys | undefined {
  const kept = expiring.filter((time) => time > now.getTime() - DROPPED_AFTER_MS);
  if (countLive({ lasting, expiring: kept }, now) >= LIVE_KEYS_MAX) return undefined;
  if (expiresAt === null) return { lasting: lasting + 1, expiring: kept };
  if (kept.length >= EXPIRING_KEYS_MAX) return undefined;
  return { lasting, expiring: [...kept, Date.parse(expiresAt)] };
}

/** Removes a key. One that expired may have been dropped before. */
function withoutKey({ lasting, expiring }: LiveKeys, expiresAt: string | null): LiveKeys {
  if (expiresAt === null) return { lasting: lasting - 1, expiring };
  const index = expiring.indexOf(Date.parse(expiresAt));
  return { lasting, expiring: index === -1 ? expiring : expiring.toSpliced(index, 1) };
}

/** Counts the keys that are in use at a moment. */
function countLive({ lasting, expiring }: LiveKeys, now: Date): number {
  return lasting + expiring.filter((time) => time > now.getTime()).length;
}

const PREFIX = "K|";
const ID_START = "K|0000000000000000|".length;
const LIVE_PREFIX = "KN|";
const APPLICATIONS_MAX = 100_000;
/** Entries that are changed in one transaction, together with the row of the live keys. */
const TOGETHER_MAX = 90;

const indexKey = (keyId: string) => `${PREFIX}${inverted(timeOfId("key", keyId))}|${keyId}`;
const liveKey = (applicationId: string) => LIVE_PREFIX + applicationId;

/** Decodes the live keys of an application; none if it has no row. @throws DamagedRow */
const toLiveKeys = (stored: StoredRow | undefined): LiveKeys =>
  stored === undefined ? NO_LIVE_KEYS : liveKeysRow.decode(stored.row);

/** Names a key and whose it is. */
export type KeyRef = Pick<ApiKey, "id" | "platformId" | "applicationId">;

/** A key as the index lists it. */
export interface ListedKey extends KeyRef {
  /** Whether it was revoked to the end: the index is written after the access version is raised. */
  readonly isEnded: boolean;
}

/** A key that descends from another one. */
export interface Descendant extends KeyRef {
  readonly revoked: boolean;
  readonly expiresAt: string | null;
}

/** What a change writes together with the live keys, and its result; or the result alone when nothing is to be written. */
type Step<T> =
  | { readonly writes: readonly RowWrite[]; readonly live: LiveKeys; readonly result: T }
  | { readonly result: T };

/**
 * Indexes the API keys of a platform in its partition of table `core`, for lists and counts. Each application has a
 * row that says which of its keys are in use; it changes in the same transaction as the entries.
 */
export class KeyIndexStore {
  readonly #core: Table;
  readonly #rowQueues = new RowQueues();

  constructor(core: Table) {
    this.#core = core;
  }

  /** Adds a key. Returns false when the application has as many keys as it may have. May be repeated. */
  add(key: ApiKey, lineage: Lineage): Promise<boolean> {
    const { id, applicationId, expiresAt, createdAt } = key;
    const rowKey = indexKey(id);
    const columns = keyIndexRow.encode({
      applicationId,
      status: "active",
      expiresAt,
      ...lineageColumns(lineage),
    });
    return this.#change(key, [rowKey], ([stored], live) => {
      if (stored !== undefined) return { result: true };
      const grown = withKey(live, expiresAt, new Date(createdAt));
      if (grown === undefined) return { result: false };
      const row = { ...columns, rowKey };
      return { writes: [{ kind: "create", row }], live: grown, result: true };
    });
  }

  /** Marks keys of one application as revoked; they stay listed. May be repeated. */
  async end(keys: readonly KeyRef[]): Promise<void> {
    for (let start = 0; start < keys.length; start += TOGETHER_MAX) {
      const together = keys.slice(start, start + TOGETHER_MAX);
      const [first] = together;
      if (first === undefined) return;
      const rowKeys = together.map(({ id }) => indexKey(id));
      await this.#change<void>(first, rowKeys, (rows, live) => {
        const active = rows
          .filter((stored) => stored !== undefined)
          .map(({ row, etag }) => ({ entry: keyIndexRow.decode(row), rowKey: row.rowKey, etag }))
          .filter(({ entry }) => entry.status === "active");
        if (active.length === 0) return { result: undefined };
        const columns = keyIndexRow.encodePart({ status: "revoked" });
        return {
          writes: active.map(({ rowKey, etag }) => ({
            kind: "merge",
            row: { ...columns, rowKey },
            etag,
          })),
          live: active.reduce((left, { entry }) => withoutKey(left, entry.expiresAt), live),
          result: undefined,
        };
      });
    }
  }

  /** Returns the keys that the key descends from; none when the index has no such key. @throws DamagedRow */
  async lineage({ id, platformId }: Pick<KeyRef, "id" | "platformId">): Promise<Lineage> {
    const stored = await this.#core.find(platformId, indexKey(id));
    return stored === undefined ? [] : parseLineage(keyIndexRow.decode(stored.row).lineage);
  }

  /**
   * Returns the keys that the key made, and those that these made, newest first.
   * @throws DamagedRow rather than leave one out: all of them are to be ended
   */
  async descendants({ id, platformId, applicationId }: KeyRef): Promise<Descendant[]> {
    const [origin = id] = await this.lineage({ id, platformId });
    const range = { partitionKey: platformId, from: PREFIX, before: afterPrefix(PREFIX) };
    const found: Descendant[] = [];
    let after: string | undefined;
    do {
      const selection = { ...range, property: "origin", values: [origin] };
      const { rows, next } = await this.#core.select(selection, after);
      for (const { row } of rows) {
        const { lineage, status, expiresAt } = keyIndexRow.decode(row);
        if (!parseLineage(lineage).includes(id)) continue;
        const revoked = status === "revoked";
        found.push({
          id: row.rowKey.slice(ID_START),
          platformId,
          applicationId,
          revoked,
          expiresAt,
        });
      }
      after = next;
    } while (after !== undefined);
    return found;
  }

  /** Revokes and removes the entry of a key, so that it is neither counted nor listed. May be repeated. */
  async remove(ref: KeyRef): Promise<void> {
    await this.end([ref]);
    await this.removeEnded(ref);
  }

  /** Removes the entry of a key that has ended, so that it is not listed any more. May be repeated. */
  async removeEnded({ id, platformId }: KeyRef): Promise<void> {
    await this.#core.delete(platformId, indexKey(id));
  }

  /** Lists the keys of one application or of all, newest first; `after` is where the last page ended. */
  list(
    platformId: string,
    applicationId: string | null,
    position: { readonly after: string | undefined; readonly limit: number },
  ): Promise<Scanned<ListedKey>> {
    return scan(this.#core, {
      partitionKey: platformId,
      from: position.after ?? PREFIX,
      before: afterPrefix(PREFIX),
      limit: position.limit,
      pick({ row }) {
        const entry = keyIndexRow.decode(row);
        if (applicationId !== null && entry.applicationId !== applicationId) return undefined;
        const id = row.rowKey.slice(ID_START);
        const isEnded = entry.status === "revoked";
        return { id, platformId, applicationId: entry.applicationId, isEnded };
      },
    });
  }

  /**
   * Counts the keys that are in use, from one row of each application, however many keys there are. A platform's count
   * leaves out applications whose row is damaged.
   * @throws DamagedRow when the row of the named application is damaged
   */
  async countActive(platformId: string, applicationId: string | null, now: Date): Promise<number> {
    if (applicationId !== null) {
      const stored = await this.#core.find(platformId, liveKey(applicationId));
      return countLive(toLiveKeys(stored), now);
    }
    const stored = await this.#core.list({
      partitionKey: platformId,
      from: LIVE_PREFIX,
      before: afterPrefix(LIVE_PREFIX),
      limit: APPLICATIONS_MAX,
    });
    return stored.reduce(
      (count, row) => count + (unlessDamaged(() => countLive(toLiveKeys(row), now)) ?? 0),
      0,
    );
  }

  /** Reads entries and the live keys, decides, and writes all or nothing; again until no other write comes between. */
  #change<T>(
    { platformId, applicationId }: Omit<KeyRef, "id">,
    rowKeys: readonly string[],
    decide: (rows: readonly (StoredRow | undefined)[], live: LiveKeys) => Step<T>,
  ): Promise<T> {
    const key = liveKey(applicationId);
    return this.#rowQueues.run(`${platformId}\n${key}`, () => {
      let inDoubt: AppError | undefined;
      return untilWon(async () => {
        const [before, ...rows] = await Promise.all(
          [key, ...rowKeys].map((rowKey) => this.#core.find(platformId, rowKey)),
        );
        const step = decide(rows, toLiveKeys(before));
        if (!("writes" in step)) return step.result;
        if (inDoubt !== undefined) throw inDoubt;
        const row = { ...liveKeysRow.encode(step.live), rowKey: key };
        const result = await this.#core.transact(platformId, [
          ...step.writes,
          before === undefined
            ? { kind: "create", row }
            : { kind: "merge", row, etag: before.etag },
        ]);
        if (result.kind === "applied") return step.result;
        if (result.kind === "in_doubt") inDoubt = serviceUnavailable(result.cause);
        return LOST;
      });
    });
  }
}
