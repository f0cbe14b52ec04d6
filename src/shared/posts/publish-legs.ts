import type { Services } from "../services.ts";
import { publishLeg } from "./publish-leg.ts";
import type { PublishHint } from "./publish-queue.ts";

/**
 * What a hint asks for: the named legs side by side, each on its own. Returns for every expected outcome; an error
 * is thrown only after all legs had their turn.
 */
export async function publishLegs(services: Services, hint: PublishHint): Promise<void> {
  const { networks, ...place } = hint;
  // Beginnings are told at once, not when the slowest network has ended.
  const told = services.fanOutQueue.hint(place.platformId);
  const [post, ...legs] = await Promise.all([
    services.posts.findPost(place),
    ...networks.map((network) => services.posts.findLeg(place, network)),
  ]);
  if (post === undefined) return;
  const results = await Promise.allSettled(
    legs.map(async (stored) => {
      if (stored !== undefined) await publishLeg(services, place, post, stored);
    }),
  );
  await told;
  await services.fanOutQueue.hint(place.platformId);
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  for (const error of errors)
    services.log.error("leg failed unexpectedly", { postId: place.postId, error });
  if (errors.length > 0) throw new AggregateError(errors, "legs failed unexpectedly");
}
