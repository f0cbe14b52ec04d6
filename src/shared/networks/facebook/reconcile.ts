import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import {
  type ReconcileOutcome,
  legFailure,
  askAgain,
  outcomeUnknown,
  mayStartOver,
} from "../contract/outcome.ts";
import { findOwnPost, findStory, publishedVideo } from "./own-posts.ts";
import { isOutdated } from "./prepare.ts";
import { type Remote, credentialsOf, remoteOf } from "./state.ts";
import { mayBeFeedVideo } from "./upload.ts";
import { lookAtVideo } from "./video-status.ts";

/** A list may show a post late; and an attempt may still be under way. */
const SETTLED_MS = 60_000;
/** Facebook shows an ordinary video in no list before it is processed. */
const VIDEO_SETTLED_MS = 30 * 60_000;
/** A video that was uploaded for longer than this and is not processed was never asked to be published. */
const STUCK_MS = 5 * 60_000;

/**
 * Finds out whether an earlier call had its effect. A video or a story is found by its own id, any other post in the
 * page's lists, which are ranked and leave out posts at times. Photos that are in neither list a minute or more after
 * the call are sent again: Facebook takes none twice. A text is not: Facebook refuses a text only while it is
 * the page's latest ("Duplicate posts cannot be published consecutively", error 506 in
 * https://developers.facebook.com/docs/graph-api/guides/error-handling), so that with another post in between the repeat
 * would be a second post.
 */
export async function reconcile(leg: LegToPublish, tools: NetworkTools): Promise<ReconcileOutcome> {
  if (leg.sentAt === null) return { kind: "may_publish", isAbsent: true };
  const remote = remoteOf(leg.remote);
  const ageMs = tools.now().getTime() - leg.sentAt.getTime();
  const looking = { leg, remote, ageMs };
  if (remote.form === "photo_story") return reconcileStory(looking, tools);
  const videoId = remote.postedVideoId ?? remote.video?.id;
  return videoId === undefined
    ? reconcilePost(looking, tools)
    : reconcileVideo(looking, videoId, tools);
}

interface Looking {
  readonly leg: LegToPublish;
  readonly remote: Remote;
  readonly ageMs: number;
}

async function reconcilePost(
  { leg, remote, ageMs }: Looking,
  tools: NetworkTools,
): Promise<ReconcileOutcome> {
  const lookup = await findOwnPost(leg, tools);
  if (lookup.kind === "found") return lookup.published;
  if (lookup.kind === "unavailable") return askAgain(lookup.note, lookup.retryAfterSeconds);
  const waitMs = (remote.form === "video" ? VIDEO_SETTLED_MS : SETTLED_MS) - ageMs;
  if (waitMs > 0) return waitOut(waitMs);
  // Nothing would keep Facebook from taking a video or a text twice, or photos that were made anew.
  const { form } = remote;
  return form === "video" || form === "text" || isOutdated(remote, tools.now())
    ? { kind: "unknowable", failure: outcomeUnknown("the post is in none of the page's lists") }
    : { kind: "may_publish", isAbsent: false };
}

async function reconcileStory(
  { leg, remote, ageMs }: Looking,
  tools: NetworkTools,
): Promise<ReconcileOutcome> {
  const story = await findStory(leg, remote.photos[0] ?? "", tools);
  if (story === "unavailable") return askAgain("the list of stories is not to be had");
  if (story !== "absent") return story;
  const waitMs = SETTLED_MS - ageMs;
  if (waitMs > 0) return waitOut(waitMs);
  return isOutdated(remote, tools.now())
    ? { kind: "unknowable", failure: outcomeUnknown("the story is not listed") }
    : { kind: "may_publish", isAbsent: true };
}

async function reconcileVideo(
  looking: Looking,
  videoId: string,
  tools: NetworkTools,
): Promise<ReconcileOutcome> {
  const { leg, remote, ageMs } = looking;
  const state = await lookAtVideo(videoId, credentialsOf(leg.credentials), tools);
  switch (state.kind) {
    case "published":
      return publishedVideo(leg, remote, state.url, tools);
    case "processing":
      return askAgain("Facebook is working on the video");
    case "unavailable":
      return askAgain(state.note, state.retryAfterSeconds);
    case "unreadable":
      return askAgain(state.classified.note);
    case "failed":
      return afterFailure(looking, legFailure(state.classified, 0), tools);
    case "uploading":
    case "uploaded":
      // Taken by a call that was answered: it only has to get on with it.
      if (remote.postedVideoId !== undefined && ageMs < STUCK_MS)
        return askAgain("Facebook has yet to begin with the video");
      return remote.form === "video"
        ? askAgain("Facebook has yet to begin with the video")
        : { kind: "may_publish", isAbsent: ageMs >= SETTLED_MS };
  }
}

/** Allows another attempt for a video that nobody will see: in another form, or from the beginning. */
function afterFailure(
  { leg, remote }: Looking,
  failure: ReturnType<typeof legFailure>,
  tools: NetworkTools,
): ReconcileOutcome {
  const isWorthAnother =
    remote.form !== "video" &&
    (mayBeFeedVideo(leg, remote, failure) || mayStartOver(remote.restartedAt, tools.now()));
  return isWorthAnother ? { kind: "may_publish", isAbsent: true } : { kind: "rejected", failure };
}

function waitOut(ms: number): ReconcileOutcome {
  const failure = outcomeUnknown("the page's lists may show the post later");
  return { kind: "ask_again", failure, pollAfterSeconds: Math.ceil(ms / 1000) };
}
