import type { RowWrite } from "../runtime/storage/row.ts";
import { type EventType, eventWrite, PENDING_ROWS } from "../events/events.ts";
import type { PartitionOperation } from "./operation.ts";
import { markerKey, markerRow } from "./wallet-row.ts";
import { available, utcDay, type Wallet, viewBalance } from "./wallet.ts";

function balanceEvent(type: EventType, wallet: Wallet, now: Date): RowWrite {
  const nobody = { sequence: null, applicationId: null, profileId: null, postId: null };
  return eventWrite({ type, ...nobody, data: { balance: viewBalance(wallet, now) } }, now);
}

/** Returns the event of a change that takes the wallet below the mark, unless it already was below. */
export function lowBalanceWrites(
  from: Wallet,
  to: Wallet,
  lowTokens: number,
  now: Date,
): readonly RowWrite[] {
  const fell = available(from) >= lowTokens && available(to) < lowTokens;
  return fell ? [balanceEvent("billing.balance_low", to, now)] : [];
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
