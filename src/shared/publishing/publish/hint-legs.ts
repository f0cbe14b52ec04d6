import type { NetworkName } from "../../networks/lookup.ts";
import type { PublishingDeps } from "../deps.ts";
import type { PostPlace } from "../post-store.ts";

/**
 * Hints that legs have something to do. A hint that can't be sent costs only time: the sweeper sends it later. For it
 * the platform is marked anew, since the work may have been written long after it was marked first.
 */
export async function hintLegs(
  services: PublishingDeps,
  place: PostPlace,
  networks: readonly NetworkName[],
  delaySeconds = 0,
): Promise<void> {
  if (networks.length === 0) return;
  try {
    await Promise.all([
      services.openWork.mark(place.platformId, services.clock.now()),
      services.publishQueue.hint(place, networks, delaySeconds),
    ]);
  } catch (error) {
    services.log.warn("hint not sent, the sweeper will", { postId: place.postId, error });
  }
}
