import type { FollowUp, FollowUpCall } from "../../src/shared/networks/contract/visible-call.ts";
import type { Finding, Outcome } from "../../src/shared/networks/contract/outcome.ts";
import type { SandboxTools } from "./sandbox-leg.ts";

const STEPS_MAX = 25;
/** When a call is made again whose network names no time. */
const RETRY_SECONDS = 5;

type Last = Extract<Outcome | Finding, { kind: "done" | "rejected" | "refused" | "unknowable" }>;
type Refusal = Extract<Outcome, { kind: "rejected" | "try_later" | "prepare_again" }>;

interface Walked {
  readonly outcome: Last;
  /** The steps that were taken, e.g. `perform unknown`. */
  readonly steps: readonly string[];
}

const waitOf = (refusal: Exclude<Refusal, { kind: "rejected" }>) =>
  (refusal.kind === "try_later" ? refusal.retryAfterSeconds : undefined) ?? RETRY_SECONDS;

/**
 * Walks a call as the contract of `FollowUpCall` says, each step from stored state alone, until it is done, refused or
 * unknowable. Waits are no more than clocks put forward.
 */
export async function walkFollowUp(
  made: FollowUpCall,
  given: FollowUp,
  tools: SandboxTools,
): Promise<Walked> {
  let call = given;
  let refusal: Refusal | undefined;
  const steps: string[] = [];
  while (steps.length < STEPS_MAX) {
    if (call.sentAt === null) {
      call = { ...call, sentAt: tools.now() };
      const outcome = await made.perform(call, tools);
      steps.push(`perform ${outcome.kind}`);
      if (outcome.kind === "done") return { outcome, steps };
      if (outcome.kind === "unknown" || outcome.isProof !== true) {
        call = { ...call, isRefused: outcome.kind !== "unknown" };
        refusal = outcome.kind === "unknown" ? undefined : outcome;
        if (outcome.kind === "unknown") tools.advance(outcome.pollAfterSeconds ?? RETRY_SECONDS);
        continue;
      }
      if (outcome.kind === "rejected") return { outcome, steps };
      call = { ...call, sentAt: null };
      tools.advance(waitOf(outcome));
      continue;
    }
    const seen = await made.find(call, tools);
    steps.push(`find ${seen.kind}`);
    if (seen.kind === "absent" || seen.kind === "repeatable") {
      if (refusal?.kind === "rejected") return { outcome: refusal, steps };
      if (refusal !== undefined) tools.advance(waitOf(refusal));
      call = { ...call, sentAt: null, isRefused: false };
    } else if (seen.kind === "not_yet") tools.advance(seen.pollAfterSeconds);
    else if (seen.kind === "unknowable" && refusal?.kind === "rejected")
      return { outcome: refusal, steps };
    else return { outcome: seen, steps };
  }
  throw new Error(`out of steps: ${steps.join(", ")}`);
}
