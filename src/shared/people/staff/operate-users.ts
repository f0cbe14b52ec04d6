import type { OperatorScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import { isId } from "../../runtime/ids.ts";
import type { Page } from "../../runtime/page.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { PeopleDeps } from "../deps.ts";
import { pageOfUsers } from "./manage-users.ts";
import type { FindUser, ListUsers } from "./schema.ts";
import type { ListPlatforms, PlatformSummary } from "../../tenants/tenants.ts";
import { isEmailOf, type User, viewUser, type FoundUser, type UserView } from "./user.ts";
import { removalNotice } from "./security-notices.ts";
import { writeWithOwnersNotice } from "../../mail/mail.ts";

/** Finds the user who logs in with an email. */
async function userOfEmail({ stores }: PeopleDeps, email: string): Promise<User | undefined> {
  const claim = await stores.emails.find(email);
  const user = claim && (await stores.users.find(claim.platformId, claim.userId));
  // Changing the email may leave the claim of a user who now logs in with another one.
  return user !== undefined && isEmailOf(user, email) ? user : undefined;
}

/** Finds the user who logs in with an email. The list is empty when nobody does. */
export async function findUserByEmail(
  deps: PeopleDeps,
  _scope: OperatorScope,
  { email }: FindUser,
): Promise<Page<FoundUser>> {
  const user = await userOfEmail(deps, email);
  const items = user === undefined ? [] : [{ ...viewUser(user), platformId: user.platformId }];
  return { items, nextCursor: null, limit: 1 };
}

/**
 * Lists all platforms, newest first. With `q`, lists the platform with this id, the one of the user who logs in with
 * this email, or those whose names begin with it, in the order of names. @throws AppError `invalid_cursor`
 */
export async function listPlatforms(
  deps: PeopleDeps,
  _scope: OperatorScope,
  query: ListPlatforms,
): Promise<Page<PlatformSummary>> {
  const { q = "", cursor } = query;
  // Only names fill more than a page.
  const isEmail = q.includes("@") && cursor === undefined;
  const user = isEmail ? await userOfEmail(deps, q) : undefined;
  return await deps.tenants.listPlatforms(query, user?.platformId);
}

/** Lists the staff of a platform, newest first. @throws AppError `not_found`, `invalid_cursor` */
export async function listUsersOfPlatform(
  deps: PeopleDeps,
  _scope: OperatorScope,
  { platformId, ...query }: ListUsers & { readonly platformId: string },
): Promise<Page<UserView>> {
  if ((await deps.tenants.findPlatform(platformId)) === undefined) throw notFound();
  return await pageOfUsers(deps, platformId, query);
}

/**
 * Removes a user of any platform, which frees the email. A platform without an owner is suspended.
 * @throws AppError `not_found`
 */
export async function removeUser(
  deps: PeopleDeps,
  scope: OperatorScope,
  { platformId, userId }: { readonly platformId: string; readonly userId: string },
): Promise<void> {
  const { users, emails } = deps.stores;
  if (!isId("platform", platformId)) throw notFound();
  const user = await users.find(platformId, userId);
  if (user === undefined) throw notFound();
  const at = deps.clock.now().toISOString();
  const remove = (more: readonly Row[]) => users.deleteOrSuspend(platformId, userId, { at, more });
  const outcome =
    user.role === "owner"
      ? await writeWithOwnersNotice(deps.mail, platformId, removalNotice(user), remove)
      : await remove([]);
  if (outcome === "absent") throw notFound();
  const target = { type: "user", id: userId };
  deps.audit.record(scope, { action: "user.deleted", target, platformId });
  // If this fails, the email can still be taken over, because its user doesn't exist.
  await emails.release(user.email, userId);
}
