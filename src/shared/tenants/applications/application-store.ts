import { accessOperation, type Commit } from "../../partition/partition.ts";
import { isId } from "../../runtime/ids.ts";
import { oneOf, rowCodec, text } from "../../runtime/storage/codec.ts";
import { unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import { newestFirst } from "../../runtime/storage/newest-first.ts";
import type { Columns, Row, RowWrite, StoredRow } from "../../runtime/storage/row.ts";
import type { ScannedPage } from "../../runtime/storage/scan.ts";
import type { Table } from "../../runtime/storage/table.ts";
import type { Application, ApplicationStatus } from "./application.ts";
import { disabledColumns, PLATFORM_ROW_KEY } from "../platform-row.ts";

/** An application. The row key has its id. */
export const applicationRow = rowCodec("application", {
  name: text(),
  status: oneOf(["active", "disabled"]),
  createdAt: text(),
  updatedAt: text(),
});

const ALL_MAX = 10_000;

const applications = newestFirst("application", "A|", (_platformId, row) => toApplication(row));
export const applicationKey = applications.key;

function toApplication(row: Row): Application {
  return { ...applicationRow.decode(row), id: applications.idOf(row) };
}

function merge({ row: { rowKey }, etag }: StoredRow, columns: Columns): RowWrite {
  return { kind: "merge", row: { ...columns, rowKey }, etag };
}

/** Stores the applications of a platform in its partition, so that another platform's application is not found. */
export class ApplicationStore {
  readonly #core: Table;
  readonly #commit: Commit;

  constructor(core: Table, commit: Commit) {
    this.#core = core;
    this.#commit = commit;
  }

  find(platformId: string, applicationId: string): Promise<Application | undefined> {
    return applications.find(this.#core, platformId, applicationId);
  }

  async create(platformId: string, application: Application): Promise<void> {
    const key = applicationKey(application.id);
    const created = { ...applicationRow.encode(application), rowKey: key };
    await this.#commit<void>(
      platformId,
      accessOperation([key], ({ row }) => {
        if (row(key) !== undefined) return { answer: undefined };
        const writes: RowWrite[] = [{ kind: "create", row: created }];
        return { answer: undefined, writes, raises: false };
      }),
    );
  }

  async rename(
    platformId: string,
    applicationId: string,
    name: string,
    at: string,
  ): Promise<Application | undefined> {
    if (!isId("application", applicationId)) return undefined;
    const key = applicationKey(applicationId);
    return await this.#commit<Application | undefined>(
      platformId,
      accessOperation([key], ({ row }) => {
        const stored = row(key);
        if (stored === undefined) return { answer: undefined };
        const change = { name, updatedAt: at };
        const writes = [merge(stored, applicationRow.encodePart(change))];
        return { answer: { ...toApplication(stored.row), ...change }, writes, raises: false };
      }),
    );
  }

  /**
   * Enables or disables an application. Its own row, the platform's row, which every request is checked against, and
   * the access version change in one transaction. Returns undefined when there is no such application. May be repeated.
   * @throws DamagedRow
   */
  async setStatus(
    platformId: string,
    applicationId: string,
    status: ApplicationStatus,
    at: string,
  ): Promise<Application | undefined> {
    if (!isId("application", applicationId)) return undefined;
    const key = applicationKey(applicationId);
    return await this.#commit<Application | undefined>(
      platformId,
      accessOperation([key, PLATFORM_ROW_KEY], ({ row }) => {
        const [stored, platform] = [row(key), row(PLATFORM_ROW_KEY)];
        if (stored === undefined || platform === undefined) return { answer: undefined };
        const change = { status, updatedAt: at };
        const disabled = disabledColumns(platform.row, applicationId, status === "disabled");
        const writes = [
          merge(stored, applicationRow.encodePart(change)),
          merge(platform, disabled),
        ];
        return { answer: { ...toApplication(stored.row), ...change }, writes, raises: true };
      }),
    );
  }

  /** Lists every application of the platform, newest first, without damaged ones. */
  async listAll(platformId: string): Promise<Application[]> {
    const rows = await this.#readAll(platformId);
    return rows
      .map(({ row }) => unlessDamaged(() => toApplication(row)))
      .filter((application) => application !== undefined);
  }

  /** Lists the id of every application of the platform, newest first, including damaged ones. */
  async listIds(platformId: string): Promise<string[]> {
    const rows = await this.#readAll(platformId);
    return rows.map(({ row }) => applications.idOf(row));
  }

  #readAll(platformId: string): Promise<readonly StoredRow[]> {
    return this.#core.list({ partitionKey: platformId, ...applications.range, limit: ALL_MAX });
  }

  /** Lists applications, newest first, without damaged ones. `after` is where the last page ended. */
  list(
    platformId: string,
    after: string | undefined,
    limit: number,
  ): Promise<ScannedPage<Application>> {
    return applications.list(this.#core, platformId, { after, limit });
  }
}
