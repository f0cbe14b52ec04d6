import type { RowWrite } from "../runtime/storage/row.ts";
import { type EventType, eventWrite, PENDING_ROWS } from "../events/events.ts";
import type { PartitionOperation } from "./operation.ts";
import { markerKey, markerRow } from "./wallet-row.ts";
import { available, utcDay, type Wallet, viewBalance } from "./wallet.ts";

function balanceEvent(type: EventType, wallet: Wallet, now: Date): RowWrite {
  const nobody = { sequence: null, applicationId: null, profileId: null, postId: null };
  return eventWrite({ type, ...nobody, data: { balance: viewBalance(wallet, now) } }, now);
}

/**
 * Minimum time between two falls that are reported, unless tokens were added meanwhile. Each event is logged and sent for
 * every application of the platform, and legs that fail for free take the wallet below the mark again and again.
 */
const LOW_EVERY_MS = 60 * 60_000;

/**
 * Returns the wallet after a change, with the event if it fell below the mark, unless that was reported within the hour.
 */
export function withLowBalance(
  from: Wallet,
  to: Wallet,
  lowTokens: number,
  now: Date,
): { readonly wallet: Wallet; readonly writes: readonly RowWrite[] } {
  const lowAt = to.balance > from.balance ? null : from.lowAt;
  const fell = available(from) >= lowTokens && available(to) < lowTokens;
  const isReported = lowAt !== null && now.getTime() - Date.parse(lowAt) < LOW_EVERY_MS;
  if (!fell || isReported) return { wallet: { ...to, lowAt }, writes: [] };
  const wallet = { ...to, lowAt: now.toISOString() };
  return { wallet, writes: [balanceEvent("billing.balance_low", wallet, now)] };
}

/** Reports whether the write is an event that needs a hint. The writer of a post's events sends its own. */
export function isAnnounced(write: RowWrite): boolean {
  return (
    write.kind === "create" &&
    write.row.rowKey.startsWith(PENDING_ROWS) &&
    /^(?:billing|connection)\./.test(String(write.row["type"]))
  );
}

/** Makes the operation that emits, once a UTC day, that the daily budget refused something. */
export function budgetReachedOperation(day: string): PartitionOperation<void> {
  const operationId = `budget_reached|${day}`;
  const key = markerKey(operationId);
  return {
    id: operationId,
    rowKeys: [key],
    decide({ wallet, now, row }) {
      if (row(key) !== undefined || utcDay(now) !== day) return { kind: "done", answer: undefined };
      const marker = markerRow.encode({
        operation: "billing.budget_reached",
        tokens: 0,
        createdAt: now.toISOString(),
      });
      return {
        kind: "write",
        movements: [],
        writes: [
          { kind: "create", row: { ...marker, rowKey: key } },
          balanceEvent("billing.budget_reached", wallet, now),
        ],
        answer: undefined,
      };
    },
  };
}
