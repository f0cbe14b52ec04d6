import { objectShape, lenient } from "../contract/fields.ts";
import { mediaRejected } from "../contract/media-check.ts";
import type { MediaFile } from "../contract/media.ts";
import type { NetworkTools } from "../contract/tools.ts";
import type { LegErrorCode } from "../contract/errors.ts";
import { outage, type PrepareOutcome, type Rejection, unanswered } from "../contract/outcome.ts";
import { type TryLater, unpublished } from "../contract/outcome.ts";
import type { AsAccount, Leg, RemoteVideo } from "./state.ts";
import { aspectRatioOf, blobShape, type Embed } from "./upload.ts";
import { uploadBlob, videoEmbed } from "./upload.ts";
import { blobBytesMax, type rules } from "./rules.ts";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { exchange, noteOf } from "../contract/answers.ts";
import { inForm } from "../contract/ask.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { callAsAccount, classifyFor } from "./account-call.ts";
import { classify } from "./errors.ts";
import { bearer, query } from "./request.ts";

export type VideoStep =
  | { readonly kind: "made"; readonly embed: Embed }
  /** `video` is absent when the next step has to begin with the file again. */
  | { readonly kind: "waiting"; readonly video?: RemoteVideo; readonly wait: Wait }
  | TryLater
  | Rejection;

/** When to continue, and whether that is to ask about work that goes well. */
type Wait = Pick<Extract<PrepareOutcome, { kind: "processing" }>, "pollAfterSeconds" | "isPoll">;
type ShownVideo = Omit<RemoteVideo, "jobId">;

/** The service isn't there, or not for this account. */
interface NoService {
  readonly kind: "no_service";
  /** The outcome for a video that only the service can take. Absent where waiting doesn't help. */
  readonly outage?: TryLater;
}

const NO_SERVICE: NoService = { kind: "no_service" };

function waiting(video: RemoteVideo, pollAfterSeconds: number): VideoStep {
  return { kind: "waiting", video, wait: { pollAfterSeconds } };
}

/**
 * Brings the leg's video to the network: through the video service, so that it plays at once, or straight to the
 * account's server where there is no such service. An MP4 goes straight as well when what the service had made was
 * lost again: it would only answer that it knows the file. Of all else only the service can make the MP4 that a post
 * shows, and take one that is too large for the account's server, so these wait while the service is away. `still`: of a
 * moving image no video can be made here, but its first picture may be published.
 */
export async function bringVideo(
  leg: Leg,
  { file, alt }: { readonly file: MediaFile; readonly alt: string },
): Promise<VideoStep | "still"> {
  const isGif = file.contentType === "image/gif";
  const isPlayable = file.contentType === "video/mp4";
  const shown = { alt, aspectRatio: aspectRatioOf(file), ...(isGif ? { isGif } : {}) };
  const isLost = leg.remote.reuploadedAt !== undefined && isPlayable;
  const step = isLost ? NO_SERVICE : await handOver(leg, file, shown);
  if (step.kind !== "no_service") return step;
  if (isGif) return "still";
  const { contentType, size } = file;
  if (!isPlayable)
    return (
      step.outage ??
      mediaRejected("bluesky.media.type", `${contentType}, past the video service`, 0)
    );
  if (size > blobBytesMax(leg.limits))
    return (
      step.outage ?? mediaRejected("bluesky.media.size", `${size} bytes, past the video service`, 0)
    );
  const blob = await uploadBlob({ bytes: file, contentType }, leg, 0);
  return "failure" in blob ? blob : { kind: "made", embed: videoEmbed(blob, shown) };
}

export async function followVideo(video: RemoteVideo, tools: NetworkTools): Promise<VideoStep> {
  const { jobId } = video;
  const answer = await exchange(tools, query(SERVICE, "app.bsky.video.getJobStatus", { jobId }));
  if (isAway(answer)) return waiting(video, POLL_SECONDS_OUTAGE);
  if (answer.status === 429) return waiting(video, pause(answer, tools));
  const { data: status } = jobAnswer().safeParse(answer.json());
  const step = status && stepOf({ ...status, jobId }, video);
  // The service does not know the job any more.
  return step ?? { kind: "waiting", wait: { pollAfterSeconds: 0 } };
}

/** Makes uploaded videos playable before anyone sees them (https://docs.bsky.app/docs/tutorials/video). */
const SERVICE = "https://video.bsky.app";
const SERVICE_DID = "did:web:video.bsky.app";
const UPLOAD_METHOD = "com.atproto.repo.uploadBlob";
const LIMITS_METHOD = "app.bsky.video.getUploadLimits";
/** The service continues with the token after the upload. */
const TOKEN_SECONDS = 1800;
/** For up to 300 MB. What is left of a leg's 240 s is for its other calls, and a small file can still go straight. */
const UPLOAD_TIMEOUT_MS = 180_000;
const POLL_SECONDS = 5;
const POLL_SECONDS_OUTAGE = 20;
const POLL_SECONDS_MAX = 600;

const job = objectShape(() => ({
  // Both exist and are empty when an upload made no job.
  jobId: lenient(z.string().min(1)),
  state: lenient(z.string().min(1)),
  failureCode: lenient(z.string()),
  blob: lenient(blobShape()),
  error: lenient(z.string()),
  message: lenient(z.string()),
}));
type Job = ShapeOf<typeof job>;
/** The service answers an upload with the bare status, but its lexicon wraps it. */
const jobAnswer = shape(() =>
  z.union([z.object({ jobStatus: job() }).transform((one) => one.jobStatus), job()]),
);

/** Besides the type, the service uses the end of the name. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  "video/quicktime": "mov",
  "video/webm": "webm",
  "video/mpeg": "mpeg",
  "image/gif": "gif",
};

/**
 * Hands a video over. The same bytes again are answered with what was made of them before. Its name, which is all that
 * the service has of it, is the same for the same leg.
 */
async function handOver(
  leg: Leg,
  file: MediaFile,
  shown: ShownVideo,
): Promise<VideoStep | NoService> {
  const { credentials, remote, tools } = leg;
  const refused = await askLimits(leg);
  if (refused !== "allowed") return refused;
  const token = await vouch(
    `did:web:${new URL(credentials.pds).host.replace(":", "%3A")}`,
    UPLOAD_METHOD,
    leg,
  );
  if (typeof token !== "string") return token;
  const name = `${remote.rkey}.${EXTENSIONS[file.contentType] ?? "mp4"}`;
  const { url } = query(SERVICE, "app.bsky.video.uploadVideo", { did: credentials.did, name });
  const headers = { ...bearer(token), "content-type": file.contentType };
  const request = {
    method: "POST",
    url,
    headers,
    body: file,
    timeoutMs: UPLOAD_TIMEOUT_MS,
  } as const;
  const answer = await exchange(tools, request);
  if (isAway(answer)) return noService(answer);
  // For a file that was uploaded before, the status is an error, but the content is the wanted answer.
  const { data: status } = jobAnswer().safeParse(answer.json());
  const step = status && stepOf(status, shown);
  if (step !== undefined) return step;
  if (isClosed(answer)) return CLOSED;
  if (isOfToken(answer)) return NO_SERVICE;
  const classified = classify(answer, tools.now());
  const isMedia = answer.status !== 429 && classified.code === "invalid_request";
  return unpublished(isMedia ? { ...classified, code: "media_rejected" } : classified, 0);
}

/**
 * Reports whether the service refuses the token by which the account's server vouches for it, such as one whose audience
 * is not the server that the service knows. That is no fact about the account, whose own server accepts the file.
 */
function isOfToken(answer: HttpResponse): boolean {
  if (answer.status === 401 || answer.status === 403) return true;
  return answer.status === 400 && OF_TOKEN.test(answer.text().slice(0, 2_000));
}

const OF_TOKEN = /\binvalid[ _]token\b|\btoken audience\b|\bBadJwt|\bUntrustedIss\b/i;

/** Returns the wait that the service asks for, but never the rest of a day: reading a status costs nothing. */
function pause(answer: HttpResponse, tools: NetworkTools): number {
  const { retryAfterSeconds } = classify(answer, tools.now());
  return Math.min(Math.max(retryAfterSeconds ?? 0, POLL_SECONDS_OUTAGE), POLL_SECONDS_MAX);
}

/** Failures of the file itself (https://github.com/bluesky-social/social-app/pull/11329). Others may pass. */
const OF_FILE = "validation_failure";
/** What the service made of it is larger than the account's own server accepts. */
const OF_SERVERS_SIZE = "pds_upload_unsupported_blob_size";

/** Returns what a job's status means for the leg; undefined where it says nothing of a job. */
function stepOf({ jobId, state, blob, ...job }: Job, shown: ShownVideo): VideoStep | undefined {
  const { failureCode, error, message } = job;
  if (blob !== undefined) return { kind: "made", embed: videoEmbed(blob, shown) };
  if (state === "JOB_STATE_FAILED") {
    if (failureCode === OF_SERVERS_SIZE)
      return withRule("bluesky.media.size", refusedAs("media_rejected", failureCode, message));
    const code = failureCode === OF_FILE ? "media_rejected" : "media_processing_failed";
    return refusedAs(code, failureCode ?? error ?? state, message);
  }
  if (jobId !== undefined && state !== undefined)
    return {
      kind: "waiting",
      video: { ...shown, jobId },
      wait: { pollAfterSeconds: POLL_SECONDS, isPoll: true },
    };
  return error !== undefined && isUnconfirmed(error, message)
    ? refusedAs("account_restricted", error, message)
    : undefined;
}

/**
 * Reports whether the service refuses an account with an unconfirmed email address. It does so with its limits, and
 * after an upload (https://github.com/bluesky-social/atproto/issues/3097).
 */
function isUnconfirmed(error: string, message = ""): boolean {
  return /confirm|verif/i.test(`${error} ${message}`);
}

/**
 * Reports whether the service accepts no videos from anyone at the moment: "Uploading is disabled at the moment",
 * "Failed to get user's upload stats" (https://github.com/bluesky-social/social-app/pull/5153).
 */
function isClosed(answer: HttpResponse): boolean {
  return /uploads?[_ ]disabled|uploading is disabled|upload stats/i.test(
    answer.text().slice(0, 2_000),
  );
}

const CLOSED: NoService = {
  kind: "no_service",
  outage: outage("the video service takes none now"),
};

/** Says whether it may help to wait for a service that did not answer, or answered with an error. */
function noService(answer: HttpResponse | HttpFailure): NoService {
  if (answer instanceof HttpFailure) return { kind: "no_service", outage: unanswered(answer) };
  const { status } = answer;
  return status === 404 || status === 501
    ? NO_SERVICE
    : { kind: "no_service", outage: outage(`the video service answered ${status}`) };
}

/** Reports whether there was no answer, one of a proxy, or one of a server without such a service. */
function isAway(answer: HttpResponse | HttpFailure): answer is HttpFailure {
  return answer instanceof HttpFailure || answer.status >= 500 || answer.status === 404;
}

const uploadLimitsShape = objectShape(() => ({
  canUpload: z.boolean(),
  error: lenient(z.string()),
  message: lenient(z.string()),
}));

/** Returns the reason why the account may not upload a video now. */
async function askLimits(as: AsAccount): Promise<TryLater | Rejection | NoService | "allowed"> {
  const token = await vouch(SERVICE_DID, LIMITS_METHOD, as);
  if (typeof token !== "string") return token;
  const request = { ...query(SERVICE, LIMITS_METHOD), headers: bearer(token) };
  const answer = await exchange(as.tools, request);
  if (isAway(answer)) return noService(answer);
  const limits = uploadLimitsShape().safeParse(answer.json()).data;
  // The upload itself is checked anyway, so a limit that can't be read need not stop it.
  if (limits === undefined || limits.canUpload) return "allowed";
  if (isClosed(answer)) return CLOSED;
  const { error = "DailyLimitExceeded", message } = limits;
  const isOfAccount = isUnconfirmed(error, message) || /not allowed to upload/i.test(message ?? "");
  const code = isOfAccount ? "account_restricted" : "quota_exceeded";
  return refusedAs(code, error, message);
}

function withRule(rule: keyof typeof rules, outcome: Rejection): Rejection {
  return { ...outcome, failure: { ...outcome.failure, rule } };
}

function refusedAs(code: LegErrorCode, networkCode: string, message = ""): Rejection {
  const note = noteOf(message);
  const failure = { code, networkCode, mediaIndex: 0, ...(note === "" ? {} : { note }) };
  return { kind: "rejected", failure };
}

/** Returns a token with which the account's server authorizes one method of the service for a short time. */
async function vouch(
  aud: string,
  lxm: string,
  as: AsAccount,
): Promise<string | TryLater | Rejection | NoService> {
  const exp = String(Math.floor(as.tools.now().getTime() / 1000) + TOKEN_SECONDS);
  const { pds } = as.credentials;
  const request = query(pds, "com.atproto.server.getServiceAuth", { aud, lxm, exp });
  const answer = await callAsAccount(request, as);
  if (isAway(answer)) return noService(answer);
  const token = inForm(() => z.object({ token: z.string().min(1) }))(answer)?.token;
  if (token !== undefined) return token;
  const classified = await classifyFor(answer, as);
  // A token that ended, or a locked account, would stop a direct upload as well.
  const isOfAccount = classified.effect === "at_once" || classified.effect === "later";
  // Whether the account is now on another server.
  const isLocked =
    classified.code === "account_restricted" ||
    (classified.code === "connection_needs_reauth" &&
      /Deactivated|NotFound/.test(classified.networkCode ?? ""));
  return isOfAccount || isLocked ? unpublished(classified, 0) : NO_SERVICE;
}
