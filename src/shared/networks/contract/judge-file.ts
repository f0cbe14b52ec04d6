import type { FileTarget, MediaFacts, MediaReason, MediaTargets } from "./media.ts";
import { IMAGE_SOURCE_BYTES_MAX, READABLE_IMAGES } from "./media.ts";

export type FileKind = "image" | "video" | "audio" | "document";

/** What a file is by its bytes. Text, a web page, an archive: whatever neither shows nor sounds is a document. */
export function kindOfType(contentType: string): FileKind {
  const [kind] = /^(?:image|video|audio)(?=\/)/.exec(contentType) ?? [];
  // Safe: the pattern matches these alone.
  return (kind as FileKind | undefined) ?? "document";
}

/** Largest file that may be of use: a larger one need not be opened. */
export function bytesMaxOf({ video, audio, document }: MediaTargets): number {
  const others = [video, audio, document].filter((target) => target !== undefined);
  return Math.max(
    IMAGE_SOURCE_BYTES_MAX,
    ...others.map(({ bytesMax = Number.MAX_SAFE_INTEGER }) => bytesMax),
  );
}

type Facts = Pick<MediaFacts, "contentType" | "size" | "durationSeconds">;

/**
 * Why a network does not take a file, as far as its type, size and length tell; undefined where none of them speaks
 * against it. Asked alike when a draft is validated and when its leg is prepared, so that the two never differ.
 */
export function refusalOf(file: Facts, targets: MediaTargets): MediaReason | undefined {
  const kind = kindOfType(file.contentType);
  if (kind === "image") return imageRefusal(file, targets);
  if (file.size > bytesMaxOf(targets)) return "size";
  const target = targets[kind];
  return target === undefined ? "type" : fileRefusal(file, target);
}

/** What can be read is made to fit; what can't be is taken as it is, or not. */
function imageRefusal({ contentType, size }: Facts, { image }: MediaTargets) {
  if (size > IMAGE_SOURCE_BYTES_MAX) return "size";
  if (READABLE_IMAGES.includes(contentType)) return undefined;
  if (!image.types.includes(contentType)) return "type";
  return size > image.bytesMax ? "size" : undefined;
}

function fileRefusal({ contentType, size, durationSeconds }: Facts, target: FileTarget) {
  const { types, bytesMax = Infinity, secondsMin = 0, secondsMax = Infinity } = target;
  if (types?.includes(contentType) === false) return "type";
  if (size > bytesMax) return "size";
  if (durationSeconds === null) return undefined;
  // Networks count whole seconds: a video of 10 minutes may be a few pictures longer.
  const isOutside = durationSeconds < secondsMin || Math.floor(durationSeconds) > secondsMax;
  return isOutside ? "duration" : undefined;
}

/** In the words of the timeline. */
export function noteOfFile({ contentType, size, durationSeconds }: Facts): string {
  const seconds = durationSeconds === null ? "" : `, ${Math.floor(durationSeconds)} seconds`;
  return `${contentType}, ${size} bytes${seconds}`;
}
