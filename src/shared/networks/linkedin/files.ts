import { failureOf, unpublished } from "../classified.ts";
import type { FetchedMedia, LegDraft, NetworkTools, Rejected, TryLater } from "../network.ts";
import { MediaFailure } from "../network.ts";
import { ownOptionsOf } from "./options.ts";
import { KIND_BY_TYPE, RULES } from "./rules.ts";
import type { Asset } from "./state.ts";

/** A file that the post is to show. */
export interface WantedFile {
  readonly url: string;
  /** Null for the picture of a link card. */
  readonly mediaIndex: number | null;
  readonly kinds: readonly Asset["kind"][];
}

export interface CheckedFile extends FetchedMedia {
  readonly kind: Asset["kind"];
}

const BYTES_MAX: Readonly<Record<Asset["kind"], number>> = {
  image: RULES.imageBytesMax,
  video: RULES.videoBytesMax,
  document: RULES.documentBytesMax,
};

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

export async function fetchFile(
  wanted: WantedFile,
  draft: LegDraft,
  tools: NetworkTools,
): Promise<CheckedFile | TryLater | Rejected> {
  const bytesMax = Math.max(...wanted.kinds.map((kind) => BYTES_MAX[kind]));
  try {
    const file = await tools.fetchMedia(wanted.url, { bytesMax });
    const kind = KIND_BY_TYPE[file.contentType];
    if (kind === undefined) {
      return rejected("linkedin.media.type", `${file.contentType} is not taken`, wanted);
    }
    const problem = checkFile({ ...file, kind }, wanted, draft);
    return problem === undefined ? { ...file, kind } : rejected(problem.rule, problem.note, wanted);
  } catch (error) {
    if (error instanceof MediaFailure) return fetchFailed(error, wanted);
    throw error;
  }
}

interface FileProblem {
  readonly rule: string;
  readonly note: string;
}

function checkFile(
  { kind, bytes, width, height }: CheckedFile,
  { kinds }: WantedFile,
  draft: LegDraft,
): FileProblem | undefined {
  if (!kinds.includes(kind)) {
    return { rule: "linkedin.media.mixed", note: `a ${kind} where only images can be` };
  }
  if (bytes.byteLength > BYTES_MAX[kind]) {
    return { rule: "linkedin.media.size", note: `${bytes.byteLength} bytes` };
  }
  const pixels = kind === "image" ? (width ?? 0) * (height ?? 0) : 0;
  if (pixels > RULES.imagePixelsMax) {
    return { rule: "linkedin.media.pixels", note: `${pixels} pixels` };
  }
  const lacksTitle = kind === "document" && ownOptionsOf(draft.options).documentTitle === undefined;
  return lacksTitle
    ? { rule: "linkedin.document.title", note: "a document without a title" }
    : undefined;
}

function fetchFailed(failure: MediaFailure, wanted: WantedFile): TryLater | Rejected {
  if (failure.code === "media_rejected") {
    return rejected("linkedin.media.size", failure.message, wanted);
  }
  return unpublished(
    {
      code: failure.code,
      effect: "later",
      networkCode: null,
      note: failure.message.slice(0, 500),
      retryAfterSeconds: null,
    },
    wanted.mediaIndex ?? undefined,
  );
}

function rejected(rule: string, note: string, { mediaIndex }: WantedFile): Rejected {
  const row = { code: "media_rejected", effect: "refuse", rule } as const;
  const classified = { ...row, networkCode: null, note, retryAfterSeconds: null };
  return { kind: "rejected", failure: failureOf(classified, mediaIndex ?? undefined) };
}
