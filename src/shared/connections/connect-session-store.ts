import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { undoIfRefused } from "../callers/access-check.ts";
import { actor } from "../callers/caller.ts";
import { serviceUnavailable } from "../runtime/errors.ts";
import { idBefore, inverted, isId, timeOfId } from "../runtime/ids.ts";
import { shape } from "../runtime/shape.ts";
import { integer, json, oneOf, rowCodec, text, textOrNull } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Row } from "../runtime/storage/row.ts";
import { scan, type Scanned } from "../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
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
  createdBy: json(actor),
  grantedBy: textOrNull(),
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

/** A profile's session in the list of them; the profile is the partition, and the row key has the session's id. */
export const profileSessionRow = rowCodec("connect session of a profile", { expiresAt: text() });

const ID_START = "0000000000000000|".length;

/** Returns the row key of a session in the list of its profile, which is newest first. */
const listKeyOf = (id: string) => `${inverted(timeOfId("connectSession", id))}|${id}`;

/** What identifies a session and its place in the list of its profile. */
type SessionRef = Pick<ConnectSession, "id" | "profileId">;

/** Decodes a session. @throws DamagedRow */
const fromRow = (id: string, row: Row): ConnectSession => ({
  id,
  ...connectSessionRow.decode(row),
});

/**
 * Stores connect sessions by id, and a list of them for each profile. An id alone gives no right: callers compare the
 * tenant, and browsers bring the token.
 */
export class ConnectSessionStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Stores a new session. @throws AppError `service_unavailable` when its id is taken */
  async insert(session: ConnectSession): Promise<void> {
    undoIfRefused(() => this.remove(session));
    const { id, profileId, expiresAt } = session;
    // First, because an erasure finds the sessions of a profile by it. Without a session it is passed over.
    const columns = profileSessionRow.encode({ expiresAt });
    await this.#table.put(profileId, { rowKey: listKeyOf(id), ...columns });
    const row = { rowKey: ROW_KEY, ...connectSessionRow.encode(session) };
    const etag = await this.#table.insertIfAbsent(id, row);
    if (etag === undefined) throw serviceUnavailable();
  }

  /**
   * Lists a profile's sessions, open or not, that were started after `since` and have not expired; newest first. A page
   * may be short without being the last.
   */
  async listOfProfile(
    profileId: string,
    page: {
      readonly after: string | undefined;
      readonly limit: number;
      readonly since: Date;
      readonly now: Date;
    },
  ): Promise<Scanned<ConnectSession>> {
    const { items: ids, next } = await scan(this.#table, {
      partitionKey: profileId,
      from: page.after ?? "0",
      before: inverted(page.since.getTime()),
      limit: page.limit,
      pick({ row }) {
        const { expiresAt } = profileSessionRow.decode(row);
        const isOver = Date.parse(expiresAt) <= page.now.getTime();
        return isOver ? undefined : row.rowKey.slice(ID_START);
      },
    });
    const found = await Promise.all(ids.map((id) => this.#findUndamaged(id)));
    return { items: found.filter((session) => session !== undefined), next };
  }

  async #findUndamaged(id: string): Promise<ConnectSession | undefined> {
    const stored = await this.#table.find(id, ROW_KEY);
    return stored === undefined ? undefined : unlessDamaged(() => fromRow(id, stored.row));
  }

  /** Returns the ids of a page of a profile's sessions, open or not. */
  async idsOfProfile(
    profileId: string,
    after: string | undefined,
  ): Promise<{ readonly ids: readonly string[]; readonly next: string | undefined }> {
    const { rows, next } = await this.#table.select({ partitionKey: profileId }, after);
    return { ids: rows.map(({ row }) => row.rowKey.slice(ID_START)), next };
  }

  /** Removes a session. May be repeated. */
  async remove({ id, profileId }: SessionRef): Promise<void> {
    await this.#table.delete(id, ROW_KEY);
    // Last: as long as it is there, this is repeated.
    await this.#table.delete(profileId, listKeyOf(id));
  }

  /** Returns the session; undefined for text that is not an id. @throws DamagedRow */
  async find(id: string): Promise<ConnectSession | undefined> {
    if (!isId("connectSession", id)) return undefined;
    const stored = await this.#table.find(id, ROW_KEY);
    return stored === undefined ? undefined : fromRow(id, stored.row);
  }

  /** Removes a page of the lists' rows whose session expired before the time. */
  removeListedBefore(time: Date, after: string | undefined) {
    const partitions = { from: "prf_", before: afterPrefix("prf_") };
    const olderThan = { property: "expiresAt", time: time.toISOString() };
    return this.#table.removeSelected({ partitions, olderThan }, after);
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
