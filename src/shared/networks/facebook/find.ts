import { findBySearch } from "../contract/post-search.ts";
import { unknowable, notYetAfter, notYet, legFailure, stillWorking } from "../contract/outcome.ts";
import type { Finding } from "../contract/outcome.ts";
import { findOwnPost, findStory, publishedVideo } from "./own-posts.ts";
import { photosHaveExpired } from "./prepare.ts";
import type { Leg } from "./state.ts";
import { nextTry } from "./upload.ts";
import { lookAtVideo } from "./video-status.ts";

/** A list may show a post late, and an attempt may still be running. */
const VISIBLE_MS = 60_000;
/** Facebook shows an ordinary video in no list before it is processed. */
const VIDEO_VISIBLE_MS = 30 * 60_000;
/** If a video was uploaded longer ago than this and isn't processed, nobody has asked to publish it. */
const STUCK_MS = 5 * 60_000;

/** Finds a video or a story by its own id, and any other post in the page's lists. */
export function find(leg: Leg): Promise<Finding> {
  const { remote, sentAt } = leg;
  if (remote.form === "photo_story") return findOurStory(leg);
  const videoId = remote.postedVideoId ?? remote.video?.id;
  return videoId === undefined || sentAt === null
    ? findOurPost(leg)
    : findVideo(leg, videoId, leg.tools.now().getTime() - sentAt.getTime());
}

/**
 * Searches the page's lists, which are ranked and sometimes omit posts. Photos that are in neither list are sent again,
 * because Facebook accepts none twice. Videos and texts are not sent again: Facebook refuses a text only while it is
 * the page's latest ("Duplicate posts cannot be published consecutively", error 506 in
 * https://developers.facebook.com/docs/graph-api/guides/error-handling).
 */
const findOurPost = findBySearch({
  search: findOwnPost,
  visibleMs: ({ remote }) => (remote.form === "video" ? VIDEO_VISIBLE_MS : VISIBLE_MS),
  early: waitOut,
  late: ({ leg: { remote, tools } }) =>
    remote.form === "video" || remote.form === "text" || photosHaveExpired(remote, tools.now())
      ? unknowable("the post is in none of the page's lists")
      : { kind: "repeatable" },
});

const findOurStory = findBySearch({
  search: (leg: Leg) => findStory(leg, leg.remote.photos[0] ?? ""),
  visibleMs: VISIBLE_MS,
  early: waitOut,
  late: ({ leg: { remote, tools } }) =>
    photosHaveExpired(remote, tools.now())
      ? unknowable("the story is not listed")
      : { kind: "absent" },
});

async function findVideo(leg: Leg, videoId: string, ageMs: number): Promise<Finding> {
  const { remote } = leg;
  const state = await lookAtVideo(videoId, leg);
  switch (state.kind) {
    case "published":
      return publishedVideo(leg, remote, state.url);
    case "processing":
      return stillWorking("Facebook is working on the video");
    case "unknown":
      return notYetAfter(state.outcome);
    case "failed":
      return nextTry(leg, state.classified) === undefined
        ? { kind: "refused", failure: legFailure(state.classified, 0) }
        : { kind: "absent" };
    case "uploading":
    case "uploaded":
      // Accepted by a call that was answered, so Facebook only has to process it.
      if (remote.postedVideoId !== undefined && ageMs < STUCK_MS)
        return stillWorking("Facebook has yet to begin with the video");
      return remote.form === "video"
        ? notYet("Facebook has yet to begin with the video")
        : { kind: ageMs >= VISIBLE_MS ? "absent" : "repeatable" };
  }
}

function waitOut({ leftMs }: { readonly leftMs: number }): Finding {
  return notYet("the page's lists may show the post later", Math.ceil(leftMs / 1000));
}
