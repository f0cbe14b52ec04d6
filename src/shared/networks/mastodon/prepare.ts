import * as z from "zod";
import { objectShape, lenient } from "../contract/fields.ts";
import { HttpFailure, type HttpRequest, type HttpResponse } from "../../runtime/http-call.ts";
import { exchange, idShape } from "../contract/answers.ts";
import { ask, withFile } from "../contract/ask.ts";
import { ofRead } from "../contract/blame.ts";
import { mediaKindOfType } from "../contract/draft.ts";
import { bytesMaxOf, mediaRejected, refusedFile } from "../contract/media-check.ts";
import { legFailure, mayStartOver, unanswered, unpublished } from "../contract/outcome.ts";
import type { PrepareOutcome, Rejection, TryLater } from "../contract/outcome.ts";
import { makeFiles, pollFiles, polling } from "../contract/uploads.ts";
import type { FileState, Making } from "../contract/uploads.ts";
import { classify, errorText } from "./errors.ts";
import { limitsOf } from "./limits.ts";
import { baselineOf, listOwnPosts } from "./own-posts.ts";
import { isMixed, media } from "./rules.ts";
import { findKeepsKeys } from "./software.ts";
import { apiGet, type Leg, type Remote, type RemoteMedia, requestHeaders } from "./state.ts";
import { fieldsOf, uploadForm } from "./upload-form.ts";

const UPLOAD_TIMEOUT_MS = 120_000;
/** A video is read from its own server while it is sent, so the slower of the two sets the pace. */
const STREAM_TIMEOUT_MS = 240_000;
const POLL_SECONDS = 3;

const uploads = {
  filesOf: ({ media }: Remote) => media,
  withFiles: (remote: Remote, media: readonly RemoteMedia[]) => ({ ...remote, media: [...media] }),
  count: ({ draft }: Leg) => draft.media.length,
  make: upload,
  restart({ remote, tools }: Leg, media: readonly RemoteMedia[]) {
    const now = tools.now();
    return mayStartOver(remote.reuploadedAt, now)
      ? { ...remote, media: [...media], reuploadedAt: now.toISOString() }
      : undefined;
  },
};

/**
 * Uploads missing files, then asks once about each file that the server is still processing. When all are ready, it
 * notes what tells the post from the account's others, in case the answer to the visible call is lost.
 */
export async function prepare(leg: Leg): Promise<PrepareOutcome> {
  const { remote, tools } = leg;
  const isUploaded = remote.media.length >= leg.draft.media.length;
  const look = async (file: RemoteMedia, mediaIndex: number) => {
    const answer = await exchange(tools, getMedia(leg, file));
    if (answer instanceof HttpFailure) return unanswered(answer);
    const state = readMedia(answer, tools.now(), mediaIndex);
    const isRefused = typeof state === "object" && state.kind === "rejected";
    return isRefused ? ofRead("mastodon", state) : state;
  };
  const made = await (isUploaded ? pollFiles(uploads, leg, look) : makeFiles(uploads, leg));
  if ("kind" in made) return made;
  const { files } = made;
  const kinds = files.map(({ kind }) => kind);
  if (!isUploaded && isMixed(kinds, limitsOf(leg.limits)))
    return mediaRejected("mastodon.media.mixed", "a video or audio file must be alone");
  const prepared = uploads.withFiles(remote, files);
  if (!files.every(({ isReady }) => isReady)) return polling(prepared, POLL_SECONDS);
  // A post that an earlier call may have made belongs to no baseline, so the first baseline stays.
  return leg.sentAt === null ? withBaseline(leg, prepared) : { kind: "ready", remote: prepared };
}

async function withBaseline(leg: Leg, prepared: Remote): Promise<PrepareOutcome> {
  const { before: _before, keepsKeys: _keepsKeys, ...remote } = prepared;
  const keepsKeys = await findKeepsKeys(leg);
  if (typeof keepsKeys === "object") return { ...keepsKeys, remote };
  const noted = { ...remote, keepsKeys };
  if (keepsKeys) return { kind: "ready", remote: noted };
  const posts = await listOwnPosts(leg, Number.POSITIVE_INFINITY);
  if (!("kind" in posts)) return { kind: "ready", remote: { ...noted, before: baselineOf(posts) } };
  return posts.kind === "try_later" ? { ...posts, remote } : { kind: "ready", remote: noted };
}

async function upload(
  { credentials, draft, limits, remote, tools }: Leg,
  { mediaIndex }: Making<RemoteMedia>,
): Promise<RemoteMedia | TryLater | Rejection> {
  const uploaded = await withFile("mastodon", mediaIndex, async () => {
    const targets = media(draft, limits);
    const { url = "" } = draft.media[mediaIndex] ?? {};
    const file = await tools.openMedia(url, { bytesMax: bytesMaxOf(targets) });
    const refused = refusedFile("mastodon", file, targets, mediaIndex);
    if (refused !== undefined) return refused;
    const kind = mediaKindOfType(file.contentType);
    const fitted = kind === "image" ? await tools.fitImage(file, targets.image) : undefined;
    const { contentType } = fitted ?? file;
    const form = uploadForm(
      { body: fitted?.bytes ?? file, contentType },
      `${remote.idempotencyKey.slice(0, 24)}-${mediaIndex + 1}`,
      fieldsOf(draft, mediaIndex),
    );
    const send = (version: string) => {
      const request = {
        method: "POST" as const,
        url: `${credentials.origin}/api/${version}/media`,
        timeoutMs: kind === "image" ? UPLOAD_TIMEOUT_MS : STREAM_TIMEOUT_MS,
        ...form,
        headers: { ...requestHeaders(credentials), ...form.headers },
      };
      const read = (answer: HttpResponse) => readUpload(answer, kind);
      return ask(request, { read, classify, mediaIndex }, tools);
    };
    const made = await send("v2");
    // Before Mastodon 3.1.3, and longer on other servers: https://github.com/pixelfed/pixelfed/issues/3405.
    const isOld = "failure" in made && ABSENT.includes(made.failure.networkCode ?? "");
    return isOld ? send("v1") : made;
  });
  if ("failure" in uploaded) return uploaded;
  const { type, ...made } = uploaded;
  // The server accepted a file but couldn't read it.
  if (type === "unknown") return notKept("the server does not know what the file is", mediaIndex);
  // Otherwise a post would show the later file twice.
  return remote.media.some(({ id }) => id === made.id)
    ? notKept("the server took two files for one", mediaIndex)
    : made;
}

/** How a server says that it does not have a call. */
const ABSENT: readonly string[] = ["HTTP 404", "HTTP 501"];

const uploadShape = objectShape(() => ({
  id: idShape(),
  type: z.unknown().optional(),
  url: lenient(z.string().max(2_000)),
}));

function readUpload(answer: HttpResponse, kind: RemoteMedia["kind"]) {
  const { data } = uploadShape().safeParse(answer.json());
  if ((answer.status !== 200 && answer.status !== 202) || data === undefined) return undefined;
  const { id, type, url } = data;
  return { id, kind, isReady: answer.status === 200, type, ...(url ? { url } : {}) };
}

function notKept(note: string, mediaIndex: number): Rejection {
  const failure = { code: "media_processing_failed", networkCode: null, note, mediaIndex } as const;
  return { kind: "rejected", failure };
}

export function getMedia({ credentials }: Leg, { id }: RemoteMedia): HttpRequest {
  return apiGet(credentials, `media/${encodeURIComponent(id)}`);
}

export function readMedia(
  answer: HttpResponse,
  now: Date,
  mediaIndex?: number,
): FileState | TryLater | Rejection {
  if (answer.status === 206) return "working";
  // Some servers finish immediately and only know the file as part of a post. If it is gone, publishing shows that.
  if (answer.status === 200 || answer.status === 404) return "ready";
  const classified = classify(answer, now);
  if (answer.status !== 422 && classified.code !== "media_processing_failed")
    return unpublished(classified);
  const note = classified.note || errorText(answer);
  const failed = { ...classified, note, code: "media_processing_failed" } as const;
  return { kind: "broken", failure: legFailure(failed, mediaIndex) };
}
