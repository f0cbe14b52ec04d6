import { shape } from "../../runtime/shape.ts";
import * as z from "zod";
import { objectShape, spare } from "./fields.ts";
import type { LegToPublish, PublishCall } from "./network.ts";
import type { LegFailure, PublishOutcome, LookUpOutcome } from "./outcome.ts";
import type { NetworkTools } from "./tools.ts";

/*
 * A refusal of the publishing call doesn't prove that nothing was published: Instagram answers "Action is blocked" for
 * posts that are live (https://github.com/gitroomhq/postiz-app/pull/1681). So before a refusal ends a leg, or has the
 * call repeated, the outcome of the call is looked up. The refusal counts when the network shows no post, when it can't
 * tell, or when the error table says that the refusal is a proof (`ErrorRow.isProof`).
 *
 * A refusal is about its own call. It says nothing about an earlier call of unknown outcome, and then it counts only
 * once the network shows that there is no post.
 */

/** Lists and statuses show what a call did within this time. */
const SHOWN_MS = 60_000;

type Refusal = Extract<PublishOutcome, { kind: "rejected" | "try_later" | "prepare_again" }>;

export const failureShape = shape(() =>
  z.custom<LegFailure>((value) => z.object({ code: z.string() }).safeParse(value).success),
);

/** The refusal, stored with the leg until the network has shown the outcome of the call. */
const savedShape = objectShape(() => ({
  refusal: z.object({
    kind: z.enum(["rejected", "try_later", "prepare_again"]),
    /** Whether the outcome of an earlier call is unknown too. */
    isRepeat: spare(z.boolean(), false),
    failure: failureShape(),
  }),
}));

function isRefusal(outcome: PublishOutcome): outcome is Refusal {
  return outcome.kind !== "done" && outcome.kind !== "in_doubt";
}

function mayShowLater(seen: LookUpOutcome, ageMs: number): boolean {
  return seen.kind === "ask_again" || (isUncertain(seen) && ageMs < SHOWN_MS);
}

function isUncertain(seen: LookUpOutcome): boolean {
  return seen.kind === "may_perform" && !seen.isAbsent;
}

/** Returns the outcome while it is unknown whether the refused call published the post. */
function waiting(
  refusal: Refusal,
  { remote, isUnpublished }: LegToPublish,
  { seen, ageMs }: { readonly seen: LookUpOutcome; readonly ageMs: number },
): PublishOutcome {
  const { kind, failure } = refusal;
  return {
    kind: "in_doubt",
    failure: { ...failure, code: "outcome_unknown" },
    remote: { ...remote, refusal: { kind, failure, isRepeat: !isUnpublished } },
    pollAfterSeconds:
      seen.kind === "ask_again" ? seen.pollAfterSeconds : Math.ceil((SHOWN_MS - ageMs) / 1000),
  };
}

/** Returns the outcome of the publishing call. If the network refused it, the post is looked up first. */
export async function checkRefusal(
  outcome: PublishOutcome,
  call: PublishCall,
  leg: LegToPublish,
  tools: NetworkTools,
): Promise<PublishOutcome> {
  if (!isRefusal(outcome) || outcome.isProof === true) return outcome;
  if (call.canTell?.(leg) === false) return outcome;
  const seen = await call.lookUp(leg, tools);
  const ageMs = tools.now().getTime() - (leg.sentAt ?? tools.now()).getTime();
  if (seen.kind === "done") return seen;
  return mayShowLater(seen, ageMs) ? waiting(outcome, leg, { seen, ageMs }) : outcome;
}

/** Returns the outcome of a look-up. If it shows no post, a refusal that was stored with the leg counts. */
export function countRefusal(seen: LookUpOutcome, { remote }: LegToPublish): LookUpOutcome {
  const { refusal } = savedShape().safeParse(remote).data ?? {};
  if (refusal === undefined || seen.kind === "done" || seen.kind === "ask_again") return seen;
  const isCertain = seen.kind === "rejected" || (seen.kind === "may_perform" && seen.isAbsent);
  if (refusal.isRepeat && !isCertain)
    return { kind: "unknowable", failure: { ...refusal.failure, code: "outcome_unknown" } };
  return refusal.kind === "rejected"
    ? { kind: "rejected", failure: refusal.failure }
    : { kind: "may_perform", isAbsent: true, failure: refusal.failure };
}
