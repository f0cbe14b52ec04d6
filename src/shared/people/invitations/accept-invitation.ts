import type { RequestScope } from "../../callers/scope.ts";
import { knownUser } from "../../limits/limits.ts";
import { AppError } from "../../runtime/errors.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { PeopleDeps } from "../deps.ts";
import { findLink, invalidLink, isOlderThanStatus, type LinkDeps } from "../links/links.ts";
import { recordUser } from "../links/record-user.ts";
import { usedLink, type OneTimeLinkForm } from "../links/used-link.ts";
import type { Platform } from "../../tenants/tenants.ts";
import { hashAndClaim } from "../staff/manage-users.ts";
import { roleNotice } from "../staff/security-notices.ts";
import { writeWithOwnersNotice } from "../../mail/mail.ts";
import { openSession } from "../staff/sign-in.ts";
import { withNetwork } from "../staff/store-login.ts";
import { newUser, type SignedIn, type User } from "../staff/user.ts";
import { invitationStatusOf, type Invitation } from "./invitation.ts";
import { stateOfInvitation } from "./manage-invitations.ts";
import type { AcceptInvitation } from "./schema.ts";

/** An invitation that was found by its link, and its platform. */
interface FollowedInvitation {
  readonly invitation: Invitation;
  readonly platform: Platform;
  readonly inviter: Pick<User, "email">;
}

/**
 * Finds the open invitation of a link, without using it up.
 * @throws AppError `invalid_link`, `platform_suspended`, `platform_closed`
 */
export async function followInvitation(deps: LinkDeps, token: string): Promise<FollowedInvitation> {
  const { stores, tenants, clock } = deps;
  const { link, isOf } = await findLink(deps, ["invitation"], token);
  const { platformId, userId: invitationId } = link;
  const [invitation, platform] = await Promise.all([
    stores.invitations.find(platformId, invitationId),
    tenants.findPlatform(platformId),
  ]);
  if (invitation === undefined || platform === undefined) throw invalidLink();
  const inviter = await stores.users.find(platformId, invitation.invitedBy);
  if (inviter === undefined || invitationStatusOf(invitation, inviter, clock.now()) !== "open")
    throw invalidLink();
  if (!isOf(stateOfInvitation(invitation))) throw invalidLink();
  if (platform.status === "closed")
    throw new AppError("platform_closed", "The platform is closed.");
  if (platform.status !== "active")
    throw new AppError("platform_suspended", "The platform is suspended.");
  if (isOlderThanStatus(link, platform)) throw invalidLink();
  return { invitation, platform, inviter };
}

/**
 * Creates the user of an invitation, who chooses a password. First claims the email for a user id that every use of
 * the invitation has. So a use after a crash continues the first one, and of concurrent uses only one stores the user.
 * @throws AppError as `followInvitation`; `validation_failed`, `service_unavailable`, `conflict`: the link stays valid
 */
export async function joinPlatform(
  deps: PeopleDeps,
  scope: RequestScope,
  { token, password, form }: AcceptInvitation & { readonly form?: OneTimeLinkForm },
): Promise<{ readonly platform: Platform; readonly user: User }> {
  const { invitation, platform } = await followInvitation(deps, token);
  const { userId: id, platformId, email, role, locale } = invitation;
  const passwordHash = await hashAndClaim(
    deps,
    knownUser(platformId, id),
    { path: "password", password, email, platformName: platform.name },
    { platformId, userId: id },
  );
  const now = deps.clock.now();
  const made = newUser({
    id,
    platformId,
    email,
    role,
    emailVerified: true,
    locale,
    passwordHash,
    createdAt: now.toISOString(),
  });
  const from = { userId: id, ip: scope.ip, now };
  const user: User = {
    ...made,
    ...usedLink(deps, form),
    signIns: withNetwork(made.signIns, from),
  };
  const accept = (rows: readonly Row[]) => deps.stores.invitations.accept(invitation, user, rows);
  const notice = { ...roleNotice(user, role), also: undefined };
  const isAccepted =
    role === "owner"
      ? await writeWithOwnersNotice(deps.mail, platformId, notice, accept)
      : await accept([]);
  if (!isAccepted) throw invalidLink();
  recordUser(deps, scope, user, "invitation.accepted");
  return { platform, user };
}

/** Creates the user of an invitation and signs them in. @throws AppError as `joinPlatform` */
export async function acceptInvitation(
  deps: PeopleDeps,
  scope: RequestScope,
  input: AcceptInvitation,
): Promise<SignedIn> {
  const { platform, user } = await joinPlatform(deps, scope, input);
  return await openSession(deps.secrets, platform, user);
}
