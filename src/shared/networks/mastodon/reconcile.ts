import { exchange, unanswered } from "../contract/classified.ts";
import { askAgain, unknown } from "../contract/doubt.ts";
import type { LegToPublish, NetworkTools, ReconcileOutcome } from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { ownOptionsOf } from "./options.ts";
import { getMedia, readMedia } from "./prepare.ts";
import { credentialsOf, remoteOf } from "./state.ts";
import { findOwnPost } from "./statuses.ts";

/** A key is remembered for an hour; the rest is for the call itself and for clocks that differ. */
const KEY_LIFE_MS = 50 * 60_000;
const ASK_AGAIN_SECONDS = 30;
/** What the first attempt set off is done by then, whatever became of its answer. */
const SETTLED_MS = 30_000;

/**
 * Looks at the account's own posts first: some servers do not know idempotency keys. What is not there may be sent
 * again while the key is remembered; later only files tell a repeat from a second post.
 */
export async function reconcile(leg: LegToPublish, tools: NetworkTools): Promise<ReconcileOutcome> {
  if (leg.sentAt === null) return { kind: "may_publish", isAbsent: true };
  const lookup = await findOwnPost(leg, tools);
  const isMissing = lookup.kind === "absent" && lookup.isComplete;
  const isProven = isMissing && isListed(leg) && isOver(leg, tools);
  switch (lookup.kind) {
    case "found":
      return lookup.published;
    case "unavailable":
      return askAgain(lookup.note, lookup.retryAfterSeconds);
    default:
      // Without a key to tell them apart, a repeat must not meet the first attempt on its way.
      if (!keepsKeys(leg) && !isOver(leg, tools))
        return askAgain("an attempt may still be under way");
      // Only a list that was read tells a server without keys from one that has the post already.
      if (isKeyAlive(leg, tools) && (keepsKeys(leg) || isMissing))
        return { kind: "may_publish", isAbsent: isProven };
      return reconcileLate(leg, isProven, tools);
  }
}

async function reconcileLate(
  leg: LegToPublish,
  isAbsent: boolean,
  tools: NetworkTools,
): Promise<ReconcileOutcome> {
  const [first] = remoteOf(leg.remote).media;
  const failure = unknown("the network can't tell any more whether the post was made");
  if (isAbsent) return { kind: "may_publish", isAbsent };
  if (first === undefined) return { kind: "unknowable", failure };
  // A file that is still free is in no post, and this leg's post would have it.
  const answer = await exchange(tools, getMedia(credentialsOf(leg.credentials), first.id));
  if (!(answer instanceof HttpFailure) && answer.status === 404) {
    return { kind: "unknowable", failure };
  }
  const state = answer instanceof HttpFailure ? unanswered(answer) : readMedia(answer, tools.now());
  if (typeof state === "string" || state.kind === "failed")
    return { kind: "may_publish", isAbsent: true };
  return state.kind === "rejected"
    ? { kind: "unknowable", failure }
    : { kind: "ask_again", failure: state.failure, pollAfterSeconds: ASK_AGAIN_SECONDS };
}

function keepsKeys(leg: LegToPublish): boolean {
  return credentialsOf(leg.credentials).keepsKeys;
}

/** Whether no earlier call can be on its way any more: only then does its absence prove anything. */
function isOver(leg: LegToPublish, tools: NetworkTools): boolean {
  return leg.sentAt === null || tools.now().getTime() - leg.sentAt.getTime() >= SETTLED_MS;
}

/** Whether the server still knows the first attempt by its key. */
export function isKeyAlive(leg: LegToPublish, tools: NetworkTools): boolean {
  return leg.sentAt === null || tools.now().getTime() - leg.sentAt.getTime() < KEY_LIFE_MS;
}

/** Whether everyone may see the post; without a visibility of its own it has the account's. */
export function isListed(leg: LegToPublish): boolean {
  const { defaultVisibility } = credentialsOf(leg.credentials);
  const { visibility = defaultVisibility } = ownOptionsOf(leg.draft.options);
  return visibility === "public" || visibility === "unlisted";
}
