import type { AppError } from "../runtime/errors.ts";
import { RecentMap } from "../runtime/recent-map.ts";
import type { RowWrite } from "../runtime/storage/row.ts";
import { type EventType, eventWrite } from "../events/events.ts";
import type { Commit, Head, PartitionView } from "../partition/partition.ts";
import { markerKey, markerRow, toWallet, WALLET_KEY, walletOf, walletRow } from "./wallet-row.ts";
import { available, utcDay, type Wallet, viewBalance } from "./wallet.ts";

/**
 * Minimum time between two falls that are reported, unless tokens were added meanwhile. Each event is logged and sent for
 * every application of the platform, and legs that fail for free take the wallet below the threshold again and again.
 */
const LOW_EVERY_MS = 60 * 60_000;

/** Platforms of which a process knows that their budget was reported. */
const PLATFORMS_MAX = 10_000;

function balanceEvent(type: EventType, wallet: Wallet, now: Date): RowWrite {
  const nobody = { sequence: null, applicationId: null, profileId: null, postId: null };
  return eventWrite({ type, ...nobody, data: { balance: viewBalance(wallet, now) } }, now);
}

/** Tells customers that their tokens run out: `billing.balance_low` and `billing.budget_reached`. */
export class WalletAlerts {
  readonly #lowTokens: number;
  readonly #now: () => Date;
  /** The day for which this process knows that a platform's `billing.budget_reached` was emitted. */
  readonly #budgetReported = new RecentMap<string>(PLATFORMS_MAX);

  constructor(lowTokens: number, now: () => Date) {
    this.#lowTokens = lowTokens;
    this.#now = now;
  }

  /**
   * Returns the event of a transaction that takes the wallet below the mark, unless that was reported within the hour, and
   * notes in the wallet when it was.
   */
  lowBalance(before: Head["rows"], { row, now }: PartitionView): RowWrite[] {
    const [stored, changed] = [before.get(WALLET_KEY), row(WALLET_KEY)];
    if (changed === undefined || changed === stored) return [];
    const [from, to] = [toWallet(stored), toWallet(changed)];
    const lowAt = to.balance > from.balance ? null : from.lowAt;
    const fell = available(from) >= this.#lowTokens && available(to) < this.#lowTokens;
    const isReported = lowAt !== null && now.getTime() - Date.parse(lowAt) < LOW_EVERY_MS;
    const isTold = fell && !isReported;
    const noted = isTold ? now.toISOString() : lowAt;
    const merged = { ...walletRow.encodePart({ lowAt: noted }), rowKey: WALLET_KEY };
    return [
      ...(noted === to.lowAt ? [] : [{ kind: "merge", row: merged, etag: changed.etag } as const]),
      ...(isTold ? [balanceEvent("billing.balance_low", to, now)] : []),
    ];
  }

  /** Records that a spend was refused, and emits `billing.budget_reached` once a UTC day. Never throws. */
  async noteRefusal(
    platformId: string,
    { code }: Pick<AppError, "code">,
    commit: Commit,
  ): Promise<void> {
    const day = utcDay(this.#now());
    if (code !== "daily_budget_reached" || this.#budgetReported.get(platformId) === day) return;
    const id = `budget_reached|${day}`;
    const key = markerKey(id);
    try {
      await commit(platformId, {
        id,
        rowKeys: [key],
        decide(view) {
          const { now, row } = view;
          if (row(key) !== undefined || utcDay(now) !== day)
            return { kind: "done", answer: undefined };
          const operation = "billing.budget_reached";
          const marker = markerRow.encode({ operation, tokens: 0, createdAt: now.toISOString() });
          return {
            kind: "write",
            writes: [
              { kind: "create", row: { ...marker, rowKey: key } },
              balanceEvent(operation, walletOf(view), now),
            ],
            answer: undefined,
          };
        },
      });
      this.#budgetReported.set(platformId, day);
    } catch {
      // The refusal is the answer in any case. The next one tries to emit the event again.
    }
  }
}
