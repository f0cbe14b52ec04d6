import type { Finding } from "../../networks/contract/outcome.ts";
import type { CallRefusal } from "../call.ts";

/** Lists and statuses show what a call did within this time. */
const SHOWN_MS = 60_000;

/**
 * Returns the seconds after which the network may show what it does not show yet; undefined when the finding is its last
 * word. `ageMs`: since the first call of unknown outcome.
 */
export function shownInSeconds(found: Finding, ageMs: number): number | undefined {
  if (found.kind === "not_yet") return found.pollAfterSeconds;
  const isEarly = found.kind === "repeatable" && ageMs < SHOWN_MS;
  return isEarly ? Math.ceil((SHOWN_MS - ageMs) / 1000) : undefined;
}

/**
 * Returns the finding about a call that the network had refused. The refusal counts once the network shows nothing; where
 * an earlier call may still have had its effect, only once it is certain that there is none.
 */
export function afterRefusal(
  { kind, failure, isRepeat }: CallRefusal,
  found: Finding,
  { ageMs, repeatsUntold }: { readonly ageMs: number; readonly repeatsUntold: boolean },
): Finding {
  if (found.kind === "done" || found.kind === "not_yet") return found;
  const unknown = { ...failure, code: "outcome_unknown" } as const;
  const pollAfterSeconds = shownInSeconds(found, ageMs);
  if (pollAfterSeconds !== undefined)
    return { kind: "not_yet", failure: unknown, pollAfterSeconds };
  const isCertain = found.kind === "absent" || found.kind === "refused";
  if (isRepeat && !isCertain) return { kind: "unknowable", failure: unknown };
  if (kind === "rejected") return { kind: "refused", failure };
  const isUntold = found.kind === "unknowable" && !repeatsUntold;
  return isUntold ? { kind: "unknowable", failure: unknown } : { kind: "absent", failure };
}
