import { withFile } from "../contract/ask.ts";
import { bytesMaxOf, refusedFile, rejectedBy } from "../contract/media-check.ts";
import type { MediaFile } from "../contract/media.ts";
import type { LegDraft } from "../contract/draft.ts";
import type { NetworkTools } from "../contract/tools.ts";
import type { Rejected, TryLater } from "../contract/outcome.ts";
import { ownOptionsOf } from "./options.ts";
import { assetKindOf, rules, TARGETS } from "./rules.ts";
import type { Asset } from "./state.ts";

/** A file that the post is to show. */
export interface WantedFile {
  readonly url: string;
  /** Null for the picture of a link card. */
  readonly mediaIndex: number | null;
  readonly kinds: readonly Asset["kind"][];
}

export type CheckedFile =
  | { readonly kind: "image"; readonly contentType: string; readonly body: Uint8Array }
  /** Goes through as it comes: these are larger than what a process should hold. */
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

export async function openFile(
  { url, mediaIndex: at, kinds }: WantedFile,
  tools: NetworkTools,
): Promise<CheckedFile | TryLater | Rejected> {
  const mediaIndex = at ?? undefined;
  return withFile("linkedin", mediaIndex, async (): Promise<CheckedFile | Rejected> => {
    const file = await tools.openMedia(url, { bytesMax: bytesMaxOf(TARGETS) });
    const refused = refusedFile("linkedin", file, TARGETS, mediaIndex);
    if (refused !== undefined) return refused;
    const { contentType } = file;
    const kind = assetKindOf(contentType);
    if (!kinds.includes(kind))
      return rejectedBy(rules, "linkedin.media.mixed", `a ${kind}`, mediaIndex);
    if (kind !== "image") return { kind, contentType, body: file };
    const fitted = await tools.fitImage(file, TARGETS.image);
    return { kind, contentType: fitted.contentType, body: fitted.bytes };
  });
}
