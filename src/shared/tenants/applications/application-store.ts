import { applicationRow } from "./application-row.ts";
import { PLATFORM_ROW_KEY, withDisabled } from "./disabled-applications.ts";
import { inverted, isId, timeOfId } from "../../runtime/ids.ts";
import { unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import type { Row } from "../../runtime/storage/row.ts";
import { LOST, untilWon } from "../../runtime/storage/retry-lost.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { Application, ApplicationStatus } from "./application.ts";

const PREFIX = "A|";
const ID_START = "A|0000000000000000|".length;
const ALL_MAX = 10_000;

/** Computed from the id, which carries its time: newest first, and still one point read. */
const rowKey = (applicationId: string) =>
  `${PREFIX}${inverted(timeOfId("application", applicationId))}|${applicationId}`;

/** @throws DamagedRow */
function toApplication(row: Row): Application {
  return { ...applicationRow.decode(row), id: row.rowKey.slice(ID_START) };
}

/** The applications of a platform, in its partition: another platform's id is simply not found. */
export class ApplicationStore {
  readonly #tenants: Table;

  constructor(tenants: Table) {
    this.#tenants = tenants;
  }

  async find(platformId: string, applicationId: string): Promise<Application | undefined> {
    if (!isId("application", applicationId)) return undefined;
    const stored = await this.#tenants.find(platformId, rowKey(applicationId));
    return stored === undefined ? undefined : toApplication(stored.row);
  }

  /** Repeating it with the same application is harmless. */
  async create(platformId: string, application: Application): Promise<void> {
    const columns = applicationRow.encode(application);
    await this.#tenants.put(platformId, { ...columns, rowKey: rowKey(application.id) });
  }

  async rename(
    platformId: string,
    applicationId: string,
    name: string,
    at: string,
  ): Promise<Application | undefined> {
    if (!isId("application", applicationId)) return undefined;
    const row = await this.#tenants.update(platformId, rowKey(applicationId), () => ({
      name,
      updatedAt: at,
    }));
    return row === undefined ? undefined : toApplication(row);
  }

  /** The application's row and the platform's, which every request is judged on, change together. */
  async setStatus(
    platformId: string,
    applicationId: string,
    status: ApplicationStatus,
    at: string,
  ): Promise<Application | undefined> {
    if (!isId("application", applicationId)) return undefined;
    const key = rowKey(applicationId);
    return untilWon(async () => {
      const [application, platform] = await Promise.all([
        this.#tenants.find(platformId, key),
        this.#tenants.find(platformId, PLATFORM_ROW_KEY),
      ]);
      if (application === undefined || platform === undefined) return undefined;
      const changed = { status, updatedAt: at };
      const { kind } = await this.#tenants.transact(platformId, [
        { kind: "merge", row: { rowKey: key, ...changed }, etag: application.etag },
        {
          kind: "merge",
          row: withDisabled(platform.row, applicationId, status === "disabled"),
          etag: platform.etag,
        },
      ]);
      // In doubt, too: done once more, it is the same.
      return kind === "applied" ? toApplication({ ...application.row, ...changed }) : LOST;
    });
  }

  /** Every application of the platform, newest first, or none: events have to reach all. @throws DamagedRow */
  async listAll(platformId: string): Promise<Application[]> {
    const rows = await this.#tenants.list({
      partitionKey: platformId,
      from: PREFIX,
      before: afterPrefix(PREFIX),
      limit: ALL_MAX,
    });
    return rows
      .map(({ row }) => unlessDamaged(() => toApplication(row)))
      .filter((application) => application !== undefined);
  }

  /** Newest first; `after` is where the last listing stopped. */
  list(
    platformId: string,
    after: string | undefined,
    limit: number,
  ): Promise<Scanned<Application>> {
    return scan(this.#tenants, {
      partitionKey: platformId,
      from: after ?? PREFIX,
      before: afterPrefix(PREFIX),
      limit,
      pick: ({ row }) => toApplication(row),
    });
  }
}
