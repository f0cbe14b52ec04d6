import { updatePlatform } from "../shared/erasure/erasure.ts";
import {
  createdPlatform,
  createdPlatformExample,
  CreatePlatformBody,
  FindUserQuery,
  foundUser,
  foundUserExample,
  ListUsersQuery,
  user,
  userExample,
} from "../shared/people/staff/schema.ts";
import { ResetLinkBody, resetLink, resetLinkExample } from "../shared/people/links/schema.ts";
import {
  findUserByEmail,
  listPlatforms,
  listUsersOfPlatform,
  removeUser,
  makeResetLink,
  createPlatform,
} from "../shared/people/people.ts";
import {
  ListPlatformsQuery,
  platformAccount,
  platformAccountExample,
  platformSummary,
  platformSummaryExample,
  UpdatePlatformBody,
  readAccount,
} from "../shared/tenants/tenants.ts";
import { usage, usageAbout } from "../shared/ledger/answer-schema.ts";
import { entryExample } from "../shared/ledger/examples.ts";
import { listPlatformUsage } from "../shared/ledger/ledger.ts";
import { UsageQuery } from "../shared/ledger/schema.ts";
import { auditEvent, auditExample, ListAuditQuery } from "../shared/audit/schema.ts";
import { operator } from "../shared/http/access/operator-access.ts";
import { route } from "../shared/http/route.ts";

export const adminRoutes = [
  route("GET", "v1/admin/platforms", {
    operationId: "listPlatforms",
    summary: "List platforms",
    description:
      "Lists all platforms of the service, newest first. With `q`, lists the platform with this id, the one of the member of staff who logs in with this email, or those whose names begin with it, in the order of names.",
    access: operator("Admin", "Operator"),
    query: ListPlatformsQuery,
    list: true,
    response: platformSummary,
    examples: () => ({ answer: platformSummaryExample() }),
    run: ({ services, scope, query }) =>
      services.audit.readBy(scope, { action: "platform.listed" }, () =>
        listPlatforms(services.people, scope, query),
      ),
  }),
  route("POST", "v1/admin/platforms", {
    operationId: "createPlatform",
    summary: "Create a platform",
    description:
      "Creates the platform with its first user. This is the way to create a platform when sign-up is closed.",
    access: operator("Admin"),
    body: CreatePlatformBody,
    status: 201,
    response: createdPlatform,
    errors: ["conflict"],
    examples: () => ({
      body: {
        name: "Example Media",
        ownerEmail: "owner@example.com",
        ownerPassword: "a password of some length",
        initialTokens: 1_000,
      },
      answer: createdPlatformExample(),
    }),
    run: ({ services, scope, body }) => createPlatform(services.people, scope, body),
  }),
  route("GET", "v1/admin/platforms/{platformId}", {
    operationId: "getPlatform",
    summary: "Get a platform",
    description: "Returns the platform with its wallet, applications and counts.",
    access: operator(),
    response: platformAccount,
    errors: ["not_found"],
    examples: () => ({ answer: platformAccountExample() }),
    run: ({ services, scope, params: { platformId } }) =>
      services.audit.readBy(scope, { action: "platform.read", platformId }, () =>
        readAccount(services.tenants, platformId, null),
      ),
  }),
  route("GET", "v1/admin/platforms/{platformId}/usage", {
    operationId: "listPlatformUsage",
    summary: "List a platform's ledger entries",
    description:
      "Newest first, with the filters and the totals of `GET /v1/billing/usage`: the entries of all its applications.",
    access: operator("Admin", "Operator"),
    query: UsageQuery,
    list: true,
    response: usage,
    about: usageAbout,
    errors: ["not_found"],
    examples: () => ({ answer: entryExample() }),
    run: ({ services, scope, params: { platformId }, query }) =>
      services.audit.readBy(scope, { action: "usage.listed", platformId }, () =>
        listPlatformUsage(services.ledger, scope, { platformId, ...query }),
      ),
  }),
  route("PATCH", "v1/admin/platforms/{platformId}", {
    operationId: "updatePlatform",
    summary: "Suspend or reactivate a platform",
    description:
      "Every key and session of a suspended platform gets 403 `platform_suspended`, and its due posts wait. Until `erasedAt`, `active` also reopens a platform that its owner closed, but its keys and connections aren't restored. The response is 409 `invalid_state` while calls to networks are finishing, and once the platform is being erased. A closed platform can't be suspended.",
    access: operator("Admin"),
    body: UpdatePlatformBody,
    response: platformSummary,
    errors: ["not_found", "invalid_state"],
    examples: () => {
      const status = "suspended" as const;
      return { body: { status }, answer: { ...platformSummaryExample(), status } };
    },
    run: ({ services, scope, params, body }) =>
      updatePlatform(services.erasure, scope, { ...params, ...body }),
  }),
  route("GET", "v1/admin/users", {
    operationId: "findUsers",
    summary: "Find a user by email",
    description:
      "Returns a list with the user and their platform, or an empty list if no user has this email address.",
    access: operator("Admin", "Operator"),
    query: FindUserQuery,
    list: true,
    response: foundUser,
    examples: () => ({ answer: foundUserExample() }),
    run: ({ services, scope, query }) =>
      services.audit.readBy(scope, { action: "user.read" }, () =>
        findUserByEmail(services.people, scope, query),
      ),
  }),
  route("GET", "v1/admin/platforms/{platformId}/users", {
    operationId: "listPlatformUsers",
    summary: "List a platform's staff",
    description: "Newest first.",
    access: operator("Admin", "Operator"),
    query: ListUsersQuery,
    list: true,
    response: user,
    errors: ["not_found"],
    examples: () => ({ answer: userExample() }),
    run: ({ services, scope, params: { platformId }, query }) =>
      services.audit.readBy(scope, { action: "user.listed", platformId }, () =>
        listUsersOfPlatform(services.people, scope, { platformId, ...query }),
      ),
  }),
  route("DELETE", "v1/admin/platforms/{platformId}/users/{userId}", {
    operationId: "removePlatformUser",
    summary: "Remove a platform's user",
    description:
      "Frees the email address. The user's sessions, links and invitations end immediately. A platform that has no owner left is suspended.",
    access: operator("Admin"),
    status: 204,
    errors: ["not_found"],
    run: ({ services, scope, params }) => removeUser(services.people, scope, params),
  }),
  route("POST", "v1/admin/platforms/{platformId}/users/{userId}/reset-link", {
    operationId: "makeResetLink",
    summary: "Create a reset link",
    description:
      "The link sets a new password, for a user who lost the password and the mailbox, or the second factor. Verify who is asking before you hand over the link. It works once, for 60 minutes, and ends any earlier one. The user and the platform's owners get an email.",
    access: operator("Admin"),
    body: ResetLinkBody,
    status: 201,
    response: resetLink,
    errors: ["not_found"],
    examples: () => ({ body: { removeTotp: true }, answer: resetLinkExample() }),
    run: ({ services, scope, params, body }) =>
      makeResetLink(services.people, scope, { ...params, ...body }),
  }),
  route("GET", "v1/admin/audit", {
    operationId: "listAllAudit",
    summary: "List audit events of all platforms",
    description: "Lists recent events that this process recorded.",
    access: operator("Admin", "Operator"),
    query: ListAuditQuery,
    list: true,
    response: auditEvent,
    examples: () => ({ answer: auditExample() }),
    run: ({ services, scope, query }) =>
      services.audit.readBy(scope, { action: "audit.listed" }, () =>
        services.audit.listAll(scope, query),
      ),
  }),
];
