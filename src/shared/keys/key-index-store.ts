import { setTimeout as wait } from "node:timers/promises";
import { serviceUnavailable } from "../errors.ts";
import { inverted, timeOfId } from "../ids.ts";
import {
  textOf,
  textOrNull,
  type RowWrite,
  type StoredRow,
  type TransactionResult,
} from "../storage/row.ts";
import { RowTurns } from "../storage/row-turns.ts";
import { scan, type Scanned } from "../storage/scan.ts";
import { afterPrefix, type Table } from "../storage/table.ts";
import type { ApiKey } from "./key.ts";
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
const TRIES_MAX = 20;
const RETRY_MS = 10;

const indexKey = (keyId: string) => `${PREFIX}${inverted(timeOfId("key", keyId))}|${keyId}`;
const rosterKey = (applicationId: string) => ROSTER_PREFIX + applicationId;

type KeyPlace = Pick<ApiKey, "id" | "platformId">;

/** Of a change: what is written beside the roster, or how the change ended without a write. */
type Step<T> =
  | { readonly write: RowWrite; readonly roster: KeyRoster; readonly ended: T }
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

  /** False when the application has as many keys that are to expire as it may have. Repeating it is harmless. */
  add({ id, platformId, applicationId, expiresAt, createdAt }: ApiKey): Promise<boolean> {
    const rowKey = indexKey(id);
    const row = { rowKey, applicationId, status: "active", expiresAt: expiresAt ?? "" };
    return this.#change(platformId, applicationId, rowKey, (stored, roster) => {
      if (stored !== undefined) return { ended: true };
      const grown = withKey(roster, expiresAt, new Date(createdAt));
      if (grown === undefined) return { ended: false };
      return { write: { kind: "create", row }, roster: grown, ended: true };
    });
  }

  /** The key is in use no more, and stays listed. May be repeated. */
  async end({ id, platformId }: KeyPlace): Promise<void> {
    const rowKey = indexKey(id);
    const found = await this.#tenants.find(platformId, rowKey);
    if (found === undefined) return;
    const applicationId = textOf(found.row, "applicationId");
    const merged = { rowKey, status: "revoked" };
    await this.#change<void>(platformId, applicationId, rowKey, (stored, roster) => {
      if (stored === undefined || stored.row["status"] === "revoked") return { ended: undefined };
      const shrunk = withoutKey(roster, textOrNull(stored.row, "expiresAt"));
      const write: RowWrite = { kind: "merge", row: merged, etag: stored.etag };
      return { write, roster: shrunk, ended: undefined };
    });
  }

  /** Nothing of the key is listed any more, or counted. May be repeated. */
  async remove(place: KeyPlace): Promise<void> {
    await this.end(place);
    await this.#tenants.delete(place.platformId, indexKey(place.id));
  }

  /** Ids, newest first, of one application or of all; `after` is where the last listing stopped. */
  list(
    platformId: string,
    applicationId: string | null,
    position: { readonly after: string | undefined; readonly limit: number },
  ): Promise<Scanned<string>> {
    return scan(this.#tenants, {
      partitionKey: platformId,
      from: position.after ?? PREFIX,
      before: afterPrefix(PREFIX),
      limit: position.limit,
      pick: ({ row }) =>
        applicationId === null || row["applicationId"] === applicationId
          ? row.rowKey.slice(ID_START)
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

  /** Reads the key's row and the roster, decides, writes both or neither, until it took. */
  #change<T>(
    platformId: string,
    applicationId: string,
    rowKey: string,
    decide: (stored: StoredRow | undefined, roster: KeyRoster) => Step<T>,
  ): Promise<T> {
    const key = rosterKey(applicationId);
    return this.#turns.run(`${platformId}\n${key}`, async () => {
      let last: TransactionResult = { kind: "refused" };
      for (let attempt = 1; attempt <= TRIES_MAX; attempt += 1) {
        const [stored, before] = await Promise.all([
          this.#tenants.find(platformId, rowKey),
          this.#tenants.find(platformId, key),
        ]);
        const step = decide(stored, toKeyRoster(before?.row));
        if (!("write" in step)) return step.ended;
        if (last.kind === "in_doubt") break;
        const row = keyRosterRow(key, step.roster);
        last = await this.#tenants.transact(platformId, [
          step.write,
          before === undefined
            ? { kind: "create", row }
            : { kind: "replace", row, etag: before.etag },
        ]);
        if (last.kind === "applied") return step.ended;
        await wait(Math.random() * RETRY_MS * attempt);
      }
      throw serviceUnavailable(last.kind === "in_doubt" ? last.cause : undefined);
    });
  }
}
