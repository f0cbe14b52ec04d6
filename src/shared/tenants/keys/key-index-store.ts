import { serviceUnavailable, type AppError } from "../../runtime/errors.ts";
import { inverted, timeOfId } from "../../runtime/ids.ts";
import {
  textOf,
  textOrNull,
  type Row,
  type RowWrite,
  type StoredRow,
} from "../../runtime/storage/row.ts";
import { LOST, untilWon } from "../../runtime/storage/retry-lost.ts";
import { RowTurns } from "../../runtime/storage/row-turns.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { ApiKey } from "./key.ts";
import { lineageColumns, lineageOf, type Lineage } from "./key-lineage.ts";
import {
  activeKeys,
  keyRosterRow,
  toKeyRoster,
  withKey,
  withoutKey,
  type KeyRoster,
} from "./key-roster.ts";

const PREFIX = "K|";
const ID_START = "K|0000000000000000|".length;
const ROSTER_PREFIX = "KN|";
const ROSTERS_MAX = 100_000;
/** Rows that are changed in one transaction; the roster makes one more. */
const TOGETHER_MAX = 90;

const indexKey = (keyId: string) => `${PREFIX}${inverted(timeOfId("key", keyId))}|${keyId}`;
const isRevoked = (row: Row) => row["status"] === "revoked";
const rosterKey = (applicationId: string) => ROSTER_PREFIX + applicationId;

export type KeyPlace = Pick<ApiKey, "id" | "platformId" | "applicationId">;

/** A key that descends from another one. */
export interface Descendant extends KeyPlace {
  readonly revoked: boolean;
  readonly expiresAt: string | null;
}

/** Of a change: what is written beside the roster, or how the change ended without a write. */
type Step<T> =
  | { readonly writes: readonly RowWrite[]; readonly roster: KeyRoster; readonly ended: T }
  | { readonly ended: T };

/**
 * The API keys of a platform in its partition (table `tenants`), for lists. How many of them are in use stands in a row
 * of each application, which changes in the same transaction as the key's own row.
 */
export class KeyIndexStore {
  readonly #tenants: Table;
  readonly #turns = new RowTurns();

  constructor(tenants: Table) {
    this.#tenants = tenants;
  }

  /** False when the application has as many keys as it may have. Repeating it is harmless. */
  add(key: ApiKey, lineage: Lineage): Promise<boolean> {
    const { id, applicationId, expiresAt, createdAt } = key;
    const rowKey = indexKey(id);
    const row = {
      rowKey,
      applicationId,
      status: "active",
      expiresAt: expiresAt ?? "",
      ...lineageColumns(lineage),
    };
    return this.#change(key, [rowKey], ([stored], roster) => {
      if (stored !== undefined) return { ended: true };
      const grown = withKey(roster, expiresAt, new Date(createdAt));
      if (grown === undefined) return { ended: false };
      return { writes: [{ kind: "create", row }], roster: grown, ended: true };
    });
  }

  /** Keys of one application are in use no more, and stay listed. May be repeated. */
  async end(keys: readonly KeyPlace[]): Promise<void> {
    for (let start = 0; start < keys.length; start += TOGETHER_MAX) {
      const together = keys.slice(start, start + TOGETHER_MAX);
      const [first] = together;
      if (first === undefined) return;
      const rowKeys = together.map(({ id }) => indexKey(id));
      await this.#change<void>(first, rowKeys, (rows, roster) => {
        const live = rows
          .filter((stored) => stored !== undefined)
          .filter(({ row }) => !isRevoked(row));
        if (live.length === 0) return { ended: undefined };
        return {
          writes: live.map(({ row: { rowKey }, etag }) => ({
            kind: "merge",
            row: { rowKey, status: "revoked" },
            etag,
          })),
          roster: live.reduce(
            (left, { row }) => withoutKey(left, textOrNull(row, "expiresAt")),
            roster,
          ),
          ended: undefined,
        };
      });
    }
  }

  /** What the key descends from. */
  async lineage({ id, platformId }: Pick<KeyPlace, "id" | "platformId">): Promise<Lineage> {
    const stored = await this.#tenants.find(platformId, indexKey(id));
    return stored === undefined ? [] : lineageOf(stored.row);
  }

  /** What the key made, and what those made, newest first. */
  async descendants({ id, platformId, applicationId }: KeyPlace): Promise<Descendant[]> {
    const [origin = id] = await this.lineage({ id, platformId });
    const range = { partitionKey: platformId, from: PREFIX, before: afterPrefix(PREFIX) };
    const found: Descendant[] = [];
    let after: string | undefined;
    do {
      const selection = { ...range, property: "origin", values: [origin] };
      const { rows, next } = await this.#tenants.select(selection, after);
      for (const { row } of rows)
        if (lineageOf(row).includes(id))
          found.push({
            id: row.rowKey.slice(ID_START),
            platformId,
            applicationId,
            revoked: isRevoked(row),
            expiresAt: textOrNull(row, "expiresAt"),
          });
      after = next;
    } while (after !== undefined);
    return found;
  }

  /** Nothing of the key is listed any more, or counted. May be repeated. */
  async remove(place: KeyPlace): Promise<void> {
    await this.end([place]);
    await this.forget(place);
  }

  /** Nothing of a key that has ended is listed any more. */
  async forget({ id, platformId }: KeyPlace): Promise<void> {
    await this.#tenants.delete(platformId, indexKey(id));
  }

  /** Newest first, of one application or of all; `after` is where the last listing stopped. */
  list(
    platformId: string,
    applicationId: string | null,
    position: { readonly after: string | undefined; readonly limit: number },
  ): Promise<Scanned<KeyPlace>> {
    return scan(this.#tenants, {
      partitionKey: platformId,
      from: position.after ?? PREFIX,
      before: afterPrefix(PREFIX),
      limit: position.limit,
      pick: ({ row }) =>
        applicationId === null || row["applicationId"] === applicationId
          ? {
              id: row.rowKey.slice(ID_START),
              platformId,
              applicationId: textOf(row, "applicationId"),
            }
          : undefined,
    });
  }

  /** Keys in use: one row of each application tells, however many there are. */
  async countActive(platformId: string, applicationId: string | null, now: Date): Promise<number> {
    if (applicationId !== null) {
      const stored = await this.#tenants.find(platformId, rosterKey(applicationId));
      return activeKeys(toKeyRoster(stored?.row), now);
    }
    const rosters = await this.#tenants.list({
      partitionKey: platformId,
      from: ROSTER_PREFIX,
      before: afterPrefix(ROSTER_PREFIX),
      limit: ROSTERS_MAX,
    });
    return rosters.reduce((count, { row }) => count + activeKeys(toKeyRoster(row), now), 0);
  }

  /** Reads rows of keys and the roster, decides, writes all or nothing, until it took. */
  #change<T>(
    { platformId, applicationId }: Omit<KeyPlace, "id">,
    rowKeys: readonly string[],
    decide: (rows: readonly (StoredRow | undefined)[], roster: KeyRoster) => Step<T>,
  ): Promise<T> {
    const key = rosterKey(applicationId);
    return this.#turns.run(`${platformId}\n${key}`, () => {
      let inDoubt: AppError | undefined;
      return untilWon(async () => {
        const [before, ...rows] = await Promise.all(
          [key, ...rowKeys].map((rowKey) => this.#tenants.find(platformId, rowKey)),
        );
        const step = decide(rows, toKeyRoster(before?.row));
        if (!("writes" in step)) return step.ended;
        if (inDoubt !== undefined) throw inDoubt;
        const row = keyRosterRow(key, step.roster);
        const result = await this.#tenants.transact(platformId, [
          ...step.writes,
          before === undefined
            ? { kind: "create", row }
            : { kind: "replace", row, etag: before.etag },
        ]);
        if (result.kind === "applied") return step.ended;
        if (result.kind === "in_doubt") inDoubt = serviceUnavailable(result.cause);
        return LOST;
      });
    });
  }
}
