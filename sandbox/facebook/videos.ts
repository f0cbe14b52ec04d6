import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { fetchFile } from "../fetched-file.ts";
import { badParameter, graphRefusal } from "../graph/errors.ts";
import { flagParameter, readParameters, textParameter } from "../graph/parameters.ts";
import { PAGE_USE, tooManyCalls } from "../graph/usage.ts";
import { keep } from "../kept-maps.ts";
import { isOtherFilm, videoFacts } from "../media-facts.ts";
import type { VideoFacts } from "../media-facts.ts";
import type { Route } from "../network.ts";
import { authorizePage, success } from "./access.ts";
import { videoNode } from "./nodes.ts";
import { created, publishPost } from "./publishing.ts";
import { VIDEO_BYTES_MAX } from "./upload.ts";
import { nextId } from "./state.ts";
import type { FacebookShared, Page, Post, Video } from "./state.ts";
import { route } from "../network.ts";

const PROCESSING_POLLS = 2;
const DAY_MS = 24 * 3_600_000;
const REELS_PER_DAY = 30;
const TITLE_MAX = 255;
/** developers.facebook.com/documentation/video-api/guides/reels-publishing; encoders round: 9:16 is meant as seen. */
const RATIO = { wanted: 9 / 16, tolerance: 0.02 };

function newVideo(shared: FacebookShared, page: Page, purpose: Video["purpose"]): Video {
  const video: Video = {
    id: nextId(shared.state),
    pageId: page.id,
    purpose,
    createdAt: shared.now(),
    title: null,
    description: null,
    received: null,
    facts: null,
    isOtherFilm: false,
    isUploaded: false,
    uploadPollsLeft: 0,
    processingPollsLeft: 0,
    problem: null,
    postId: null,
  };
  keep(shared.state.videos, video.id, video);
  return video;
}

function start(shared: FacebookShared, page: Page, purpose: "reel" | "story"): Answer {
  const video = newVideo(shared, page, purpose);
  const upload_url = `https://rupload.facebook.com/video-upload/v26.0/${video.id}`;
  return json(200, { video_id: video.id, upload_url });
}

const badVideo = (subcode: number, userMessage: string) =>
  graphRefusal({
    message: "Invalid parameter",
    code: 100,
    subcode,
    userTitle: "Video can't be published",
    userMessage,
  });

function checkFacts(
  { seconds, width, height, framesPerSecond }: VideoFacts,
  secondsMax: number,
): void {
  if (seconds < 3 || seconds > secondsMax)
    throw badVideo(1363128, `The video must be 3 to ${secondsMax} seconds long.`);
  if (Math.abs(width / height - RATIO.wanted) > RATIO.tolerance)
    throw badVideo(1363040, "The aspect ratio of the video must be 9:16.");
  if (width < 540 || height < 960)
    throw badVideo(1363127, "The resolution of the video must be at least 540 x 960 pixels.");
  const rate = Math.round(framesPerSecond);
  if (rate < 24 || rate > 60)
    throw badVideo(1363129, "The frame rate of the video must be 24 to 60 frames per second.");
}

/** The video of a finish call, uploaded and within the limits. One that was published before is fine: nothing happens. */
function finishable(
  shared: FacebookShared,
  page: Page,
  exchange: Exchange,
  purpose: "reel" | "story",
): Video {
  const id = textParameter(readParameters(exchange), "video_id");
  if (id === undefined) throw badParameter("The parameter video_id is required");
  const video = shared.state.videos.get(id);
  if (video?.pageId !== page.id || video.purpose !== purpose)
    throw badParameter("The parameter video_id is invalid");
  if (video.postId !== null) return video;
  if (!video.isUploaded || video.uploadPollsLeft > 0 || video.problem?.phase === "uploading")
    throw graphRefusal({
      message: "There was a problem uploading your video file. Please try again.",
      code: 6000,
      subcode: 1363130,
      userTitle: "Video upload is missing",
      userMessage: "The video is not uploaded yet.",
    });
  if (video.facts !== null) checkFacts(video.facts, purpose === "reel" ? 90 : 60);
  return video;
}

/** Lets the video appear, after as many looks as the plan or the network wants. */
function show(
  shared: FacebookShared,
  video: Video,
  plan: Plan,
  post: Pick<Post, "form" | "message">,
): Post {
  const published = publishPost(shared, {
    ...post,
    pageId: video.pageId,
    link: null,
    photoIds: [],
    videoId: video.id,
    isPublished: true,
  });
  video.postId = published.id;
  video.processingPollsLeft = plan.processing ?? PROCESSING_POLLS;
  const isFilm = video.facts !== null || video.isOtherFilm;
  const isBroken = !isFilm || plan.failure === "media_processing_failed";
  if (isBroken)
    video.problem ??= {
      phase: "processing",
      message: "The video file could not be processed.",
    };
  return published;
}

function reelsUsed(shared: FacebookShared, page: Page): number {
  const since = shared.now() - DAY_MS;
  const set = shared.state.reelsUsed.get(page.id);
  const posts = [...shared.state.posts.values()].filter(
    ({ form, pageId, createdAt }) => form === "reel" && pageId === page.id && createdAt > since,
  );
  return posts.length + (set !== undefined && set.setAt > since ? set.count : 0);
}

function hasReelsLeft(shared: FacebookShared, page: Page): boolean {
  return !shared.state.reelsUsed.has(page.id) || reelsUsed(shared, page) < REELS_PER_DAY;
}

function finishReel(shared: FacebookShared, exchange: Exchange, page: Page, plan: Plan): Answer {
  const parameters = readParameters(exchange);
  const video = finishable(shared, page, exchange, "reel");
  if (video.postId !== null) return success({ post_id: video.postId.split("_")[1] });
  const state = textParameter(parameters, "video_state");
  if (!["PUBLISHED", "DRAFT", "SCHEDULED"].includes(state ?? ""))
    throw badParameter("video_state must be one of PUBLISHED, DRAFT, SCHEDULED");
  if (!hasReelsLeft(shared, page)) return tooManyCalls(PAGE_USE, page.id, DAY_MS / 60_000);
  video.title = checkedTitle(textParameter(parameters, "title"));
  video.description = textParameter(parameters, "description") ?? null;
  if (state !== "PUBLISHED") return success();
  const post = show(shared, video, plan, { form: "reel", message: video.description });
  return success({ post_id: post.id.split("_")[1] });
}

function checkedTitle(title: string | undefined): string | null {
  if (title !== undefined && title.length > TITLE_MAX)
    throw badParameter("Name parameter too long");
  return title ?? null;
}

function finishStory(shared: FacebookShared, exchange: Exchange, page: Page, plan: Plan): Answer {
  const video = finishable(shared, page, exchange, "story");
  const id = video.postId ?? show(shared, video, plan, { form: "story", message: null }).id;
  return success({ post_id: id.split("_")[1] });
}

function phase(
  shared: FacebookShared,
  exchange: Exchange,
  purpose: "reel" | "story",
  plan: Plan,
): Answer {
  const page = authorizePage(shared, exchange, "pages_manage_posts");
  switch (textParameter(readParameters(exchange), "upload_phase")?.toLowerCase()) {
    case "start":
      return start(shared, page, purpose);
    case "finish":
      return purpose === "reel"
        ? finishReel(shared, exchange, page, plan)
        : finishStory(shared, exchange, page, plan);
    default:
      throw badParameter("upload_phase must be one of start, finish");
  }
}

/** A video in the feed: one call, and Meta fetches the file. */
async function feedVideo(shared: FacebookShared, exchange: Exchange, plan: Plan): Promise<Answer> {
  const page = authorizePage(shared, exchange, "pages_manage_posts");
  const parameters = readParameters(exchange);
  const url = textParameter(parameters, "file_url");
  if (url === undefined)
    throw graphRefusal({ message: "(#100) No video file was sent", code: 100, subcode: 1363019 });
  const title = checkedTitle(textParameter(parameters, "title"));
  const fetched = await fetchFile(shared, url, VIDEO_BYTES_MAX);
  if (fetched.kind !== "file")
    throw graphRefusal({ message: "(#389) Unable to fetch video file from URL.", code: 389 });
  const video = newVideo(shared, page, "feed");
  video.title = title;
  video.description = textParameter(parameters, "description") ?? null;
  const { bytes } = fetched;
  video.received = { sha256: shared.blobs.put(bytes), bytes: bytes.length };
  video.facts = videoFacts(bytes) ?? null;
  video.isOtherFilm = isOtherFilm(bytes);
  video.isUploaded = true;
  if (flagParameter(parameters, "published", true))
    show(shared, video, plan, { form: "video", message: video.description });
  return created(exchange, videoNode(shared.state, video));
}

function magicOf(exchange: Exchange): { text: string; key: string } {
  const description = textParameter(readParameters(exchange), "description");
  return { text: description ?? "", key: "" };
}

export function videoRoutes(shared: FacebookShared): Route[] {
  const phases = (path: string, name: string, purpose: "reel" | "story"): Route => ({
    method: "POST",
    path,
    name,
    playsFailures: ["media_processing_failed"],
    magic: magicOf,
    run: (exchange, plan) => phase(shared, exchange, purpose, plan),
  });
  return [
    phases("/{id}/video_reels", "videoReels", "reel"),
    phases("/{id}/video_stories", "videoStories", "story"),
    route("POST /{id}/videos", "videos", (exchange, plan) => feedVideo(shared, exchange, plan), {
      playsFailures: ["media_processing_failed"],
      magic: magicOf,
    }),
  ];
}
