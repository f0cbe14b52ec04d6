import * as z from "zod";
import { accessOperation, type Commit, type PartitionView } from "../partition/partition.ts";
import { type Debit, debitWrites } from "../ledger/ledger.ts";
import type { Actor, Maker } from "../callers/caller.ts";
import { inverted, isId } from "../runtime/ids.ts";
import { shape } from "../runtime/shape.ts";
import {
  integer,
  json,
  oneOf,
  rowCodec,
  text,
  textOrNull,
  truth,
} from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Columns, Row, RowWrite, StoredRow } from "../runtime/storage/row.ts";
import { newestFirst } from "../runtime/storage/newest-first.ts";
import { findAll, scan, type ScannedPage } from "../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import type { NetworkName } from "../networks/networks.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import {
  sessionStatus,
  type ConnectSession,
  type DisconnectedAccount,
  type SessionLink,
} from "./connect-session.ts";
import { brandingShape, type Branding } from "./schema.ts";

const known = new Set<string>(NETWORK_NAMES);
/** The page offers networks that this build has. */
const networksShape = shape((): z.ZodType<readonly NetworkName[]> =>
  z
    .array(z.string())
    .transform((names) => names.filter((name): name is NetworkName => known.has(name))),
);
const linksShape = shape(
  () =>
    // Safe: a network that this build doesn't know is shown unchanged.
    z.array(
      z.looseObject({ network: z.string(), connectionId: z.string() }),
    ) as unknown as z.ZodType<readonly SessionLink[]>,
);
const disconnectedShape = shape(
  () =>
    // Safe: a network that this build doesn't know is compared and never used.
    z.array(z.looseObject({ network: z.string(), accountId: z.string() })) as unknown as z.ZodType<
      readonly DisconnectedAccount[]
    >,
);
const makersShape = shape((): z.ZodType<readonly Maker[]> =>
  z.array(
    z.looseObject({
      id: z.string(),
      session: z.looseObject({ sessionId: z.string().nullable(), version: z.number() }).nullable(),
    }),
  ),
);
const creatorShape = shape(
  () =>
    // Safe: a kind that this build doesn't know is only shown.
    z.looseObject({ kind: z.string(), id: z.string() }) as unknown as z.ZodType<Actor>,
);
const storedBranding = shape((): z.ZodType<Branding> => {
  const fields = Object.keys(brandingShape().shape);
  // Safe: the page does without a language or a theme that this build doesn't know.
  return z.looseObject(Object.fromEntries(fields.map((name) => [name, z.string().optional()])));
});

/** A connect session in its platform's partition. The row key has the id. */
export const connectSessionRow = rowCodec("connect session", {
  applicationId: text(),
  profileId: text(),
  createdBy: json(creatorShape),
  makers: json(makersShape),
  status: oneOf(["open", "completed", "canceled"]),
  networks: json(networksShape),
  returnUrl: textOrNull(),
  state: textOrNull(),
  branding: json(storedBranding),
  allowDisconnect: truth(),
  tokenHash: text(),
  links: json(linksShape),
  disconnected: json(disconnectedShape),
  attempts: integer(),
  expiresAt: text(),
  createdAt: text(),
});

/** A session in the list of its profile. The row key has both ids. */
export const profileSessionRow = rowCodec("connect session of a profile", { expiresAt: text() });

const PREFIX = "S|";
/** Row keys contain the ids' times, so that old sessions form a range. */
const rows = newestFirst("connectSession", PREFIX, toSession);
export const connectSessionKey = rows.key;

const sessionPlace = (id: string) => rows.key(id).slice(PREFIX.length);
const listOf = (profileId: string) => `SP|${profileId}|`;

type SessionRef = Pick<ConnectSession, "platformId" | "id">;

function toSession(platformId: string, row: Row): ConnectSession {
  return { id: rows.idOf(row), platformId, ...connectSessionRow.decode(row) };
}

/** Returns the columns that change after the session was started. The others may have values of a later build. */
function progressOf({ status, links, disconnected, attempts }: ConnectSession): Columns {
  return connectSessionRow.encodePart({ status, links, disconnected, attempts });
}

function sessionWrite({ row: { rowKey }, etag }: StoredRow, session: ConnectSession): RowWrite {
  return { kind: "merge", row: { ...progressOf(session), rowKey }, etag };
}

/** Reads a session in an operation of the partition, and returns how to write it there. @throws DamagedRow */
export function sessionIn(
  { platformId, id }: SessionRef,
  { row }: Pick<PartitionView, "row">,
): { readonly session: ConnectSession; write(after: ConnectSession): RowWrite } | undefined {
  const stored = row(connectSessionKey(id));
  if (stored === undefined) return undefined;
  return {
    session: toSession(platformId, stored.row),
    write: (after) => sessionWrite(stored, after),
  };
}

/**
 * Stores connect sessions in their platform's partition, with a list for each profile. Customers start and cancel them
 * by operations of the partition. What visitors of the page do writes the row alone. An id gives no right by itself,
 * because browsers have to present the token.
 */
export class ConnectSessionStore {
  readonly #core: Table;
  readonly #commit: Commit;

  constructor(core: Table, commit: Commit) {
    this.#core = core;
    this.#commit = commit;
  }

  /**
   * Stores a new session. With a price, which is not charged, the wallet has to be able to pay it.
   * @throws AppError 402 when it can't
   */
  insert(session: ConnectSession, price: Debit | null): Promise<void> {
    const { id, platformId, profileId, expiresAt } = session;
    const key = connectSessionKey(id);
    const listed = {
      ...profileSessionRow.encode({ expiresAt }),
      rowKey: listOf(profileId) + sessionPlace(id),
    };
    return this.#commit<void>(
      platformId,
      accessOperation([key], (view) => {
        if (view.row(key) !== undefined) return { answer: undefined };
        // Only refuses what the wallet could not pay.
        if (price !== null) debitWrites(price, view);
        const row = { ...connectSessionRow.encode(session), rowKey: key };
        const writes = [row, listed].map((created) => ({ kind: "create", row: created }) as const);
        return { answer: undefined, writes, raises: false };
      }),
    );
  }

  cancel(ref: SessionRef): Promise<ConnectSession | undefined> {
    return this.#commit<ConnectSession | undefined>(
      ref.platformId,
      accessOperation([connectSessionKey(ref.id)], (view, tried) => {
        const found = sessionIn(ref, view);
        // An earlier try, whose answer was lost, has canceled it.
        if (found?.session.status === "canceled") return { answer: tried?.answer };
        if (found === undefined || sessionStatus(found.session, view.now) !== "open")
          return { answer: undefined };
        const canceled: ConnectSession = { ...found.session, status: "canceled" };
        return { answer: canceled, writes: [found.write(canceled)], raises: false };
      }),
    );
  }

  /**
   * Lists a profile's sessions, open or not, that were started after `since` and have not expired, newest first. A page
   * may be short before the end.
   */
  async listOfProfile(
    { platformId, profileId }: Pick<ConnectSession, "platformId" | "profileId">,
    page: {
      readonly after: string | undefined;
      readonly limit: number;
      readonly since: Date;
      readonly now: Date;
    },
  ): Promise<ScannedPage<ConnectSession>> {
    const list = listOf(profileId);
    const { items: keys, next } = await scan(this.#core, {
      partitionKey: platformId,
      from: page.after ?? list,
      before: list + inverted(page.since.getTime()),
      limit: page.limit,
      pick({ row }) {
        const { expiresAt } = profileSessionRow.decode(row);
        const isOver = Date.parse(expiresAt) <= page.now.getTime();
        return isOver ? undefined : PREFIX + row.rowKey.slice(list.length);
      },
    });
    const found = await findAll(this.#core, platformId, keys);
    const read = keys.map((key) => {
      const stored = found.get(key);
      return stored && unlessDamaged(() => toSession(platformId, stored.row));
    });
    return { items: read.filter((session) => session !== undefined), next };
  }

  async idsOfProfile(
    { platformId, profileId }: Pick<ConnectSession, "platformId" | "profileId">,
    after: string | undefined,
  ): Promise<{ readonly ids: readonly string[]; readonly next: string | undefined }> {
    const list = listOf(profileId);
    const range = { partitionKey: platformId, from: list, before: afterPrefix(list) };
    const page = await this.#core.select(range, after);
    const keys = page.rows.map(({ row }) => PREFIX + row.rowKey.slice(list.length));
    return { ids: keys.map((rowKey) => rows.idOf({ rowKey })), next: page.next };
  }

  async removeAll(
    { platformId, profileId }: Pick<ConnectSession, "platformId" | "profileId">,
    ids: readonly string[],
  ): Promise<void> {
    await this.#core.deleteAll(platformId, ids.map(connectSessionKey));
    // Last, because this is repeated as long as they exist.
    await this.#core.deleteAll(
      platformId,
      ids.map((id) => listOf(profileId) + sessionPlace(id)),
    );
  }

  /** Finds the session. Undefined for text that isn't an id. @throws DamagedRow */
  find({ platformId, id }: SessionRef): Promise<ConnectSession | undefined> {
    return rows.find(this.#core, platformId, id);
  }

  async removeBefore(platformId: string, time: Date, after: string | undefined) {
    const range = { ...rows.range, from: PREFIX + inverted(time.getTime()) };
    const page = await this.#core.select({ partitionKey: platformId, ...range }, after);
    const keys = page.rows.flatMap(({ row }) => [
      listOf(String(row["profileId"])) + row.rowKey.slice(PREFIX.length),
      row.rowKey,
    ]);
    await this.#core.deleteAll(platformId, keys);
    return { removed: page.rows.length, next: page.next };
  }

  /**
   * Changes the session's progress to what `decide` returns for the present row, on behalf of a visitor of the page. Returns
   * undefined if `decide` does or the session doesn't exist.
   */
  async change(
    { platformId, id }: SessionRef,
    decide: (session: ConnectSession) => ConnectSession | undefined,
  ): Promise<ConnectSession | undefined> {
    if (!isId("connectSession", id)) return undefined;
    let changed: ConnectSession | undefined;
    const stored = await this.#core.update(platformId, connectSessionKey(id), (row) => {
      changed = decide(toSession(platformId, row));
      return changed && progressOf(changed);
    });
    return stored && changed;
  }
}
