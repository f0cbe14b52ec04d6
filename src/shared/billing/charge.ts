import type { Actor } from "../callers/caller.ts";
import { AppError } from "../runtime/errors.ts";
import type { NetworkName } from "../networks/lookup.ts";
import type { BillingDeps } from "./deps.ts";
import type { Operation } from "./rate-card.ts";
import { markerKey, markerRow } from "./marker.ts";
import { canCredit, refusal, type Movement, type Wallet } from "./wallet.ts";

export interface Charge {
  /** Chosen by the caller: the same id charges once, however often it is repeated. */
  readonly operationId: string;
  readonly operation: Operation;
  readonly tokens: number;
  readonly applicationId: string | null;
  readonly profileId: string | null;
  readonly postId: string | null;
  readonly network: NetworkName | null;
  readonly actor: Actor;
  readonly requestId: string;
  readonly note?: string;
}

function movementOf(type: "credit" | "debit", charge: Charge): Movement {
  const { operation, tokens, applicationId, profileId, postId, network, actor, requestId } = charge;
  const note = charge.note ?? null;
  return {
    type,
    operation,
    tokens,
    applicationId,
    profileId,
    postId,
    network,
    actor,
    requestId,
    note,
  };
}

/**
 * Takes tokens for something that is done at once. Repeating it with the same `operationId` charges nothing more.
 * @throws AppError `insufficient_tokens` or `daily_budget_reached`
 */
export function charge(services: BillingDeps, platformId: string, asked: Charge): Promise<void> {
  return chargeTogether(services, platformId, [asked]);
}

/** Several charges, all or none; the first one's `operationId` stands for all. @throws AppError 402 */
export async function chargeTogether(
  services: BillingDeps,
  platformId: string,
  asked: readonly [Charge, ...Charge[]],
): Promise<void> {
  const [first] = asked;
  const key = markerKey(first.operationId);
  const tokens = asked.reduce((sum, one) => sum + one.tokens, 0);
  await services.wallets.commit(platformId, {
    id: `charge|${key}`,
    rowKeys: [key],
    decide({ wallet, now, row }) {
      if (row(key) !== undefined) return { kind: "done", answer: undefined };
      const error = refusal(wallet, tokens, now);
      if (error !== undefined) return { kind: "refuse", error };
      const marker = markerRow(first.operationId, { operation: first.operation, tokens }, now);
      return {
        kind: "write",
        movements: asked.map((one) => movementOf("debit", one)),
        writes: [{ kind: "create", row: marker }],
        answer: undefined,
      };
    },
  });
}

export interface Credited {
  /** False when the same reference was credited before. */
  readonly applied: boolean;
  readonly sequence: number;
}

/** Adds tokens. The same `operationId` credits once. @throws AppError `validation_failed` beyond what a wallet can hold */
export function creditWallet(
  services: BillingDeps,
  platformId: string,
  asked: Charge,
): Promise<Credited> {
  return services.wallets.commit<Credited>(platformId, {
    id: `credit|${asked.operationId}`,
    rowKeys: [markerKey(asked.operationId)],
    decide({ wallet, now, row }) {
      const marker = row(markerKey(asked.operationId));
      if (marker !== undefined) {
        const sequence = Number(marker.row["sequence"]);
        return { kind: "done", answer: { applied: false, sequence } };
      }
      if (!canCredit(wallet, asked.tokens)) {
        const error = new AppError("invalid_state", "The wallet can't hold that many tokens.");
        return { kind: "refuse", error };
      }
      const sequence = wallet.sequence + 1;
      return {
        kind: "write",
        movements: [movementOf("credit", asked)],
        writes: [
          { kind: "create", row: { ...markerRow(asked.operationId, asked, now), sequence } },
        ],
        answer: { applied: true, sequence },
      };
    },
  });
}

/** @throws AppError 402 when these tokens could not be spent now; takes nothing */
export async function requireTokens(
  services: BillingDeps,
  platformId: string,
  tokens: number,
): Promise<Wallet> {
  const wallet = await services.wallets.read(platformId);
  const error = refusal(wallet, tokens, services.clock.now());
  if (error === undefined) return wallet;
  await services.wallets.noteRefusal(platformId, error);
  throw error;
}
