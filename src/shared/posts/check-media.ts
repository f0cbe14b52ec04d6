import { judgeMedia } from "../media/judge-media.ts";
import type { MediaProbe } from "../media/probe-media.ts";
import { fieldOf } from "../networks/draft-rules.ts";
import { networkOf } from "../networks/lookup.ts";
import { MediaFailure } from "../networks/media.ts";
import type { Services } from "../services.ts";
import { legDraft, type Judgement } from "./check-draft.ts";
import type { Draft } from "./post.ts";

export interface MediaCheck {
  readonly url: string;
  readonly ok: boolean;
  readonly contentType: string | null;
  readonly bytes: number | null;
  readonly error: string | null;
}

/** What was found at each address. */
export interface CheckedMedia {
  readonly checks: readonly MediaCheck[];
  readonly probes: ReadonlyMap<string, MediaProbe>;
}

const AT_ONCE = 4;

/** Looks at media files to see whether they can be had and what they are. Never throws. */
export async function checkMedia(
  services: Services,
  platformId: string,
  urls: readonly string[],
): Promise<CheckedMedia> {
  const { probeMedia } = await import("../media/probe-media.ts");
  const { mediaReader } = await import("../media/media-reader.ts");
  const readBy = { reader: mediaReader, owner: platformId };
  const probes = new Map<string, MediaProbe>();
  const check = async (url: string): Promise<MediaCheck> => {
    try {
      const probe = await probeMedia(services.outbound, url, readBy);
      probes.set(url, probe);
      const { contentType, size: bytes } = probe;
      return { url, ok: true, contentType, bytes, error: null };
    } catch (error) {
      if (!(error instanceof MediaFailure)) throw error;
      return { url, ok: false, contentType: null, bytes: null, error: error.code };
    }
  };
  const checks: MediaCheck[] = [];
  for (let index = 0; index < urls.length; index += AT_ONCE)
    checks.push(...(await Promise.all(urls.slice(index, index + AT_ONCE).map(check))));
  return { checks, probes };
}

/** A judgement with what the network will make of the draft's files, as far as they were looked at. */
export function withMedia(
  judgement: Judgement,
  draft: Draft,
  { probes }: Pick<CheckedMedia, "probes">,
): Judgement {
  const { network, connection } = judgement;
  const content = legDraft(draft, network);
  const targets = networkOf(network).media?.(content, connection?.limits ?? {});
  if (targets === undefined) return judgement;
  const field = fieldOf(network, content, "mediaUrls");
  const found = content.media.flatMap(({ url }, mediaIndex) => {
    const probe = probes.get(url);
    return probe === undefined ? [] : judgeMedia(network, targets, { probe, field, mediaIndex });
  });
  return { ...judgement, problems: [...judgement.problems, ...found] };
}
