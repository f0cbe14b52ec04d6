import type { UserRole } from "../../callers/caller.ts";
import type { Locale } from "../../runtime/locale.ts";
import type { User } from "../staff/user.ts";

export const INVITATION_STATUSES = ["open", "accepted", "withdrawn", "expired"] as const;
export type InvitationStatus = (typeof INVITATION_STATUSES)[number];

/** An invitation to become a member of a platform's staff. It claims no email until it is accepted. */
export interface Invitation {
  readonly id: string;
  readonly platformId: string;
  readonly email: string;
  readonly role: UserRole;
  /** As stored. An open invitation may have expired, or lost the user who made it. */
  readonly status: "open" | "accepted" | "withdrawn";
  /** The language of mails to the reader. */
  readonly locale: Locale;
  /** The user who made it, or requested its present link. */
  readonly invitedBy: string;
  /** The version of that user's password. A new password ends the invitation, which a stranger may have made. */
  readonly passwordVersion: number;
  /** The id of the future user, so that concurrent uses, and one after a crash, create the same user. */
  readonly userId: string;
  /** Changes with each link, so that a new link ends the previous one. */
  readonly linkMark: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly acceptedAt: string | null;
}

export interface InvitationView {
  readonly id: string;
  readonly email: string;
  readonly role: UserRole;
  readonly status: InvitationStatus;
  readonly invitedBy: { readonly id: string; readonly email: string } | null;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly acceptedAt: string | null;
}

/** Reports whether the invitation is still backed by the user who made it: an owner with an unchanged password. */
export const isStoodFor = (
  { passwordVersion }: Pick<Invitation, "passwordVersion">,
  inviter: Pick<User, "role" | "passwordVersion"> | undefined,
) => inviter?.role === "owner" && inviter.passwordVersion === passwordVersion;

/** Returns the status of an invitation. If its user, `inviter`, no longer backs it, it is withdrawn. */
export function invitationStatusOf(
  invitation: Invitation,
  inviter: User | undefined,
  now: Date,
): InvitationStatus {
  const { status, expiresAt } = invitation;
  if (status !== "open") return status;
  if (!isStoodFor(invitation, inviter)) return "withdrawn";
  return expiresAt <= now.toISOString() ? "expired" : "open";
}

export function viewInvitation(
  invitation: Invitation,
  inviter: User | undefined,
  now: Date,
): InvitationView {
  const { id, email, role, createdAt, expiresAt, acceptedAt } = invitation;
  const status = invitationStatusOf(invitation, inviter, now);
  const invitedBy = inviter === undefined ? null : { id: inviter.id, email: inviter.email };
  return { id, email, role, status, invitedBy, createdAt, expiresAt, acceptedAt };
}
