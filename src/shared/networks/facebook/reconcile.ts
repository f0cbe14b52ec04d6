import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { lookUp, unknowable } from "../contract/look-up.ts";
import { askAgain, legFailure, mayStartOver, stillWorking } from "../contract/outcome.ts";
import type { ReconcileOutcome } from "../contract/outcome.ts";
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

/** Finds a video or a story by its own id, and any other post in the page's lists. */
export function reconcile(leg: LegToPublish, tools: NetworkTools): Promise<ReconcileOutcome> {
  const remote = remoteOf(leg.remote);
  if (remote.form === "photo_story") return reconcileStory(leg, tools);
  const videoId = remote.postedVideoId ?? remote.video?.id;
  if (videoId === undefined || leg.sentAt === null) return reconcilePost(leg, tools);
  const ageMs = tools.now().getTime() - leg.sentAt.getTime();
  return reconcileVideo({ leg, remote, ageMs }, videoId, tools);
}

interface Looking {
  readonly leg: LegToPublish;
  readonly remote: Remote;
  readonly ageMs: number;
}

/**
 * Looks through the page's lists, which are ranked and leave out posts at times. Photos that are in neither are sent
 * again: Facebook takes none twice. Neither a video nor a text is: Facebook refuses a text only while it is the page's
 * latest ("Duplicate posts cannot be published consecutively", error 506 in
 * https://developers.facebook.com/docs/graph-api/guides/error-handling).
 */
const reconcilePost = lookUp({
  find: findOwnPost,
  settledMs: ({ remote }) => (remoteOf(remote).form === "video" ? VIDEO_SETTLED_MS : SETTLED_MS),
  early: waitOut,
  late({ leg, tools }) {
    const remote = remoteOf(leg.remote);
    return remote.form === "video" || remote.form === "text" || isOutdated(remote, tools.now())
      ? unknowable("the post is in none of the page's lists")
      : { kind: "may_publish", isAbsent: false };
  },
});

const reconcileStory = lookUp({
  find: (leg, tools) => findStory(leg, remoteOf(leg.remote).photos[0] ?? "", tools),
  settledMs: SETTLED_MS,
  early: waitOut,
  late: ({ leg, tools }) =>
    isOutdated(remoteOf(leg.remote), tools.now())
      ? unknowable("the story is not listed")
      : { kind: "may_publish", isAbsent: true },
});

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
      return stillWorking("Facebook is working on the video");
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
        return stillWorking("Facebook has yet to begin with the video");
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

function waitOut({ leftMs }: { readonly leftMs: number }): ReconcileOutcome {
  return askAgain("the page's lists may show the post later", Math.ceil(leftMs / 1000));
}
