import { lenient } from "../contract/fields.ts";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { type ClassifiedAnswer, exchange, idShape } from "../contract/answers.ts";
import { inForm, withFile } from "../contract/ask.ts";
import { notAccepted, outcomeUnknown, startOver, unconfirmed } from "../contract/outcome.ts";
import type { Outcome, Rejection, TryLater } from "../contract/outcome.ts";
import { NOT_FOUND } from "../graph/errors.ts";
import { graphPostJson, pageUrl } from "../graph/request.ts";
import { type HttpRequest, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { classify, isVideoLimit } from "./errors.ts";
import { encodedAddress } from "../contract/web-address.ts";
import { findStory, publishedVideo } from "./own-posts.ts";
import { ownOptionsOf } from "./options.ts";
import { withProbe } from "../graph/probe.ts";
import { type Leg, pageOf, type Remote } from "./state.ts";
import { fetchedAddress, mediaUrl, nextTry, videoEdge } from "./upload.ts";
import { lookAtVideo } from "./video-status.ts";

const LOOK_AGAIN_SECONDS = 5;

export async function perform(leg: Leg): Promise<Outcome> {
  const request = await withFile("facebook", 0, () => visibleCall(leg));
  if ("failure" in request) return request;
  const answer = await exchange(leg.tools, request);
  if (answer instanceof HttpFailure) return unconfirmed(answer);
  const accepted = inForm(acceptedShape)(answer);
  return accepted === undefined ? refused(leg, answer) : outcomeOfAccepted(leg, accepted);
}

async function visibleCall(leg: Leg): Promise<HttpRequest> {
  const { credentials, draft, remote } = leg;
  const page = pageOf(leg);
  const { link, title } = ownOptionsOf(draft);
  const message = draft.text === "" ? undefined : draft.text;
  const post = (edge: string, body: Readonly<Record<string, unknown>>, query = {}) =>
    graphPostJson(page, `${credentials.pageId}/${edge}`, body, query);
  const finish = { upload_phase: "finish", video_id: remote.video?.id };
  const video = { description: message, title };
  switch (remote.form) {
    case "text":
    case "photos": {
      const attached = remote.photos.map((id) => ({ media_fbid: id }));
      const what =
        attached.length > 0 ? { attached_media: attached } : { link: link && encodedAddress(link) };
      return post("feed", { message, ...what, published: true }, { fields: "id,permalink_url" });
    }
    case "video":
      return post("videos", { file_url: await fetchedAddress(leg), ...video });
    case "photo_story":
      return post("photo_stories", { photo_id: remote.photos[0] });
    case "reel":
      return post(videoEdge(remote), { ...finish, video_state: "PUBLISHED", ...video });
    case "video_story":
      return post(videoEdge(remote), finish);
    case undefined:
      throw new Error("the leg was not prepared");
  }
}

const acceptedShape = shape(() =>
  z
    .object({
      id: lenient(idShape()),
      post_id: lenient(idShape()),
      success: lenient(z.literal(true)),
      permalink_url: lenient(z.string()),
    })
    .refine(({ id, success }) => id !== undefined || success === true),
);
type AcceptedAnswer = ShapeOf<typeof acceptedShape>;

async function outcomeOfAccepted(leg: Leg, accepted: AcceptedAnswer): Promise<Outcome> {
  const { remote } = leg;
  const { id, post_id: postId, permalink_url } = accepted;
  const videoId = remote.form === "video" ? id : remote.video?.id;
  if (videoId !== undefined) return outcomeOfVideo(leg, videoId);
  if (remote.form === "photo_story") {
    const photo = remote.photos[0] ?? "";
    const story = await findStory(leg, photo);
    return story.kind === "done" ? story : { kind: "done", externalId: postId ?? photo, url: null };
  }
  const externalId = id ?? postId;
  if (externalId === undefined)
    return { kind: "unknown", failure: outcomeUnknown("no id came back") };
  const url = pageUrl(permalink_url) ?? `https://www.facebook.com/${externalId}`;
  return { kind: "done", externalId, url };
}

/** Returns the outcome for an accepted video, which is only visible after processing and may still fail. */
async function outcomeOfVideo(leg: Leg, postedVideoId: string): Promise<Outcome> {
  const remote = { ...leg.remote, postedVideoId };
  const state = await lookAtVideo(postedVideoId, leg);
  switch (state.kind) {
    case "published":
      return publishedVideo(leg, remote, state.url);
    case "failed":
      return anotherTry({ ...leg, remote }, { ...state.classified, isProof: true });
    case "unknown":
      return inDoubtAfter(state.outcome, remote);
    default: {
      const failure = outcomeUnknown("Facebook is working on the video");
      return { kind: "unknown", failure, remote, isPoll: true };
    }
  }
}

function inDoubtAfter({ failure, ...outcome }: TryLater | Rejection, remote: Remote): Outcome {
  const { retryAfterSeconds: seconds } = outcome;
  const wait = seconds === undefined ? {} : { pollAfterSeconds: seconds };
  return { kind: "unknown", failure: { ...failure, code: "outcome_unknown" }, remote, ...wait };
}

/** Prepares a video again that nobody will see, if that may help. */
function anotherTry(leg: Leg, classified: ClassifiedAnswer): Outcome {
  const next = nextTry(leg, classified);
  const pollAfterSeconds = next?.form === leg.remote.form ? LOOK_AGAIN_SECONDS : 0;
  return startOver(classified, next, { pollAfterSeconds, mediaIndex: 0 });
}

async function refused(leg: Leg, answer: HttpResponse): Promise<Outcome> {
  const classified = classify(answer, leg.tools.now());
  // Photos that were just made may not be found yet: then nothing was published.
  if (answer.status < 500 && classified.networkCode === NOT_FOUND && leg.remote.photos.length > 0) {
    const notYet = { ...classified, code: "media_not_ready", isProof: true } as const;
    return startOver(notYet, leg.remote, { pollAfterSeconds: LOOK_AGAIN_SECONDS });
  }
  if (answer.status < 500 && isVideoLimit(classified)) return anotherTry(leg, classified);
  const isFile = classified.code === "media_unreachable";
  const known = isFile ? await withProbe(classified, mediaUrl(leg), leg.tools) : classified;
  const outcome = notAccepted(answer, known, () => anotherTry(leg, known));
  return isFile && "failure" in outcome
    ? { ...outcome, failure: { ...outcome.failure, mediaIndex: 0 } }
    : outcome;
}
