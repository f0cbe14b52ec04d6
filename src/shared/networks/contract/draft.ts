import type { MediaFacts } from "./media.ts";

/** JSON that only the network itself reads. It parses what it once wrote with a schema of its own. */
export type NetworkData = Readonly<Record<string, unknown>>;

/** Texts by name, such as the fields of a form. */
export type Texts = Readonly<Record<string, string>>;

export interface MediaItem {
  readonly url: string;
  readonly altText: string | null;
}

/** The content of one leg: the post's text and media after applying the network's own `platformOptions`. */
export interface LegDraft {
  readonly text: string;
  readonly media: readonly MediaItem[];
  /** `platformOptions.<network>`, parsed by the network's `options`. */
  readonly options: Readonly<Record<string, unknown>>;
}

export type MediaKind = "image" | "video" | "audio";

const EXTENSIONS: Readonly<Record<MediaKind, RegExp>> = {
  image: /^(?:jpe?g|jpe|png|gif|webp|avif|bmp|tiff?|hei[cf]|svg)$/,
  video: /^(?:mp4|m4v|mov|webm|mkv|avi|mpe?g|3gp)$/,
  audio: /^(?:mp3|m4a|og[ag]|opus|wav|flac)$/,
};

export function extensionOf(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname : "";
  return /\.([a-z0-9]{1,5})$/i.exec(path)?.[1]?.toLowerCase() ?? "";
}

/** Returns a file's kind by the extension of its URL. Undefined when only the file itself can tell. */
export function mediaKindOf(url: string): MediaKind | undefined {
  const extension = extensionOf(url);
  return (["image", "video", "audio"] as const).find((kind) => EXTENSIONS[kind].test(extension));
}

/**
 * Returns what `check` finds about a draft's files by their names, if some names don't tell. Undefined if that depends
 * on whether those are images or videos.
 */
export function checkNames<T>(
  { media }: LegDraft,
  check: (kinds: readonly MediaKind[]) => T,
): T | undefined {
  const kinds = media.map(({ url }) => mediaKindOf(url));
  const [asImages, asVideos] = (["image", "video"] as const).map((unknown) =>
    check(kinds.map((kind) => kind ?? unknown)),
  );
  return asImages === asVideos ? asImages : undefined;
}

export type FileKind = "image" | "video" | "audio" | "document";

/** Returns a file's kind by its content type. A file that is no image, video or audio is a document. */
export function kindOfType(contentType: string): FileKind {
  const [kind] = /^(?:image|video|audio)(?=\/)/.exec(contentType) ?? [];
  // Safe: the pattern matches only these.
  return (kind as FileKind | undefined) ?? "document";
}

/** Returns a file's kind by its content type. A document counts as an image, which is then refused for its type. */
export function mediaKindOfType(contentType: string): MediaKind {
  const kind = kindOfType(contentType);
  return kind === "document" ? "image" : kind;
}

/**
 * Returns the kinds of a draft's files: by their bytes if they were read, or else by their names. A file of unknown
 * kind counts as an image.
 */
export function kindsOf(
  { media }: LegDraft,
  files: readonly (MediaFacts | null)[],
): readonly MediaKind[] {
  return media.map(({ url }, index) => {
    const seen = files[index];
    return seen ? mediaKindOfType(seen.contentType) : (mediaKindOf(url) ?? "image");
  });
}

const SHARED_FIELDS: readonly string[] = ["text", "mediaUrls", "altTexts"];

/** Returns the field of the request from which a draft's text or media came, or that has an option of the network. */
export function fieldOf(network: string, { options }: LegDraft, name: string): string {
  const isShared = SHARED_FIELDS.includes(name) && options[name] === undefined;
  return isShared ? name : `platformOptions.${network}.${name}`;
}
