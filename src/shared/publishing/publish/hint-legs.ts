import type { NetworkName } from "../../networks/lookup.ts";
import type { PublishingDeps } from "../deps.ts";
import type { PostRef } from "../post.ts";

/**
 * Hints that legs have something to do. A hint that can't be sent costs only time: the sweeper sends it later. For it
 * the platform is marked anew, since the work may have been written long after it was marked first.
 */
export async function hintLegs(
  services: PublishingDeps,
  ref: PostRef,
  networks: readonly NetworkName[],
  delaySeconds = 0,
): Promise<void> {
  if (networks.length === 0) return;
  try {
    await Promise.all([
      services.openWork.mark(ref.platformId, services.clock.now()),
      services.publishQueue.hint(ref, networks, delaySeconds),
    ]);
  } catch (error) {
    services.log.warn("hint not sent, the sweeper will", { postId: ref.postId, error });
  }
}
