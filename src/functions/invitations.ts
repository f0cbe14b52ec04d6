import { sessionOnly, signingIn } from "../shared/http/access/access.ts";
import { confirmed, ofOwner } from "../shared/http/access/narrowed-access.ts";
import { withStatus } from "../shared/http/reply.ts";
import { route } from "../shared/http/route.ts";
import {
  AcceptInvitationBody,
  acceptInvitationExample,
  invitation,
  invitationExample,
  InviteBody,
  inviteExample,
  ListInvitationsQuery,
  madeInvitation,
} from "../shared/people/invitations/schema.ts";
import { signInExample, signedIn } from "../shared/people/staff/schema.ts";
import {
  acceptInvitation,
  invite,
  listInvitations,
  withdrawInvitation,
} from "../shared/people/people.ts";
import { withLocale } from "./with-locale.ts";

export const acceptInvitationRoute = route("POST", "v1/auth/invitations/accept", {
  operationId: "acceptInvitation",
  summary: "Accept an invitation",
  description:
    "Adds the invited person to the platform's users and logs them in. The email address counts as verified. If it already belongs to a user, the response is 409 `conflict`, and the link stays valid. The link works once, for 7 days.",
  access: signingIn,
  body: AcceptInvitationBody,
  status: 201,
  response: signedIn,
  errors: ["invalid_link", "conflict", "platform_suspended", "platform_closed"],
  examples: () => ({ body: acceptInvitationExample(), answer: signInExample() }),
  run: ({ services, scope, body }) => acceptInvitation(services.people, scope, body),
});

export const invitationRoutes = [
  route("GET", "v1/invitations", {
    operationId: "listInvitations",
    summary: "List invitations",
    description:
      "Newest first. Lists open invitations, unless you filter by another `status`. A page may be short without being the last. Invitations are kept for 90 days after their end.",
    access: sessionOnly,
    query: ListInvitationsQuery,
    list: true,
    response: invitation,
    examples: () => ({ answer: invitationExample() }),
    run: ({ services, scope, query }) => listInvitations(services.people, scope, query),
  }),
  route("POST", "v1/invitations", {
    operationId: "createInvitation",
    summary: "Invite a colleague",
    description:
      "The colleague chooses a password. If the relay sends email, the link is sent by email. Otherwise, hand over the link in `url`. Repeating the request while the address has an open invitation returns 200 with that invitation, the role that you request now, and a new link, which ends the previous one. An invitation doesn't reserve the email address. A platform may send 50 invitations a day, and an address gets at most three an hour and ten a day.",
    access: confirmed(ofOwner(sessionOnly)),
    body: InviteBody,
    status: 201,
    answers: { 200: "The open invitation, with a new link.", 201: "Created." },
    response: madeInvitation,
    errors: ["conflict", "rate_limited"],
    examples: () => ({ body: inviteExample(), answer: invitationExample() }),
    run: async ({ services, scope, body, headers }) => {
      const { isNew, invitation: made } = await invite(
        services.people,
        scope,
        withLocale(body, headers),
      );
      return isNew ? made : withStatus(200, made);
    },
  }),
  route("DELETE", "v1/invitations/{invitationId}", {
    operationId: "withdrawInvitation",
    summary: "Withdraw an invitation",
    description: "Ends its link.",
    access: ofOwner(sessionOnly),
    status: 204,
    errors: ["not_found", "invalid_state"],
    run: ({ services, scope, params }) =>
      withdrawInvitation(services.people, scope, params.invitationId),
  }),
];
