import type { Classified } from "./classified.ts";
import { failureOf, unanswered } from "./classified.ts";
import type { HttpFailure } from "../../runtime/http-call.ts";
import type { LegFailure, Published, PublishOutcome, ReconcileOutcome } from "./network.ts";

const ASK_AGAIN_SECONDS = 30;

/** Nobody can say whether the post is out. */
export function unknown(note: string): LegFailure {
  return { code: "outcome_unknown", networkCode: null, note };
}

/** The answer to the visible call does not tell whether it had its effect. */
export function inDoubt(classified: Classified): PublishOutcome {
  return { kind: "in_doubt", failure: failureOf({ ...classified, code: "outcome_unknown" }) };
}

/** The visible call has no answer: it never left, or nobody knows what became of it. */
export function unheard(failure: HttpFailure): PublishOutcome {
  return failure.delivery === "not_sent"
    ? unanswered(failure)
    : { kind: "in_doubt", failure: unknown(failure.message) };
}

/** What a look for the leg's post among the account's own came to. */
export type Lookup =
  | { readonly kind: "found"; readonly published: Published }
  /** `isComplete`: the list reached back beyond the first attempt, so a post that lists show would be in it. */
  | { readonly kind: "absent"; readonly isComplete: boolean }
  | { readonly kind: "unreadable" }
  | {
      readonly kind: "unavailable";
      readonly note: string;
      readonly retryAfterSeconds: number | null;
    };

type AskAgain = Extract<ReconcileOutcome, { kind: "ask_again" }>;

/** Whether the post is out can't be told now. */
export function askAgain(note: string, seconds: number | null = null): AskAgain {
  return {
    kind: "ask_again",
    failure: unknown(note),
    pollAfterSeconds: seconds ?? ASK_AGAIN_SECONDS,
  };
}
