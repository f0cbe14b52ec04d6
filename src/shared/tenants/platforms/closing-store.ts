import { creation } from "../../runtime/storage/row.ts";
import { accessOperation, type Commit } from "../../partition/partition.ts";
import { markerKey, markerRow } from "../../ledger/ledger.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { Table } from "../../runtime/storage/table.ts";
import type { Platform } from "../platform.ts";
import { listedPlatformRow, PLATFORM_ROW_KEY, platformRow } from "../platform-row.ts";
import { INDEX, indexKey, NAMES, toPlatform } from "./platform-store.ts";

const PAGE_ROWS = 500;

/** Stores how platforms end. Each step is a transaction on the platform's row, so that racing steps have an order. */
export class ClosingStore {
  readonly #core: Table;
  readonly #commit: Commit;

  constructor(core: Table, commit: Commit) {
    this.#core = core;
    this.#commit = commit;
  }

  /**
   * Closes an active platform, with `more` new rows in the same transaction. Returns the platform afterwards, or
   * undefined when it doesn't exist. @throws DamagedRow
   */
  close(platformId: string, at: string, more: readonly Row[]): Promise<Platform | undefined> {
    return this.#commit<Platform | undefined>(
      platformId,
      accessOperation([PLATFORM_ROW_KEY], ({ row }) => {
        const stored = row(PLATFORM_ROW_KEY);
        if (stored === undefined) return { answer: undefined };
        const platform = toPlatform(platformId, stored.row);
        if (platform.status !== "active") return { answer: platform };
        const change = { status: "closed", updatedAt: at } as const;
        const changed = { ...platformRow.encodePart(change), rowKey: PLATFORM_ROW_KEY };
        const writes = [
          { kind: "merge", row: changed, etag: stored.etag } as const,
          ...more.map(creation),
        ];
        return { answer: { ...platform, ...change }, writes, raises: true };
      }),
    );
  }

  /** Stores the rows of an announcement while the platform is closed, once each time that it was closed. */
  announce(platformId: string, closedAt: string, rows: readonly Row[]): Promise<void> {
    const key = markerKey(`erasure announced|${closedAt}`);
    return this.#commit<void>(
      platformId,
      accessOperation([PLATFORM_ROW_KEY, key], ({ row, now }) => {
        const stored = row(PLATFORM_ROW_KEY);
        if (stored === undefined || row(key) !== undefined) return { answer: undefined };
        const { status, updatedAt } = platformRow.decode(stored.row);
        if (status !== "closed" || updatedAt !== closedAt) return { answer: undefined };
        const marker = markerRow.encode({
          operation: "platform.erasure_announced",
          tokens: 0,
          createdAt: now.toISOString(),
        });
        const writes = [{ ...marker, rowKey: key }, ...rows].map(creation);
        return { answer: undefined, writes, raises: false };
      }),
    );
  }

  /** Decides to erase a platform that was closed then. Returns false when it was opened again. May be repeated. */
  beginErasing(platformId: string, closedAt: string): Promise<boolean> {
    return this.#commit<boolean>(
      platformId,
      accessOperation([PLATFORM_ROW_KEY], ({ row }) => {
        const stored = row(PLATFORM_ROW_KEY);
        if (stored === undefined) return { answer: true };
        const { status, updatedAt } = platformRow.decode(stored.row);
        if (status === "erasing") return { answer: true };
        if (status !== "closed" || updatedAt !== closedAt) return { answer: false };
        const changed = {
          ...platformRow.encodePart({ status: "erasing" }),
          rowKey: PLATFORM_ROW_KEY,
        };
        const writes = [{ kind: "merge", row: changed, etag: stored.etag } as const];
        return { answer: true, writes, raises: true };
      }),
    );
  }

  /**
   * Removes the platform from the list of all, which walks use, after it was removed from that of names. Returns whether
   * it was in the list. May be repeated. @throws DamagedRow
   */
  async unlist(platformId: string): Promise<boolean> {
    const stored = await this.#core.find(INDEX, indexKey(platformId));
    if (stored === undefined) return false;
    const { nameKey } = listedPlatformRow.decode(stored.row);
    if (nameKey !== null) await this.#core.delete(NAMES, nameKey);
    return await this.#core.delete(INDEX, indexKey(platformId));
  }

  /**
   * Removes a platform from the lists that has no row, because the process that made it died. Returns whether it did.
   */
  async unlistIfAbsent(platformId: string): Promise<boolean> {
    const rows = await this.#core.list({ partitionKey: platformId, limit: 1 });
    return rows.length === 0 && (await this.unlist(platformId));
  }

  /** Removes a page of the platform's partition, and the platform itself last. Returns the number of rows. */
  async removeRows(platformId: string): Promise<number> {
    const rows = await this.#core.list({ partitionKey: platformId, limit: PAGE_ROWS });
    const rowKeys = rows.map(({ row }) => row.rowKey).filter((key) => key !== PLATFORM_ROW_KEY);
    if (rowKeys.length > 0) await this.#core.deleteAll(platformId, rowKeys);
    else await this.#core.delete(platformId, PLATFORM_ROW_KEY);
    return rowKeys.length;
  }
}
