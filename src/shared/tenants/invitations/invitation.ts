import type { UserRole } from "../../callers/caller.ts";
import type { Locale } from "../../runtime/locale.ts";
import type { User } from "../staff/user.ts";

export const INVITATION_STATUSES = ["open", "accepted", "withdrawn", "expired"] as const;
export type InvitationStatus = (typeof INVITATION_STATUSES)[number];

/** An invitation to become a member of a platform's staff. It claims no e-mail until it is accepted. */
export interface Invitation {
  readonly id: string;
  readonly platformId: string;
  readonly email: string;
  readonly role: UserRole;
  /** As stored: an open one may have expired, or lost the user who made it. */
  readonly status: "open" | "accepted" | "withdrawn";
  /** The language of the mails to the reader, before and after. */
  readonly locale: Locale;
  /** The user who made it, or asked for its present link. */
  readonly invitedBy: string;
  /** The id of the user that it makes: of two uses at a time, and of one after a crash, it is the same. */
  readonly userId: string;
  /** Another one with each link, so that a new link ends the one before. */
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

/**
 * Returns the status of an invitation. `inviter` is the user who made it; one who was removed, or is no owner any more, has
 * withdrawn it.
 */
export function statusOf(
  { status, expiresAt }: Invitation,
  inviter: User | undefined,
  now: Date,
): InvitationStatus {
  if (status !== "open") return status;
  if (inviter?.role !== "owner") return "withdrawn";
  return expiresAt <= now.toISOString() ? "expired" : "open";
}

export function viewInvitation(
  invitation: Invitation,
  inviter: User | undefined,
  now: Date,
): InvitationView {
  const { id, email, role, createdAt, expiresAt, acceptedAt } = invitation;
  const status = statusOf(invitation, inviter, now);
  const invitedBy = inviter === undefined ? null : { id: inviter.id, email: inviter.email };
  return { id, email, role, status, invitedBy, createdAt, expiresAt, acceptedAt };
}
