import { undoIfRefused, withoutChange } from "../../callers/access-check.ts";
import type { RaiseAccess } from "../../billing/access-version.ts";
import { inverted, isId, timeOfId } from "../../runtime/ids.ts";
import { oneOf, rowCodec, text } from "../../runtime/storage/codec.ts";
import { unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import { LOST, untilWon } from "../../runtime/until-won.ts";
import type { Row, StoredRow } from "../../runtime/storage/row.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { Application, ApplicationStatus } from "./application.ts";
import { disabledColumns, PLATFORM_ROW_KEY } from "../platforms/platform-store.ts";

/** An application; the row key has its id. */
export const applicationRow = rowCodec("application", {
  name: text(),
  status: oneOf(["active", "disabled"]),
  createdAt: text(),
  updatedAt: text(),
});

const PREFIX = "A|";
const ID_START = "A|0000000000000000|".length;
const ALL_MAX = 10_000;

/** Returns the row key. It has the id's time: lists are newest first, and a point read still finds it. */
const rowKey = (applicationId: string) =>
  `${PREFIX}${inverted(timeOfId("application", applicationId))}|${applicationId}`;

/** Decodes an application. @throws DamagedRow */
function toApplication(row: Row): Application {
  return { ...applicationRow.decode(row), id: row.rowKey.slice(ID_START) };
}

/** Stores the applications of a platform in its partition, so that another platform's id is simply not found. */
export class ApplicationStore {
  readonly #core: Table;
  readonly #raiseAccess: RaiseAccess;

  constructor(core: Table, raiseAccess: RaiseAccess) {
    this.#core = core;
    this.#raiseAccess = raiseAccess;
  }

  /** Finds an application. @throws DamagedRow */
  async find(platformId: string, applicationId: string): Promise<Application | undefined> {
    if (!isId("application", applicationId)) return undefined;
    const stored = await this.#core.find(platformId, rowKey(applicationId));
    return stored === undefined ? undefined : toApplication(stored.row);
  }

  /** Stores a new application. May be repeated. */
  async create(platformId: string, application: Application): Promise<void> {
    const columns = applicationRow.encode(application);
    const key = rowKey(application.id);
    undoIfRefused(() => this.#core.delete(platformId, key));
    await this.#core.put(platformId, { ...columns, rowKey: key });
  }

  /** Renames an application. Returns undefined when there is none. @throws DamagedRow */
  async rename(
    platformId: string,
    applicationId: string,
    name: string,
    at: string,
  ): Promise<Application | undefined> {
    if (!isId("application", applicationId)) return undefined;
    const key = rowKey(applicationId);
    let before: Application | undefined;
    undoIfRefused(() =>
      this.#core.update(platformId, key, (row) => {
        if (before === undefined) return undefined;
        const change = { before, after: { ...before, name, updatedAt: at } };
        return applicationRow.encode(withoutChange(toApplication(row), change));
      }),
    );
    const row = await this.#core.update(platformId, key, (row) => {
      before = toApplication(row);
      return applicationRow.encodePart({ name, updatedAt: at });
    });
    return row === undefined ? undefined : toApplication(row);
  }

  /**
   * Enables or disables an application. Its own row and the platform's, which every request is checked against, change
   * in one transaction; then the access version is raised. May be repeated. Returns undefined when there is no such
   * application.
   * @throws DamagedRow
   */
  async setStatus(
    platformId: string,
    applicationId: string,
    status: ApplicationStatus,
    at: string,
  ): Promise<Application | undefined> {
    if (!isId("application", applicationId)) return undefined;
    const key = rowKey(applicationId);
    let before: Application | undefined;
    undoIfRefused(async () => {
      const present = await this.find(platformId, applicationId);
      if (before === undefined || present?.status !== status) return;
      await this.setStatus(platformId, applicationId, before.status, before.updatedAt);
    });
    const changed = await untilWon(async () => {
      const [application, platform] = await Promise.all([
        this.#core.find(platformId, key),
        this.#core.find(platformId, PLATFORM_ROW_KEY),
      ]);
      if (application === undefined || platform === undefined) return undefined;
      before ??= toApplication(application.row);
      const changed = applicationRow.encodePart({ status, updatedAt: at });
      const { kind } = await this.#core.transact(platformId, [
        { kind: "merge", row: { rowKey: key, ...changed }, etag: application.etag },
        {
          kind: "merge",
          row: {
            ...disabledColumns(platform.row, applicationId, status === "disabled"),
            rowKey: PLATFORM_ROW_KEY,
          },
          etag: platform.etag,
        },
      ]);
      // When in doubt, too: repeating the change makes no difference.
      return kind === "applied" ? toApplication({ ...application.row, ...changed }) : LOST;
    });
    if (changed !== undefined) await this.#raiseAccess(platformId);
    return changed;
  }

  /** Lists every application of the platform, newest first. Leaves out damaged ones. */
  async listAll(platformId: string): Promise<Application[]> {
    const rows = await this.#readAll(platformId);
    return rows
      .map(({ row }) => unlessDamaged(() => toApplication(row)))
      .filter((application) => application !== undefined);
  }

  /** Lists the id of every application of the platform, newest first: of damaged ones too. */
  async listIds(platformId: string): Promise<string[]> {
    const rows = await this.#readAll(platformId);
    return rows.map(({ row }) => row.rowKey.slice(ID_START));
  }

  #readAll(platformId: string): Promise<readonly StoredRow[]> {
    const range = { from: PREFIX, before: afterPrefix(PREFIX) };
    return this.#core.list({ partitionKey: platformId, ...range, limit: ALL_MAX });
  }

  /** Lists applications, newest first; `after` is where the last page ended. Leaves out damaged ones. */
  list(
    platformId: string,
    after: string | undefined,
    limit: number,
  ): Promise<Scanned<Application>> {
    return scan(this.#core, {
      partitionKey: platformId,
      from: after ?? PREFIX,
      before: afterPrefix(PREFIX),
      limit,
      pick: ({ row }) => toApplication(row),
    });
  }
}
