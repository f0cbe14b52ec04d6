import type { UploadedImage } from "./upload.ts";
import { RULES } from "./rules.ts";
import type { Blob } from "./video-service.ts";

export interface Embed {
  readonly $type: string;
  readonly [field: string]: unknown;
}

interface AspectRatio {
  readonly width: number;
  readonly height: number;
}

export function videoEmbed(
  blob: Blob,
  { alt, aspectRatio }: { readonly alt: string; readonly aspectRatio: AspectRatio | null },
): Embed {
  return {
    $type: "app.bsky.embed.video",
    video: blob,
    ...(alt === "" ? {} : { alt }),
    ...(aspectRatio === null ? {} : { aspectRatio }),
  };
}

export function imagesEmbed(files: readonly UploadedImage[]): Embed {
  if (files.length > RULES.plainImagesMax) {
    return {
      $type: "app.bsky.embed.gallery",
      items: files.map(({ blob, alt, aspectRatio }) => ({
        $type: "app.bsky.embed.gallery#image",
        image: blob,
        alt,
        // Required here; only a hint for the space that a client keeps free.
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
      uri: card.url,
      title: card.title,
      description: card.description,
      ...(thumb === null ? {} : { thumb }),
    },
  };
}
