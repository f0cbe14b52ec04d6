import {
  accessOperation,
  type Commit,
  type ApplicationCounts,
  readCounts,
} from "../../partition/partition.ts";
import { serviceUnavailable } from "../../runtime/errors.ts";
import { foldedName, foldedNameKey, idOfNameKey } from "../../runtime/folded-name.ts";
import { inverted, isId, timeOfId } from "../../runtime/ids.ts";
import { undefinedIfDamaged } from "../../runtime/storage/damaged-row.ts";
import type { Row } from "../../runtime/storage/row.ts";
import { scan, type ScannedPage } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { OperatedStatus, Platform, PlatformAccess } from "../platform.ts";
import {
  listedPlatformRow,
  parseDisabled,
  PLATFORM_ROW_KEY,
  platformNameRow,
  platformRow,
  platformStatusOf,
} from "../platform-row.ts";

export const INDEX = "platforms";
/** Partition of the names of platforms. */
export const NAMES = "platform-names";

const INDEX_TIME_LENGTH = "0000000000000000|".length;
export const indexKey = (platformId: string) =>
  `${inverted(timeOfId("platform", platformId))}|${platformId}`;

export function toPlatform(id: string, row: Row): Platform {
  const { name, createdAt, updatedAt } = platformRow.decode(row);
  return { id, name, status: platformStatusOf(row), createdAt, updatedAt };
}

/** Stores the platforms, the paying customers. Each has a partition of its own in the table `core`. */
export class PlatformStore {
  readonly #core: Table;
  readonly #commit: Commit;

  constructor(core: Table, commit: Commit) {
    this.#core = core;
    this.#commit = commit;
  }

  async find(platformId: string): Promise<Platform | undefined> {
    if (!isId("platform", platformId)) return undefined;
    const stored = await this.#core.find(platformId, PLATFORM_ROW_KEY);
    return stored === undefined ? undefined : toPlatform(platformId, stored.row);
  }

  /** Finds what requests for a platform are checked against. @throws DamagedRow */
  async findAccess(platformId: string): Promise<PlatformAccess | undefined> {
    if (!isId("platform", platformId)) return undefined;
    const stored = await this.#core.find(platformId, PLATFORM_ROW_KEY);
    if (stored === undefined) return undefined;
    const { disabled } = platformRow.decode(stored.row);
    return {
      status: platformStatusOf(stored.row),
      disabledApplicationIds: parseDisabled(disabled),
    };
  }

  /**
   * Stores a platform with the row of its owner and others in one transaction. Its entries in the list of all and in
   * that of names are written before, in this order. If a crash leaves an entry without a platform, lists skip it, and
   * a walk removes it.
   * @throws AppError `service_unavailable`
   */
  async createWithOwner(platform: Platform, rows: readonly Row[]): Promise<void> {
    const { id, name, status, createdAt, updatedAt } = platform;
    const columns = platformRow.encode({
      name,
      status,
      createdAt,
      updatedAt,
      disabled: "",
      users: 1,
      owners: 1,
    });
    const folded = foldedName(name);
    const nameKey = folded === "" ? null : foldedNameKey(folded, id);
    await this.#core.put(INDEX, { ...listedPlatformRow.encode({ nameKey }), rowKey: indexKey(id) });
    if (nameKey !== null)
      await this.#core.put(NAMES, { ...platformNameRow.encode({}), rowKey: nameKey });
    const result = await this.#core.transact(id, [
      { kind: "create", row: { ...columns, rowKey: PLATFORM_ROW_KEY } },
      ...rows.map((row) => ({ kind: "create", row }) as const),
    ]);
    if (result.kind === "applied") return;
    // The ids were made for this call, so this call has written a row under them.
    if ((await this.#core.find(id, PLATFORM_ROW_KEY)) !== undefined) return;
    throw serviceUnavailable(result.kind === "in_doubt" ? result.cause : undefined);
  }

  /**
   * Suspends a platform, or makes a suspended or closed one active again. A closed platform can't be suspended, and one
   * that is being erased doesn't change. The change is written with `more` new rows. Returns undefined when the
   * platform doesn't exist. May be repeated.
   * @throws DamagedRow
   */
  async setStatus(
    platformId: string,
    status: OperatedStatus,
    at: string,
    more: readonly Row[] = [],
  ): Promise<Platform | undefined> {
    if (!isId("platform", platformId)) return undefined;
    return await this.#commit<Platform | undefined>(
      platformId,
      accessOperation([PLATFORM_ROW_KEY], ({ row }) => {
        const stored = row(PLATFORM_ROW_KEY);
        if (stored === undefined) return { answer: undefined };
        const platform = toPlatform(platformId, stored.row);
        const { status: present } = platformRow.decode(stored.row);
        const isKept = present === "erasing" || (present === "closed" && status === "suspended");
        if (present === status || isKept) return { answer: platform };
        const change = { status, updatedAt: at };
        const changed = { ...platformRow.encodePart(change), rowKey: PLATFORM_ROW_KEY };
        return {
          answer: { ...platform, ...change },
          writes: [
            { kind: "merge", row: changed, etag: stored.etag },
            ...more.map((row) => ({ kind: "create", row }) as const),
          ],
          raises: true,
        };
      }),
    );
  }

  /** Reads the counts of each of a platform's applications. */
  counts(platformId: string): Promise<ReadonlyMap<string, ApplicationCounts>> {
    return readCounts(this.#core, platformId);
  }

  /**
   * Lists platforms, newest first, or those whose names begin with some text, in the order of names. Damaged ones are
   * left out. `after` is where the last page ended.
   */
  async list(
    after: string | undefined,
    limit: number,
    beginning?: string,
  ): Promise<ScannedPage<Platform>> {
    const folded = beginning === undefined ? undefined : foldedName(beginning);
    if (folded === "") return { items: [], next: undefined };
    const [partitionKey, from, before] =
      folded === undefined ? [INDEX, "0", "9"] : [NAMES, folded, folded];
    const { items, next } = await scan(this.#core, {
      partitionKey,
      from: after ?? from,
      before: afterPrefix(before),
      limit,
      pick: ({ row }) => idOfNameKey(row.rowKey),
    });
    const platforms = await Promise.all(items.map((id) => undefinedIfDamaged(this.find(id))));
    return { items: platforms.filter((platform) => platform !== undefined), next };
  }

  /** Lists the ids of all platforms by key, newest first, including those of platforms that were never completed. */
  async listIds(
    after: string | undefined,
    limit: number,
  ): Promise<{
    readonly items: readonly { readonly id: string; readonly after: string }[];
    readonly next: string | undefined;
  }> {
    const rows = await this.#core.list({
      partitionKey: INDEX,
      from: after === undefined ? "0" : `${after} `,
      before: afterPrefix("9"),
      limit,
    });
    const items = rows.map(({ row: { rowKey } }) => ({
      id: rowKey.slice(INDEX_TIME_LENGTH),
      after: rowKey,
    }));
    return { items, next: rows.length < limit ? undefined : rows.at(-1)?.row.rowKey };
  }

  /** Reads from storage. @throws Error when it doesn't answer */
  async ping(): Promise<void> {
    await this.#core.find(INDEX, PLATFORM_ROW_KEY);
  }
}
