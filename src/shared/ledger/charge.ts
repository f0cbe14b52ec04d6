import type { Actor } from "../callers/caller.ts";
import { AppError } from "../runtime/errors.ts";
import type { RowWrite } from "../runtime/storage/row.ts";
import type { NetworkName } from "../networks/networks.ts";
import type { PartitionView } from "../partition/partition.ts";
import { canCredit, type Movement, spendingRefusal } from "./wallet.ts";
import { creditMarkerRow, markerKey, markerRow, walletOf, walletWrites } from "./wallet-row.ts";
import type { WalletAct } from "./rate-card.ts";
import type { LedgerDeps } from "./deps.ts";

export interface Charge {
  /** Chosen by the caller. The same id charges once, however often it is repeated. */
  readonly operationId: string;
  readonly operation: WalletAct;
  readonly tokens: number;
  readonly applicationId: string | null;
  readonly profileId: string | null;
  readonly postId: string | null;
  readonly network: NetworkName | null;
  readonly actor: Actor;
  readonly requestId: string;
  readonly note?: string;
}

/** A charge for a row that is written in the same transaction. By that row, a repeat finds that the charge was made. */
export type Debit = Omit<Charge, "operationId">;

function chargeMovement(
  type: "credit" | "debit",
  charge: Debit & { operationId?: string },
): Movement {
  const { operationId: _, note = null, ...movement } = charge;
  return { type, ...movement, note };
}

/** Returns the writes of a charge, for the operation that writes the row it is for. @throws AppError 402 */
export function debitWrites(price: Debit, view: PartitionView): RowWrite[] {
  const error = spendingRefusal(walletOf(view), price.tokens, view.now);
  if (error !== undefined) throw error;
  return walletWrites(view, { movements: [chargeMovement("debit", price)] });
}

/**
 * Makes charges for something that is done immediately: all or none, and once under the `operationId` of the first,
 * however often that is repeated.
 * @throws AppError `insufficient_tokens` or `daily_budget_reached`
 */
export async function chargeTogether(
  deps: LedgerDeps,
  platformId: string,
  asked: readonly [Charge, ...Charge[]],
): Promise<void> {
  const [first] = asked;
  const key = markerKey(first.operationId);
  const tokens = asked.reduce((sum, one) => sum + one.tokens, 0);
  await deps.partitions.commit(platformId, {
    id: `charge|${key}`,
    rowKeys: [key],
    decide(view) {
      const { now, row } = view;
      if (row(key) !== undefined) return { kind: "done", answer: undefined };
      const error = spendingRefusal(walletOf(view), tokens, now);
      if (error !== undefined) return { kind: "refuse", error };
      const { operation } = first;
      const marker = markerRow.encode({ operation, tokens, createdAt: now.toISOString() });
      return {
        kind: "write",
        writes: [
          { kind: "create", row: { ...marker, rowKey: key } },
          ...walletWrites(view, { movements: asked.map((one) => chargeMovement("debit", one)) }),
        ],
        answer: undefined,
      };
    },
  });
}

/** How long the id of a debit is known. */
const MARKERS_KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Removes a page of the markers of debits that are no longer repeated. */
export const purgeMarkers = (
  { clock, stores }: LedgerDeps,
  platformId: string,
  after: string | undefined,
) =>
  stores.ledger.removeMarkersBefore(
    platformId,
    new Date(clock.now().getTime() - MARKERS_KEPT_MS),
    after,
  );

export interface CreditResult {
  /** False when the same reference was credited before. */
  readonly applied: boolean;
  readonly sequence: number;
}

/** A credit belongs to the platform as a whole. */
type WalletCredit = Pick<Charge, "operationId" | "tokens" | "actor" | "requestId" | "note">;

/** Returns the operation id of a credit with this reference, which is made once. */
export const creditId = (reference: string): string => `credit|${reference}`;

/** Adds tokens. The same `operationId` credits once. @throws AppError `validation_failed` beyond a wallet's maximum */
export function creditWallet(
  deps: LedgerDeps,
  platformId: string,
  { operationId, tokens, actor, requestId, note }: WalletCredit,
): Promise<CreditResult> {
  const asked: Charge = {
    operationId,
    operation: "billing.credit",
    tokens,
    applicationId: null,
    profileId: null,
    postId: null,
    network: null,
    actor,
    requestId,
    ...(note !== undefined && { note }),
  };
  const key = markerKey(asked.operationId);
  return deps.partitions.commit<CreditResult>(platformId, {
    id: `credit|${asked.operationId}`,
    rowKeys: [key],
    decide(view) {
      const { now, row } = view;
      const marker = row(key);
      if (marker !== undefined) {
        const { sequence } = creditMarkerRow.decode(marker.row);
        return { kind: "done", answer: { applied: false, sequence } };
      }
      const wallet = walletOf(view);
      if (!canCredit(wallet, asked.tokens)) {
        const error = new AppError("invalid_state", "The wallet can't hold that many tokens.");
        return { kind: "refuse", error };
      }
      const { operation, tokens } = asked;
      const sequence = wallet.sequence + 1;
      const createdAt = now.toISOString();
      const columns = creditMarkerRow.encode({ operation, tokens, createdAt, sequence });
      return {
        kind: "write",
        writes: [
          { kind: "create", row: { ...columns, rowKey: key } },
          ...walletWrites(view, { movements: [chargeMovement("credit", asked)] }),
        ],
        answer: { applied: true, sequence },
      };
    },
  });
}
