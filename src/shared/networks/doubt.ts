import type { Classified } from "./classified.ts";
import { failureOf } from "./classified.ts";
import type { LegFailure, PublishOutcome, ReconcileOutcome } from "./network.ts";

const ASK_AGAIN_SECONDS = 30;

/** Nobody can say whether the post is out. */
export function unknown(note: string): LegFailure {
  return { code: "outcome_unknown", networkCode: null, note };
}

/** The answer to the visible call does not tell whether it had its effect. */
export function inDoubt(classified: Classified): PublishOutcome {
  return { kind: "in_doubt", failure: failureOf({ ...classified, code: "outcome_unknown" }) };
}

type AskAgain = Extract<ReconcileOutcome, { kind: "ask_again" }>;

/** Whether the post is out can't be told now. */
export function askAgain(note: string, seconds: number | null = null): AskAgain {
  return {
    kind: "ask_again",
    failure: unknown(note),
    pollAfterSeconds: seconds ?? ASK_AGAIN_SECONDS,
  };
}
