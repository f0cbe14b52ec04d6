import type { FollowUp, FollowUpCall } from "../../src/shared/networks/contract/network.ts";
import type {
  FollowUpLookUp,
  FollowUpOutcome,
} from "../../src/shared/networks/contract/outcome.ts";
import type { SandboxTools } from "./sandbox-leg.ts";

const STEPS_MAX = 25;
/** When a call is made again whose network names no time. */
const RETRY_SECONDS = 5;

type Last = Extract<FollowUpOutcome | FollowUpLookUp, { kind: "done" | "rejected" | "unknowable" }>;

interface Walked {
  readonly outcome: Last;
  /** The steps that were taken, e.g. `perform in_doubt`. */
  readonly steps: readonly string[];
}

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
  const steps: string[] = [];
  while (steps.length < STEPS_MAX) {
    if (call.sentAt === null) {
      call = { ...call, sentAt: tools.now() };
      const outcome = await made.perform(call, tools);
      steps.push(`perform ${outcome.kind}`);
      if (outcome.kind === "done" || outcome.kind === "rejected") return { outcome, steps };
      if (outcome.kind === "in_doubt") {
        // Through JSON, as it is stored between two steps.
        const state = JSON.parse(JSON.stringify(outcome.state ?? call.state)) as FollowUp["state"];
        call = { ...call, state };
        tools.advance(outcome.pollAfterSeconds ?? RETRY_SECONDS);
      } else {
        call = { ...call, sentAt: null };
        tools.advance(outcome.retryAfterSeconds ?? RETRY_SECONDS);
      }
      continue;
    }
    const seen = await made.lookUp(call, tools);
    steps.push(`lookUp ${seen.kind}`);
    if (seen.kind === "may_perform") call = { ...call, sentAt: null };
    else if (seen.kind === "ask_again") tools.advance(seen.pollAfterSeconds);
    else return { outcome: seen, steps };
  }
  throw new Error(`out of steps: ${steps.join(", ")}`);
}
