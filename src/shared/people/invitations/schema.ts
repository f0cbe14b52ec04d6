import * as z from "zod";
import { idOf, time } from "../../runtime/fields.ts";
import { exampleId } from "../../runtime/ids.ts";
import { pageQuery } from "../../runtime/page.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { email, token, tokenExample } from "../links/schema.ts";
import { chosenLocale, newPassword, role } from "../staff/schema.ts";
import { INVITATION_STATUSES, type InvitationView } from "./invitation.ts";

export const InviteBody = shape(() =>
  z.strictObject({
    email: email(),
    role: role().default("member"),
    locale: chosenLocale(),
  }),
);
export type Invite = ShapeOf<typeof InviteBody>;

export const ListInvitationsQuery = shape(() =>
  z.strictObject({
    ...pageQuery(),
    status: z.enum(INVITATION_STATUSES).default("open").describe("Only those in this status."),
  }),
);
export type ListInvitations = ShapeOf<typeof ListInvitationsQuery>;

export const AcceptInvitationBody = shape(() =>
  z.strictObject({ token: token(), password: newPassword() }),
);
export type AcceptInvitation = ShapeOf<typeof AcceptInvitationBody>;

const invitationFields = shape(() => ({
  id: idOf("invitation"),
  email: z.string(),
  role: role(),
  status: z
    .enum(INVITATION_STATUSES)
    .describe(
      "`withdrawn` also if the user who created it was removed, is no longer an owner or has a new password.",
    ),
  invitedBy: z
    .strictObject({ id: idOf("user"), email: z.string() })
    .nullable()
    .describe("The user who requested its current link. Null if that user was removed."),
  createdAt: time(),
  expiresAt: time(),
  acceptedAt: time().nullable(),
}));

export const invitation = shape(
  () =>
    z.strictObject(invitationFields()).meta({
      id: "Invitation",
      description: "An invitation to become a member of a platform's staff.",
    }) satisfies z.ZodType<InvitationView>,
);

export const madeInvitation = shape(() =>
  z
    .strictObject({
      ...invitationFields(),
      url: z
        .string()
        .optional()
        .describe("The link to hand over, if the relay sends no email. It is returned only here."),
    })
    .meta({ id: "InvitationMade" }),
);

export const invitationExample = (): ShapeOf<typeof invitation> => ({
  id: exampleId("invitation"),
  email: "colleague@example.com",
  role: "member",
  status: "open",
  invitedBy: { id: exampleId("user"), email: "owner@example.com" },
  createdAt: "2026-03-04T10:00:00.000Z",
  expiresAt: "2026-03-11T10:00:00.000Z",
  acceptedAt: null,
});

export const inviteExample = (): z.input<ReturnType<typeof InviteBody>> => ({
  email: "colleague@example.com",
});

export const acceptInvitationExample = (): AcceptInvitation => ({
  token: tokenExample,
  password: "a password of some length",
});
