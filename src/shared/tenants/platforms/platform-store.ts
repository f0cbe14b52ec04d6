import { serviceUnavailable } from "../../runtime/errors.ts";
import { inverted, isId, timeOfId } from "../../runtime/ids.ts";
import { undefinedIfDamaged } from "../../runtime/storage/damaged-row.ts";
import type { Row } from "../../runtime/storage/row.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import { platformRow } from "./platform-row.ts";
import type { Platform, PlatformAccess, PlatformStatus } from "./platform.ts";
import { disabledApplicationIds, PLATFORM_ROW_KEY } from "../applications/disabled-applications.ts";
import type { User } from "../staff/user.ts";
import { userRow } from "../staff/user-store.ts";

/** The partition that lists all platforms. */
const INDEX = "platforms";

const INDEX_TIME_LENGTH = "0000000000000000|".length;
const indexKey = (platformId: string) =>
  `${inverted(timeOfId("platform", platformId))}|${platformId}`;

/** @throws DamagedRow */
function toPlatform(id: string, row: Row): Platform {
  const { name, status, createdAt, updatedAt } = platformRow.decode(row);
  return { id, name, status, createdAt, updatedAt };
}

/** The paying customers: each has a partition of its own in table `tenants`. */
export class PlatformStore {
  readonly #tenants: Table;

  constructor(tenants: Table) {
    this.#tenants = tenants;
  }

  async find(platformId: string): Promise<Platform | undefined> {
    if (!isId("platform", platformId)) return undefined;
    const stored = await this.#tenants.find(platformId, PLATFORM_ROW_KEY);
    return stored === undefined ? undefined : toPlatform(platformId, stored.row);
  }

  async findAccess(platformId: string): Promise<PlatformAccess | undefined> {
    if (!isId("platform", platformId)) return undefined;
    const stored = await this.#tenants.find(platformId, PLATFORM_ROW_KEY);
    if (stored === undefined) return undefined;
    const { row } = stored;
    const { status } = platformRow.decode(row);
    return { status, disabledApplicationIds: disabledApplicationIds(row) };
  }

  /**
   * The platform and its first user appear together. The index entry goes first: what a crash leaves of it alone is
   * passed over by `list`.
   */
  async createWithOwner(platform: Platform, owner: User): Promise<void> {
    const { id, name, status, createdAt, updatedAt } = platform;
    const columns = platformRow.encodePart({ name, status, createdAt, updatedAt });
    await this.#tenants.put(INDEX, { rowKey: indexKey(id) });
    const result = await this.#tenants.transact(id, [
      { kind: "create", row: { ...columns, rowKey: PLATFORM_ROW_KEY } },
      { kind: "create", row: userRow(owner) },
    ]);
    if (result.kind === "applied") return;
    // The ids were made for this call: whatever stands there now is its own work.
    if ((await this.#tenants.find(id, PLATFORM_ROW_KEY)) !== undefined) return;
    throw serviceUnavailable(result.kind === "in_doubt" ? result.cause : undefined);
  }

  async setStatus(
    platformId: string,
    status: PlatformStatus,
    at: string,
  ): Promise<Platform | undefined> {
    if (!isId("platform", platformId)) return undefined;
    const row = await this.#tenants.update(platformId, PLATFORM_ROW_KEY, (row) =>
      row["status"] === status ? undefined : { status, updatedAt: at },
    );
    return row === undefined ? undefined : toPlatform(platformId, row);
  }

  /** All platforms but those whose row is damaged, newest first; `after` is where the last listing stopped. */
  async list(after: string | undefined, limit: number): Promise<Scanned<Platform>> {
    const index = await scan(this.#tenants, {
      partitionKey: INDEX,
      from: after ?? "0",
      before: afterPrefix("9"),
      limit,
      pick: ({ row }) => row.rowKey.slice(INDEX_TIME_LENGTH),
    });
    const platforms = await Promise.all(index.items.map((id) => undefinedIfDamaged(this.find(id))));
    return { items: platforms.filter((platform) => platform !== undefined), next: index.next };
  }

  /** Throws when the tables do not answer. */
  async ping(): Promise<void> {
    await this.#tenants.find(INDEX, PLATFORM_ROW_KEY);
  }
}
