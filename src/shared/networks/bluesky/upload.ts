import { objectShape } from "../contract/fields.ts";
import * as z from "zod";
import type { ShapeOf } from "../../runtime/shape.ts";
import { inForm, withFile } from "../contract/ask.ts";
import { unanswered, unpublished, type Rejection, type TryLater } from "../contract/outcome.ts";
import { bytesMaxOf, mediaRejected, refusedFile } from "../contract/media-check.ts";
import { kindOfType, type MediaItem } from "../contract/draft.ts";
import type { MediaFile, MediaTargets } from "../contract/media.ts";
import { type StreamedBody, HttpFailure } from "../../runtime/http-call.ts";
import { callAsAccount, classifyFor } from "./account-call.ts";
import type { AsAccount, Leg, RemoteVideo } from "./state.ts";
import { procedure } from "./request.ts";
import { encodedAddress } from "../contract/web-address.ts";
import { shortenedText } from "../contract/text.ts";
import { media, PLAIN_IMAGES_MAX, smallImage, VIDEO_ALT_TEXT_MAX } from "./rules.ts";

const UPLOAD_TIMEOUT_MS = 120_000;

export const blobShape = objectShape(() => ({
  $type: z.literal("blob"),
  ref: z.object({ $link: z.string() }),
  mimeType: z.string(),
  size: z.number(),
}));
export type Blob = ShapeOf<typeof blobShape>;

const uploaded = objectShape(() => ({ blob: blobShape() }));

export interface UploadedImage {
  readonly blob: Blob;
  readonly alt: string;
  readonly aspectRatio: { readonly width: number; readonly height: number } | null;
}

/** A video or an animated image, which `video.ts` uploads. */
export interface OpenedVideo {
  readonly file: MediaFile;
  readonly alt: string;
}

/**
 * Fetches the leg's files one by one and uploads each. The same bytes make the same blob, so a repeat is harmless.
 * `isStill`: an animation is uploaded as its first frame. `isAgain`: the server refused the first uploads.
 */
export async function uploadMedia(
  leg: Leg,
  { isStill = false, isAgain = false } = {},
): Promise<readonly UploadedImage[] | OpenedVideo | TryLater | Rejection> {
  const images: UploadedImage[] = [];
  const { moving = [], image, ...rest } = media(leg.draft, leg.limits);
  const others = { ...rest, image: isAgain ? smallImage(image) : image };
  const targets = isStill ? others : { ...others, moving };
  for (const [mediaIndex, item] of leg.draft.media.entries()) {
    const file = await uploadItem(leg, { item, mediaIndex, targets });
    if ("failure" in file) return file;
    if (!("file" in file)) images.push(file);
    else if (leg.draft.media.length === 1) return file;
    else return mediaRejected("bluesky.media.mixed", "a video can't share a post with other media");
  }
  return images;
}

interface WantedFile {
  readonly item: MediaItem;
  readonly mediaIndex: number;
  readonly targets: MediaTargets;
}

async function uploadItem(
  leg: Leg,
  { item, mediaIndex, targets }: WantedFile,
): Promise<UploadedImage | OpenedVideo | TryLater | Rejection> {
  const { tools } = leg;
  const alt = item.altText ?? "";
  return withFile("bluesky", mediaIndex, async () => {
    const file = await tools.openMedia(item.url, { bytesMax: bytesMaxOf(targets) });
    const refused = refusedFile("bluesky", file, targets, mediaIndex);
    if (refused !== undefined) return refused;
    const isMoving = file.isMoving === true && targets.moving?.includes(file.contentType) === true;
    if (kindOfType(file.contentType) === "video" || isMoving) return { file, alt };
    const made = await tools.fitImage(file, targets.image);
    const blob = await uploadBlob(made, leg, mediaIndex);
    if ("failure" in blob) return blob;
    return { blob, alt, aspectRatio: aspectRatioOf(made) };
  });
}

export function aspectRatioOf({ width, height }: Pick<MediaFile, "width" | "height">) {
  return width && height ? { width, height } : null;
}

export async function uploadBlob(
  media: { readonly bytes: Uint8Array | StreamedBody; readonly contentType: string },
  as: AsAccount,
  mediaIndex?: number,
): Promise<Blob | TryLater | Rejection> {
  const request = {
    ...procedure(as.credentials.pds, "com.atproto.repo.uploadBlob"),
    headers: { "content-type": media.contentType },
    body: media.bytes,
    timeoutMs: UPLOAD_TIMEOUT_MS,
  };
  const answer = await callAsAccount(request, as);
  if (answer instanceof HttpFailure) return unanswered(answer);
  const blob = inForm(uploaded)(answer)?.blob;
  return blob ?? unpublished(await classifyFor(answer, as), mediaIndex);
}

export interface Embed {
  readonly $type: string;
  readonly [field: string]: unknown;
}

export function videoEmbed(
  blob: Blob,
  { alt, aspectRatio, isGif }: Omit<RemoteVideo, "jobId">,
): Embed {
  const description = shortenedText(alt, VIDEO_ALT_TEXT_MAX);
  return {
    $type: "app.bsky.embed.video",
    video: blob,
    ...(description === "" ? {} : { alt: description }),
    ...(aspectRatio === null ? {} : { aspectRatio }),
    // Clients then play it without sound or controls, in a loop.
    ...(isGif === true ? { presentation: "gif" } : {}),
  };
}

export function imagesEmbed(files: readonly UploadedImage[]): Embed {
  if (files.length > PLAIN_IMAGES_MAX) {
    return {
      $type: "app.bsky.embed.gallery",
      items: files.map(({ blob, alt, aspectRatio }) => ({
        $type: "app.bsky.embed.gallery#image",
        image: blob,
        alt,
        // Required here, but only a hint for the space that a client reserves.
        aspectRatio: aspectRatio ?? { width: 1, height: 1 },
      })),
    };
  }
  return {
    $type: "app.bsky.embed.images",
    images: files.map(({ blob, alt, aspectRatio }) => ({
      image: blob,
      alt,
      ...(aspectRatio === null ? {} : { aspectRatio }),
    })),
  };
}

export function cardEmbed(
  card: { readonly url: string; readonly title: string; readonly description: string },
  thumb: Blob | null,
): Embed {
  return {
    $type: "app.bsky.embed.external",
    external: {
      uri: encodedAddress(card.url),
      title: card.title,
      description: card.description,
      ...(thumb === null ? {} : { thumb }),
    },
  };
}
