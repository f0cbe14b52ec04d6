/* The part of publishing that other folders use: the verbs of posts, and the work on their legs. */

export { createPost, type AcceptingScope } from "./accept/create-post.ts";
export { removeSpentKeys } from "./accept/idempotency-key.ts";
export { validatePost } from "./accept/validate-post.ts";
export { removeFreeTexts } from "./accounts/recent-text.ts";
export type { PublishingDeps } from "./deps.ts";
export {
  clearIdempotencyKeys,
  clearTexts,
  closePosts,
  isCalling,
  isRemoving,
  removePosts,
} from "./erase-posts.ts";
export { pingQueue, resendPublishingHint } from "./hints.ts";
export { createPostQueries } from "./post-queries.ts";
export { PUBLISHING_QUEUE, PublishingHint } from "./post-queue.ts";
export { issuesOfPlatforms } from "./reopen/foreign-issues.ts";
export { publishLegs } from "./publish/publish-legs.ts";
export { removePost } from "./reopen/remove-post.ts";
export { retryPost } from "./reopen/retry-post.ts";
export { UnmappedSignals } from "./publish/unmapped-signals.ts";
export {
  getApplicationPost,
  listApplicationPosts,
  ListApplicationPostsQuery,
  listSchedule,
  ListScheduleQuery,
} from "./read/application-posts.ts";
export { getNetworks, networkDescriptions, networksExample } from "./read/describe-networks.ts";
export { getPost, getTimeline, listPosts, ListPostsQuery } from "./read/read-posts.ts";
export { cancelPost, issuesOfUpdate, updatePost } from "./schedule/change-scheduled.ts";
export { startPost, hintDuePosts } from "./schedule/start-post.ts";
export { createPublishingStores } from "./stores.ts";
export { hasOpenWork, sweepOpenWork } from "./sweep-open-work.ts";
