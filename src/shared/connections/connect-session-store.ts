import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { undoIfRefused } from "../callers/access-check.ts";
import { serviceUnavailable } from "../runtime/errors.ts";
import { idBefore, isId } from "../runtime/ids.ts";
import { shape } from "../runtime/shape.ts";
import { integer, json, oneOf, rowCodec, text, textOrNull } from "../runtime/storage/codec.ts";
import type { Row } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";
import type { NetworkName } from "../networks/lookup.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import type { ConnectSession, SessionLink } from "./connect-session.ts";
import { brandingShape } from "./schema.ts";

const ROW_KEY = "S";

const networkShape = shape(() => z.enum(NETWORK_NAMES));
const networksShape = shape((): z.ZodType<readonly NetworkName[]> => z.array(networkShape()));
const linksShape = shape((): z.ZodType<readonly SessionLink[]> =>
  z.array(
    z.object({
      network: networkShape(),
      accountHash: z.string(),
      connectionId: z.string(),
      isLinked: z.boolean(),
    }),
  ),
);

/** A connect session; its id is the partition. */
export const connectSessionRow = rowCodec("connect session", {
  platformId: text(),
  applicationId: text(),
  profileId: text(),
  status: oneOf(["open", "completed", "canceled"]),
  networks: json(networksShape),
  returnUrl: textOrNull(),
  state: textOrNull(),
  branding: json(brandingShape),
  tokenHash: text(),
  links: json(linksShape),
  attempts: integer(),
  expiresAt: text(),
  createdAt: text(),
});

/** Decodes a session. @throws DamagedRow */
const fromRow = (id: string, row: Row): ConnectSession => ({
  id,
  ...connectSessionRow.decode(row),
});

/**
 * Stores connect sessions by id. An id alone gives no right: callers compare the tenant, and browsers bring the token.
 */
export class ConnectSessionStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Stores a new session. @throws AppError `service_unavailable` when its id is taken */
  async insert(session: ConnectSession): Promise<void> {
    undoIfRefused(() => this.remove(session.id));
    const etag = await this.#table.insertIfAbsent(session.id, {
      rowKey: ROW_KEY,
      ...connectSessionRow.encode(session),
    });
    if (etag === undefined) throw serviceUnavailable();
  }

  /** Returns the ids of a page of a profile's sessions, open or not. Reads the whole table. */
  async idsOfProfile(
    profileId: string,
    after: string | undefined,
  ): Promise<{ readonly ids: readonly string[]; readonly next: string | undefined }> {
    const selection = { property: "profileId", values: [profileId] };
    const { rows, next } = await this.#table.select(selection, after);
    return { ids: rows.map(({ partitionKey }) => partitionKey), next };
  }

  /** Removes a session. May be repeated. */
  async remove(id: string): Promise<void> {
    await this.#table.delete(id, ROW_KEY);
  }

  /** Returns the session; undefined for text that is not an id. @throws DamagedRow */
  async find(id: string): Promise<ConnectSession | undefined> {
    if (!isId("connectSession", id)) return undefined;
    const stored = await this.#table.find(id, ROW_KEY);
    return stored === undefined ? undefined : fromRow(id, stored.row);
  }

  /** Removes a page of the sessions that were started before the time. */
  removeBefore(time: Date, after: string | undefined) {
    const range = { from: "cns_", before: idBefore("connectSession", time.getTime()) };
    return this.#table.removeSelected({ partitions: range }, after);
  }

  /**
   * Replaces the session with what `decide` returns for the row as it is then, so that of a cancel and a link that
   * race, the later one sees the earlier. Returns undefined if `decide` does, or there is no session.
   */
  async change(
    id: string,
    decide: (session: ConnectSession) => ConnectSession | undefined,
  ): Promise<ConnectSession | undefined> {
    if (!isId("connectSession", id)) return undefined;
    let changed: ConnectSession | undefined;
    let replaced: ConnectSession | undefined;
    undoIfRefused(() =>
      this.change(id, (present) => (isDeepStrictEqual(present, changed) ? replaced : undefined)),
    );
    await this.#table.change(id, ROW_KEY, (stored) => {
      const before = stored === undefined ? undefined : fromRow(id, stored.row);
      replaced = before;
      changed = before === undefined ? undefined : decide(before);
      return changed === undefined || changed === before
        ? { kind: "leave" }
        : { kind: "keep", columns: connectSessionRow.encode(changed) };
    });
    return changed;
  }
}
