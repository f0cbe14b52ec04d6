import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { unanswered, unpublished } from "../contract/classified.ts";
import { bytesMaxOf, kindOfType } from "../contract/judge-file.ts";
import { mediaFailed, mediaRejected, refusedFile } from "../contract/media-failed.ts";
import type { MediaFile, MediaTargets } from "../contract/media.ts";
import type { StreamedBody } from "../../runtime/http-call.ts";
import { MediaFailure } from "../contract/media.ts";
import type {
  LegToPublish,
  MediaItem,
  NetworkTools,
  Rejected,
  TryLater,
} from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { callAsAccount } from "./account-call.ts";
import type { Credentials } from "./credentials.ts";
import { classify } from "./errors.ts";
import { media } from "./targets.ts";
import { blobShape, type Blob } from "./video-service.ts";

const UPLOAD_TIMEOUT_MS = 120_000;

const uploaded = shape(() => z.object({ blob: blobShape() }));

export interface UploadedImage {
  readonly blob: Blob;
  readonly alt: string;
  readonly aspectRatio: { readonly width: number; readonly height: number } | null;
}

/** A video is not uploaded here: it has a way of its own. */
export interface OpenedVideo {
  readonly file: MediaFile;
  readonly alt: string;
}

/** Fetches the leg's files one by one and uploads each: the same bytes make the same blob, so a repeat is harmless. */
export async function uploadMedia(
  leg: LegToPublish,
  credentials: Credentials,
  tools: NetworkTools,
): Promise<readonly UploadedImage[] | OpenedVideo | TryLater | Rejected> {
  const images: UploadedImage[] = [];
  const targets = media(leg.draft, leg.limits);
  for (const [mediaIndex, item] of leg.draft.media.entries()) {
    const file = await uploadItem({ item, mediaIndex, targets }, credentials, tools);
    if ("failure" in file) return file;
    if (!("file" in file)) images.push(file);
    else if (leg.draft.media.length === 1) return file;
    else return mediaRejected("bluesky.media.mixed", "a video can't share a post with other media");
  }
  return images;
}

interface Wanted {
  readonly item: MediaItem;
  readonly mediaIndex: number;
  readonly targets: MediaTargets;
}

async function uploadItem(
  wanted: Wanted,
  credentials: Credentials,
  tools: NetworkTools,
): Promise<UploadedImage | OpenedVideo | TryLater | Rejected> {
  const { item, mediaIndex, targets } = wanted;
  const alt = item.altText ?? "";
  try {
    const file = await tools.openMedia(item.url, { bytesMax: bytesMaxOf(targets) });
    const refused = refusedFile("bluesky", file, targets, mediaIndex);
    if (refused !== undefined) return refused;
    if (kindOfType(file.contentType) === "video") return { file, alt };
    const made = await tools.fitImage(file, targets.image);
    const blob = await uploadBlob(made, { credentials, mediaIndex }, tools);
    if ("failure" in blob) return blob;
    const { width, height } = made;
    const aspectRatio = width && height ? { width, height } : null;
    return { blob, alt, aspectRatio };
  } catch (error) {
    if (error instanceof MediaFailure) return mediaFailed("bluesky", error, mediaIndex);
    throw error;
  }
}

export async function uploadBlob(
  media: { readonly bytes: Uint8Array | StreamedBody; readonly contentType: string },
  target: { readonly credentials: Credentials; readonly mediaIndex?: number },
  tools: NetworkTools,
): Promise<Blob | TryLater | Rejected> {
  const request = {
    method: "POST",
    url: `${target.credentials.pds}/xrpc/com.atproto.repo.uploadBlob`,
    headers: { "content-type": media.contentType },
    body: media.bytes,
    timeoutMs: UPLOAD_TIMEOUT_MS,
  } as const;
  const answer = await callAsAccount(target.credentials, request, tools);
  if (answer instanceof HttpFailure) return unanswered(answer);
  const parsed = uploaded().safeParse(answer.json());
  if (answer.status === 200 && parsed.success) return parsed.data.blob;
  return unpublished(classify(answer, tools.now()), target.mediaIndex);
}
