import type { MediaFacts } from "./media.ts";

/** JSON that only the network itself reads: it parses what it once wrote with a schema of its own. */
export type NetworkData = Readonly<Record<string, unknown>>;

export interface MediaItem {
  readonly url: string;
  readonly altText: string | null;
}

/** What one leg is to say: the post's text and media after the network's own `platformOptions` were applied. */
export interface LegDraft {
  readonly text: string;
  readonly media: readonly MediaItem[];
  /** `platformOptions.<network>`, parsed by the network's `options`. */
  readonly options: Readonly<Record<string, unknown>>;
}

export type MediaKind = "image" | "video" | "audio";

const KIND_BY_EXTENSION: Readonly<Record<string, MediaKind>> = {
  mp4: "video",
  m4v: "video",
  mov: "video",
  webm: "video",
  mkv: "video",
  avi: "video",
  mpg: "video",
  mpeg: "video",
  "3gp": "video",
  mp3: "audio",
  m4a: "audio",
  ogg: "audio",
  oga: "audio",
  opus: "audio",
  wav: "audio",
  flac: "audio",
};

export function extensionOf(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname : "";
  return /\.([a-z0-9]{1,5})$/i.exec(path)?.[1]?.toLowerCase() ?? "";
}

/** By the URL's ending alone; what ends in nothing known is taken for an image until it has been fetched. */
export function mediaKindOf(url: string): MediaKind {
  return KIND_BY_EXTENSION[extensionOf(url)] ?? "image";
}

export type FileKind = "image" | "video" | "audio" | "document";

/** What a file is by its bytes. Text, a web page, an archive: whatever neither shows nor sounds is a document. */
export function kindOfType(contentType: string): FileKind {
  const [kind] = /^(?:image|video|audio)(?=\/)/.exec(contentType) ?? [];
  // Safe: the pattern matches these alone.
  return (kind as FileKind | undefined) ?? "document";
}

/** By what the file's bytes say: what is neither a video nor sound is taken for an image, or refused for its type. */
export function mediaKindOfType(contentType: string): MediaKind {
  const kind = kindOfType(contentType);
  return kind === "document" ? "image" : kind;
}

/** The kinds of a draft's files: by their bytes where they were looked into, by their names where not. */
export function kindsOf(
  { media }: LegDraft,
  files: readonly (MediaFacts | null)[],
): readonly MediaKind[] {
  return media.map(({ url }, index) => {
    const seen = files[index];
    return seen ? mediaKindOfType(seen.contentType) : mediaKindOf(url);
  });
}

/** The field of the request that a draft's text or media came from. */
export function fieldOf(
  network: string,
  draft: LegDraft,
  name: "text" | "mediaUrls" | "altTexts",
): string {
  return draft.options[name] === undefined ? name : `platformOptions.${network}.${name}`;
}
