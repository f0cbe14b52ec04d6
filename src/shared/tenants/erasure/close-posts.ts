import { removeConnection } from "../../connections/remove-connection.ts";
import { emitPendingEvents } from "../../connections/emit-pending-events.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import { AppError } from "../../runtime/errors.ts";
import { cancelPost } from "../../publishing/schedule/change-scheduled.ts";
import type { TenantsDeps } from "../deps.ts";

const PAGE_POSTS = 50;

async function end(services: TenantsDeps, scope: ProfileScope, id: string): Promise<void> {
  try {
    await removeConnection(services, scope, id);
  } catch (error) {
    // A concurrent run has removed it meanwhile.
    if (!(error instanceof AppError && error.code === "not_found")) throw error;
  }
}

/** Purges the secrets of the profile's accounts and ends their authorisations at the networks. May be repeated. */
export async function endConnections(services: TenantsDeps, scope: ProfileScope): Promise<void> {
  for (const connection of await services.connections.listOfProfile(scope.profileId, {
    missesNone: true,
  })) {
    if (connection.status !== "revoked") await end(services, scope, connection.id);
    // A run that crashed right after revoking it may have left its event, which would be removed with the row.
    else await emitPendingEvents(services, connection);
  }
}

async function cancel(services: TenantsDeps, scope: ProfileScope, postId: string): Promise<void> {
  try {
    await cancelPost(services, scope, postId);
  } catch (error) {
    // The post has started: its legs end by themselves, because no account is linked any more.
    if (!(error instanceof AppError && error.code === "invalid_state")) throw error;
  }
}

/** Cancels the scheduled posts of a page of the profile's posts. Returns how many posts of the page are still open. */
export async function closePosts(
  services: TenantsDeps,
  scope: ProfileScope,
  after: string | undefined,
): Promise<{ readonly open: number; readonly next: string | undefined }> {
  const position = { after, limit: PAGE_POSTS, missesNone: true } as const;
  const { items, next } = await services.posts.listOfProfile(
    scope,
    position,
    ({ post }) => post.status === "scheduled" || post.status === "processing",
  );
  for (const { post } of items)
    if (post.status === "scheduled") await cancel(services, scope, post.id);
  // Canceled posts count as open until the next round, because the post may have started before the cancel.
  return { open: items.length, next };
}
