import { OutdatedAccess } from "../../partition/partition.ts";
import { type Movement, priceOf, spendingRefusal, walletOf } from "../../ledger/ledger.ts";
import type { NetworkName } from "../../networks/networks.ts";
import { newDueTime, NO_HINTS } from "../hints.ts";
import {
  idempotencyRowKey,
  toAccepted,
  toAcceptedRow,
  type AcceptedPost,
} from "../idempotency-store.ts";
import { useFiles } from "../../files/files.ts";
import { AppError } from "../../runtime/errors.ts";
import type { Leg } from "../leg.ts";
import type { FirstLegs } from "./check-post.ts";
import type { Pace } from "../pace.ts";
import { postWrite, type PostOperation } from "../post-change.ts";
import type { PostWithLegs } from "../post-store.ts";
import { postRefOf, type Post } from "../post.ts";

/** A post to be accepted under an Idempotency-Key, and the pace at which its legs begin. */
interface Acceptance {
  readonly idempotencyKey: string;
  readonly accepted: AcceptedPost;
  readonly found: PostWithLegs;
  /** The files of the post, and its legs without those that can't be used by now. Absent for a post without files. */
  readonly uses?: Pick<FirstLegs, "files" | "due" | "without"> | undefined;
  readonly pace: Pace;
  /** The platform's access version, read before the rows on which the post was checked. */
  readonly accessVersion: string;
}

export function reserveMovement(
  post: Post,
  tokens: number,
  legs: readonly NetworkName[],
): Movement {
  return {
    type: "reserve",
    legs,
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

/**
 * Makes the accepting transaction: idempotency, post, legs with their reservations, work row, ledger and wallet, all or
 * nothing. Its answer is the post accepted under the key, which is another one when a concurrent request came first.
 * Under another access version than the post was checked under, it is refused with `OutdatedAccess`.
 */
export function acceptOperation(
  acceptance: Acceptance,
): PostOperation<AcceptedPost & { readonly legs?: readonly Leg[] }> {
  const { idempotencyKey, accepted, found: checked, uses, pace, accessVersion } = acceptance;
  const { post } = checked;
  const rowKey = idempotencyRowKey(idempotencyKey);
  const operation = "posts.schedule";
  return {
    id: `accept|${rowKey}|${accepted.fingerprint}|${accessVersion}`,
    ref: postRefOf(post),
    dueAt: newDueTime(undefined, post),
    rowKeys: [rowKey, ...(uses?.files.rows.keys() ?? [])],
    // A guess instead of a read, since nearly every key is new. Creating the row of a key that is taken fails, and the
    // operation is then decided again on the row as it is stored.
    known: new Map([[rowKey, undefined], ...(uses?.files.rows ?? [])]),
    decide(view, tried) {
      const taken = view.row(rowKey);
      const earlier = taken === undefined ? undefined : toAccepted(taken.row);
      // An earlier try of this operation was applied, and its answer lost: its hints, in `tried`, are yet to be sent.
      if (earlier?.postId === post.id) {
        const hints = tried?.answer.hints ?? NO_HINTS;
        return { kind: "done", answer: { result: earlier, hints } };
      }
      if (accessVersion === "" || accessVersion !== view.accessVersion)
        return { kind: "refuse", error: new OutdatedAccess() };
      if (earlier !== undefined)
        return { kind: "done", answer: { result: earlier, hints: NO_HINTS } };
      let found = checked;
      const used = uses && useFiles(view, uses.files, uses);
      try {
        // Most files that can't be used were found when the post was checked. Others were deleted since.
        if (uses !== undefined && used !== undefined && used.failures.size > 0)
          found = { post, legs: uses.without(used.failures) };
      } catch (error) {
        if (error instanceof AppError) return { kind: "refuse", error };
        throw error;
      }
      const reserving = found.legs.filter(({ reservation }) => reservation.state === "open");
      const reserved = reserving.reduce((sum, { reservation }) => sum + reservation.tokens, 0);
      const networks = reserving.map(({ network }) => network);
      // A scheduled post pays for storing. Its legs reserve when it starts.
      const movement: Movement =
        post.status === "scheduled"
          ? { ...reserveMovement(post, priceOf(operation), []), type: "debit", operation }
          : reserveMovement(post, reserved, networks);
      const error = spendingRefusal(walletOf(view), movement.tokens, view.now);
      if (error !== undefined) return { kind: "refuse", error };
      const key = toAcceptedRow(rowKey, accepted, post.createdAt);
      const movements = [movement];
      const { writes, hints } = postWrite(undefined, found, view, { pace, movements });
      return {
        kind: "write",
        writes: [{ kind: "create", row: key }, ...writes, ...(used?.writes ?? [])],
        answer: {
          result: found === checked ? accepted : { ...accepted, legs: found.legs },
          hints,
        },
      };
    },
  };
}
