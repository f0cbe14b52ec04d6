import { lenientList, objectShape, lenient } from "../contract/fields.ts";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { type ClassifiedAnswer, idShape, numberShape } from "../contract/answers.ts";
import { ask, inForm } from "../contract/ask.ts";
import type { Rejection, TryLater } from "../contract/outcome.ts";
import { graphGet, pageUrl } from "../graph/request.ts";
import { classify, classifyStatus } from "./errors.ts";
import { type AsAccount, pageOf } from "./state.ts";

/** Facebook's progress with a video. */
type VideoState =
  /** `isTouched`: some of the file has arrived. */
  | { readonly kind: "uploading"; readonly isTouched: boolean }
  /** The whole file has arrived. As far as the status tells, nobody has asked to publish it. */
  | { readonly kind: "uploaded" }
  | { readonly kind: "processing" }
  | { readonly kind: "published"; readonly url: string | null }
  | { readonly kind: "failed"; readonly classified: ClassifiedAnswer }
  /** It did not tell. */
  | { readonly kind: "unknown"; readonly outcome: TryLater | Rejection };

const problemShape = objectShape(() => ({
  code: lenient(idShape()),
  message: lenient(z.string(), ""),
}));
const phaseShape = objectShape(() => ({
  status: lenient(z.string(), ""),
  error: lenient(problemShape()),
  errors: lenient(lenientList(problemShape()), []),
  publish_status: lenient(z.string()),
  // The documentation and some answers spell it so (https://github.com/fbsamples/reels_publishing_apis/issues/47).
  bytes_transfered: lenient(numberShape()),
  bytes_transferred: lenient(numberShape()),
}));
type Phase = ShapeOf<typeof phaseShape> | undefined;
const phase = shape(() => lenient(phaseShape()));

const videoShape = objectShape(() => ({
  permalink_url: lenient(z.string()),
  status: z.object({
    video_status: lenient(z.string(), ""),
    uploading_phase: phase(),
    processing_phase: phase(),
    publishing_phase: phase(),
  }),
}));
type Status = ShapeOf<typeof videoShape>["status"];

/** Both spellings occur. */
const COMPLETE: ReadonlySet<string> = new Set(["complete", "completed"]);
const FAILED: ReadonlySet<string> = new Set(["error", "upload_failed", "expired"]);
const UPLOADED: ReadonlySet<string> = new Set(["upload_complete", "ready"]);

export async function lookAtVideo(videoId: string, as: AsAccount): Promise<VideoState> {
  const query = { fields: "status,permalink_url" };
  const request = graphGet(pageOf(as), encodeURIComponent(videoId), query);
  const video = await ask(request, { read: inForm(videoShape), classify }, as.tools);
  return "failure" in video
    ? { kind: "unknown", outcome: video }
    : stateOf(video.status, pageUrl(video.permalink_url));
}

function stateOf(status: Status, url: string | null): VideoState {
  const { video_status: overall, uploading_phase, processing_phase, publishing_phase } = status;
  const phases = [uploading_phase, processing_phase, publishing_phase];
  if (FAILED.has(overall) || phases.some(isFailed))
    return { kind: "failed", classified: classifyStatus(problemsOf(overall, phases)) };
  if (isPublished(overall, publishing_phase)) return { kind: "published", url };
  const isUnderWay = [status.processing_phase, status.publishing_phase].some(
    (one) => one?.status === "in_progress",
  );
  if (isUnderWay || (status.processing_phase === undefined && status.video_status === "processing"))
    return { kind: "processing" };
  if (UPLOADED.has(overall) || isComplete(uploading_phase) || isComplete(processing_phase))
    return { kind: "uploaded" };
  const { bytes_transfered = 0, bytes_transferred = bytes_transfered } = uploading_phase ?? {};
  return { kind: "uploading", isTouched: bytes_transferred > 0 };
}

function isFailed(one: Phase): boolean {
  return one !== undefined && (FAILED.has(one.status) || one.publish_status === "error");
}

function problemsOf(overall: string, phases: readonly Phase[]): string {
  const problems = phases.flatMap((one) =>
    one === undefined ? [] : [...(one.error === undefined ? [] : [one.error]), ...one.errors],
  );
  return [overall, ...problems.map(({ code, message }) => `${code ?? ""} ${message}`)].join(" ");
}

/**
 * A client reports that upright videos sent to `videos` become drafts that wait for the page's owner
 * (https://github.com/gitroomhq/postiz-app/pull/1740). No document of Meta's says so, and the report shows no status. A
 * video with one of these statuses of the reference doesn't count as published.
 */
const NOT_OUT: readonly unknown[] = ["draft", "scheduled"];

function isPublished(overall: string, publishing: Phase): boolean {
  if (publishing === undefined) return overall === "ready";
  return isComplete(publishing) && !NOT_OUT.includes(publishing.publish_status);
}

function isComplete(one: Phase): boolean {
  return one !== undefined && COMPLETE.has(one.status);
}
