import type { Movement } from "../../core/core.ts";
import { callAfter, type CallEnd } from "../call.ts";
import { callOf, currentCall, type Leg, withNewCall } from "../leg.ts";
import {
  postOperation,
  progressed,
  touched,
  type PostDecision,
  type PostOperation,
} from "../post-change.ts";
import { legKey, type PostToPublish } from "../post-store.ts";
import { firstCommentOf, type Post, type PostRef } from "../post.ts";
import { ended } from "./leg-attempt.ts";

/** Returns a published leg with the call of its first comment, if it is to get one. */
function withFirstComment(leg: Leg, { draft }: Post, now: Date): Leg {
  const [publishing] = leg.calls;
  const isAsked = publishing.state === "done" && firstCommentOf(draft, leg.network) !== null;
  return isAsked ? withNewCall(leg, callAfter(publishing, "comment", leg.round, now)) : leg;
}

interface Ending {
  readonly ref: PostRef;
  readonly post: Post;
  /** The leg as its worker claimed it, with what it noted. Only the worker with this claim may end its call. */
  readonly leg: Leg;
  readonly end: CallEnd;
  /** The post and its only leg as they were last read or written by this worker. */
  readonly stored?: PostToPublish | undefined;
}

function movement(post: Post, leg: Leg, end: CallEnd): Movement {
  return {
    type: end.kind === "done" ? "settle" : "release",
    operation: leg.reservation.operation,
    tokens: leg.reservation.tokens,
    postId: post.id,
    network: leg.network,
    applicationId: post.applicationId,
    profileId: post.profileId,
    actor: post.actor,
    requestId: post.requestId,
    note: null,
    reservedOn: leg.reservation.day,
  };
}

/** Returns whether the stored leg has the same call under way, by the same claim. */
function isSameCall(stored: Leg, leg: Leg): boolean {
  const call = currentCall(stored);
  if (stored.network !== leg.network || stored.claimId !== leg.claimId) return false;
  const isReserved = call?.kind !== "publish" || stored.reservation.state === "open";
  return isReserved && call?.key === callOf(leg).key;
}

/**
 * Makes the transaction that ends the call under way: its state in the leg, the events and, with the last call, the work
 * row. The call that publishes ends its leg, too: the reservation, the wallet, the ledger and the post's state follow.
 * Applied once, however often it is repeated, because it requires the claim and the open call. Its answer is whether the
 * call was still the caller's to end.
 */
export function endOperation({ ref, post, leg, end, stored }: Ending): PostOperation<boolean> {
  const call = callOf(leg);
  const publishes = call.kind === "publish";
  return postOperation({
    id: `end|${call.kind}|${legKey(ref, leg.network)}|${leg.claimId}`,
    known: post,
    ...(stored && { stored }),
    decide(current, { now }): PostDecision<boolean> {
      const mine = current?.legs.find((one) => isSameCall(one.leg, leg));
      if (current === undefined || mine === undefined) return { kind: "done", answer: false };
      const after = ended(mine.leg, call, end, now);
      const settled = publishes ? withFirstComment(after, current.post, now) : after;
      const legs = current.legs.map((one) => (one === mine ? settled : one.leg));
      const changed = publishes ? progressed(current.post, legs, now) : touched(current.post, now);
      return {
        kind: "change",
        movements: publishes ? [movement(current.post, mine.leg, end)] : [],
        after: { post: changed, legs },
        answer: true,
      };
    },
  });
}
