import { type MediaProbe, checkMediaFile, checkPicture } from "../../media/probe-media.ts";
import { fieldOf, type LegDraft, type NetworkData } from "../../networks/contract/draft.ts";
import { networkOf, type NetworkName } from "../../networks/networks.ts";
import { MediaFailure } from "../../networks/contract/media.ts";
import {
  isTypeGuess,
  refusalError,
  unreachableError,
} from "../../networks/contract/media-check.ts";
import type { Problem } from "../../networks/contract/rules.ts";
import { type Draft, legDraft } from "../post.ts";
import type { NetworkCheck } from "../problems.ts";
import { unreachable } from "../../networks/contract/unreachable.ts";
import { type Calling, limitCalls } from "../../runtime/limited-calls.ts";
import { inBatches } from "../../runtime/promises.ts";

export interface MediaCheck {
  readonly url: string;
  /** The first field of the request that names it. */
  readonly field: string;
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
/**
 * Time limit of all files of a request. A hundred files whose servers answer late would otherwise take longer than
 * `functionTimeout` of host.json, at which the host ends the process and everything that runs in it.
 */
const CHECKS_MS_MAX = 60_000;

/** An address of a draft that is fetched, and the field of the request that names it. */
export type MediaAddress = Pick<MediaCheck, "url" | "field">;

/** Returns the addresses that a draft's networks fetch, each once: files, and the pictures of their own options. */
export function addressesOf(draft: Draft): readonly MediaAddress[] {
  const all = draft.networks.flatMap((name) => {
    const content = legDraft(draft, name);
    const files = fieldOf(name, content, "mediaUrls");
    return [
      ...content.media.map(({ url }) => ({ url, field: files })),
      ...picturesOf(name, content, {}).map(({ url, field }) => ({ url, field })),
    ];
  });
  return all.filter(({ url }, index) => all.findIndex((one) => one.url === url) === index);
}

function picturesOf(name: NetworkName, content: LegDraft, limits: NetworkData) {
  const pictures = networkOf(name).pictures?.(content, limits) ?? [];
  return pictures.map((one) => ({ ...one, field: `platformOptions.${name}.${one.option}` }));
}

/**
 * Probes media files, a few at a time. A file that can't be fetched is part of the result, and so is one that was not
 * reached in time.
 */
export async function checkMedia(
  deps: { readonly connections: Calling },
  platformId: string,
  addresses: readonly MediaAddress[],
): Promise<CheckedMedia> {
  const { probeMedia } = await import("../../media/probe-media.ts");
  const { mediaReader } = await import("../../media/media-reader.ts");
  const readBy = { reader: mediaReader, owner: platformId };
  const { config, outbound } = deps.connections;
  const limits = { totalMs: CHECKS_MS_MAX, owner: platformId };
  const limited = limitCalls({ config, outbound }, limits);
  const found = new Map<string, MediaProbe | MediaFailure>();
  const check = async ({ url, field }: MediaAddress): Promise<MediaCheck> => {
    try {
      if (limited.leftMs() === 0) throw unreachable("unchecked");
      const probe = await probeMedia({ config, outbound: limited }, url, readBy);
      found.set(url, probe);
      const { contentType, size: bytes } = probe;
      return { url, field, ok: true, contentType, bytes, error: null };
    } catch (error) {
      if (!(error instanceof MediaFailure)) throw error;
      found.set(url, error);
      return { url, field, ok: false, contentType: null, bytes: null, error: error.code };
    }
  };
  const checks = await inBatches(addresses, AT_ONCE, check);
  return { checks, found };
}

/** Adds the network's findings about the draft's files, as far as they were probed. */
export function withMedia(
  check: NetworkCheck,
  draft: Draft,
  { found }: Pick<CheckedMedia, "found">,
): NetworkCheck {
  const { connection } = check;
  const network = networkOf(check.network);
  const content = legDraft(draft, check.network);
  const limits = connection?.limits ?? {};
  const targets = network.media?.(content, limits);
  if (found.size === 0) return check;
  const isRead = ({ mediaIndex }: Problem) => {
    const file = found.get(content.media[mediaIndex ?? -1]?.url ?? "");
    return isFound(file) || file?.code === "media_rejected";
  };
  const isGuess = ({ rule }: Problem) => isTypeGuess(check.network, rule);
  const problems = check.problems.filter((one) => !isGuess(one) || !isRead(one));
  const shown = picturesOf(check.network, content, limits).flatMap(({ url, field, target }) => {
    const picture = found.get(url);
    const at = { field, mediaIndex: null };
    if (picture === undefined) return [];
    if (!(picture instanceof MediaFailure))
      return checkPicture(network.name, target, { probe: picture, field });
    return picture.code === "media_rejected"
      ? [refusalError(network, picture.reason ?? "size", at)]
      : [unreachableError(network, at, picture)];
  });
  if (targets === undefined) return { ...check, problems: [...problems, ...shown] };
  const field = fieldOf(network.name, content, "mediaUrls");
  const files = content.media.map(({ url }) => found.get(url));
  const alone = files.flatMap((file, mediaIndex) => {
    const at = { field, mediaIndex };
    if (file === undefined) return [];
    if (!(file instanceof MediaFailure))
      return checkMediaFile(network, targets, { probe: file, ...at });
    return file.code === "media_rejected"
      ? [refusalError(network, file.reason ?? "size", at)]
      : [unreachableError(network, at, file)];
  });
  // Publishing refuses the first file that doesn't fit, and checks the files together only if each one fits.
  const isEachTaken = alone.every(({ severity }) => severity !== "error");
  const facts = files.map((file) => (isFound(file) ? file : null));
  const together = isEachTaken ? (network.checkFiles?.(content, limits, facts) ?? []) : [];
  const isKnown = (later: Problem) => problems.some(({ rule }) => rule === later.rule);
  return {
    ...check,
    problems: [...problems, ...alone, ...together.filter((problem) => !isKnown(problem)), ...shown],
  };
}

function isFound(file: MediaProbe | MediaFailure | undefined): file is MediaProbe {
  return file !== undefined && !(file instanceof MediaFailure);
}
