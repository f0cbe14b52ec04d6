import { accessOperation, type Commit, type Counts, readCounts } from "../../core/core.ts";
import { serviceUnavailable } from "../../runtime/errors.ts";
import { inverted, isId, timeOfId } from "../../runtime/ids.ts";
import { undefinedIfDamaged } from "../../runtime/storage/damaged-row.ts";
import type { Row } from "../../runtime/storage/row.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { Platform, PlatformAccess, PlatformStatus } from "../platform.ts";
import type { User } from "../staff/user.ts";
import { newUserRow } from "../staff/user-store.ts";
import { parseDisabled, PLATFORM_ROW_KEY, platformRow } from "../platform-row.ts";

/** The partition that lists all platforms. */
const INDEX = "platforms";

const INDEX_TIME_LENGTH = "0000000000000000|".length;
const indexKey = (platformId: string) =>
  `${inverted(timeOfId("platform", platformId))}|${platformId}`;

/** Decodes a platform. @throws DamagedRow */
function toPlatform(id: string, row: Row): Platform {
  const { name, status, createdAt, updatedAt } = platformRow.decode(row);
  return { id, name, status, createdAt, updatedAt };
}

/** Stores the platforms, the paying customers. Each has a partition of its own in table `core`. */
export class PlatformStore {
  readonly #core: Table;
  readonly #commit: Commit;

  constructor(core: Table, commit: Commit) {
    this.#core = core;
    this.#commit = commit;
  }

  /** Finds a platform. @throws DamagedRow */
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
    const { status, disabled } = platformRow.decode(stored.row);
    return { status, disabledApplicationIds: parseDisabled(disabled) };
  }

  /**
   * Stores a platform and its first user in one transaction. The entry of the index is written before; one that a crash
   * leaves without a platform is skipped by `list` and `walk`.
   * @throws AppError `service_unavailable`
   */
  async createWithOwner(platform: Platform, owner: User): Promise<void> {
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
    await this.#core.put(INDEX, { rowKey: indexKey(id) });
    const result = await this.#core.transact(id, [
      { kind: "create", row: { ...columns, rowKey: PLATFORM_ROW_KEY } },
      { kind: "create", row: newUserRow(owner) },
    ]);
    if (result.kind === "applied") return;
    // The ids were made for this call, so a row under them is its own work.
    if ((await this.#core.find(id, PLATFORM_ROW_KEY)) !== undefined) return;
    throw serviceUnavailable(result.kind === "in_doubt" ? result.cause : undefined);
  }

  /**
   * Suspends or reactivates a platform. May be repeated. Returns undefined when there is none.
   * @throws DamagedRow
   */
  async setStatus(
    platformId: string,
    status: PlatformStatus,
    at: string,
  ): Promise<Platform | undefined> {
    if (!isId("platform", platformId)) return undefined;
    return await this.#commit<Platform | undefined>(
      platformId,
      accessOperation([PLATFORM_ROW_KEY], ({ row }) => {
        const stored = row(PLATFORM_ROW_KEY);
        if (stored === undefined) return { answer: undefined };
        const platform = toPlatform(platformId, stored.row);
        if (platform.status === status) return { answer: platform };
        const change = { status, updatedAt: at };
        const changed = { ...platformRow.encodePart(change), rowKey: PLATFORM_ROW_KEY };
        return {
          answer: { ...platform, ...change },
          writes: [{ kind: "merge", row: changed, etag: stored.etag }],
          raises: true,
        };
      }),
    );
  }

  /** Reads how much each application of a platform has of what is counted. */
  counts(platformId: string): Promise<ReadonlyMap<string, Counts>> {
    return readCounts(this.#core, platformId);
  }

  /** Lists platforms, newest first; `after` is where the last page ended. Leaves out damaged ones. */
  async list(after: string | undefined, limit: number): Promise<Scanned<Platform>> {
    const { items, next } = await this.#listIndex(after, limit);
    const platforms = await Promise.all(items.map((id) => undefinedIfDamaged(this.find(id))));
    return { items: platforms.filter((platform) => platform !== undefined), next };
  }

  #listIndex(after: string | undefined, limit: number): Promise<Scanned<string>> {
    return scan(this.#core, {
      partitionKey: INDEX,
      from: after ?? "0",
      before: afterPrefix("9"),
      limit,
      pick: ({ row }) => row.rowKey.slice(INDEX_TIME_LENGTH),
    });
  }

  /** Lists the ids of all platforms by their keys alone, newest first, and what is left of one that never came to be. */
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

  /** Reads from storage, and throws when it does not answer. */
  async ping(): Promise<void> {
    await this.#core.find(INDEX, PLATFORM_ROW_KEY);
  }
}
