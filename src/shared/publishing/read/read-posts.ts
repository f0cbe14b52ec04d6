import * as z from "zod";
import type { ProfileScope } from "../../callers/scope.ts";
import { connectionsOf } from "../../connections/connections.ts";
import { NETWORK_NAMES } from "../../networks/names.ts";
import { notFound } from "../../runtime/errors.ts";
import { externalIdFilter, instantFilter, refuseLostPlus } from "../../runtime/fields.ts";
import { isId } from "../../runtime/ids.ts";
import { pageQuery, type Page } from "../../runtime/page.ts";
import type { Reader } from "../../runtime/storage/codec.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { PublishingDeps } from "../deps.ts";
import type { PostWithLegs, PostStore } from "../post-store.ts";
import { POST_STATUSES } from "../post.ts";
import { timelineStep, type TimelineStep } from "../timeline-store.ts";
import { dependsOnConnections, postView, type PostView } from "./post-view.ts";

/** Finds the post with its legs if it belongs to the scope. */
export async function lookForPost(
  posts: PostStore,
  scope: ProfileScope,
  postId: string,
  reader?: Reader,
): Promise<PostWithLegs | undefined> {
  if (!isId("post", postId)) return undefined;
  const { platformId, profileId, applicationId } = scope;
  const found = await posts.find({ platformId, profileId, postId }, reader);
  return found?.post.applicationId === applicationId ? found : undefined;
}

/** Finds the post with its legs if it belongs to the scope. @throws AppError `not_found` */
export async function findPostOf(
  posts: PostStore,
  scope: ProfileScope,
  postId: string,
  reader?: Reader,
): Promise<PostWithLegs> {
  const found = await lookForPost(posts, scope, postId, reader);
  if (found === undefined) throw notFound();
  return found;
}

/** Shows a post to its owner. Reads the connections only if the answer depends on them. */
export async function viewPost(
  deps: Pick<PublishingDeps, "config" | "connections">,
  scope: ProfileScope,
  found: PostWithLegs,
): Promise<PostView> {
  const { publicBaseUrl } = deps.config;
  if (!dependsOnConnections(found)) return postView(found, publicBaseUrl, [], scope.locale);
  const connections = await connectionsOf(deps.connections, scope, "people");
  return postView(found, publicBaseUrl, connections, scope.locale);
}

/** Returns a post of the profile. @throws AppError `not_found` */
export async function getPost(
  deps: PublishingDeps,
  scope: ProfileScope,
  postId: string,
): Promise<PostView> {
  const found = await findPostOf(deps.stores.posts, scope, postId, "people");
  return viewPost(deps, scope, found);
}

export const ListPostsQuery = shape(() =>
  z.strictObject({
    ...pageQuery(),
    status: z.enum(POST_STATUSES).optional(),
    platform: z.enum(NETWORK_NAMES).optional().describe("Only those with a leg for this network."),
    externalId: externalIdFilter().optional(),
    from: instantFilter().optional().describe("Only those created at this time or later."),
    to: instantFilter().optional().describe("Only posts created before this time."),
  }),
);
type ListPosts = ShapeOf<typeof ListPostsQuery>;

/** Reports whether the post belongs to the list, or "stop" when no older one can. */
function fitsPostFilter({ post }: PostWithLegs, filter: ListPosts): boolean | "stop" {
  if (filter.from !== undefined && post.createdAt < filter.from) return "stop";
  if (filter.to !== undefined && post.createdAt >= filter.to) return false;
  if (filter.status !== undefined && post.status !== filter.status) return false;
  if (filter.externalId !== undefined && post.draft.externalId !== filter.externalId) return false;
  return filter.platform === undefined || post.draft.networks.includes(filter.platform);
}

/** Lists the profile's posts, newest first. @throws AppError `invalid_cursor` */
export async function listPosts(
  deps: PublishingDeps,
  scope: ProfileScope,
  query: ListPosts,
): Promise<Page<PostView>> {
  const { limit, cursor, ...filter } = query;
  const { platformId, profileId } = scope;
  const bound = { list: "posts", platformId, profileId, ...filter };
  const after = deps.cursors.read(cursor, bound);
  const { items, next } = await deps.stores.posts.listOfProfile(
    scope,
    { after, limit, reader: "people" },
    (found) => fitsPostFilter(found, query),
  );
  refuseLostPlus(
    "externalId",
    query.externalId,
    items.length > 0 || next !== undefined || after !== undefined,
  );
  const connections = items.some(dependsOnConnections)
    ? await connectionsOf(deps.connections, scope, "people")
    : [];
  return {
    items: items.map((found) =>
      postView(found, deps.config.publicBaseUrl, connections, scope.locale),
    ),
    nextCursor: next === undefined ? null : deps.cursors.make(next, bound),
    limit,
  };
}

function milestones({ post, legs }: PostWithLegs): TimelineStep[] {
  const { createdAt, startedAt, completedAt, draft, status } = post;
  const steps = [timelineStep(createdAt, "accepted")];
  if (draft.scheduleAt !== null)
    steps.push(timelineStep(createdAt, "scheduled", `for ${draft.scheduleAt}`));
  if (draft.scheduleAt !== null && startedAt !== null) steps.push(timelineStep(startedAt, "fired"));
  const reserved = legs.filter(
    ({ reservation }) => reservation.operation === "publish_leg" && reservation.tokens > 0,
  );
  const tokens = reserved.reduce((sum, { reservation }) => sum + reservation.tokens, 0);
  if (startedAt !== null && tokens > 0)
    steps.push(timelineStep(startedAt, "reserved", `${tokens} tokens`));
  if (completedAt !== null)
    steps.push(
      status === "canceled"
        ? timelineStep(completedAt, "canceled")
        : { ...timelineStep(completedAt, "completed"), outcome: status },
    );
  return steps;
}

/** Returns the timeline of a post, in order. @throws AppError `not_found` */
export async function getTimeline(
  deps: PublishingDeps,
  scope: ProfileScope,
  postId: string,
): Promise<TimelineStep[]> {
  const found = await findPostOf(deps.stores.posts, scope, postId, "people");
  const worked = await deps.stores.timeline.list(postId);
  return [...milestones(found), ...worked].sort((left, right) =>
    left.at < right.at ? -1 : left.at > right.at ? 1 : 0,
  );
}
