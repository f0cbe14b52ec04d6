import type { LegFailure } from "../../networks/contract/outcome.ts";
import { invariant } from "../../runtime/errors.ts";
import { endedCall, nextCallSeconds, type Call, type CallEnd } from "../call.ts";
import { hint } from "../hints.ts";
import { openCall, withCall, type Leg } from "../leg.ts";
import {
  commitPost,
  postOperation,
  touched,
  type PostDecision,
  type PostOperation,
} from "../post-change.ts";
import { legKey } from "../post-store.ts";
import type { Post, PostRef } from "../post.ts";
import { callPostponed, free } from "./leg-attempt.ts";
import { giveLegBack, save, type LegRun } from "./leg-run.ts";

/** What a phase of a call comes to. Only `applyStep` writes it. */
export type Step =
  | { readonly kind: "continue" }
  /** To be taken up again in `seconds`, or by the schedule; when its time is over, the failure ends it. */
  | {
      readonly kind: "wait";
      readonly failure: LegFailure;
      readonly seconds?: number | undefined;
    }
  | { readonly kind: "end"; readonly end: CallEnd }
  /** Somebody else has changed the leg. */
  | { readonly kind: "lost" };

/** How a call is called in the timeline. */
const STEP_NAMES = { comment: "comment_sent", remove: "removal" } as const;

/** Returns how a call ends: after a call of unknown outcome no failure says that nothing happened. */
function asKnown(call: Call, end: CallEnd): CallEnd {
  if (end.kind === "done") return end;
  const { failure } = end;
  if (call.sentAt === null && failure.code !== "outcome_unknown") return end;
  const { networkCode, note } = failure;
  return {
    kind: "failed",
    isUnknown: true,
    failure: { code: "outcome_unknown", networkCode, ...(note !== undefined && { note }) },
  };
}

/** Returns the leg with the warning that its first comment is not there, or may not be. */
function withCommentWarning(leg: Leg, { kind, error, state }: Call): Leg {
  if (kind !== "comment" || error === null) return leg;
  const known = state === "unknown" ? "first_comment_unknown" : "first_comment_failed";
  const code = error.code === "permission_missing" ? error.code : known;
  return { ...leg, warnings: [...leg.warnings, { code, message: error.message }] };
}

/**
 * Makes the transaction that ends a call: its state in the leg, the events and, with the last call, the work row. The
 * leg's own state stays. Its answer is whether the call was still the caller's to end.
 */
function endCallOperation(settlement: {
  readonly ref: PostRef;
  readonly post: Post;
  /** The leg as its worker claimed it, with what it noted. */
  readonly leg: Leg;
  readonly call: Call;
  readonly end: CallEnd;
}): PostOperation<boolean> {
  const { ref, post, leg, call, end } = settlement;
  return postOperation({
    id: `end-call|${legKey(ref, leg.network)}|${leg.claimId}`,
    known: post,
    decide(current, { now }): PostDecision<boolean> {
      const mine = current?.legs.find((stored) => stored.leg.network === leg.network);
      const isMine = mine?.leg.claimId === leg.claimId && openCall(mine.leg)?.key === call.key;
      if (current === undefined || mine === undefined || !isMine)
        return { kind: "done", answer: false };
      const ended = endedCall(call, end, now);
      const settled = { ...withCommentWarning(withCall(mine.leg, ended), ended), ...free };
      const legs = current.legs.map((stored) => (stored === mine ? settled : stored.leg));
      return {
        kind: "change",
        movements: [],
        after: { post: touched(current.post, now), legs },
        answer: true,
      };
    },
  });
}

async function endCall(run: LegRun, asked: CallEnd): Promise<void> {
  const { services, ref, post } = run;
  await Promise.allSettled([run.writing]);
  const { leg } = run.stored;
  const call = callOf(leg);
  const end = asKnown(call, asked);
  const isMine = await commitPost(
    services,
    endCallOperation({ ref, post, leg, call, end }),
    "worker",
  );
  const fields = { postId: ref.postId, network: leg.network, kind: call.kind };
  if (!isMine) return services.log.warn("call was ended by another worker", fields);
  const { kind: step } = call;
  if (end.kind === "done") {
    services.log.info("call made", { ...fields, attempt: call.attempts });
    run.timeline.record({ step: STEP_NAMES[step], outcome: "done", note: end.url });
    return;
  }
  const { code: reason, networkCode, note = null } = end.failure;
  services.work.unmappedSignals.record(leg.network, end.failure);
  services.log.info("call failed", {
    ...fields,
    attempt: call.attempts,
    reason,
    networkCode,
    note,
  });
  run.timeline.record({ step: STEP_NAMES[step], outcome: reason, networkCode, note });
}

/** Returns the call that is under way. */
export function callOf(leg: Leg): Call {
  const call = openCall(leg);
  invariant(call !== undefined, "a call that is under way is not open");
  return call;
}

async function wait(run: LegRun, step: Step & { readonly kind: "wait" }): Promise<void> {
  const { services, ref, stored } = run;
  const { clock, log, work } = services;
  const now = clock.now();
  const call = callOf(stored.leg);
  // The stop of a process is no failure.
  const isStopping = work.stop.endsAt !== undefined && step.seconds === 0;
  const seconds = isStopping ? 0 : nextCallSeconds(call, now, Math.random(), step.seconds);
  if (seconds === null) return endCall(run, { kind: "failed", failure: step.failure });
  const back = callPostponed(stored.leg, call, now, seconds);
  if (!(await save(run, back))) return giveLegBack(run);
  const { network, notBefore } = back;
  const { code: reason, networkCode } = step.failure;
  const { state } = callOf(back);
  run.timeline.record({ step: "leg_waiting", outcome: state, note: `until ${notBefore}` });
  log.info("call delayed", { network, kind: call.kind, until: notBefore, reason, networkCode });
  await hint(services, ref, { networks: [network], startAt: notBefore });
}

/** Writes what a phase of the leg's call came to. */
export async function applyStep(run: LegRun, step: Step): Promise<void> {
  switch (step.kind) {
    case "continue":
      return;
    case "wait":
      return wait(run, step);
    case "end":
      return endCall(run, step.end);
    case "lost":
      return giveLegBack(run);
  }
}
