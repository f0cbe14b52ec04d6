import type { Classified } from "../classified.ts";
import { exchange, failureOf, unanswered, unpublished } from "../classified.ts";
import type {
  HttpRequest,
  HttpResponse,
  LegFailure,
  LegToPublish,
  NetworkTools,
  PublishOutcome,
  ReconcileOutcome,
} from "../network.ts";
import { HttpFailure } from "../network.ts";
import { MEDIA_TAKEN, classify, errorText } from "./errors.ts";
import { getMedia, readMedia } from "./media.ts";
import { ownOptionsOf } from "./options.ts";
import { credentialsOf, remoteOf, requestHeaders } from "./state.ts";
import { findOwnPost, readStatus } from "./statuses.ts";

/** A key is remembered for an hour; the rest is for the call itself and for clocks that differ. */
const KEY_LIFE_MS = 50 * 60_000;
const NOT_READY_SECONDS = 5;
const ASK_AGAIN_SECONDS = 30;
/** What the first attempt set off is done by then, whatever became of its answer. */
const SETTLED_MS = 30_000;

export async function publish(leg: LegToPublish, tools: NetworkTools): Promise<PublishOutcome> {
  const answer = await exchange(tools, postStatus(leg));
  const isTaken =
    !(answer instanceof HttpFailure) &&
    answer.status === 422 &&
    MEDIA_TAKEN.test(errorText(answer));
  return isTaken ? lookForTakenMedia(leg, answer, tools) : readPost(answer, leg, tools.now());
}

function postStatus(leg: LegToPublish): HttpRequest {
  const credentials = credentialsOf(leg.credentials);
  const { idempotencyKey, media } = remoteOf(leg.remote);
  const { visibility, spoilerText, sensitive, language } = ownOptionsOf(leg.draft.options);
  return {
    method: "POST",
    url: `${credentials.origin}/api/v1/statuses`,
    headers: {
      ...requestHeaders(credentials),
      "content-type": "application/json",
      "idempotency-key": idempotencyKey,
    },
    body: JSON.stringify({
      status: leg.draft.text,
      media_ids: media.length > 0 ? media.map((item) => item.id) : undefined,
      visibility,
      spoiler_text: spoilerText,
      sensitive,
      language,
    }),
  };
}

function readPost(
  answer: HttpResponse | HttpFailure,
  leg: LegToPublish,
  now: Date,
): PublishOutcome {
  if (answer instanceof HttpFailure) {
    return answer.delivery === "not_sent"
      ? unanswered(answer)
      : { kind: "in_doubt", failure: unknown(answer.message) };
  }
  const published = readStatus(answer);
  if (published !== undefined) return published;
  const classified = classify(answer, now);
  // Of a server that failed: what it says of the reason does not tell whether the post was made.
  if (classified.effect === "doubt" || answer.status >= 500) return inDoubt(classified);
  return classified.effect === "prepare_again"
    ? waitForMedia(classified, leg)
    : unpublished(classified);
}

function waitForMedia(classified: Classified, leg: LegToPublish): PublishOutcome {
  const remote = remoteOf(leg.remote);
  return {
    kind: "prepare_again",
    remote: { ...remote, media: remote.media.map((item) => ({ ...item, isReady: false })) },
    failure: failureOf(classified),
    pollAfterSeconds: NOT_READY_SECONDS,
  };
}

/** Files "not found or already attached": an earlier attempt may have attached them, or the server dropped them. */
async function lookForTakenMedia(
  leg: LegToPublish,
  answer: HttpResponse,
  tools: NetworkTools,
): Promise<PublishOutcome> {
  const classified = classify(answer, tools.now());
  const lookup = await findOwnPost(leg, tools);
  if (lookup.kind === "found") return lookup.published;
  const isCertain =
    lookup.kind === "absent" && lookup.isComplete && (isKeyAlive(leg, tools) || isListed(leg));
  if (!isCertain) return inDoubt(classified);
  return {
    kind: "prepare_again",
    remote: { ...remoteOf(leg.remote), media: [] },
    failure: { ...failureOf(classified), code: "media_not_ready" },
    pollAfterSeconds: 0,
  };
}

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

function askAgain(note: string, seconds: number | null = null): ReconcileOutcome {
  return {
    kind: "ask_again",
    failure: unknown(note),
    pollAfterSeconds: seconds ?? ASK_AGAIN_SECONDS,
  };
}

function keepsKeys(leg: LegToPublish): boolean {
  return credentialsOf(leg.credentials).keepsKeys;
}

/** Whether no earlier call can be on its way any more: only then does its absence prove anything. */
function isOver(leg: LegToPublish, tools: NetworkTools): boolean {
  return leg.sentAt === null || tools.now().getTime() - leg.sentAt.getTime() >= SETTLED_MS;
}

function isKeyAlive(leg: LegToPublish, tools: NetworkTools): boolean {
  return leg.sentAt === null || tools.now().getTime() - leg.sentAt.getTime() < KEY_LIFE_MS;
}

/** Whether everyone may see the post; without a visibility of its own it has the account's. */
function isListed(leg: LegToPublish): boolean {
  const { defaultVisibility } = credentialsOf(leg.credentials);
  const { visibility = defaultVisibility } = ownOptionsOf(leg.draft.options);
  return visibility === "public" || visibility === "unlisted";
}

function inDoubt(classified: Classified): PublishOutcome {
  return { kind: "in_doubt", failure: failureOf({ ...classified, code: "outcome_unknown" }) };
}

function unknown(note: string): LegFailure {
  return { code: "outcome_unknown", networkCode: null, note };
}
