import type { ProfileScope } from "../callers/scope.ts";
import { AppError } from "../runtime/errors.ts";
import type { PublishingDeps } from "./deps.ts";
import { isBeingRemoved, isBusy, openCall, legStatusOf, type Leg } from "./leg.ts";
import { indexKeysOf } from "./post-index.ts";
import type { OpenWorkPage, PostWithLegs } from "./post-store.ts";
import { postWake, postRefOf } from "./post.ts";
import { cancelPost } from "./schedule/change-scheduled.ts";

const PAGE_POSTS = 50;

async function hasOpenLeg(
  { stores: { posts } }: PublishingDeps,
  { platformId, profileId }: ProfileScope,
  fits: (leg: Leg) => boolean,
): Promise<boolean> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const page: OpenWorkPage = await posts.listOpenWork(platformId, after);
    for (const { ref } of page.works) {
      if (ref.profileId !== profileId) continue;
      const found = await posts.find(ref);
      if (found?.legs.some(fits) === true) return true;
    }
    after = page.next;
  }
  return false;
}

/** Reports whether a post of the profile is being removed at its network, which takes an hour at most. */
export const isRemoving = (deps: PublishingDeps, scope: ProfileScope) =>
  hasOpenLeg(deps, scope, isBeingRemoved);

/** Reports whether a network is being called for the profile. Calls that were begun are followed to their end. */
export const isCalling = (deps: PublishingDeps, scope: ProfileScope) =>
  hasOpenLeg(
    deps,
    scope,
    (leg) => legStatusOf(leg) === "publishing" || openCall(leg) !== undefined,
  );

/** Cancels the scheduled posts of a page of the profile's posts. Returns how many posts of the page are still open. */
export async function closePosts(
  deps: PublishingDeps,
  scope: ProfileScope,
  after: string | undefined,
): Promise<{ readonly open: number; readonly next: string | undefined }> {
  const position = { after, limit: PAGE_POSTS, missesNone: true } as const;
  const isOpen = ({ post: { status } }: PostWithLegs) =>
    status === "scheduled" || status === "processing";
  const { items, next } = await deps.stores.posts.listOfProfile(scope, position, isOpen);
  for (const { post } of items)
    if (post.status === "scheduled")
      await cancelPost(deps, scope, post.id).catch((error: unknown) => {
        // The post has started. Its legs end by themselves, because no account is linked any more.
        if (!(error instanceof AppError && error.code === "invalid_state")) throw error;
      });
  // Canceled posts count as open until the next round, because the post may have started before the cancel.
  return { open: items.length, next };
}

/**
 * Removes a page of the profile's posts. Returns how many it removed, or undefined when one has an open leg, whose
 * tokens must be released before its rows are removed.
 */
export async function removePosts(
  { stores: { posts, timeline }, wakes }: PublishingDeps,
  scope: ProfileScope,
): Promise<number | undefined> {
  const position = { after: undefined, limit: PAGE_POSTS, missesNone: true } as const;
  const { items } = await posts.listOfProfile(scope, position, () => true);
  if (items.some(({ legs }) => legs.some(isBusy))) return undefined;
  for (const found of items) {
    const { scheduleAt } = found.post.draft;
    // A run that crashed directly after canceling the post left the row that says when it was due.
    if (scheduleAt !== null) await wakes.remove(postWake(postRefOf(found.post), scheduleAt));
    await timeline.remove(found.post.id);
    await posts.remove(found, indexKeysOf(found.post));
  }
  return items.length;
}

/** Removes a page of the claims of texts that the profile has published. */
export const clearTexts = (
  { stores }: PublishingDeps,
  { profileId }: ProfileScope,
  after: string | undefined,
) => stores.networkAccounts.removeTextsOfProfile(profileId, after);

export const clearIdempotencyKeys = (
  { stores }: PublishingDeps,
  { platformId, profileId }: ProfileScope,
  after: string | undefined,
) => stores.idempotency.removeOfProfile(platformId, profileId, after);
