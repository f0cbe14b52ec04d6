import { type Classified, exchange, readId } from "../contract/answers.ts";
import {
  legFailure,
  unanswered,
  unpublished,
  type PrepareOutcome,
  type Rejected,
  type TryLater,
  mayStartOver,
} from "../contract/outcome.ts";
import {
  type MediaKind,
  mediaKindOfType,
  type LegDraft,
  type MediaItem,
} from "../contract/draft.ts";
import { bytesMaxOf, mediaFailed, mediaRejected, refusedFile } from "../contract/media-check.ts";
import { type FetchedMedia, type MediaFile, MediaFailure } from "../contract/media.ts";
import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import {
  type HttpRequest,
  type HttpResponse,
  HttpFailure,
  type StreamedBody,
} from "../../runtime/http-call.ts";
import { classify, errorText } from "./errors.ts";
import { ownOptionsOf } from "./options.ts";
import { isMixed, media } from "./rules.ts";
import {
  type Credentials,
  type Remote,
  type RemoteMedia,
  credentialsOf,
  remoteOf,
  requestHeaders,
} from "./state.ts";
import { randomUUID } from "node:crypto";

const UPLOAD_TIMEOUT_MS = 120_000;
/** A video comes from its own server while it is sent on: the slower of the two sets the pace. */
const STREAM_TIMEOUT_MS = 300_000;
const POLL_SECONDS = 3;
const CARRY_ON_SECONDS = 1;

/** Uploads missing files, then asks once for each file that the server is still processing. */
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
  const uploads = [...remote.media];
  for (const [mediaIndex, item] of leg.draft.media.entries()) {
    if (mediaIndex < remote.media.length) continue;
    const uploaded = await uploadItem({ leg, item, mediaIndex }, tools);
    if ("failure" in uploaded) {
      // The ids that were got are worth keeping: a server allows few uploads in half an hour.
      const isWorthKeeping = uploaded.kind === "try_later" && uploads.length > remote.media.length;
      return isWorthKeeping ? { ...uploaded, remote: { ...remote, media: uploads } } : uploaded;
    }
    uploads.push(uploaded);
  }
  if (isMixed(uploads.map((item) => item.kind)))
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
    const form =
      kind === "image"
        ? imageForm(await tools.fitImage(file, targets.image), fieldsOf(leg.draft, mediaIndex))
        : streamedForm(file, fieldsOf(leg.draft, mediaIndex));
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
    return made ?? unpublished(classify(answer, tools.now()), mediaIndex);
  } catch (error) {
    if (error instanceof MediaFailure) return mediaFailed("mastodon", error, mediaIndex);
    throw error;
  }
}

interface UploadForm {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: NonNullable<HttpRequest["body"]>;
}

function fileName(contentType: string): string {
  return `file.${contentType.split("/")[1]?.replace(/[^a-z0-9]/g, "") ?? "bin"}`;
}

type FormFields = Readonly<Record<string, string>>;

/** Returns the form's fields for a file. A focal point is two numbers with a comma between them. */
function fieldsOf({ media: items, options }: LegDraft, mediaIndex: number): FormFields {
  const altText = items[mediaIndex]?.altText;
  const point = ownOptionsOf(options).focus?.[mediaIndex];
  return {
    ...(altText ? { description: altText } : {}),
    ...(point ? { focus: `${point.x},${point.y}` } : {}),
  };
}

function imageForm({ bytes, contentType }: FetchedMedia, fields: FormFields): UploadForm {
  const form = new FormData();
  const blob = new Blob([new Uint8Array(bytes)], { type: contentType });
  form.set("file", blob, fileName(contentType));
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return { body: form };
}

function streamedForm(file: MediaFile, fields: FormFields): UploadForm {
  const { contentType } = file;
  const part = { name: "file", filename: fileName(contentType), contentType, body: file };
  return multipartWithFile(fields, part);
}

function readUpload(answer: HttpResponse, kind: MediaKind): RemoteMedia | undefined {
  const id = readId(answer);
  if ((answer.status !== 200 && answer.status !== 202) || id === undefined) return undefined;
  return { id, kind, isReady: answer.status === 200 };
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

interface FilePart {
  readonly name: string;
  readonly filename: string;
  readonly contentType: string;
  readonly body: StreamedBody;
}

/**
 * Returns a form with one streamed file, for servers that require the exact length of the body (RFC 7578). A file that
 * is in memory is sent as `FormData`. Field names are ours; values may hold anything.
 */
export function multipartWithFile(
  fields: Readonly<Record<string, string>>,
  file: FilePart,
): Required<Pick<HttpRequest, "headers" | "body">> {
  const boundary = `relay-${randomUUID()}`;
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = Buffer.from(
    `${parts.join("")}--${boundary}\r\n` +
      `Content-Disposition: form-data; name="${file.name}"; filename="${file.filename}"\r\n` +
      `Content-Type: ${file.contentType}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: {
      size: head.length + file.body.size + tail.length,
      async *chunks() {
        yield head;
        yield* file.body.chunks();
        yield tail;
      },
    },
  };
}
