import { type MediaProbe, judgeMedia } from "../../media/probe-media.ts";
import { fieldOf } from "../../networks/contract/draft.ts";
import { networkOf } from "../../networks/lookup.ts";
import { MediaFailure } from "../../networks/contract/media.ts";
import { refusalError, unreachableError } from "../../networks/contract/media-check.ts";
import type { Network } from "../../networks/contract/network.ts";
import type { Problem } from "../../networks/contract/rules.ts";
import type { PublishingDeps } from "../deps.ts";
import { type Draft, legDraft } from "../post.ts";
import type { NetworkCheck } from "../problems.ts";

export interface MediaCheck {
  readonly url: string;
  readonly ok: boolean;
  readonly contentType: string | null;
  readonly bytes: number | null;
  readonly error: string | null;
}

/** What was found at each address, or why nothing was. */
export interface CheckedMedia {
  readonly checks: readonly MediaCheck[];
  readonly found: ReadonlyMap<string, MediaProbe | MediaFailure>;
}

const AT_ONCE = 4;

/** Looks at media files to see whether they can be had and what they are. Never throws. */
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
      const probe = await probeMedia(services.outbound, url, readBy);
      found.set(url, probe);
      const { contentType, size: bytes } = probe;
      return { url, ok: true, contentType, bytes, error: null };
    } catch (error) {
      if (!(error instanceof MediaFailure)) throw error;
      found.set(url, error);
      return { url, ok: false, contentType: null, bytes: null, error: error.code };
    }
  };
  const checks: MediaCheck[] = [];
  for (let index = 0; index < urls.length; index += AT_ONCE)
    checks.push(...(await Promise.all(urls.slice(index, index + AT_ONCE).map(check))));
  return { checks, found };
}

/** A check with what the network will make of the draft's files, as far as they were looked at. */
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
    const place = { field, mediaIndex };
    if (file === undefined) return [];
    if (file instanceof MediaFailure) return [failureProblem(network, file, place)];
    return judgeMedia(network, targets, { probe: file, ...place });
  });
  // Publishing refuses the first file that does not fit, and looks at them together when each does.
  const isEachTaken = alone.every(({ severity }) => severity !== "error");
  const facts = files.map((file) => (isFound(file) ? file : null));
  const together = isEachTaken ? (network.checkFiles?.(content, limits, facts) ?? []) : [];
  const isTold = (later: Problem) =>
    problems.some(({ rule, severity }) => rule === later.rule && severity === later.severity);
  return {
    ...check,
    problems: [...problems, ...alone, ...together.filter((problem) => !isTold(problem))],
  };
}

function isFound(file: MediaProbe | MediaFailure | undefined): file is MediaProbe {
  return file !== undefined && !(file instanceof MediaFailure);
}

/** A file that could not be had, as the leg would end. */
function failureProblem(
  network: Network,
  { code, reason }: MediaFailure,
  place: Pick<Problem, "field" | "mediaIndex">,
): Problem {
  return code === "media_rejected"
    ? refusalError(network, reason ?? "size", place)
    : unreachableError(network, place);
}
