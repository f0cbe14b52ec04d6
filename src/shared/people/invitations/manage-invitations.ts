import type { SessionScope } from "../../callers/scope.ts";
import { rateLimited } from "../../limits/limits.ts";
import { isMailOn } from "../../mail/mail.ts";
import { AppError, notFound } from "../../runtime/errors.ts";
import { isId, newId } from "../../runtime/ids.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import { randomToken } from "../../runtime/secrets.ts";
import { LOST, retryLostRaces } from "../../runtime/retry-lost-races.ts";
import type { PeopleStores } from "../stores.ts";
import type { PeopleDeps } from "../deps.ts";
import { addLink } from "../links/links.ts";
import { getOwnUser } from "../staff/own-account.ts";
import { isEmailOf, type User } from "../staff/user.ts";
import {
  invitationStatusOf,
  viewInvitation,
  type Invitation,
  type InvitationView,
} from "./invitation.ts";
import type { LatestInvitation } from "./invitation-store.ts";
import type { Invite, ListInvitations } from "./schema.ts";

const MARK_BYTES = 12;
const HOUR_SECONDS = 3_600;

/** Returns what the link of an invitation is bound to: its mark, email and role. */
export const stateOfInvitation = ({ linkMark, email, role }: Invitation) =>
  `${linkMark}|${role}|${email}`;

/** Refuses to invite a colleague, without revealing users of other platforms. @throws AppError `conflict` */
async function refuseColleague(
  stores: Pick<PeopleStores, "emails" | "users">,
  { platformId }: SessionScope,
  email: string,
): Promise<void> {
  const claim = await stores.emails.find(email);
  if (claim?.platformId !== platformId) return;
  const user = await stores.users.find(platformId, claim.userId);
  if (user === undefined || !isEmailOf(user, email) || !user.emailVerified) return;
  throw new AppError("conflict", "This person already logs in to your platform.", {
    details: { existingId: user.id },
  });
}

/** Returns the open invitation of an address. */
async function findOpenInvitation(
  { stores, clock }: Pick<PeopleDeps, "clock" | "stores">,
  { invitation }: LatestInvitation,
): Promise<Invitation | undefined> {
  if (invitation === undefined) return undefined;
  const inviter = await stores.users.find(invitation.platformId, invitation.invitedBy);
  return invitationStatusOf(invitation, inviter, clock.now()) === "open" ? invitation : undefined;
}

/** The answer of `invite`. `url` is the link, unless it was mailed. */
interface InviteAnswer {
  readonly isNew: boolean;
  readonly invitation: InvitationView & { readonly url?: string };
}

interface InvitationOrder extends Pick<Invitation, "email" | "role" | "locale"> {
  readonly inviter: User;
  readonly platformName: string;
}

/**
 * Makes the invitation, or a new link for the open one, and mails it. The link is stored first. It becomes valid with
 * the transaction that stores its mark, which also ends the previous link.
 */
async function issue(
  deps: PeopleDeps,
  asked: InvitationOrder,
): Promise<InviteAnswer | typeof LOST> {
  const { stores, clock, mail } = deps;
  const { email, role, locale, inviter, platformName } = asked;
  const { platformId } = inviter;
  const now = clock.now();
  const latest = await stores.invitations.findLatest(platformId, email);
  const open = await findOpenInvitation(deps, latest);
  const fresh: Omit<Invitation, "expiresAt"> = {
    id: newId("invitation", now),
    platformId,
    status: "open",
    userId: newId("user", now),
    createdAt: now.toISOString(),
    acceptedAt: null,
    ...open,
    // In the spelling of the first invitation, because its link and its claim depend on it.
    email: open?.email ?? email,
    role,
    locale,
    invitedBy: inviter.id,
    passwordVersion: inviter.passwordVersion,
    linkMark: randomToken(MARK_BYTES),
  };
  const state = stateOfInvitation({ ...fresh, expiresAt: "" });
  const { url, expiresAt } = await addLink(deps, "invitation", { ...fresh, state });
  const invitation: Invitation = { ...fresh, expiresAt: expiresAt.toISOString() };
  const names = { platform: platformName };
  const values = { inviter: inviter.email, role };
  const to = invitation.email;
  const letter = { kind: "invitation", to, locale, link: url, names, values } as const;
  const isIssued = await mail.writeWithMails(platformId, [letter], (rows) =>
    stores.invitations.issue(invitation, latest, rows),
  );
  if (!isIssued) return LOST;
  const view = viewInvitation(invitation, inviter, now);
  return {
    isNew: open === undefined,
    invitation: isMailOn(deps.config) ? view : { ...view, url },
  };
}

/**
 * Invites somebody to the caller's platform by a link, which is mailed, or handed over when no mail is sent. Asking
 * again while the invitation is open makes a new link with the role asked for now. Claims no email.
 * @throws AppError `conflict`, `rate_limited`, `service_unavailable`
 */
export async function invite(
  deps: PeopleDeps,
  scope: SessionScope,
  { email, role, locale = "en" }: Invite,
): Promise<InviteAnswer> {
  await refuseColleague(deps.stores, scope, email);
  const [inviter, platform] = await Promise.all([
    getOwnUser(deps.stores.users, scope),
    deps.tenants.findPlatform(scope.platformId),
  ]);
  // Counts an invitation of the platform, and its mail.
  if (isMailOn(deps.config) && !(await deps.mail.admitMail(email, "invitation")))
    throw rateLimited(HOUR_SECONDS, "This address got too many invitations. Try again later.");
  await deps.limits.admitInvitation(scope.platformId);
  const platformName = platform?.name ?? "";
  const asked = { email, role, locale, inviter, platformName };
  const invited = await retryLostRaces(() => issue(deps, asked));
  const target = { type: "invitation", id: invited.invitation.id };
  deps.audit.record(scope, {
    action: invited.isNew ? "invitation.created" : "invitation.renewed",
    target,
  });
  return invited;
}

/**
 * Lists the platform's invitations in a status, newest first. A page may be short, because the user who made an
 * invitation is only read afterwards.
 * @throws AppError `invalid_cursor`
 */
export async function listInvitations(
  { stores, clock, cursors }: PeopleDeps,
  { platformId }: SessionScope,
  { limit, cursor, status }: ListInvitations,
): Promise<Page<InvitationView>> {
  const bound = { list: "invitations", platformId, status };
  const after = cursors.read(cursor, bound);
  const now = clock.now();
  const mayFit = (one: Invitation) => {
    if (status === "accepted" || one.status !== "open") return one.status === status;
    return status === "withdrawn" || one.expiresAt <= now.toISOString() === (status === "expired");
  };
  const { items, next } = await stores.invitations.list(platformId, { after, limit }, mayFit);
  const inviterIds = [...new Set(items.map(({ invitedBy }) => invitedBy))];
  const inviters = new Map(
    await Promise.all(
      inviterIds.map(async (id) => [id, await stores.users.find(platformId, id)] as const),
    ),
  );
  const views = items
    .map((one) => viewInvitation(one, inviters.get(one.invitedBy), now))
    .filter((view) => view.status === status);
  return toPage(
    { items: views, next },
    limit,
    (position) => cursors.make(position, bound),
    (view) => view,
  );
}

/** Withdraws an invitation, which ends its link. May be repeated. @throws AppError `not_found`, `invalid_state` */
export async function withdrawInvitation(
  deps: PeopleDeps,
  scope: SessionScope,
  invitationId: string,
): Promise<void> {
  if (!isId("invitation", invitationId)) throw notFound();
  const { invitations } = deps.stores;
  const outcome = await invitations.withdraw(scope.platformId, invitationId);
  if (outcome === "absent") throw notFound();
  const target = { type: "invitation", id: invitationId };
  const action = "invitation.withdrawn";
  if (outcome === "accepted") {
    deps.audit.record(scope, { action, target, outcome: "denied" });
    throw new AppError("invalid_state", "It was accepted. Remove the user instead.", {
      details: { status: "accepted" },
    });
  }
  deps.audit.record(scope, { action, target });
}
