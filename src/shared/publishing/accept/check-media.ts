import { type MediaProbe, checkMediaFile } from "../../media/probe-media.ts";
import { fieldOf } from "../../networks/contract/draft.ts";
import { networkOf } from "../../networks/lookup.ts";
import { MediaFailure } from "../../networks/contract/media.ts";
import { refusalError, unreachableError } from "../../networks/contract/media-check.ts";
import type { Network } from "../../networks/contract/network.ts";
import type { Problem } from "../../networks/contract/rules.ts";
import type { PublishingDeps } from "../deps.ts";
import { type Draft, legDraft } from "../post.ts";
import type { NetworkCheck } from "../problems.ts";
import { inBatches } from "../../runtime/promises.ts";

export interface MediaCheck {
  readonly url: string;
  readonly ok: boolean;
  readonly contentType: string | null;
  readonly bytes: number | null;
  readonly error: string | null;
}

export interface CheckedMedia {
  readonly checks: readonly MediaCheck[];
  readonly found: ReadonlyMap<string, MediaProbe | MediaFailure>;
}

const AT_ONCE = 4;

/** Probes media files, a few at a time. A file that can't be fetched is part of the result. */
export async function checkMedia(
  services: PublishingDeps,
  platformId: string,
  urls: readonly string[],
): Promise<CheckedMedia> {
  const { probeMedia } = await import("../../media/probe-media.ts");
  const { mediaReader } = await import("../../media/media-reader.ts");
  const readBy = { reader: mediaReader, owner: platformId };
  const found = new Map<string, MediaProbe | MediaFailure>();
  const check = async (url: string): Promise<MediaCheck> => {
    try {
      const probe = await probeMedia(services.connections, url, readBy);
      found.set(url, probe);
      const { contentType, size: bytes } = probe;
      return { url, ok: true, contentType, bytes, error: null };
    } catch (error) {
      if (!(error instanceof MediaFailure)) throw error;
      found.set(url, error);
      return { url, ok: false, contentType: null, bytes: null, error: error.code };
    }
  };
  const checks = await inBatches(urls, AT_ONCE, check);
  return { checks, found };
}

/** Adds the network's findings about the draft's files, as far as they were probed. */
export function withMedia(
  check: NetworkCheck,
  draft: Draft,
  { found }: Pick<CheckedMedia, "found">,
): NetworkCheck {
  const { connection, problems } = check;
  const network = networkOf(check.network);
  const content = legDraft(draft, check.network);
  const limits = connection?.limits ?? {};
  const targets = network.media?.(content, limits);
  if (found.size === 0 || targets === undefined) return check;
  const field = fieldOf(network.name, content, "mediaUrls");
  const files = content.media.map(({ url }) => found.get(url));
  const alone = files.flatMap((file, mediaIndex) => {
    const at = { field, mediaIndex };
    if (file === undefined) return [];
    if (file instanceof MediaFailure) return [failureProblem(network, file, at)];
    return checkMediaFile(network, targets, { probe: file, ...at });
  });
  // Publishing refuses the first file that doesn't fit, and checks the files together only if each one fits.
  const isEachTaken = alone.every(({ severity }) => severity !== "error");
  const facts = files.map((file) => (isFound(file) ? file : null));
  const together = isEachTaken ? (network.checkFiles?.(content, limits, facts) ?? []) : [];
  const isKnown = (later: Problem) =>
    problems.some(({ rule, severity }) => rule === later.rule && severity === later.severity);
  return {
    ...check,
    problems: [...problems, ...alone, ...together.filter((problem) => !isKnown(problem))],
  };
}

function isFound(file: MediaProbe | MediaFailure | undefined): file is MediaProbe {
  return file !== undefined && !(file instanceof MediaFailure);
}

function failureProblem(
  network: Network,
  failure: MediaFailure,
  at: Pick<Problem, "field" | "mediaIndex">,
): Problem {
  return failure.code === "media_rejected"
    ? refusalError(network, failure.reason ?? "size", at)
    : unreachableError(network, at, failure);
}
