import * as z from "zod";
import { newId } from "../runtime/ids.ts";
import { shape } from "../runtime/shape.ts";
import { fromChunks, replacedChunks, type Row, type RowValue } from "../runtime/storage/row.ts";
import type { Origin } from "../runtime/telemetry/origin.ts";
import { currentOrigin } from "../runtime/telemetry/work-context.ts";
import { fromConnectionRow, toConnectionRow } from "./connection-row.ts";
import type { Connection } from "./connection.ts";

const CONNECTION_EVENTS = [
  "connection.linked",
  "connection.expiring",
  "connection.needs_reauth",
  "connection.removed",
] as const;
type ConnectionEvent = (typeof CONNECTION_EVENTS)[number];

/** Something that became of a connection and that the application was perhaps not told of yet. */
export interface Untold {
  /** Of the event: whoever tells it again does so under the same one. */
  readonly id: string;
  readonly type: ConnectionEvent;
  readonly at: string;
  /** As it was then; it may be another account than the one that is linked now. */
  readonly connection: Connection;
  readonly origin: Origin;
  /** Older ones that had to give way to it. */
  readonly lostBefore: number;
}

/** Changes that nobody could be told of, one after the other; telling is tried at each of them and every hour. */
const UNTOLD_MAX = 8;
/** A row has room for this beside the secrets and the limits, which may have 100,000 characters each. */
const CHARACTERS_MAX = 150_000;

const storedRow = shape(() =>
  z.object({ rowKey: z.string() }).catchall(z.union([z.string(), z.number(), z.boolean()])),
);
const storedShape = shape(() =>
  z.array(
    z.object({
      id: z.string(),
      type: z.enum(CONNECTION_EVENTS),
      at: z.string(),
      lostBefore: z.number(),
      origin: z.object({ traceId: z.string().nullable(), requestId: z.string().nullable() }),
      connection: storedRow(),
    }),
  ),
);

export function untoldNow(
  type: ConnectionEvent,
  connection: Connection,
  now: Date,
  id: string = newId("event", now),
): Untold {
  const at = now.toISOString();
  return { id, type, at, connection, origin: currentOrigin(), lostBefore: 0 };
}

const UNTOLD = "untold";
/** Finds rows with something untold: the service can't ask for rows where a text is not empty. */
export const HAS_UNTOLD = { property: "hasUntold", values: ["yes"] } as const;

/** What the row of a connection says is still to be told, oldest first. */
export function untoldOf(profileId: string, row: Row): Untold[] {
  const text = fromChunks(UNTOLD, row);
  if (text === "") return [];
  return storedShape()
    .parse(JSON.parse(text))
    .map((entry) => ({
      ...entry,
      connection: fromConnectionRow(profileId, entry.connection),
    }));
}

export function isUntold(profileId: string, row: Row | undefined, eventId: string): boolean {
  return row !== undefined && untoldOf(profileId, row).some(({ id }) => id === eventId);
}

function textOf(untold: readonly Untold[]): string {
  return JSON.stringify(
    untold.map((entry) => ({ ...entry, connection: toConnectionRow(entry.connection, "", "") })),
  );
}

const withoutLimits = (entry: Untold): Untold => ({
  ...entry,
  connection: { ...entry.connection, limits: {} },
});

/** The latest ones, those that had to go counted in the first; limits go before any event does. */
function bounded(untold: readonly Untold[]): readonly Untold[] {
  const isLong = textOf(untold).length > CHARACTERS_MAX;
  let kept = isLong ? untold.map(withoutLimits) : untold;
  while (kept.length > UNTOLD_MAX || textOf(kept).length > CHARACTERS_MAX) {
    const [oldest, next, ...rest] = kept;
    if (oldest === undefined || next === undefined) break;
    kept = [{ ...next, lostBefore: next.lostBefore + oldest.lostBefore + 1 }, ...rest];
  }
  return kept;
}

/** The properties of a connection's row that say so, over those that `before` has. */
export function untoldProperties(
  untold: readonly Untold[],
  before: Row | undefined,
): Record<string, RowValue> {
  const kept = bounded(untold);
  const text = kept.length === 0 ? "" : textOf(kept);
  return {
    ...replacedChunks(UNTOLD, text, before ?? { rowKey: "" }),
    [HAS_UNTOLD.property]: kept.length === 0 ? "no" : HAS_UNTOLD.values[0],
  };
}

/** The same with more to tell, in the write that changes the row. */
export function withUntold(
  profileId: string,
  before: Row | undefined,
  ...more: readonly Untold[]
): Record<string, RowValue> {
  const untold = before === undefined ? [] : untoldOf(profileId, before);
  return untoldProperties([...untold, ...more], before);
}
