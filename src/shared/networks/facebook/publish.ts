import { spare } from "../contract/fields.ts";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { type Classified, exchange, idShape } from "../contract/answers.ts";
import {
  notAccepted,
  startOver,
  unconfirmed,
  outcomeUnknown,
  type PublishOutcome,
  mayStartOver,
} from "../contract/outcome.ts";
import { NOT_FOUND } from "../graph/errors.ts";
import { graphPostJson } from "../graph/request.ts";
import { type HttpRequest, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { classify } from "./errors.ts";
import { findStory, publishedVideo } from "./own-posts.ts";
import { ownOptionsOf } from "./options.ts";
import { withProbe } from "../graph/probe.ts";
import { type Remote, credentialsOf, pageAccess, remoteOf } from "./state.ts";
import { asFeedVideo, mayBeFeedVideo, mediaUrl, restarted, videoEdge } from "./upload.ts";
import { lookAtVideo, pageUrl } from "./video-status.ts";

const LOOK_AGAIN_SECONDS = 5;

/** The leg that is published, and the network's data of it. */
interface Sending {
  readonly leg: LegToPublish;
  readonly remote: Remote;
}

export async function publish(leg: LegToPublish, tools: NetworkTools): Promise<PublishOutcome> {
  const sending = { leg, remote: remoteOf(leg.remote) };
  const answer = await exchange(tools, visibleCall(sending, tools));
  if (answer instanceof HttpFailure) return unconfirmed(answer);
  const accepted = readAccepted(answer);
  return accepted === undefined
    ? refused(sending, answer, tools)
    : settle(sending, accepted, tools);
}

function visibleCall({ leg, remote }: Sending, tools: NetworkTools): HttpRequest {
  const { draft } = leg;
  const credentials = credentialsOf(leg.credentials);
  const access = pageAccess(credentials, tools);
  const { link, title } = ownOptionsOf(draft);
  const message = draft.text === "" ? undefined : draft.text;
  const post = (edge: string, body: Readonly<Record<string, unknown>>) =>
    graphPostJson(access, `${credentials.pageId}/${edge}`, body);
  const finish = { upload_phase: "finish", video_id: remote.video?.id };
  switch (remote.form) {
    case "text":
    case "photos": {
      const attached = remote.photos.map((id) => ({ media_fbid: id }));
      const what = attached.length > 0 ? { attached_media: attached } : { link };
      const body = { message, ...what, published: true };
      return graphPostJson(access, `${credentials.pageId}/feed`, body, {
        fields: "id,permalink_url",
      });
    }
    case "video":
      return post("videos", { file_url: mediaUrl(leg), description: message, title });
    case "photo_story":
      return post("photo_stories", { photo_id: remote.photos[0] });
    case "reel":
      return graphPostJson(access, videoEdge(leg, remote), {
        ...finish,
        video_state: "PUBLISHED",
        description: message,
        title,
      });
    case "video_story":
      return graphPostJson(access, videoEdge(leg, remote), finish);
    case undefined:
      throw new Error("the leg was not prepared");
  }
}

const acceptedShape = shape(() =>
  z
    .object({
      id: spare(idShape()),
      post_id: spare(idShape()),
      success: spare(z.literal(true)),
      permalink_url: spare(z.string()),
    })
    .refine(({ id, success }) => id !== undefined || success === true),
);
type Accepted = ShapeOf<typeof acceptedShape>;

function readAccepted(answer: HttpResponse): Accepted | undefined {
  return answer.status === 200 ? acceptedShape().safeParse(answer.json()).data : undefined;
}

async function settle(
  { leg, remote }: Sending,
  accepted: Accepted,
  tools: NetworkTools,
): Promise<PublishOutcome> {
  const { id, post_id: postId, permalink_url } = accepted;
  const videoId = remote.form === "video" ? id : remote.video?.id;
  if (videoId !== undefined) return settleVideo(leg, { ...remote, postedVideoId: videoId }, tools);
  if (remote.form === "photo_story") {
    const photo = remote.photos[0] ?? "";
    const story = await findStory(leg, photo, tools);
    return story.kind === "found"
      ? story.published
      : { kind: "published", networkPostId: postId ?? photo, url: null };
  }
  const networkPostId = id ?? postId;
  if (networkPostId === undefined)
    return { kind: "in_doubt", failure: outcomeUnknown("no id came back") };
  const url = pageUrl(permalink_url) ?? `https://www.facebook.com/${networkPostId}`;
  return { kind: "published", networkPostId, url };
}

/** Returns the outcome for an accepted video, which is visible only after processing and may still fail. */
async function settleVideo(
  leg: LegToPublish,
  remote: Remote,
  tools: NetworkTools,
): Promise<PublishOutcome> {
  const id = remote.postedVideoId ?? "";
  const state = await lookAtVideo(id, credentialsOf(leg.credentials), tools);
  switch (state.kind) {
    case "published":
      return publishedVideo(leg, remote, state.url, tools);
    case "failed":
      return afterFailure(leg, remote, { ...state.classified, isProof: true }, tools.now());
    case "unreadable":
      return { kind: "in_doubt", failure: outcomeUnknown(state.classified.note), remote };
    case "unavailable":
      return { kind: "in_doubt", failure: outcomeUnknown(state.note), remote, ...pollAfter(state) };
    default:
      return {
        kind: "in_doubt",
        failure: outcomeUnknown("Facebook is working on the video"),
        remote,
        isPoll: true,
      };
  }
}

function pollAfter({ retryAfterSeconds }: { readonly retryAfterSeconds: number | null }) {
  return retryAfterSeconds === null ? {} : { pollAfterSeconds: retryAfterSeconds };
}

/** Prepares a video again that nobody will see: in another form, or from the beginning. */
function afterFailure(
  leg: LegToPublish,
  remote: Remote,
  classified: Classified,
  now: Date,
): PublishOutcome {
  if (mayBeFeedVideo(leg, remote, classified)) return inFeed(remote, classified);
  return remote.form === "video"
    ? startOver(classified, undefined, { mediaIndex: 0 })
    : uploadAgain(remote, classified, now);
}

function inFeed(remote: Remote, classified: Classified): PublishOutcome {
  return startOver(classified, asFeedVideo(remote), { mediaIndex: 0 });
}

async function refused(
  sending: Sending,
  answer: HttpResponse,
  tools: NetworkTools,
): Promise<PublishOutcome> {
  const { leg, remote } = sending;
  const classified = classify(answer, tools.now());
  if (answer.status < 500 && classified.networkCode === NOT_FOUND && remote.photos.length > 0)
    return waitForPhotos(remote, classified, tools.now());
  if (answer.status < 500 && mayBeFeedVideo(leg, remote, classified))
    return inFeed(remote, classified);
  const isFile = classified.code === "media_unreachable";
  const known = isFile ? await withProbe(classified, mediaUrl(leg), tools) : classified;
  const outcome = notAccepted(answer, known, () => uploadAgain(remote, known, tools.now()));
  return isFile && "failure" in outcome
    ? { ...outcome, failure: { ...outcome.failure, mediaIndex: 0 } }
    : outcome;
}

/** Waits once for photos that are not found, and rejects the leg the second time. */
function waitForPhotos(remote: Remote, classified: Classified, now: Date): PublishOutcome {
  // The photos were not found, so nothing was published.
  const proof = { ...classified, isProof: true } as const;
  return remote.missedAt === undefined
    ? startOver(
        { ...proof, code: "media_not_ready" },
        { ...remote, missedAt: now.toISOString() },
        { pollAfterSeconds: LOOK_AGAIN_SECONDS },
      )
    : startOver(proof, undefined);
}

function uploadAgain(remote: Remote, classified: Classified, now: Date): PublishOutcome {
  const again = mayStartOver(remote.restartedAt, now) ? restarted(remote, now) : undefined;
  return startOver(classified, again, { pollAfterSeconds: LOOK_AGAIN_SECONDS, mediaIndex: 0 });
}
