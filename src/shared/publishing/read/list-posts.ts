import type { ProfileScope } from "../../callers/scope.ts";
import type { Page } from "../../runtime/page.ts";
import type { PublishingDeps } from "../deps.ts";
import type { PostWithLegs } from "../post-store.ts";
import { dependsOnConnections, postView, type PostView } from "./post-view.ts";
import type { ListPosts } from "./list-schema.ts";

/** Whether a post belongs into the list; "stop" when no older one can. */
function fits({ post }: PostWithLegs, filter: ListPosts): boolean | "stop" {
  if (filter.from !== undefined && post.createdAt < filter.from) return "stop";
  if (filter.to !== undefined && post.createdAt >= filter.to) return false;
  if (filter.status !== undefined && post.status !== filter.status) return false;
  if (filter.externalId !== undefined && post.draft.externalId !== filter.externalId) return false;
  return filter.platform === undefined || post.draft.networks.includes(filter.platform);
}

/** The profile's posts, newest first. @throws AppError `invalid_cursor` */
export async function listPosts(
  services: PublishingDeps,
  scope: ProfileScope,
  query: ListPosts,
): Promise<Page<PostView>> {
  const { limit, cursor, ...filter } = query;
  const { platformId, profileId } = scope;
  const bound = { list: "posts", platformId, profileId, ...filter };
  const after = services.cursors.read(cursor, bound);
  const { items, next } = await services.posts.listOfProfile(scope, { after, limit }, (found) =>
    fits(found, query),
  );
  const connections = items.some(dependsOnConnections)
    ? await services.connections.listOfProfile(profileId)
    : [];
  return {
    items: items.map((found) => postView(found, connections)),
    nextCursor: next === undefined ? null : services.cursors.make(next, bound),
    limit,
  };
}
