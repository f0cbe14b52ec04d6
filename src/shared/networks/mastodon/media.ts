import * as z from "zod";
import type { Classified } from "../classified.ts";
import { exchange, failureOf, unanswered, unpublished } from "../classified.ts";
import type { MediaKind } from "../draft-rules.ts";
import type {
  FetchedMedia,
  HttpResponse,
  LegDraft,
  LegToPublish,
  MediaItem,
  NetworkTools,
  PrepareOutcome,
  Rejected,
  TryLater,
} from "../network.ts";
import { HttpFailure, MediaFailure } from "../network.ts";
import { classify, errorText } from "./errors.ts";
import type { Limits } from "./instance.ts";
import { limitsOf } from "./instance.ts";
import { isMixed } from "./rules.ts";
import type { Credentials, Remote, RemoteMedia } from "./state.ts";
import { credentialsOf, remoteOf, requestHeaders } from "./state.ts";

const UPLOAD_TIMEOUT_MS = 120_000;
/** Held in memory: an instance may allow more than this process should. */
const FILE_BYTES_MAX = 104_857_600;
const POLL_SECONDS = 3;
const CARRY_ON_SECONDS = 1;
/** A file that fails again within this time is refused; a retry by hand, later, uploads it anew. */
const REUPLOAD_MS = 15 * 60_000;

/** Uploads what is missing, then asks once for each file that the server still works on. */
export async function prepare(leg: LegToPublish, tools: NetworkTools): Promise<PrepareOutcome> {
  const remote = remoteOf(leg.remote);
  const isUploaded = remote.media.length >= leg.draft.media.length;
  return isUploaded ? pollMedia(leg, remote, tools) : uploadMissing(leg, remote, tools);
}

async function uploadMissing(
  leg: LegToPublish,
  remote: Remote,
  tools: NetworkTools,
): Promise<PrepareOutcome> {
  const media = [...remote.media];
  for (const [mediaIndex, item] of leg.draft.media.entries()) {
    if (mediaIndex < remote.media.length) continue;
    const uploaded = await uploadItem({ leg, item, mediaIndex }, tools);
    if ("failure" in uploaded) {
      // The ids that were got are worth keeping: a server allows few uploads in half an hour.
      const isWorthKeeping = uploaded.kind === "try_later" && media.length > remote.media.length;
      return isWorthKeeping ? processing({ ...remote, media }, CARRY_ON_SECONDS) : uploaded;
    }
    media.push(uploaded);
  }
  if (isMixed(media.map((item) => item.kind)))
    return rejected("mastodon.media.mixed", "a video or audio file must be alone");
  return settled({ ...remote, media });
}

interface Uploading {
  readonly leg: LegToPublish;
  readonly item: MediaItem;
  readonly mediaIndex: number;
}

async function uploadItem(
  uploading: Uploading,
  tools: NetworkTools,
): Promise<RemoteMedia | TryLater | Rejected> {
  const { leg, item, mediaIndex } = uploading;
  const limits = limitsOf(leg.limits);
  try {
    const file = await tools.fetchMedia(item.url, { bytesMax: bytesMaxOf(leg.draft, limits) });
    const kind = kindOf(file.contentType);
    const problem = checkFile(file, kind, limits);
    if (problem !== undefined) return rejected(problem.rule, problem.note, mediaIndex);
    const answer = await exchange(tools, {
      method: "POST",
      url: `${credentialsOf(leg.credentials).origin}/api/v2/media`,
      headers: requestHeaders(credentialsOf(leg.credentials)),
      body: uploadForm(file, item.altText),
      timeoutMs: UPLOAD_TIMEOUT_MS,
    });
    if (answer instanceof HttpFailure) return unanswered(answer);
    const media = readUpload(answer, kind);
    return media ?? unpublished(classify(answer, tools.now()), mediaIndex);
  } catch (error) {
    if (error instanceof MediaFailure) return fetchFailed(error, mediaIndex);
    throw error;
  }
}

function uploadForm(file: FetchedMedia, altText: string | null): FormData {
  const form = new FormData();
  const extension = file.contentType.split("/")[1]?.replace(/[^a-z0-9]/g, "") ?? "bin";
  const bytes = new Uint8Array(file.bytes);
  form.set("file", new Blob([bytes], { type: file.contentType }), `file.${extension}`);
  if (altText !== null && altText !== "") form.set("description", altText);
  return form;
}

function readUpload(answer: HttpResponse, kind: MediaKind): RemoteMedia | undefined {
  const parsed = z.object({ id: z.coerce.string().min(1) }).safeParse(answer.json());
  if ((answer.status !== 200 && answer.status !== 202) || !parsed.success) return undefined;
  return { id: parsed.data.id, kind, isReady: answer.status === 200 };
}

async function pollMedia(
  leg: LegToPublish,
  remote: Remote,
  tools: NetworkTools,
): Promise<PrepareOutcome> {
  const media: RemoteMedia[] = [];
  for (const [mediaIndex, item] of remote.media.entries()) {
    const state = item.isReady ? "ready" : await askForMedia(leg, item.id, tools);
    if (typeof state !== "string")
      return state.kind === "failed" ? giveUp(remote, mediaIndex, state, tools) : state;
    media.push({ ...item, isReady: state === "ready" });
  }
  return settled({ ...remote, media });
}

type MediaState =
  "ready" | "working" | { readonly kind: "failed"; readonly classified: Classified };

async function askForMedia(
  leg: LegToPublish,
  id: string,
  tools: NetworkTools,
): Promise<MediaState | TryLater | Rejected> {
  const credentials = credentialsOf(leg.credentials);
  const answer = await exchange(tools, getMedia(credentials, id));
  if (answer instanceof HttpFailure) return unanswered(answer);
  return readMedia(answer, tools.now());
}

export function getMedia(credentials: Credentials, id: string) {
  return {
    method: "GET",
    url: `${credentials.origin}/api/v1/media/${encodeURIComponent(id)}`,
    headers: requestHeaders(credentials),
  } as const;
}

export function readMedia(answer: HttpResponse, now: Date): MediaState | TryLater | Rejected {
  if (answer.status === 206) return "working";
  // Some servers are done at once and know the file only as part of a post. If it is truly gone, publishing tells.
  if (answer.status === 200 || answer.status === 404) return "ready";
  const classified = classify(answer, now);
  if (answer.status !== 422 && classified.code !== "media_processing_failed") {
    return unpublished(classified);
  }
  const note = classified.note || errorText(answer);
  return { kind: "failed", classified: { ...classified, note, code: "media_processing_failed" } };
}

/** The network could not read its copy of the file. One fresh upload is worth a try, a second is not. */
function giveUp(
  remote: Remote,
  mediaIndex: number,
  state: { readonly classified: Classified },
  tools: NetworkTools,
): PrepareOutcome {
  const now = tools.now();
  const last = remote.reuploadedAt === undefined ? 0 : Date.parse(remote.reuploadedAt);
  if (now.getTime() - last < REUPLOAD_MS) {
    return { kind: "rejected", failure: failureOf(state.classified, mediaIndex) };
  }
  const media = remote.media.slice(0, mediaIndex);
  return processing({ ...remote, media, reuploadedAt: now.toISOString() }, CARRY_ON_SECONDS);
}

function settled(remote: Remote): PrepareOutcome {
  const isReady = remote.media.every((item) => item.isReady);
  return isReady ? { kind: "ready", remote } : processing(remote, POLL_SECONDS);
}

function processing(remote: Remote, pollAfterSeconds: number): PrepareOutcome {
  return { kind: "processing", remote, pollAfterSeconds };
}

/** Several files can only be images; what one alone is, shows when it is there. */
function bytesMaxOf(draft: LegDraft, limits: Limits): number {
  const { imageBytesMax, videoBytesMax } = limits;
  const bytesMax = draft.media.length > 1 ? imageBytesMax : Math.max(imageBytesMax, videoBytesMax);
  return Math.min(bytesMax, FILE_BYTES_MAX);
}

function kindOf(contentType: string): MediaKind {
  if (contentType.startsWith("video/")) return "video";
  return contentType.startsWith("audio/") ? "audio" : "image";
}

function checkFile(
  file: FetchedMedia,
  kind: MediaKind,
  limits: Limits,
): { readonly rule: string; readonly note: string } | undefined {
  const { contentType, bytes, width, height } = file;
  const isTold = limits.mediaTypes.length > 0;
  const isMedia = /^(?:image|video|audio)\//.test(contentType);
  if (!isMedia || (isTold && !limits.mediaTypes.includes(contentType))) {
    return { rule: "mastodon.media.type", note: `${contentType} is not taken` };
  }
  const bytesMax = kind === "image" ? limits.imageBytesMax : limits.videoBytesMax;
  if (bytes.byteLength > bytesMax) {
    return { rule: "mastodon.media.size", note: `${bytes.byteLength} bytes` };
  }
  const pixels = (width ?? 0) * (height ?? 0);
  return kind === "image" && pixels > limits.imagePixelsMax
    ? { rule: "mastodon.media.pixels", note: `${pixels} pixels` }
    : undefined;
}

function fetchFailed(failure: MediaFailure, mediaIndex: number): TryLater | Rejected {
  if (failure.code === "media_rejected") {
    return rejected("mastodon.media.size", failure.message, mediaIndex);
  }
  return {
    kind: "try_later",
    failure: {
      code: failure.code,
      networkCode: null,
      mediaIndex,
      note: failure.message.slice(0, 500),
    },
  };
}

function rejected(rule: string, note: string, mediaIndex?: number): Rejected {
  const row = { code: "media_rejected", effect: "refuse", rule } as const;
  return {
    kind: "rejected",
    failure: failureOf({ ...row, networkCode: null, note, retryAfterSeconds: null }, mediaIndex),
  };
}
