import { removeConnection } from "../../connections/remove-connection.ts";
import { emitPendingEvents } from "../../connections/emit-pending-events.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import { AppError } from "../../runtime/errors.ts";
import { cancelPost } from "../../publishing/schedule/change-scheduled.ts";
import type { TenantsDeps } from "../deps.ts";

const PAGE_POSTS = 50;

/** Ends the profile's authorisations: their secrets are purged and the networks are told. May be repeated. */
export async function endConnections(services: TenantsDeps, scope: ProfileScope): Promise<void> {
  for (const connection of await services.connections.listOfProfile(scope.profileId, {
    missesNone: true,
  })) {
    if (connection.status !== "revoked") await removeConnection(services, scope, connection.id);
    // One that was ended by a run which died right after has its row for it, and that goes soon.
    else await emitPendingEvents(services, connection);
  }
}

async function cancel(services: TenantsDeps, scope: ProfileScope, postId: string): Promise<void> {
  try {
    await cancelPost(services, scope, postId);
  } catch (error) {
    // It fired meanwhile: its legs end by themselves, for there is no connection any more.
    if (!(error instanceof AppError && error.code === "invalid_state")) throw error;
  }
}

/** Cancels what is scheduled on a page of the profile's posts; answers how many posts of the page are still open. */
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
  // What was just canceled is looked at once more, for the cancel may have lost against the firing.
  return { open: items.length, next };
}
