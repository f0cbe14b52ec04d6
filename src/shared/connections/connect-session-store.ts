import * as z from "zod";
import { serviceUnavailable } from "../runtime/errors.ts";
import { idBefore, isId } from "../runtime/ids.ts";
import { shape } from "../runtime/shape.ts";
import { numberOf, textOf, textOrNull, type Row } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";
import { networkName } from "./connection-row.ts";
import type { ConnectSession } from "./connect-session.ts";
import { brandingShape } from "./schema.ts";

const ROW_KEY = "S";

const networksShape = shape(() => z.array(networkName()));
const statusShape = shape(() => z.enum(["open", "completed", "canceled"]));
const linksShape = shape(() =>
  z.array(
    z.object({
      network: networkName(),
      accountHash: z.string(),
      connectionId: z.string(),
      isLinked: z.boolean(),
    }),
  ),
);

function toRow(session: ConnectSession): Row {
  const { platformId, applicationId, profileId, status, tokenHash, attempts } = session;
  return {
    rowKey: ROW_KEY,
    platformId,
    applicationId,
    profileId,
    status,
    networks: JSON.stringify(session.networks),
    returnUrl: session.returnUrl ?? "",
    state: session.state ?? "",
    branding: JSON.stringify(session.branding),
    tokenHash,
    links: JSON.stringify(session.links),
    attempts,
    expiresAt: session.expiresAt,
    createdAt: session.createdAt,
  };
}

function fromRow(id: string, row: Row): ConnectSession {
  return {
    id,
    platformId: textOf(row, "platformId"),
    applicationId: textOf(row, "applicationId"),
    profileId: textOf(row, "profileId"),
    status: statusShape().parse(row["status"]),
    networks: networksShape().parse(JSON.parse(textOf(row, "networks"))),
    returnUrl: textOrNull(row, "returnUrl"),
    state: textOrNull(row, "state"),
    branding: brandingShape().parse(JSON.parse(textOf(row, "branding"))),
    tokenHash: textOf(row, "tokenHash"),
    links: linksShape().parse(JSON.parse(textOf(row, "links"))),
    attempts: numberOf(row, "attempts"),
    expiresAt: textOf(row, "expiresAt"),
    createdAt: textOf(row, "createdAt"),
  };
}

/** Connect sessions by id. The id alone gives no right: callers compare the tenant, browsers bring the token. */
export class ConnectSessionStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async insert(session: ConnectSession): Promise<void> {
    const etag = await this.#table.insertIfAbsent(session.id, toRow(session));
    if (etag === undefined) throw serviceUnavailable();
  }

  /** Ids of a page of a profile's sessions, open or not; looks through the whole table. */
  async idsOfProfile(
    profileId: string,
    after: string | undefined,
  ): Promise<{ readonly ids: readonly string[]; readonly next: string | undefined }> {
    const selection = { property: "profileId", values: [profileId] };
    const { rows, next } = await this.#table.select(selection, after);
    return { ids: rows.map(({ partitionKey }) => partitionKey), next };
  }

  async remove(id: string): Promise<void> {
    await this.#table.delete(id, ROW_KEY);
  }

  async find(id: string): Promise<ConnectSession | undefined> {
    if (!isId("connectSession", id)) return undefined;
    const stored = await this.#table.find(id, ROW_KEY);
    return stored === undefined ? undefined : fromRow(id, stored.row);
  }

  /** Removes a page of the sessions that were started before. */
  removeBefore(time: Date, after: string | undefined) {
    const range = { from: "cns_", before: idBefore("connectSession", time.getTime()) };
    return this.#table.removeSelected({ partitions: range }, after);
  }

  /**
   * Replaces the session by what `decide` makes of it, judged on the row as it is at that moment: of a cancel and a
   * link that race, the later one sees the earlier. Undefined when `decide` leaves it alone or it does not exist.
   */
  async change(
    id: string,
    decide: (session: ConnectSession) => ConnectSession | undefined,
  ): Promise<ConnectSession | undefined> {
    if (!isId("connectSession", id)) return undefined;
    let changed: ConnectSession | undefined;
    await this.#table.change(id, ROW_KEY, (stored) => {
      const before = stored === undefined ? undefined : fromRow(id, stored.row);
      changed = before === undefined ? undefined : decide(before);
      return changed === undefined || changed === before
        ? { kind: "leave" }
        : { kind: "write", columns: toRow(changed) };
    });
    return changed;
  }
}
