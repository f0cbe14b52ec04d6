import type { PartitionView } from "../partition/partition.ts";
import { boundedFailure } from "../networks/contract/bounded.ts";
import type { LegFailure } from "../networks/contract/outcome.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { FREE } from "../runtime/lease.ts";
import { AppError } from "../runtime/errors.ts";
import type { Columns, RowWrite, StoredRow } from "../runtime/storage/row.ts";
import { connectionEvent, type EventContext } from "./connection-event.ts";
import { listingChange } from "./connection-index.ts";
import { connectionRow } from "./connection-row.ts";
import { MARKS, type Connection } from "./connection.ts";

/** Rows of the platform that the transaction which links an account checks. */
export interface LinkGuard {
  readonly rowKeys: readonly string[];
  allows(view: Pick<PartitionView, "row" | "now">): boolean;
}

/** What the transaction that links an account checks, charges and writes in addition to the connection. */
export interface LinkTerms {
  readonly rowKeys: readonly string[];
  /** Returns what else the link writes. `isKnown`: the profile had the account before. @throws AppError to refuse it */
  writes(
    view: PartitionView,
    connection: { readonly id: string; readonly isKnown: boolean },
  ): readonly RowWrite[];
}

/** The terms of a link that depends on nothing else and costs nothing, such as one of the demo. */
export const AT_NO_COST: LinkTerms = { rowKeys: [], writes: () => [] };

/** Nothing was linked, because a row that the link depends on is no longer active. */
export class LinkRefused extends AppError {
  constructor() {
    super("invalid_state", "The link is no longer allowed.");
  }
}

/** The precision of `lastUsedAt`, so that not every post writes it. */
const USE_RECORDED_MS = 60_000;

/** Reports whether the use of an account was recorded less than a minute ago. */
export function isUseRecent({ lastUsedAt }: Connection, now: Date): boolean {
  return lastUsedAt !== null && now.getTime() - Date.parse(lastUsedAt) < USE_RECORDED_MS;
}

/** Sorts connections of a profile in the order of the networks. */
export const byNetwork = (left: Connection, right: Connection) =>
  NETWORK_NAMES.indexOf(left.network) - NETWORK_NAMES.indexOf(right.network);

export function revokedAt(connection: Connection, now: Date): Connection {
  const { generation } = connection;
  const changes = { generation: generation + 1, updatedAt: now.toISOString(), expiresAt: null };
  return { ...connection, ...changes, warnedExpiresAt: null, status: "revoked" };
}

/** How long before the end of an authorization that isn't renewed the customer is warned. */
const WARNING_MS = 7 * 24 * 60 * 60 * 1000;

/** Reports whether an authorization ends so soon that the customer is warned. */
export function isEndingSoon(expiresAt: string | null, now: Date): boolean {
  return expiresAt !== null && Date.parse(expiresAt) - now.getTime() <= WARNING_MS;
}

/** Returns a connection with renewed credentials. A warning of the end stays if that is still near. */
export function renewedAt(before: Connection, expiresAt: string | null, now: Date): Connection {
  const at = now.toISOString();
  const { generation } = before;
  const warnedExpiresAt = isEndingSoon(expiresAt, now) ? before.warnedExpiresAt : null;
  const times = { expiresAt, warnedExpiresAt, checkedAt: at, updatedAt: at };
  const changes = { generation: generation + 1, ...times };
  return { ...before, ...changes, lastError: null };
}

/** Returns the writes that mark a connection as refused, or with null as accepted again. */
export function markWrites(
  { row: { rowKey }, etag }: StoredRow,
  before: Connection,
  failure: LegFailure | null,
  context: EventContext,
): RowWrite[] {
  const at = context.now.toISOString();
  const { status, type } = failure === null ? MARKS.accepted : MARKS.refused;
  let lastError: Connection["lastError"] = null;
  if (failure !== null) {
    const { code, rule = null, values = {} } = boundedFailure(failure);
    lastError = { code, rule, values, at };
  }
  const changes = { status, lastError, updatedAt: at };
  const columns = connectionRow.encodePart({ ...changes, ...FREE });
  const after = { ...before, ...changes };
  return [
    { kind: "merge", row: { ...columns, rowKey }, etag },
    ...listingChange(before, after),
    connectionEvent(type, after, context),
  ];
}

/** Writes a whole row. A merge would leave the rest of longer credentials. */
export function connectionWrite(
  rowKey: string,
  stored: StoredRow | undefined,
  columns: Columns,
): RowWrite {
  const row = { ...columns, rowKey };
  return stored === undefined
    ? { kind: "create", row }
    : { kind: "replace", row, etag: stored.etag };
}
