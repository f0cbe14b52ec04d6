import type { BoundedValue } from "../networks/contract/bounded.ts";
import type { NetworkData } from "../networks/contract/draft.ts";
import { accessOperation, type Commit } from "../partition/partition.ts";
import { reseal, sealingKey, type DataKeys } from "../runtime/secrets.ts";
import { replacedChunks, type Columns, type Row } from "../runtime/storage/row.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import { currentOrigin } from "../runtime/telemetry/work-context.ts";
import { connectionEvent, type Viewer } from "./connection-event.ts";
import { listingChange } from "./connection-index.ts";
import {
  CONNECTION_ROWS,
  connectionKey,
  connectionRow,
  credentialsBinding,
  fromConnectionRow,
  refOfKey,
} from "./connection-row.ts";
import type { Connection, ConnectionRef } from "./connection.ts";

interface CheckStoreParts {
  readonly core: Table;
  readonly dataKeys: DataKeys;
  readonly commit: Commit;
  readonly viewer: Viewer;
}

/**
 * Stores what account checks find out about connections. A write names the account that was checked, and is dropped if
 * the connection now has another account or none.
 */
export class AccountCheckStore {
  readonly #parts: CheckStoreParts;
  readonly #core: Table;

  constructor(parts: CheckStoreParts) {
    this.#parts = parts;
    this.#core = parts.core;
  }

  /**
   * Lists a platform's connections after the given row key ("" for the first page), in the order of their profiles.
   * `last` is the row key after which the next page begins, or undefined at the end.
   */
  async listRefs(platformId: string, after: string, limit: number) {
    const rows = await this.#core.list({
      partitionKey: platformId,
      from: after === "" ? CONNECTION_ROWS : `${after} `,
      before: afterPrefix(CONNECTION_ROWS),
      limit,
    });
    const refs: readonly ConnectionRef[] = rows.flatMap(
      ({ row }) => refOfKey(platformId, row.rowKey) ?? [],
    );
    return { refs, last: rows.length < limit ? undefined : rows.at(-1)?.row.rowKey };
  }

  async recordChecked(connection: Connection, at: Date): Promise<void> {
    await this.#note(connection, () => connectionRow.encodePart({ checkedAt: at.toISOString() }));
  }

  /** Stores the limits that the network has for the account, if they changed. */
  async saveLimits(
    connection: Connection,
    limits: BoundedValue<NetworkData>,
    at: Date,
  ): Promise<void> {
    const text = JSON.stringify(limits);
    await this.#note(connection, (stored, row) =>
      JSON.stringify(stored.limits) === text
        ? undefined
        : {
            ...replacedChunks("limits", text, row),
            ...connectionRow.encodePart({ updatedAt: at.toISOString() }),
          },
    );
  }

  /** Records that the customer was warned, together with the event. Each end of an authorization is warned of once. */
  async recordWarned(noted: Connection): Promise<void> {
    const { expiresAt, platformId } = noted;
    if (expiresAt === null) return;
    const origin = currentOrigin();
    const key = connectionKey(noted);
    const view = await this.#parts.viewer(noted);
    await this.#parts.commit<void>(
      platformId,
      accessOperation([key], ({ row, now }) => {
        const stored = row(key);
        const connection = stored && fromConnectionRow(noted, stored.row).connection;
        const isDue =
          connection?.id === noted.id &&
          connection.status !== "revoked" &&
          connection.expiresAt === expiresAt &&
          connection.warnedExpiresAt !== expiresAt;
        if (stored === undefined || !isDue) return { answer: undefined };
        const columns = connectionRow.encodePart({ warnedExpiresAt: expiresAt });
        const warned = { ...connection, warnedExpiresAt: expiresAt };
        const writes = [
          { kind: "merge", row: { ...columns, rowKey: key }, etag: stored.etag } as const,
          ...listingChange(connection, warned),
          connectionEvent("connection.expiring", warned, { origin, now, view }),
        ];
        // Cached rows may be used, because nothing that they say is now wrong.
        return { answer: undefined, writes, raises: false };
      }),
    );
  }

  /** Seals the secrets with the first data key. Returns the key that now seals them, or undefined without secrets. */
  async reseal(ref: ConnectionRef): Promise<string | undefined> {
    const row = await this.#core.update(ref.platformId, connectionKey(ref), (before) => {
      const { sealed } = fromConnectionRow(ref, before);
      const again = reseal(sealed, credentialsBinding(ref), this.#parts.dataKeys);
      return again === undefined ? undefined : replacedChunks("credentials", again, before);
    });
    const sealed = row === undefined ? "" : fromConnectionRow(ref, row).sealed;
    return sealed === "" ? undefined : sealingKey(sealed);
  }

  async #note(
    noted: Connection,
    change: (stored: Connection, row: Row) => Columns | undefined,
  ): Promise<void> {
    await this.#core.update(noted.platformId, connectionKey(noted), (row) => {
      const { connection } = fromConnectionRow(noted, row);
      const isSame = connection.id === noted.id && connection.status !== "revoked";
      return isSame ? change(connection, row) : undefined;
    });
  }
}
