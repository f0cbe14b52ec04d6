import { askAgain, unknown } from "../contract/doubt.ts";
import type { LegToPublish, NetworkTools, ReconcileOutcome } from "../contract/network.ts";
import { findOwnPost } from "./posts.ts";
import { credentialsOf, remoteOf } from "./state.ts";

/** What the first attempt set off is done by then, whatever became of its answer. */
const SETTLED_MS = 30_000;
/** Lists show a post a while after it was made. */
const LISTED_MS = 60_000;
/** A duplicate is noticed for ten minutes; the last of them is for the repeated call itself. */
const REPEATABLE_MS = 9 * 60_000;
/** The first call and one repeat. */
const DOUBTS_MAX = 2;

/**
 * An organisation's posts can be listed; nobody may list a member's. There the call is repeated once, while LinkedIn
 * would take it for a duplicate and name the post that the first one made.
 */
export async function reconcile(leg: LegToPublish, tools: NetworkTools): Promise<ReconcileOutcome> {
  if (leg.sentAt === null) return { kind: "may_publish", isAbsent: true };
  const ageMs = tools.now().getTime() - leg.sentAt.getTime();
  if (credentialsOf(leg.credentials).kind === "member") return repeatOnce(leg, ageMs);
  const lookup = await findOwnPost(leg, tools);
  switch (lookup.kind) {
    case "found":
      return lookup.published;
    case "unavailable":
      return askAgain(lookup.note, lookup.retryAfterSeconds);
    case "unreadable":
      return repeatOnce(leg, ageMs);
    case "absent":
      if (ageMs < LISTED_MS) return askAgain("the list may not show the post yet");
      return lookup.isComplete ? { kind: "may_publish", isAbsent: true } : repeatOnce(leg, ageMs);
  }
}

function repeatOnce(leg: LegToPublish, ageMs: number): ReconcileOutcome {
  if (ageMs < SETTLED_MS) return askAgain("an attempt may still be under way");
  const isLast = remoteOf(leg.remote).doubts >= DOUBTS_MAX;
  if (isLast || ageMs > REPEATABLE_MS) {
    return {
      kind: "unknowable",
      failure: unknown("the network can't tell any more whether the post was made"),
    };
  }
  return { kind: "may_publish", isAbsent: false };
}
