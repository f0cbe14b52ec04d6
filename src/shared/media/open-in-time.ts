import type { LimitedCalls } from "../runtime/limited-calls.ts";
import { withTimeLimit } from "../runtime/promises.ts";
import { unreachable } from "../networks/contract/unreachable.ts";
import { openMedia, type OpenedMedia, type OpenLimits } from "./open-media.ts";

/**
 * Opens a file as `openMedia` does, within the time of the calls: reading its facts may have to wait for a process.
 * @throws MediaFailure
 */
export async function openInTime(
  calls: LimitedCalls,
  url: string,
  limits: OpenLimits,
): Promise<OpenedMedia> {
  const opening = openMedia(calls, url, limits);
  try {
    return await withTimeLimit(calls.leftMs(), opening, () => {
      throw unreachable("slow");
    });
  } catch (error) {
    void opening.then(
      (file) => file.close(),
      () => undefined,
    );
    throw error;
  }
}
