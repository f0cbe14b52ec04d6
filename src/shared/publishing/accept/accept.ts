import type { CoreOperation, CoreView, Decision } from "../../billing/group-commit.ts";
import { checkAfter, paced } from "../../billing/pace.ts";
import { priceOf } from "../../billing/rate-card.ts";
import { refusal, type Movement } from "../../billing/wallet.ts";
import type { NetworkName } from "../../networks/lookup.ts";
import type { RowWrite } from "../../runtime/storage/row.ts";
import type { Post } from "../post.ts";
import { type Leg, startingAt } from "../leg.ts";
import { idempotencyRowKey, toAccepted, type Accepted } from "./accepted.ts";
import { postWrites } from "../post-change.ts";
import type { PostWithLegs } from "../post-store.ts";

export interface Acceptance {
  readonly idempotencyKey: string;
  readonly accepted: Accepted;
  readonly found: PostWithLegs;
  /** When the sweeper first looks whether the post's legs move on, should they begin at once. */
  readonly nextCheckAt: string;
  readonly legsPerSecond: number;
}

/** What the key stands for after an acceptance. */
export interface AcceptAnswer extends Accepted {
  /** When the legs begin; null for at once. */
  readonly startAt: string | null;
}

export function reserveMovement(post: Post, tokens: number): Movement {
  return {
    type: "reserve",
    operation: "publish_leg",
    tokens,
    postId: post.id,
    network: null,
    applicationId: post.applicationId,
    profileId: post.profileId,
    actor: post.actor,
    requestId: post.requestId,
    note: null,
  };
}

/** What storing a post for later costs. */
function storage(post: Post): Movement {
  const { tokens, operation } = {
    tokens: priceOf("posts.schedule"),
    operation: "posts.schedule",
  } as const;
  return { ...reserveMovement(post, tokens), type: "debit", operation };
}

function acceptedWrites(acceptance: Acceptance, startAt: string | null, now: Date): RowWrite[] {
  const { idempotencyKey, accepted, found } = acceptance;
  const { post } = found;
  const key = { rowKey: idempotencyRowKey(idempotencyKey), ...accepted, createdAt: post.createdAt };
  // A scheduled post has a due row; its work begins when it fires.
  const work =
    post.status === "scheduled"
      ? {}
      : { nextCheckAt: checkAfter(acceptance.nextCheckAt, startAt, now) };
  const after = { post, legs: startingAt(found.legs, startAt), ...work };
  return [{ kind: "create", row: key }, ...postWrites(undefined, after, now)];
}

/**
 * The accepting transaction: idempotency, post, legs with their reservations, work row, ledger and wallet, all or
 * nothing. Its answer is what the key stands for, which is another post's when somebody was first.
 */
export function acceptOperation(acceptance: Acceptance): CoreOperation<AcceptAnswer> {
  const { accepted, found } = acceptance;
  const keyRow = idempotencyRowKey(acceptance.idempotencyKey);
  const reserved = found.legs.reduce((sum, { reservation }) => sum + reservation.tokens, 0);
  const movement =
    found.post.status === "scheduled" ? storage(found.post) : reserveMovement(found.post, reserved);
  return {
    id: `accept|${keyRow}|${accepted.fingerprint}`,
    rowKeys: [keyRow],
    known: new Map([[keyRow, undefined]]),
    decide({ wallet, now, row }: CoreView): Decision<AcceptAnswer> {
      const taken = row(keyRow);
      if (taken !== undefined)
        return { kind: "done", answer: { ...toAccepted(taken.row), startAt: null } };
      const error = refusal(wallet, movement.tokens, now);
      if (error !== undefined) return { kind: "refuse", error };
      const legs = found.legs.filter(({ reservation }) => reservation.state === "open").length;
      const { paceUntil, startAt } = paced(wallet, legs, now, acceptance.legsPerSecond);
      return {
        kind: "write",
        movements: [movement],
        paceUntil,
        writes: acceptedWrites(acceptance, startAt, now),
        answer: { ...accepted, startAt },
      };
    },
  };
}

/** The networks whose legs have something to do. */
export function pendingOf(legs: readonly Leg[]): NetworkName[] {
  return legs.filter(({ status }) => status === "pending").map(({ network }) => network);
}
