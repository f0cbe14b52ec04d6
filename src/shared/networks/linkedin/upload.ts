import { spare } from "../contract/fields.ts";
import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { type Classified, exchange } from "../contract/answers.ts";
import {
  legFailure,
  unanswered,
  unpublished,
  type LegFailure,
  type Rejected,
  type TryLater,
} from "../contract/outcome.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { mediaFailed } from "../contract/media-check.ts";
import { type MediaFile, MediaFailure, sliceOf } from "../contract/media.ts";
import { originOf } from "../contract/text.ts";
import { type CheckedFile, type WantedFile, openFile } from "./files.ts";
import { restPost } from "./request.ts";
import { classifyFor } from "./session.ts";
import type { Asset, Credentials, Upload, UploadPart } from "./state.ts";

const UPLOAD_TIMEOUT_MS = 60_000;
/** 500 MB in parts of 4 MB are about 120. */
const PARTS_MAX = 300;
const CHANGED: LegFailure = {
  code: "media_processing_failed",
  networkCode: null,
  note: "the file changed while it was uploaded",
};

/** One call of `prepare`: whoever runs on past `until` may lose the leg to another worker. */
export interface Preparing {
  readonly leg: LegToPublish;
  readonly credentials: Credentials;
  readonly tools: NetworkTools;
  readonly until: number;
}

export function isOver({ tools, until }: Preparing): boolean {
  return tools.now().getTime() >= until;
}

const fileShape = shape(() =>
  z.object({
    value: z.object({
      uploadUrl: z.string(),
      image: spare(z.string()),
      document: spare(z.string()),
    }),
  }),
);
const videoShape = shape(() =>
  z.object({
    value: z.object({
      video: z.string(),
      uploadToken: z.string().catch(""),
      uploadInstructions: z
        .array(
          z.object({
            uploadUrl: z.string(),
            firstByte: z.number().int().nonnegative(),
            lastByte: z.number().int().nonnegative(),
          }),
        )
        .min(1)
        .max(PARTS_MAX),
    }),
  }),
);

export type UploadStep =
  | { readonly kind: "uploaded"; readonly asset: Asset }
  /** What was uploaded so far is of no more use. */
  | { readonly kind: "restart"; readonly failure: LegFailure }
  /** `asset`: with the parts that did get there. */
  | (TryLater & { readonly asset?: Asset })
  | Rejected;

/**
 * Brings one file to the network, or further on its way: a video of which parts are missing comes back as an asset that
 * still has its `upload`. Nothing of it is visible; a repeat leaves no more than an unused file behind.
 */
export async function uploadFile(
  preparing: Preparing,
  wanted: WantedFile,
  begun: Asset | undefined,
): Promise<UploadStep> {
  const { tools } = preparing;
  if (begun?.upload?.parts.every(({ etag }) => etag !== undefined) === true) {
    return finalize(preparing, begun, begun.upload);
  }
  const file = await openFile(wanted, tools);
  if ("failure" in file) return file;
  const mediaIndex = wanted.mediaIndex ?? undefined;
  if (file.kind !== "video") return uploadWhole(preparing, file, mediaIndex);
  try {
    return begun?.upload === undefined
      ? await uploadVideo(preparing, file.body, mediaIndex)
      : await goOn(preparing, begun, { upload: begun.upload, file: file.body });
  } finally {
    await file.body.close();
  }
}

/** Continues the upload of a video. The file must not have changed since it began. */
async function goOn(
  preparing: Preparing,
  asset: Asset,
  { upload, file }: VideoUpload,
): Promise<UploadStep> {
  const { bytes, version = file.version } = upload;
  return file.size === bytes && file.version === version
    ? uploadParts(preparing, asset, { upload, file })
    : { kind: "restart", failure: CHANGED };
}

function initialize(
  { credentials, tools }: Preparing,
  kind: Asset["kind"],
  request: Readonly<Record<string, unknown>> = {},
): Promise<HttpResponse | HttpFailure> {
  const body = { initializeUploadRequest: { owner: credentials.author, ...request } };
  return exchange(tools, restPost(`${kind}s?action=initializeUpload`, body, credentials, tools));
}

async function uploadWhole(
  preparing: Preparing,
  file: Exclude<CheckedFile, { readonly kind: "video" }>,
  mediaIndex: number | undefined,
): Promise<UploadStep> {
  const { credentials, tools } = preparing;
  const begun = await initialize(preparing, file.kind);
  if (begun instanceof HttpFailure) return unanswered(begun);
  const value = fileShape().safeParse(begun.json()).data?.value;
  const urn = value?.[file.kind];
  if (begun.status !== 200 || value === undefined || urn === undefined) {
    return unpublished(await classifyFor(begun, credentials, tools), mediaIndex);
  }
  const { uploadUrl } = value;
  if (!isUploadAddress(uploadUrl)) return foreignAddress(uploadUrl);
  const answer = await exchange(tools, {
    method: "PUT",
    url: uploadUrl,
    headers: {
      authorization: `Bearer ${credentials.accessToken}`,
      "content-type": file.contentType,
    },
    body: file.body,
    timeoutMs: UPLOAD_TIMEOUT_MS,
  });
  if (answer instanceof HttpFailure) return unanswered(answer);
  return isSuccess(answer)
    ? uploaded({ urn, kind: file.kind, isReady: false })
    : unpublished(await classifyFor(answer, credentials, tools), mediaIndex);
}

interface VideoUpload {
  readonly upload: Upload;
  readonly file: MediaFile;
}

async function uploadVideo(
  preparing: Preparing,
  file: MediaFile,
  mediaIndex: number | undefined,
): Promise<UploadStep> {
  const { credentials, tools } = preparing;
  const { size: bytes, version } = file;
  const flags = { uploadCaptions: false, uploadThumbnail: false };
  const begun = await initialize(preparing, "video", { fileSizeBytes: bytes, ...flags });
  if (begun instanceof HttpFailure) return unanswered(begun);
  const value = videoShape().safeParse(begun.json()).data?.value;
  if (begun.status !== 200 || value === undefined) {
    return unpublished(await classifyFor(begun, credentials, tools), mediaIndex);
  }
  const parts = value.uploadInstructions.map(({ uploadUrl, firstByte, lastByte }) => ({
    url: uploadUrl,
    firstByte,
    lastByte,
  }));
  const foreign = parts.find(({ url }) => !isUploadAddress(url));
  if (foreign !== undefined) return foreignAddress(foreign.url);
  const upload = { token: value.uploadToken, bytes, version, parts };
  const asset = { urn: value.video, kind: "video", isReady: false, upload } as const;
  return uploadParts(preparing, asset, { upload, file });
}

/** Uploads each part to the address that the network gave for it. The receipts are stored as they come. */
async function uploadParts(
  preparing: Preparing,
  asset: Asset,
  { upload, file }: VideoUpload,
): Promise<UploadStep> {
  const parts = [...upload.parts];
  const soFar = (): Asset => ({ ...asset, upload: { ...upload, parts } });
  let hasProgress = false;
  for (const [index, part] of upload.parts.entries()) {
    if (part.etag !== undefined) continue;
    if (hasProgress && isOver(preparing)) return uploaded(soFar());
    const sent = await putPart(preparing, part, file);
    if (sent.kind === "try_later" && hasProgress) return { ...sent, asset: soFar() };
    if (sent.kind !== "sent") return sent;
    parts[index] = { ...part, etag: sent.etag };
    hasProgress = true;
  }
  const finished = await finalize(preparing, asset, { ...upload, parts });
  return finished.kind === "try_later" ? { ...finished, asset: soFar() } : finished;
}

async function putPart(
  { credentials, tools }: Preparing,
  { url, firstByte, lastByte }: UploadPart,
  file: MediaFile,
): Promise<{ readonly kind: "sent"; readonly etag: string } | UploadStep> {
  const body = sliceOf(file, firstByte, Math.min(lastByte, file.size - 1));
  try {
    // The address is signed: a token beside it would be refused, and disclosed to another server.
    const answer = await exchange(tools, {
      method: "PUT",
      url,
      headers: { "content-type": "application/octet-stream" },
      body,
      timeoutMs: UPLOAD_TIMEOUT_MS,
    });
    if (answer instanceof HttpFailure) return unanswered(answer);
    const etag = answer.headers["etag"];
    if (isSuccess(answer) && etag !== undefined) return { kind: "sent", etag };
    return restartOr(await classifyFor(answer, credentials, tools));
  } catch (error) {
    if (!(error instanceof MediaFailure)) throw error;
    return error.reason === "changed"
      ? { kind: "restart", failure: CHANGED }
      : mediaFailed("linkedin", error);
  }
}

async function finalize(
  { credentials, tools }: Preparing,
  { urn, kind }: Asset,
  { token, parts }: Upload,
): Promise<UploadStep> {
  const uploadedPartIds = parts.map(({ etag }) => etag);
  const body = { finalizeUploadRequest: { video: urn, uploadToken: token, uploadedPartIds } };
  const request = restPost("videos?action=finalizeUpload", body, credentials, tools);
  const answer = await exchange(tools, request);
  if (answer instanceof HttpFailure) return unanswered(answer);
  if (isSuccess(answer)) return uploaded({ urn, kind, isReady: false });
  return restartOr(await classifyFor(answer, credentials, tools));
}

function restartOr(classified: Classified): UploadStep {
  return classified.effect === "prepare_again"
    ? { kind: "restart", failure: legFailure(classified) }
    : unpublished(classified);
}

function uploaded(asset: Asset): UploadStep {
  return { kind: "uploaded", asset };
}

function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300;
}

/**
 * Returns whether files, and with images the token, may be sent to an address: LinkedIn's own, or in development one of
 * this machine.
 */
function isUploadAddress(url: string): boolean {
  const origin = originOf(url);
  if (origin === undefined || !URL.canParse(url)) return false;
  const { hostname, protocol } = new URL(origin);
  return /(?:^|\.)linkedin\.com$/.test(hostname)
    ? new URL(url).protocol === "https:"
    : protocol === "http:";
}

function foreignAddress(url: string): TryLater {
  const note = `an upload address of another host: ${url.slice(0, 100)}`;
  return { kind: "try_later", failure: { code: "network_unavailable", networkCode: null, note } };
}
