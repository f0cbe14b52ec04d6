import { spare } from "../contract/fields.ts";
import { mediaRejected } from "../contract/media-check.ts";
import type { MediaFile } from "../contract/media.ts";
import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import type { LegErrorCode } from "../contract/errors.ts";
import {
  type PrepareOutcome,
  type Rejected,
  type TryLater,
  unpublished,
} from "../contract/outcome.ts";
import type { Credentials, Remote, RemoteVideo } from "./state.ts";
import { type Embed, videoEmbed, uploadBlob, blobShape, type Blob } from "./upload.ts";
import { blobBytesMax } from "./rules.ts";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { type Classified, exchange, noteOf } from "../contract/answers.ts";
import { type StreamedBody, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { callAsAccount } from "./account-call.ts";
import { classify } from "./errors.ts";
import { classifyFor } from "./moved.ts";

export type VideoStep =
  | { readonly kind: "made"; readonly embed: Embed }
  /** `video` is undefined when the next step has to begin with the file again. */
  | {
      readonly kind: "waiting";
      readonly video: RemoteVideo | undefined;
      readonly wait: Wait;
    }
  /** A moving image that no video can be made of here: its first picture may be published. */
  | { readonly kind: "still" }
  | TryLater
  | Rejected;

/** When to go on, and whether that is to ask for the state of work that goes well. */
type Wait = Pick<Extract<PrepareOutcome, { kind: "processing" }>, "pollAfterSeconds" | "isPoll">;
type Shown = Omit<RemoteVideo, "jobId">;

interface VideoLeg {
  readonly leg: LegToPublish;
  readonly remote: Remote;
  readonly credentials: Credentials;
}

/**
 * Brings the leg's video to the network: through the video service, so that it plays at once, or straight to the
 * account's server where there is no such service. An MP4 goes straight as well when what the service had made was
 * lost again: it would only answer that it knows the file. Of all else only the service can make the MP4 that a post
 * shows.
 */
export async function bringVideo(
  { leg, remote, credentials }: VideoLeg,
  { file, alt }: { readonly file: MediaFile; readonly alt: string },
  tools: NetworkTools,
): Promise<VideoStep> {
  const { width, height } = file;
  const isGif = file.contentType === "image/gif";
  const isPlayable = file.contentType === "video/mp4";
  const aspectRatio = width && height ? { width, height } : null;
  const shown = { alt, aspectRatio, ...(isGif ? { isGif } : {}) };
  if (remote.reuploadedAt === undefined || !isPlayable) {
    const outcome = await handOver({ credentials, file, name: remote.rkey }, tools);
    switch (outcome.kind) {
      case "blob":
        return { kind: "made", embed: videoEmbed(outcome.blob, shown) };
      case "working":
        return {
          kind: "waiting",
          video: { jobId: outcome.jobId, ...shown },
          wait: outcome.wait,
        };
      case "try_later":
      case "rejected":
        return outcome;
      default:
    }
  }
  return isGif ? { kind: "still" } : sendStraight(leg, file, { credentials, shown }, tools);
}

/** Uploads the file to the account's server, which takes it as it is. */
async function sendStraight(
  leg: LegToPublish,
  file: MediaFile,
  { credentials, shown }: { readonly credentials: Credentials; readonly shown: Shown },
  tools: NetworkTools,
): Promise<VideoStep> {
  const { contentType, size } = file;
  if (contentType !== "video/mp4")
    return mediaRejected("bluesky.media.type", `${contentType}, past the video service`, 0);
  if (size > blobBytesMax(leg.limits))
    return mediaRejected("bluesky.media.size", `${size} bytes, past the video service`, 0);
  const blob = await uploadBlob(
    { bytes: file, contentType },
    { credentials, mediaIndex: 0 },
    tools,
  );
  return "failure" in blob ? blob : { kind: "made", embed: videoEmbed(blob, shown) };
}

/** Reads the status of a video once that the service is processing. */
export async function followVideo(video: RemoteVideo, tools: NetworkTools): Promise<VideoStep> {
  const outcome = await lookAtJob(video.jobId, tools);
  switch (outcome.kind) {
    case "blob":
      return { kind: "made", embed: videoEmbed(outcome.blob, video) };
    case "working":
      return { kind: "waiting", video, wait: outcome.wait };
    case "try_later":
    case "rejected":
      return outcome;
    default:
      return { kind: "waiting", video: undefined, wait: { pollAfterSeconds: 0 } };
  }
}

/** Makes uploaded videos playable before anyone sees them (https://docs.bsky.app/docs/tutorials/video). */
const SERVICE = "https://video.bsky.app";
const SERVICE_DID = "did:web:video.bsky.app";
const UPLOAD_METHOD = "com.atproto.repo.uploadBlob";
const LIMITS_METHOD = "app.bsky.video.getUploadLimits";
/** The service works on with the token when the upload is over. */
const TOKEN_SECONDS = 1800;
const UPLOAD_TIMEOUT_MS = 120_000;
const POLL_SECONDS = 5;
const POLL_SECONDS_OUTAGE = 20;
const POLL_SECONDS_MAX = 600;

const job = shape(() =>
  z.object({
    jobId: spare(z.string()),
    state: spare(z.string()),
    blob: spare(blobShape()),
    error: spare(z.string()),
    message: spare(z.string()),
  }),
);
type Job = ShapeOf<typeof job>;
/** The service answers an upload with the bare status, its lexicon wraps it. */
const jobAnswer = shape(() =>
  z.union([z.object({ jobStatus: job() }).transform((one) => one.jobStatus), job()]),
);

type VideoOutcome =
  | { readonly kind: "blob"; readonly blob: Blob }
  | { readonly kind: "working"; readonly jobId: string; readonly wait: Wait }
  /** The service is not there, or not for this account: the account's own server may take the file. */
  | { readonly kind: "not_there" }
  /** The service does not know the job any more. */
  | { readonly kind: "lost" }
  | TryLater
  | Rejected;

interface Video {
  readonly credentials: Credentials;
  /** The same for the same leg: its name is all that the service has of it. */
  readonly name: string;
  readonly file: StreamedBody & Pick<MediaFile, "contentType">;
}

/** What the service goes by, beside the type, is the end of the name. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  "video/quicktime": "mov",
  "video/webm": "webm",
  "video/mpeg": "mpeg",
  "image/gif": "gif",
};

/** Hands a video over. The same bytes again are answered with what was made of them before. */
async function handOver(video: Video, tools: NetworkTools): Promise<VideoOutcome> {
  const { credentials, file, name } = video;
  const refused = await askLimits(video, tools);
  if (refused !== undefined) return refused;
  const token = await vouch(
    credentials,
    { audience: serverDid(credentials), lxm: UPLOAD_METHOD },
    tools,
  );
  if (typeof token !== "string") return token;
  const query = new URLSearchParams({
    did: credentials.did,
    name: `${name}.${EXTENSIONS[file.contentType] ?? "mp4"}`,
  });
  const answer = await exchange(tools, {
    method: "POST",
    url: `${SERVICE}/xrpc/app.bsky.video.uploadVideo?${query.toString()}`,
    headers: { authorization: `Bearer ${token}`, "content-type": file.contentType },
    body: file,
    timeoutMs: UPLOAD_TIMEOUT_MS,
  });
  if (isAway(answer)) return { kind: "not_there" };
  const status = readJob(answer);
  // What was uploaded before is an error by its status, and the wanted answer by its content.
  const made = status === undefined ? undefined : outcomeOf(status);
  return made ?? refusal(answer, tools);
}

/** Reads the status of a job once. */
async function lookAtJob(jobId: string, tools: NetworkTools): Promise<VideoOutcome> {
  const query = new URLSearchParams({ jobId });
  const answer = await exchange(tools, {
    method: "GET",
    url: `${SERVICE}/xrpc/app.bsky.video.getJobStatus?${query.toString()}`,
  });
  if (isAway(answer))
    return { kind: "working", jobId, wait: { pollAfterSeconds: POLL_SECONDS_OUTAGE } };
  if (answer.status === 429)
    return { kind: "working", jobId, wait: { pollAfterSeconds: pause(answer, tools) } };
  const status = readJob(answer);
  const made = status === undefined ? undefined : outcomeOf({ jobId, ...status });
  return made ?? { kind: "lost" };
}

/**
 * Returns the wait that the service asks for, but never the rest of a day: reading a status costs the account nothing.
 */
function pause(answer: HttpResponse, tools: NetworkTools): number {
  const { retryAfterSeconds } = classify(answer, tools.now());
  return Math.min(Math.max(retryAfterSeconds ?? 0, POLL_SECONDS_OUTAGE), POLL_SECONDS_MAX);
}

function outcomeOf({ jobId, state, blob, error, message }: Job): VideoOutcome | undefined {
  if (blob !== undefined) return { kind: "blob", blob };
  if (state === "JOB_STATE_FAILED")
    return refusedAs("media_processing_failed", error ?? state, message);
  if (jobId === undefined || state === undefined) return undefined;
  return { kind: "working", jobId, wait: { pollAfterSeconds: POLL_SECONDS, isPoll: true } };
}

function readJob(answer: HttpResponse): Job | undefined {
  const parsed = jobAnswer().safeParse(answer.json());
  return parsed.success ? parsed.data : undefined;
}

function refusal(answer: HttpResponse, tools: NetworkTools): VideoOutcome {
  if (answer.status === 401 || answer.status === 403) return { kind: "not_there" };
  const classified = classify(answer, tools.now());
  const isMedia = answer.status !== 429 && classified.code === "invalid_request";
  return unpublished(isMedia ? { ...classified, code: "media_rejected" } : classified, 0);
}

/** Returns whether there was no answer, one of a proxy, or one of a server without such a service. */
function isAway(answer: HttpResponse | HttpFailure): answer is HttpFailure {
  return answer instanceof HttpFailure || answer.status >= 500 || answer.status === 404;
}

const uploadLimitsShape = shape(() =>
  z.object({
    canUpload: z.boolean(),
    error: spare(z.string()),
    message: spare(z.string()),
  }),
);

/** Returns the reason why the account may not upload a video now; undefined if it may. */
async function askLimits(
  { credentials }: Video,
  tools: NetworkTools,
): Promise<VideoOutcome | undefined> {
  const token = await vouch(credentials, { audience: SERVICE_DID, lxm: LIMITS_METHOD }, tools);
  if (typeof token !== "string") return token;
  const answer = await exchange(tools, {
    method: "GET",
    url: `${SERVICE}/xrpc/${LIMITS_METHOD}`,
    headers: { authorization: `Bearer ${token}` },
  });
  if (isAway(answer)) return { kind: "not_there" };
  const limits = uploadLimitsShape().safeParse(answer.json()).data;
  // The upload itself is checked anyway: a limit that can't be read need not stop it.
  if (limits === undefined || limits.canUpload) return undefined;
  const { error, message = "" } = limits;
  const isUnconfirmed = /confirm|verif/i.test(`${error ?? ""} ${message}`);
  const code = isUnconfirmed ? "account_restricted" : "quota_exceeded";
  return refusedAs(code, error ?? "DailyLimitExceeded", message);
}

function refusedAs(code: LegErrorCode, networkCode: string, message = ""): Rejected {
  const note = noteOf(message);
  const failure = { code, networkCode, mediaIndex: 0, ...(note === "" ? {} : { note }) };
  return { kind: "rejected", failure };
}

/** Returns a token with which the account's server authorises one method of the service for a short time. */
async function vouch(
  credentials: Credentials,
  { audience, lxm }: { readonly audience: string; readonly lxm: string },
  tools: NetworkTools,
): Promise<string | VideoOutcome> {
  const exp = Math.floor(tools.now().getTime() / 1000) + TOKEN_SECONDS;
  const query = new URLSearchParams({ aud: audience, lxm, exp: String(exp) });
  const url = `${credentials.pds}/xrpc/com.atproto.server.getServiceAuth?${query.toString()}`;
  const answer = await callAsAccount(credentials, { method: "GET", url }, tools);
  if (isAway(answer)) return { kind: "not_there" };
  const parsed = z.object({ token: z.string().min(1) }).safeParse(answer.json());
  if (answer.status === 200 && parsed.success) return parsed.data.token;
  const classified = await classifyFor(answer, credentials, tools);
  // A token that ended, or an account that is locked, would stop a plain upload as well.
  const isOfAccount = classified.effect === "at_once" || classified.effect === "later";
  const isLocked = classified.code === "account_restricted" || hasLeft(classified);
  return isOfAccount || isLocked ? unpublished(classified, 0) : { kind: "not_there" };
}

/** Returns whether the account is on another server by now. */
function hasLeft({ code, networkCode }: Classified): boolean {
  return code === "connection_needs_reauth" && /Deactivated|NotFound/.test(networkCode ?? "");
}

function serverDid({ pds }: Credentials): string {
  return `did:web:${new URL(pds).host.replace(":", "%3A")}`;
}
