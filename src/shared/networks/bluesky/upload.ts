import * as z from "zod";
import { exchange, failureOf, unanswered, unpublished } from "../classified.ts";
import type { LegToPublish, MediaItem, NetworkTools, Rejected, TryLater } from "../network.ts";
import { HttpFailure, MediaFailure } from "../network.ts";
import { classify } from "./errors.ts";
import { RULES, blobBytesMax } from "./rules.ts";
import type { Credentials } from "./session.ts";
import { noteEndedToken } from "./session.ts";

const UPLOAD_TIMEOUT_MS = 120_000;

const blobShape = z.object({
  blob: z.object({
    $type: z.literal("blob"),
    ref: z.object({ $link: z.string() }),
    mimeType: z.string(),
    size: z.number(),
  }),
});
export type Blob = z.infer<typeof blobShape>["blob"];

export interface UploadedFile {
  readonly kind: "image" | "video";
  readonly blob: Blob;
  readonly alt: string;
  readonly aspectRatio: { readonly width: number; readonly height: number } | null;
}

/** Fetches the leg's files one by one and uploads each: the same bytes make the same blob, so a repeat is harmless. */
export async function uploadMedia(
  leg: LegToPublish,
  credentials: Credentials,
  tools: NetworkTools,
): Promise<readonly UploadedFile[] | TryLater | Rejected> {
  const files: UploadedFile[] = [];
  const isAlone = leg.draft.media.length === 1;
  const bytesMax = blobBytesMax(leg.limits);
  for (const [mediaIndex, item] of leg.draft.media.entries()) {
    const file = await uploadItem({ item, mediaIndex, isAlone, bytesMax }, credentials, tools);
    if ("failure" in file) return file;
    files.push(file);
  }
  const videos = files.filter((file) => file.kind === "video").length;
  if (videos > 0 && files.length > 1) {
    return rejected("bluesky.media.mixed", "a video can't share a post with other media");
  }
  return files;
}

interface Wanted {
  readonly item: MediaItem;
  readonly mediaIndex: number;
  readonly isAlone: boolean;
  readonly bytesMax: number;
}

async function uploadItem(
  wanted: Wanted,
  credentials: Credentials,
  tools: NetworkTools,
): Promise<UploadedFile | TryLater | Rejected> {
  const { item, mediaIndex, bytesMax, isAlone } = wanted;
  const imageMax = Math.min(RULES.imageBytesMax, bytesMax);
  const videoMax = Math.min(RULES.videoBytesMax, bytesMax);
  try {
    const media = await tools.fetchMedia(item.url, {
      // Several files can only be images; what one alone is, shows when it is there.
      bytesMax: isAlone ? Math.max(imageMax, videoMax) : imageMax,
    });
    const kind = kindOf(media.contentType);
    if (kind === undefined) {
      return rejected("bluesky.media.type", `${media.contentType} is not taken`, mediaIndex);
    }
    if (media.bytes.byteLength > (kind === "image" ? imageMax : videoMax)) {
      return rejected("bluesky.media.size", `${media.bytes.byteLength} bytes`, mediaIndex);
    }
    const blob = await uploadBlob(media, { credentials, mediaIndex }, tools);
    if ("failure" in blob) return blob;
    const { width, height } = media;
    const aspectRatio = width && height ? { width, height } : null;
    return { kind, blob, alt: item.altText ?? "", aspectRatio };
  } catch (error) {
    if (error instanceof MediaFailure) return fetchFailed(error, mediaIndex);
    throw error;
  }
}

export async function uploadBlob(
  media: { readonly bytes: Uint8Array; readonly contentType: string },
  target: { readonly credentials: Credentials; readonly mediaIndex?: number },
  tools: NetworkTools,
): Promise<Blob | TryLater | Rejected> {
  const answer = await exchange(tools, {
    method: "POST",
    url: `${target.credentials.pds}/xrpc/com.atproto.repo.uploadBlob`,
    headers: {
      authorization: `Bearer ${target.credentials.accessJwt}`,
      "content-type": media.contentType,
    },
    body: media.bytes,
    timeoutMs: UPLOAD_TIMEOUT_MS,
  });
  await noteEndedToken(answer, target.credentials, tools);
  if (answer instanceof HttpFailure) return unanswered(answer);
  const parsed = blobShape.safeParse(answer.json());
  if (answer.status === 200 && parsed.success) return parsed.data.blob;
  return unpublished(classify(answer, tools.now()), target.mediaIndex);
}

function kindOf(contentType: string): "image" | "video" | undefined {
  const isOf = (types: readonly string[]): boolean => types.includes(contentType);
  if (isOf(RULES.imageTypes)) return "image";
  return isOf(RULES.videoTypes) ? "video" : undefined;
}

/** A file that was not had at all; one that is too large is judged by the network's rule. */
export function fetchFailed(failure: MediaFailure, mediaIndex?: number): TryLater | Rejected {
  const isTooLarge = failure.code === "media_rejected";
  return unpublished(
    {
      code: failure.code,
      effect: isTooLarge ? "refuse" : "later",
      networkCode: null,
      note: failure.message.slice(0, 500),
      retryAfterSeconds: null,
      ...(isTooLarge ? { rule: "bluesky.media.size" } : {}),
    },
    mediaIndex,
  );
}

function rejected(rule: string, note: string, mediaIndex?: number): Rejected {
  const row = { code: "media_rejected", effect: "refuse", rule } as const;
  return {
    kind: "rejected",
    failure: failureOf({ ...row, networkCode: null, note, retryAfterSeconds: null }, mediaIndex),
  };
}
