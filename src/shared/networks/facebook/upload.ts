import { objectShape, lenient } from "../contract/fields.ts";
import * as z from "zod";
import { type ClassifiedAnswer, exchange, idShape } from "../contract/answers.ts";
import { ask, inForm, withFile } from "../contract/ask.ts";
import { legFailure, mayStartOver, unanswered, unpublished } from "../contract/outcome.ts";
import type { PrepareOutcome } from "../contract/outcome.ts";
import { lessAndLess, polling, processing } from "../contract/uploads.ts";
import { encodedAddress } from "../contract/web-address.ts";
import { isReadable } from "../graph/probe.ts";
import { graphHeaders, graphPostJson } from "../graph/request.ts";
import { appOf } from "../contract/tools.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { classify, isVideoLimit } from "./errors.ts";
import { ownOptionsOf } from "./options.ts";
import type { rules } from "./rules.ts";
import { type Leg, pageOf, type Remote } from "./state.ts";
import { ofRead } from "../contract/blame.ts";
import { lookAtVideo } from "./video-status.ts";

const CARRY_ON_SECONDS = 1;
const RESTART_SECONDS = 5;
const startShape = objectShape(() => ({
  video_id: idShape(),
  upload_url: lenient(z.string()),
}));

type Video = NonNullable<Remote["video"]>;

/**
 * Makes the next step of an upload, each of which is stored before the next: begin, hand over the file's address, read
 * the status.
 */
export async function prepareVideo(leg: Leg): Promise<PrepareOutcome> {
  const { video } = leg.remote;
  if (video === undefined) return begin(leg);
  return video.handedOverAt === undefined ? handOver(leg, video) : look(leg, video);
}

/** Returns the page's edge on which a reel or a story is begun and published. */
export function videoEdge({ form }: Remote): string {
  return form === "reel" ? "video_reels" : "video_stories";
}

async function begin(leg: Leg): Promise<PrepareOutcome> {
  const { credentials, remote, tools } = leg;
  const path = `${credentials.pageId}/${videoEdge(remote)}`;
  const request = graphPostJson(pageOf(leg), path, { upload_phase: "start" });
  const started = await ask(request, { read: inForm(startShape), classify, mediaIndex: 0 }, tools);
  if ("failure" in started) return started;
  const { video_id: id, upload_url: given } = started;
  const ownUrl = `https://rupload.facebook.com/video-upload/${appOf(tools).version}/${id}`;
  const uploadUrl = given !== undefined && isOfFacebook(given) ? given : ownUrl;
  return processing({ ...remote, video: { id, uploadUrl } }, CARRY_ON_SECONDS);
}

/** Reports whether an address is Facebook's, because the page's token is sent to it. */
function isOfFacebook(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, port } = new URL(address);
  return protocol === "https:" && port === "" && /(?:^|\.)facebook\.com$/.test(hostname);
}

async function handOver(leg: Leg, video: Video): Promise<PrepareOutcome> {
  const { credentials, remote, tools } = leg;
  const file_url = await withFile("facebook", 0, () => fetchedAddress(leg));
  if (typeof file_url !== "string") return file_url;
  const answer = await exchange(tools, {
    method: "POST",
    url: video.uploadUrl,
    headers: {
      ...graphHeaders({ token: credentials.pageToken }),
      // This host accepts no other scheme.
      authorization: `OAuth ${credentials.pageToken}`,
      file_url,
    },
  });
  if (answer instanceof HttpFailure) return unanswered(answer);
  const isTaken = inForm(() => z.object({ success: z.literal(true) }))(answer) !== undefined;
  // An earlier attempt, whose answer was lost, may have handed it over. Facebook then refuses a second one.
  if (!isTaken && !(await hasArrived(leg, video))) {
    const classified = classify(answer, tools.now());
    // The upload session is gone or broken, which need not be caused by the file.
    const isLost = ["invalid_request", "media_processing_failed"].includes(classified.code);
    return isLost ? afterFailure(leg, classified) : unpublished(classified, 0);
  }
  const handedOverAt = tools.now().toISOString();
  const handedOver = { ...remote, video: { ...video, handedOverAt } };
  return polling(handedOver, lessAndLess(handedOverAt, tools));
}

async function hasArrived(leg: Leg, { id }: Video): Promise<boolean> {
  const state = await lookAtVideo(id, leg);
  if (state.kind === "uploading") return state.isTouched;
  return ["uploaded", "processing", "published"].includes(state.kind);
}

async function look(leg: Leg, video: Video): Promise<PrepareOutcome> {
  const { remote, tools } = leg;
  const state = await lookAtVideo(video.id, leg);
  switch (state.kind) {
    case "uploaded":
    case "processing":
    case "published":
      return { kind: "ready", remote };
    case "uploading":
      return polling(remote, lessAndLess(video.handedOverAt ?? "", tools));
    case "failed":
      return afterFailure(leg, state.classified);
    case "unknown":
      return ofRead("facebook", state.outcome);
  }
}

/**
 * Returns the state to try again from after a video failed: as an ordinary video, if nobody asked for a reel, or from the
 * beginning; undefined where neither may help.
 */
export function nextTry(
  { draft, remote: { form, restartedAt, postedVideoId }, tools }: Leg,
  problem: { readonly rule?: string },
): Remote | undefined {
  // What was sent to the feed would be sent there a second time.
  if (form === "video" && postedVideoId !== undefined) return undefined;
  if (isVideoLimit(problem)) {
    const isAsked = form !== "reel" || ownOptionsOf(draft).kind !== undefined;
    return isAsked ? undefined : { form: "video", photos: [], restartedAt };
  }
  const now = tools.now();
  if (!mayStartOver(restartedAt, now)) return undefined;
  return { form, photos: [], restartedAt: now.toISOString() };
}

/** Returns a feed video, which Facebook fetches itself, and says so where nobody asked for one. */
export function readyVideo({ draft, remote }: Leg): PrepareOutcome {
  const isChosen = ownOptionsOf(draft).kind === undefined;
  return {
    kind: "ready",
    remote,
    ...(isChosen && { warnings: ["facebook.video.kind" satisfies keyof typeof rules] }),
  };
}

async function afterFailure(leg: Leg, classified: ClassifiedAnswer): Promise<PrepareOutcome> {
  const next = nextTry(leg, classified);
  if (next !== undefined)
    return next.form === "video"
      ? readyVideo({ ...leg, remote: next })
      : processing(next, RESTART_SECONDS);
  const isThere = isVideoLimit(classified) || (await isReadable(mediaUrl(leg), leg.tools));
  const why = isThere ? classified : ({ ...classified, code: "media_unreachable" } as const);
  return { kind: "rejected", failure: legFailure(why, 0) };
}

/** Returns the address at which Facebook downloads the video. @throws MediaFailure */
export async function fetchedAddress(leg: Leg): Promise<string> {
  const [item] = leg.draft.media;
  if (item === undefined) throw new Error("a video without a media item");
  return encodedAddress(await leg.tools.addressOf(item.url));
}

export function mediaUrl({ draft }: Leg): string {
  const [item] = draft.media;
  if (item === undefined) throw new Error("a video without a media item");
  return encodedAddress(item.url);
}
