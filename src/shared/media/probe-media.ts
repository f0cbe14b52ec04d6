import type { MediaFacts, MediaReason, MediaTargets } from "../networks/contract/media.ts";
import { type HttpRequest, HttpFailure } from "../runtime/http-call.ts";
import { type Dialler, follow, mediaRequest, unreachable } from "./dialled.ts";
import type { ImageFacts } from "./file-job.ts";
import { openMedia } from "./open-media.ts";
import type { ReadBy } from "./media-reader.ts";
import { refusalOf, refusalError, repairWarning } from "../networks/contract/media-check.ts";
import type { Network } from "../networks/contract/network.ts";
import type { Problem } from "../networks/contract/rules.ts";
import { planFit } from "./fit-plan.ts";

/** What was found out about a file without downloading it. */
export interface MediaProbe extends MediaFacts {
  /** Of images: what decides whether a network takes it as it is. */
  readonly image: ImageFacts | null;
}

/** For all that is asked of one file: somebody waits. */
const PROBE_MS = 15_000;
const CALL_MS = 5_000;

/**
 * Looks at a media file: asks for its headers, then for its first bytes, and of a video for those that tell its length.
 * Servers that know no HEAD, no ranges or no sizes are taken as they are, for a bounded number of bytes and seconds.
 * @throws MediaFailure
 */
export async function probeMedia(
  dialler: Dialler,
  url: string,
  readBy?: ReadBy,
): Promise<MediaProbe> {
  const hurried = within(dialler, PROBE_MS);
  const toldSize = await askForSize(hurried, url);
  const bytesMax = Number.MAX_SAFE_INTEGER;
  const file = await openMedia(hurried, url, { bytesMax, toldSize, readBy });
  try {
    const { contentType, size, width, height, durationSeconds, image } = file;
    if (image !== null && size === 0) throw unreachable("empty");
    return { contentType, size, width, height, durationSeconds, image };
  } finally {
    await file.close();
  }
}

/** Best effort: many servers refuse HEAD for what they answer to GET. */
async function askForSize(dialler: Dialler, url: string): Promise<number | undefined> {
  try {
    const ask = (address: string) => dialler.request(mediaRequest("HEAD", address));
    const { answer } = await follow(url, ask);
    const told = Number(answer.headers["content-length"] ?? Number.NaN);
    return answer.status === 200 && Number.isSafeInteger(told) ? told : undefined;
  } catch {
    return undefined;
  }
}

/** No call takes longer than its share, and none goes on beyond the whole time. */
function within(dialler: Dialler, totalMs: number): Dialler {
  const startedAt = performance.now();
  const hurry = (request: HttpRequest): HttpRequest => {
    const leftMs = Math.floor(totalMs - (performance.now() - startedAt));
    if (leftMs <= 0) throw new HttpFailure("not_sent", "timeout");
    return { ...request, timeoutMs: Math.min(CALL_MS, leftMs) };
  };
  return {
    request: async (request) => dialler.request(hurry(request)),
    open: async (request) => dialler.open(hurry(request)),
  };
}

/** The file that is judged, and where it stands in the request. */
export interface Judged {
  readonly probe: MediaProbe;
  readonly field: string;
  readonly mediaIndex: number;
}

/** What publishing would do to a file, or refuse it for, as far as its first bytes tell. */
export function judgeMedia(
  network: Pick<Network, "name" | "rules">,
  targets: MediaTargets,
  { probe, field, mediaIndex }: Judged,
): readonly Problem[] {
  const place = { field, mediaIndex };
  const refused = (reason: MediaReason) => [refusalError(network, reason, place)];
  const reason = refusalOf(probe, targets);
  if (reason !== undefined) return refused(reason);
  if (probe.image === null) return [];
  const plan = planFit(probe.image, targets.image);
  switch (plan.kind) {
    case "fits":
      return [];
    case "repair":
      return plan.repairs.map((repair) => repairWarning(network.name, repair, place));
    case "refused":
      return refused(plan.reason);
  }
}
