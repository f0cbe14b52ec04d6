import * as z from "zod";
import { type HttpRequest, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { exchange } from "../contract/answers.ts";
import { inForm, withFile, withPicture } from "../contract/ask.ts";
import type { LegDraft } from "../contract/draft.ts";
import { objectShape, lenient } from "../contract/fields.ts";
import { bytesMaxOf, mediaFailed, refusedFile, rejectedBy } from "../contract/media-check.ts";
import { type MediaFile, MediaFailure, sliceOf } from "../contract/media.ts";
import { legFailure, outage, unanswered, unpublished } from "../contract/outcome.ts";
import type { LegFailure, Rejection, TryLater } from "../contract/outcome.ts";
import type { ClassifiedAnswer } from "../contract/answers.ts";
import { originOf } from "../contract/text.ts";
import type { NetworkTools } from "../contract/tools.ts";
import type { Broken, MadeFile, Making } from "../contract/uploads.ts";
import { ownOptionsOf } from "./options.ts";
import { assetKindOf, rules, TARGETS } from "./rules.ts";
import { restPost } from "./request.ts";
import { askAs, classifyFor } from "./session.ts";
import type { AsAccount, Asset, Leg, Upload, UploadPart } from "./state.ts";

interface WantedFile {
  readonly url: string;
  /** Null for the picture of a link card. */
  readonly mediaIndex: number | null;
  readonly kinds: readonly Asset["kind"][];
}

type CheckedFile =
  | { readonly kind: "image"; readonly contentType: string; readonly body: Uint8Array }
  /** Streamed, because these are larger than a process should hold in memory. */
  | { readonly kind: "document"; readonly contentType: string; readonly body: MediaFile }
  | { readonly kind: "video"; readonly contentType: string; readonly body: MediaFile };

/** Returns the files of a draft, in the order in which the leg stores their uploads. Only images can share a post. */
export function wantedFiles(draft: LegDraft): readonly WantedFile[] {
  const { link } = ownOptionsOf(draft);
  if (draft.media.length > 0) {
    const isAlone = draft.media.length === 1;
    return draft.media.map(({ url }, mediaIndex) => ({
      url,
      mediaIndex,
      kinds: isAlone ? ["image", "video", "document"] : ["image"],
    }));
  }
  if (link?.thumbnailUrl === undefined) return [];
  return [{ url: link.thumbnailUrl, mediaIndex: null, kinds: ["image"] }];
}

async function openFile(
  { url, mediaIndex: at, kinds }: WantedFile,
  tools: NetworkTools,
): Promise<CheckedFile | TryLater | Rejection> {
  const mediaIndex = at ?? undefined;
  const open = async (): Promise<CheckedFile | Rejection> => {
    const file = await tools.openMedia(url, { bytesMax: bytesMaxOf(TARGETS) });
    // The picture of a card is no file of the post, so only images fit.
    const targets = at === null ? { image: TARGETS.image } : TARGETS;
    const refused = refusedFile("linkedin", file, targets, mediaIndex);
    if (refused !== undefined) return refused;
    const { contentType } = file;
    const kind = assetKindOf(contentType);
    if (!kinds.includes(kind))
      return rejectedBy(rules, "linkedin.media.mixed", `a ${kind}`, mediaIndex);
    if (kind !== "image") return { kind, contentType, body: file };
    const fitted = await tools.fitImage(file, TARGETS.image);
    return { kind, contentType: fitted.contentType, body: fitted.bytes };
  };
  return at === null
    ? withPicture("linkedin", "link.thumbnailUrl", open)
    : withFile("linkedin", at, open);
}

const UPLOAD_TIMEOUT_MS = 60_000;
/** 500 MB in parts of 4 MB are about 120. */
const PARTS_MAX = 300;
const CHANGED: LegFailure = {
  code: "media_processing_failed",
  networkCode: null,
  note: "the file changed while it was uploaded",
};

/** The owner of the file, and the time limit: a call of `prepare` that runs longer may lose the leg. */
interface Uploading extends AsAccount, Pick<Making<Asset>, "keep"> {
  readonly until: number;
  readonly mediaIndex: number | undefined;
}

const fileShape = objectShape(() => ({
  value: z.object({
    uploadUrl: z.string(),
    image: lenient(z.string()),
    document: lenient(z.string()),
  }),
}));
const videoShape = objectShape(() => ({
  value: z.object({
    video: z.string(),
    uploadToken: lenient(z.string(), ""),
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
}));

/**
 * Makes the function that uploads one file, or continues with it. A video with missing parts comes back as an asset
 * that still has its `upload`. Nothing of it is visible, and a repeat leaves only an unused file.
 */
export function uploadFile(until: number) {
  return async (
    leg: Leg,
    { mediaIndex: index, begun, keep }: Making<Asset>,
  ): Promise<MadeFile<Asset>> => {
    const wanted = wantedFiles(leg.draft)[index];
    if (wanted === undefined) throw new Error("an upload without a file");
    const uploading = { ...leg, until, keep, mediaIndex: wanted.mediaIndex ?? undefined };
    if (begun?.upload?.parts.every(({ etag }) => etag !== undefined) === true)
      return brokenIfRefused(await finalize(uploading, begun, begun.upload));
    const file = await openFile(wanted, leg.tools);
    if ("failure" in file) return file;
    if (file.kind !== "video")
      return withFile("linkedin", uploading.mediaIndex, () => uploadWhole(uploading, file));
    try {
      const asset = begun ?? (await beginVideo(uploading, file.body));
      if (!("upload" in asset)) return asset;
      const made = await uploadParts(uploading, asset, file.body);
      return begun === undefined ? made : brokenIfRefused(made);
    } finally {
      await file.body.close();
    }
  };
}

/**
 * Turns the refusal of an upload that an earlier run began into one of that upload alone, which may have ended or been put
 * together meanwhile. The file is then uploaded again, and refused again if it was the reason.
 */
function brokenIfRefused(made: MadeFile<Asset>): MadeFile<Asset> {
  const isRefused = "failure" in made && made.kind === "rejected";
  return isRefused ? { kind: "broken", failure: made.failure } : made;
}

function initialize(
  uploading: Uploading,
  kind: Asset["kind"],
  request: Readonly<Record<string, unknown>> = {},
): HttpRequest {
  const { author: owner } = uploading.credentials;
  const body = { initializeUploadRequest: { owner, ...request } };
  return restPost(`${kind}s?action=initializeUpload`, body, uploading);
}

async function uploadWhole(
  uploading: Uploading,
  file: Exclude<CheckedFile, { readonly kind: "video" }>,
): Promise<MadeFile<Asset>> {
  const { kind, contentType, body } = file;
  const { credentials, mediaIndex } = uploading;
  const readBegun = (answer: HttpResponse) => {
    const value = inForm(fileShape)(answer)?.value;
    const urn = value?.[kind];
    return value === undefined || urn === undefined ? undefined : { url: value.uploadUrl, urn };
  };
  const asked = { read: readBegun, mediaIndex };
  const begun = await askAs(initialize(uploading, kind), asked, uploading);
  if ("failure" in begun) return begun;
  const { url, urn } = begun;
  if (!isUploadAddress(url)) return foreignAddress(url);
  const authorization = `Bearer ${credentials.accessToken}`;
  const headers = { authorization, "content-type": contentType };
  const name = file.kind === "document" ? file.body.name : undefined;
  const asset = { urn, kind, isReady: false, ...(name === undefined ? {} : { name }) };
  const read = (answer: HttpResponse) => (isSuccess(answer) ? asset : undefined);
  const request = { method: "PUT", url, headers, body, timeoutMs: UPLOAD_TIMEOUT_MS } as const;
  return askAs(request, { read, mediaIndex }, uploading);
}

async function beginVideo(uploading: Uploading, file: MediaFile): Promise<MadeFile<Asset>> {
  const { mediaIndex } = uploading;
  const { size: bytes, version } = file;
  const flags = { uploadCaptions: false, uploadThumbnail: false };
  const request = initialize(uploading, "video", { fileSizeBytes: bytes, ...flags });
  const begun = await askAs(request, { read: inForm(videoShape), mediaIndex }, uploading);
  if ("failure" in begun) return begun;
  const { video: urn, uploadToken: token, uploadInstructions } = begun.value;
  const parts = uploadInstructions.map(({ uploadUrl: url, ...bounds }) => ({ url, ...bounds }));
  const foreign = parts.find(({ url }) => !isUploadAddress(url));
  if (foreign !== undefined) return foreignAddress(foreign.url);
  return { urn, kind: "video", isReady: false, upload: { token, bytes, version, parts } };
}

/**
 * Uploads each part to the address that the network gave for it. The receipts are stored as they come, so that a worker
 * that goes on after a crash begins with the next part. The last one is stored with what follows. The file must not have
 * changed since the first.
 */
async function uploadParts(
  uploading: Uploading,
  asset: Asset,
  file: MediaFile,
): Promise<MadeFile<Asset>> {
  const { upload } = asset;
  if (upload === undefined) throw new Error("an upload without parts");
  if (file.size !== upload.bytes || file.version !== upload.version)
    return { kind: "broken", failure: CHANGED };
  const parts = [...upload.parts];
  const soFar = (): Asset => ({ ...asset, upload: { ...upload, parts } });
  let hasProgress = false;
  for (const [index, part] of upload.parts.entries()) {
    if (part.etag !== undefined) continue;
    const isOver = uploading.tools.now().getTime() >= uploading.until;
    if (hasProgress && isOver) return soFar();
    const sent = await putPart(uploading, part, file);
    if (typeof sent !== "string")
      return sent.kind === "try_later" && hasProgress ? { ...sent, file: soFar() } : sent;
    parts[index] = { ...part, etag: sent };
    hasProgress = true;
    const isLast = parts.every(({ etag }) => etag !== undefined);
    if (!isLast && !(await uploading.keep(soFar()))) return soFar();
  }
  const finished = await finalize(uploading, asset, { ...upload, parts });
  return finished.kind === "try_later" ? { ...finished, file: soFar() } : finished;
}

async function putPart(
  uploading: Uploading,
  { url, firstByte, lastByte }: UploadPart,
  file: MediaFile,
): Promise<string | TryLater | Rejection | Broken> {
  const body = sliceOf(file, firstByte, Math.min(lastByte, file.size - 1));
  // The address is signed. A token next to it would be refused, and disclosed to another server.
  const headers = { "content-type": "application/octet-stream" };
  const request = { method: "PUT", url, headers, body, timeoutMs: UPLOAD_TIMEOUT_MS } as const;
  try {
    const answer = await exchange(uploading.tools, request);
    if (answer instanceof HttpFailure) return unanswered(answer);
    const etag = answer.headers["etag"];
    if (isSuccess(answer) && etag !== undefined) return etag;
    // Sent without the token, so this is about the address, which may have ended, and not about the account.
    if (answer.status === 401 || answer.status === 403)
      return { kind: "broken", failure: endedAddress(answer) };
    return restartOr(await classifyFor(answer, uploading));
  } catch (error) {
    if (!(error instanceof MediaFailure)) throw error;
    return error.reason === "changed"
      ? { kind: "broken", failure: CHANGED }
      : mediaFailed("linkedin", error);
  }
}

async function finalize(
  uploading: Uploading,
  { urn, kind }: Asset,
  { token, parts }: Upload,
): Promise<MadeFile<Asset>> {
  const uploadedPartIds = parts.map(({ etag }) => etag);
  const body = { finalizeUploadRequest: { video: urn, uploadToken: token, uploadedPartIds } };
  const request = restPost("videos?action=finalizeUpload", body, uploading);
  const answer = await exchange(uploading.tools, request);
  if (answer instanceof HttpFailure) return unanswered(answer);
  if (isSuccess(answer)) return { urn, kind, isReady: false };
  return restartOr(await classifyFor(answer, uploading));
}

function endedAddress({ status }: HttpResponse): LegFailure {
  const note = "the upload address is refused";
  return { code: "media_processing_failed", networkCode: `HTTP ${status}`, note };
}

function restartOr(classified: ClassifiedAnswer): TryLater | Rejection | Broken {
  return classified.effect === "prepare_again"
    ? { kind: "broken", failure: legFailure(classified) }
    : unpublished(classified);
}

function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300;
}

/**
 * Reports whether files, and with images the token, may be sent to an address: LinkedIn's own, or in development one of
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
  return outage(`an upload address of another host: ${url.slice(0, 100)}`);
}
