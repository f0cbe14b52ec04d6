import type { PublishingDeps } from "../deps.ts";
import { continueWork, withinWork } from "../../runtime/telemetry/work-context.ts";
import { hasStarted, type Post, type PostRef } from "../post.ts";
import type { StoredLeg } from "../post-store.ts";
import { publishLeg } from "./publish-leg.ts";
import type { PublishHint } from "./publish-queue.ts";

/** The errors of legs that failed in an unexpected way. */
async function publishAll(
  services: PublishingDeps,
  ref: PostRef,
  post: Post,
  legs: readonly StoredLeg[],
): Promise<unknown[]> {
  const errors: unknown[] = [];
  const publishOne = async (stored: StoredLeg): Promise<void> => {
    try {
      await publishLeg(services, ref, post, stored);
    } catch (error) {
      services.log.error("leg failed unexpectedly", { postId: ref.postId, error });
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
  const { networks, ...ref } = hint;
  // Beginnings are told at once, not when the slowest network has ended.
  const told = services.fanOutQueue.hint(ref.platformId);
  const [seen, ...legs] = await Promise.all([
    services.posts.findPost(ref),
    ...networks.map((network) => services.posts.findLeg(ref, network)),
  ]);
  if (seen === undefined) return;
  // It may have been changed, and started, between the two readings: legs go out with the draft that they started with.
  const post = hasStarted(seen) ? seen : await services.posts.findPost(ref);
  if (post === undefined) return;
  const found = legs.filter((leg) => leg !== undefined);
  const errors = await continueWork(post, {}, () => publishAll(services, ref, post, found));
  await told;
  await services.fanOutQueue.hint(ref.platformId);
  if (errors.length > 0) throw new AggregateError(errors, "legs failed unexpectedly");
}
