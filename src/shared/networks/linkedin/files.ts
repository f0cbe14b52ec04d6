import { mediaFailed, mediaRejected } from "../media-failed.ts";
import type { MediaFile } from "../media.ts";
import { IMAGE_SOURCE_BYTES_MAX, MediaFailure } from "../media.ts";
import type { LegDraft, NetworkTools, Rejected, TryLater } from "../network.ts";
import { ownOptionsOf } from "./options.ts";
import { KIND_BY_TYPE } from "./rules.ts";
import type { Asset } from "./state.ts";
import { DOCUMENT_BYTES_MAX, TARGETS } from "./targets.ts";

const BYTES_MAX: Readonly<Record<Asset["kind"], number>> = {
  // Larger than LinkedIn takes: it is made to fit.
  image: IMAGE_SOURCE_BYTES_MAX,
  video: TARGETS.video.bytesMax,
  document: DOCUMENT_BYTES_MAX,
};

/** A file that the post is to show. */
export interface WantedFile {
  readonly url: string;
  /** Null for the picture of a link card. */
  readonly mediaIndex: number | null;
  readonly kinds: readonly Asset["kind"][];
}

export type CheckedFile =
  | { readonly kind: "image"; readonly contentType: string; readonly body: Uint8Array }
  /** Goes through as it comes: videos are larger than what a process should hold. */
  | { readonly kind: "document"; readonly contentType: string; readonly body: MediaFile }
  | { readonly kind: "video"; readonly contentType: string; readonly body: MediaFile };

/** In the order in which the leg keeps what became of them. Only images can share a post with each other. */
export function wantedFiles(draft: LegDraft): readonly WantedFile[] {
  const { link } = ownOptionsOf(draft.options);
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

export async function openFile(
  wanted: WantedFile,
  draft: LegDraft,
  tools: NetworkTools,
): Promise<CheckedFile | TryLater | Rejected> {
  const mediaIndex = wanted.mediaIndex ?? undefined;
  try {
    const file = await tools.openMedia(wanted.url, { bytesMax: BYTES_MAX.video });
    const { contentType } = file;
    const kind = contentType.startsWith("image/") ? "image" : KIND_BY_TYPE[contentType];
    if (kind === undefined) {
      return mediaRejected("linkedin.media.type", `${contentType} is not taken`, mediaIndex);
    }
    const problem = checkFile(file, kind, { wanted, draft });
    if (problem !== undefined) return mediaRejected(problem.rule, problem.note, mediaIndex);
    if (kind !== "image") return { kind, contentType, body: file };
    const fitted = await tools.fitImage(file, TARGETS.image);
    return { kind, contentType: fitted.contentType, body: fitted.bytes };
  } catch (error) {
    if (error instanceof MediaFailure) return mediaFailed("linkedin", error, mediaIndex);
    throw error;
  }
}

interface FileProblem {
  readonly rule: string;
  readonly note: string;
}

function checkFile(
  { size }: MediaFile,
  kind: Asset["kind"],
  { wanted, draft }: { readonly wanted: WantedFile; readonly draft: LegDraft },
): FileProblem | undefined {
  if (!wanted.kinds.includes(kind)) {
    return { rule: "linkedin.media.mixed", note: `a ${kind} where only images can be` };
  }
  if (size > BYTES_MAX[kind]) return { rule: "linkedin.media.size", note: `${size} bytes` };
  const lacksTitle = kind === "document" && ownOptionsOf(draft.options).documentTitle === undefined;
  return lacksTitle
    ? { rule: "linkedin.document.title", note: "a document without a title" }
    : undefined;
}
