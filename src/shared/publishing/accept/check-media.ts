import { type MediaProbe, picturesOf, withFileProblems } from "../../media/probe-media.ts";
import { fieldOf } from "../../networks/contract/draft.ts";
import { networkOf } from "../../networks/networks.ts";
import { MediaFailure } from "../../networks/contract/media.ts";
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
      ...picturesOf(networkOf(name), content, {}).map(({ url, field }) => ({ url, field })),
    ];
  });
  return all.filter(({ url }, index) => all.findIndex((one) => one.url === url) === index);
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
  const content = legDraft(draft, check.network);
  const limits = check.connection?.limits ?? {};
  const known = { limits, problems: check.problems, found };
  return { ...check, problems: withFileProblems(networkOf(check.network), content, known) };
}
