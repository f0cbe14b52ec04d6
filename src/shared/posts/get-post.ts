import type { ProfileScope } from "../callers/scope.ts";
import { notFound } from "../errors.ts";
import { isId } from "../ids.ts";
import type { Services } from "../services.ts";
import { dependsOnConnections, postView, type PostView } from "./post-view.ts";
import type { PostWithLegs } from "./post-store.ts";

/** The post with its legs, found only under the scope's own profile. @throws AppError `not_found` */
export async function findPostOf(
  services: Services,
  scope: ProfileScope,
  postId: string,
): Promise<PostWithLegs> {
  if (!isId("post", postId)) throw notFound();
  const { platformId, profileId } = scope;
  const found = await services.posts.find({ platformId, profileId, postId });
  if (found === undefined || found.post.applicationId !== scope.applicationId) throw notFound();
  return found;
}

/** Shows a post as it is now; reads what is linked only where the answer depends on it. */
export async function viewPost(
  services: Services,
  scope: ProfileScope,
  found: PostWithLegs,
): Promise<PostView> {
  if (!dependsOnConnections(found)) return postView(found);
  return postView(found, await services.connections.listOfProfile(scope.profileId));
}

/** @throws AppError `not_found` */
export async function getPost(
  services: Services,
  scope: ProfileScope,
  postId: string,
): Promise<PostView> {
  return viewPost(services, scope, await findPostOf(services, scope, postId));
}
