import { type Classified, exchange, readId } from "../contract/answers.ts";
import {
  legFailure,
  unanswered,
  unpublished,
  type PrepareOutcome,
  type Rejected,
  type TryLater,
  mayStartOver,
  type Lookup,
} from "../contract/outcome.ts";
import { type MediaKind, mediaKindOfType, type MediaItem } from "../contract/draft.ts";
import { bytesMaxOf, mediaFailed, mediaRejected, refusedFile } from "../contract/media-check.ts";
import { MediaFailure } from "../contract/media.ts";
import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { classify, errorText } from "./errors.ts";
import { baselineOf, listOwnPosts } from "./own-posts.ts";
import { limitsOf } from "./instance.ts";
import { isMixed, media } from "./rules.ts";
import { fieldsOf, imageForm, streamedForm } from "./upload-form.ts";
import {
  type Credentials,
  type Remote,
  type RemoteMedia,
  credentialsOf,
  remoteOf,
  requestHeaders,
} from "./state.ts";
import { findKeepsKeys } from "./software.ts";
import * as z from "zod";
import { shape } from "../../runtime/shape.ts";

const UPLOAD_TIMEOUT_MS = 120_000;
/** A video comes from its own server while it is sent on: the slower of the two sets the pace. */
const STREAM_TIMEOUT_MS = 240_000;
const POLL_SECONDS = 3;
const CARRY_ON_SECONDS = 1;

/**
 * Uploads missing files, then asks once for each file that the server is still processing. When all are ready, notes what
 * tells the post from the account's others, should the answer to the visible call be lost.
 */
export async function prepare(leg: LegToPublish, tools: NetworkTools): Promise<PrepareOutcome> {
  const remote = remoteOf(leg.remote);
  const isUploaded = remote.media.length >= leg.draft.media.length;
  const outcome = await (isUploaded
    ? pollMedia(leg, remote, tools)
    : uploadMissing(leg, remote, tools));
  // What an earlier call may have made belongs to no baseline: the first one stays.
  return outcome.kind === "ready" && leg.sentAt === null
    ? withBaseline(leg, remoteOf(outcome.remote), tools)
    : outcome;
}

async function withBaseline(
  leg: LegToPublish,
  prepared: Remote,
  tools: NetworkTools,
): Promise<PrepareOutcome> {
  const { before: _before, keepsKeys: _keepsKeys, ...remote } = prepared;
  const keepsKeys = await findKeepsKeys({ ...leg, remote }, tools);
  if (typeof keepsKeys === "object") return notNow(remote, keepsKeys);
  if (keepsKeys) return { kind: "ready", remote: { ...remote, keepsKeys } };
  const posts = await listOwnPosts(leg, Number.POSITIVE_INFINITY, tools);
  if (!("kind" in posts))
    return { kind: "ready", remote: { ...remote, keepsKeys, before: baselineOf(posts) } };
  return posts.kind === "unavailable"
    ? notNow(remote, posts)
    : { kind: "ready", remote: { ...remote, keepsKeys } };
}

function notNow(
  remote: Remote,
  { note, retryAfterSeconds }: Extract<Lookup, { kind: "unavailable" }>,
): PrepareOutcome {
  return {
    kind: "try_later",
    remote,
    failure: { code: "network_unavailable", networkCode: null, note },
    ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
  };
}

async function uploadMissing(
  leg: LegToPublish,
  remote: Remote,
  tools: NetworkTools,
): Promise<PrepareOutcome> {
  const uploads = [...remote.media];
  for (const [mediaIndex, item] of leg.draft.media.entries()) {
    if (mediaIndex < remote.media.length) continue;
    const uploaded = await uploadItem({ leg, item, mediaIndex }, tools);
    if ("failure" in uploaded) {
      // The ids that were got are worth keeping: a server allows few uploads in half an hour.
      const isWorthKeeping = uploaded.kind === "try_later" && uploads.length > remote.media.length;
      return isWorthKeeping ? { ...uploaded, remote: { ...remote, media: uploads } } : uploaded;
    }
    // A post would show the later file twice.
    if (uploads.some(({ id }) => id === uploaded.id))
      return notKept("the server took two files for one", mediaIndex);
    uploads.push(uploaded);
  }
  const kinds = uploads.map((item) => item.kind);
  if (isMixed(kinds, limitsOf(leg.limits)))
    return mediaRejected("mastodon.media.mixed", "a video or audio file must be alone");
  return settled({ ...remote, media: uploads });
}

interface Uploading {
  readonly leg: LegToPublish;
  readonly item: MediaItem;
  readonly mediaIndex: number;
}

async function uploadItem(
  { leg, item, mediaIndex }: Uploading,
  tools: NetworkTools,
): Promise<RemoteMedia | TryLater | Rejected> {
  const targets = media(leg.draft, leg.limits);
  try {
    const file = await tools.openMedia(item.url, { bytesMax: bytesMaxOf(targets) });
    const refused = refusedFile("mastodon", file, targets, mediaIndex);
    if (refused !== undefined) return refused;
    const kind = mediaKindOfType(file.contentType);
    const name = `${remoteOf(leg.remote).idempotencyKey.slice(0, 24)}-${mediaIndex + 1}`;
    const form =
      kind === "image"
        ? imageForm(
            await tools.fitImage(file, targets.image),
            name,
            fieldsOf(leg.draft, mediaIndex),
          )
        : streamedForm(file, name, fieldsOf(leg.draft, mediaIndex));
    const credentials = credentialsOf(leg.credentials);
    const answer = await exchange(tools, {
      method: "POST",
      url: `${credentials.origin}/api/v2/media`,
      timeoutMs: kind === "image" ? UPLOAD_TIMEOUT_MS : STREAM_TIMEOUT_MS,
      ...form,
      headers: { ...requestHeaders(credentials), ...form.headers },
    });
    if (answer instanceof HttpFailure) return unanswered(answer);
    const made = readUpload(answer, kind);
    if (made === undefined) return unpublished(classify(answer, tools.now()), mediaIndex);
    return isUnknown(answer)
      ? notKept("the server does not know what the file is", mediaIndex)
      : made;
  } catch (error) {
    if (error instanceof MediaFailure) return mediaFailed("mastodon", error, mediaIndex);
    throw error;
  }
}

function readUpload(answer: HttpResponse, kind: MediaKind): RemoteMedia | undefined {
  const id = readId(answer);
  if ((answer.status !== 200 && answer.status !== 202) || id === undefined) return undefined;
  const { url } = uploadShape().safeParse(answer.json()).data ?? {};
  return { id, kind, isReady: answer.status === 200, ...(url ? { url } : {}) };
}

const uploadShape = shape(() =>
  z.object({ type: z.unknown().optional(), url: z.string().max(2_000).nullish().catch(null) }),
);

/** Returns whether the server could make nothing of a file that it took. */
function isUnknown(answer: HttpResponse): boolean {
  return uploadShape().safeParse(answer.json()).data?.type === "unknown";
}

function notKept(note: string, mediaIndex: number): Rejected {
  const failure = { code: "media_processing_failed", networkCode: null, note, mediaIndex } as const;
  return { kind: "rejected", failure };
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

/** Begins the upload of a file anew that the network could not read, or rejects the leg if that was tried before. */
function giveUp(
  remote: Remote,
  mediaIndex: number,
  state: { readonly classified: Classified },
  tools: NetworkTools,
): PrepareOutcome {
  const now = tools.now();
  if (!mayStartOver(remote.reuploadedAt, now)) {
    return { kind: "rejected", failure: legFailure(state.classified, mediaIndex) };
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
