import type { ProfileScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import { isId } from "../../runtime/ids.ts";
import type { PublishingDeps } from "../deps.ts";
import { dependsOnConnections, postView, type PostView } from "./post-view.ts";
import type { PostWithLegs } from "../post-store.ts";

/** The post with its legs, where the scope's own profile has it. */
export async function lookForPost(
  services: PublishingDeps,
  scope: ProfileScope,
  postId: string,
): Promise<PostWithLegs | undefined> {
  if (!isId("post", postId)) return undefined;
  const { platformId, profileId, applicationId } = scope;
  const found = await services.posts.find({ platformId, profileId, postId });
  return found?.post.applicationId === applicationId ? found : undefined;
}

/** The post with its legs, found only under the scope's own profile. @throws AppError `not_found` */
export async function findPostOf(
  services: PublishingDeps,
  scope: ProfileScope,
  postId: string,
): Promise<PostWithLegs> {
  const found = await lookForPost(services, scope, postId);
  if (found === undefined) throw notFound();
  return found;
}

/** Shows a post as it is now; reads what is linked only where the answer depends on it. */
export async function viewPost(
  services: PublishingDeps,
  scope: ProfileScope,
  found: PostWithLegs,
): Promise<PostView> {
  if (!dependsOnConnections(found)) return postView(found);
  return postView(found, await services.connections.listOfProfile(scope.profileId));
}

/** @throws AppError `not_found` */
export async function getPost(
  services: PublishingDeps,
  scope: ProfileScope,
  postId: string,
): Promise<PostView> {
  return viewPost(services, scope, await findPostOf(services, scope, postId));
}
