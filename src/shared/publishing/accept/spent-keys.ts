import type { PublishingDeps } from "../deps.ts";
import type { Accepted } from "./accepted.ts";
import type { PostStatus } from "../post.ts";

/** However old the key is: a post that ended of late may still be asked for by it. */
const ENDED_MS = 30 * 24 * 60 * 60 * 1000;
const POSTS_AT_ONCE = 16;
const OPEN: ReadonlySet<PostStatus> = new Set(["scheduled", "processing"]);

/** Whether the post that a key stands for is long over, or erased. */
async function isSpent(
  services: PublishingDeps,
  platformId: string,
  { profileId, postId }: Accepted,
): Promise<boolean> {
  const post = await services.posts.findPost({ platformId, profileId, postId });
  if (post === undefined) return true;
  if (OPEN.has(post.status)) return false;
  const endedAt = Date.parse(post.completedAt ?? post.updatedAt);
  return services.clock.now().getTime() - endedAt > ENDED_MS;
}

/** Removes a page of the Idempotency-Keys of posts that are over; one of a post that is still to go out stays. */
export async function removeSpentKeys(
  services: PublishingDeps,
  platformId: string,
  { acceptedBefore, after }: { readonly acceptedBefore: Date; readonly after: string | undefined },
): Promise<{ readonly removed: number; readonly next: string | undefined }> {
  const { idempotency } = services;
  const { keys, next } = await idempotency.listBefore(platformId, acceptedBefore, after);
  let removed = 0;
  for (let index = 0; index < keys.length; index += POSTS_AT_ONCE) {
    const batch = keys.slice(index, index + POSTS_AT_ONCE);
    const gone = await Promise.all(
      batch.map(async ({ rowKey, accepted }) => {
        if (!(await isSpent(services, platformId, accepted))) return false;
        await idempotency.remove(platformId, rowKey);
        return true;
      }),
    );
    removed += gone.filter(Boolean).length;
  }
  return { removed, next };
}
