import type { PublishingDeps } from "../deps.ts";
import { continueWork, withinWork } from "../../runtime/telemetry/work-context.ts";
import { hasStarted, type Post } from "../post.ts";
import type { PostPlace, StoredLeg } from "../post-store.ts";
import { publishLeg } from "./publish-leg.ts";
import type { PublishHint } from "./publish-queue.ts";

/** The errors of legs that failed in an unexpected way. */
async function publishAll(
  services: PublishingDeps,
  place: PostPlace,
  post: Post,
  legs: readonly StoredLeg[],
): Promise<unknown[]> {
  const errors: unknown[] = [];
  const publishOne = async (stored: StoredLeg): Promise<void> => {
    try {
      await publishLeg(services, place, post, stored);
    } catch (error) {
      services.log.error("leg failed unexpectedly", { postId: place.postId, error });
      errors.push(error);
    }
  };
  await Promise.all(
    legs.map((stored) => withinWork({ network: stored.leg.network }, () => publishOne(stored))),
  );
  return errors;
}

/**
 * What a hint asks for: the named legs side by side, each on its own. Returns for every expected outcome; an error
 * is thrown only after all legs had their turn.
 */
export async function publishLegs(services: PublishingDeps, hint: PublishHint): Promise<void> {
  const { networks, ...place } = hint;
  // Beginnings are told at once, not when the slowest network has ended.
  const told = services.fanOutQueue.hint(place.platformId);
  const [seen, ...legs] = await Promise.all([
    services.posts.findPost(place),
    ...networks.map((network) => services.posts.findLeg(place, network)),
  ]);
  if (seen === undefined) return;
  // It may have been changed, and started, between the two readings: legs go out with the draft that they started with.
  const post = hasStarted(seen) ? seen : await services.posts.findPost(place);
  if (post === undefined) return;
  const found = legs.filter((leg) => leg !== undefined);
  const errors = await continueWork(post, {}, () => publishAll(services, place, post, found));
  await told;
  await services.fanOutQueue.hint(place.platformId);
  if (errors.length > 0) throw new AggregateError(errors, "legs failed unexpectedly");
}
