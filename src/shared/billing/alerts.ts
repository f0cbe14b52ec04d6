import type { RowWrite } from "../runtime/storage/row.ts";
import { eventWrite, type EventType } from "../webhooks/events/event.ts";
import { viewBalance } from "./balance-view.ts";
import type { CoreOperation } from "./group-commit.ts";
import { markerKey, markerRow } from "./marker.ts";
import { available, utcDay, type Wallet } from "./wallet.ts";

function balanceEvent(type: EventType, wallet: Wallet, now: Date): RowWrite {
  const nobody = { sequence: null, applicationId: null, profileId: null, postId: null };
  return eventWrite({ type, ...nobody, data: { balance: viewBalance(wallet, now) } }, now);
}

/** What is written beside a change that takes the wallet below the mark; a wallet that was below it tells nothing. */
export function lowBalanceWrites(
  from: Wallet,
  to: Wallet,
  lowTokens: number,
  now: Date,
): readonly RowWrite[] {
  const fell = available(from) >= lowTokens && available(to) < lowTokens;
  return fell ? [balanceEvent("billing.balance_low", to, now)] : [];
}

/** Whether the write is one of these events. */
export function tellsOfWallet(write: RowWrite): boolean {
  return write.kind === "create" && String(write.row["type"]).startsWith("billing.");
}

/** Tells that the daily budget refused something, once a UTC day. */
export function budgetReachedOperation(day: string): CoreOperation<void> {
  const operationId = `budget_reached|${day}`;
  const key = markerKey(operationId);
  return {
    id: operationId,
    rowKeys: [key],
    decide({ wallet, now, row }) {
      if (row(key) !== undefined || utcDay(now) !== day) return { kind: "done", answer: undefined };
      const marker = markerRow(
        operationId,
        { operation: "billing.budget_reached", tokens: 0 },
        now,
      );
      return {
        kind: "write",
        movements: [],
        writes: [
          { kind: "create", row: marker },
          balanceEvent("billing.budget_reached", wallet, now),
        ],
        answer: undefined,
      };
    },
  };
}
