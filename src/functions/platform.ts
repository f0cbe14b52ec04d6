import { closePlatform } from "../shared/erasure/erasure.ts";
import { auditEvent, auditExample, ListAuditQuery } from "../shared/audit/schema.ts";
import { prices } from "../shared/ledger/answer-schema.ts";
import { rateCard } from "../shared/ledger/ledger.ts";
import { keyOrSession, sessionOnly } from "../shared/http/access/access.ts";
import { confirmed, ofOwner } from "../shared/http/access/narrowed-access.ts";
import { route } from "../shared/http/route.ts";
import { getMe, getNotices, updateNotices, me, meExample } from "../shared/people/people.ts";
import {
  closedPlatform,
  closedPlatformExample,
  ClosePlatformBody,
  createApplication,
  updateApplication,
  getApplication,
  listApplications,
} from "../shared/tenants/tenants.ts";
import { notices, noticesExample, UpdateNoticesBody } from "../shared/people/notices/schema.ts";
import {
  application,
  applicationCreated,
  applicationCreatedExample,
  applicationExample,
  CreateApplicationBody,
  ListApplicationsQuery,
  UpdateApplicationBody,
} from "../shared/tenants/applications/schema.ts";

export const accountRoutes = [
  route("GET", "v1/me", {
    operationId: "getMe",
    summary: "Get the caller's platform",
    description: "Returns the platform with its wallet, applications and counts.",
    access: keyOrSession,
    response: me,
    examples: () => ({ answer: meExample() }),
    run: ({ services, scope }) => getMe(services.people, scope),
  }),
  route("GET", "v1/platform/notices", {
    operationId: "getNotices",
    summary: "Get the notice settings",
    description:
      "Returns which notices the platform's owners get by email. Notices about the security of an account can't be turned off.",
    access: sessionOnly,
    response: notices,
    examples: () => ({ answer: noticesExample() }),
    run: ({ services, scope }) => getNotices(services.people, scope),
  }),
  route("PATCH", "v1/platform/notices", {
    operationId: "updateNotices",
    summary: "Change the notice settings",
    description:
      "Turns email notices on or off. Each owner with a verified email address gets at most one email of a kind an hour, and ten a day. It lists what happened.",
    access: ofOwner(sessionOnly),
    body: UpdateNoticesBody,
    response: notices,
    examples: () => ({ body: { balanceLow: false }, answer: noticesExample() }),
    run: ({ services, scope, body }) => updateNotices(services.people, scope, body),
  }),
  route("GET", "v1/rate-card", {
    operationId: "getRateCard",
    summary: "Get the rate card",
    description: "Lists what each operation costs, in tokens.",
    access: keyOrSession,
    response: prices,
    examples: () => ({ answer: rateCard() }),
    run: () => rateCard(),
  }),
  route("GET", "v1/audit", {
    operationId: "listAudit",
    summary: "List audit events",
    description:
      "Recent events of the platform that this process recorded. A session sees its platform's events, and an `app_admin` key those of its application. A restricted key sees events about the profiles on its allowlist, and its own. The list is kept in memory, 1,000 events per process. The permanent record is the log.",
    access: keyOrSession,
    query: ListAuditQuery,
    list: true,
    response: auditEvent,
    examples: () => ({ answer: auditExample() }),
    run: ({ services, scope, query }) => services.audit.list(scope, query),
  }),
  route("POST", "v1/platform/close", {
    operationId: "closePlatform",
    summary: "Close the platform",
    description:
      "Everything is erased seven days later. Immediately, every key, session, grant and connect session of the platform gets 403 `platform_closed`, and no one-time link works. Scheduled posts are canceled and connections are ended. Calls to networks that are already running are completed. Owners get an email now and a day before the platform is erased. Unused tokens are lost with the platform. Until `erasedAt`, an operator can reopen it with `PATCH /v1/admin/platforms/{platformId}`.",
    access: confirmed(ofOwner(sessionOnly)),
    body: ClosePlatformBody,
    status: 202,
    response: closedPlatform,
    errors: ["not_found"],
    examples: () => ({ body: { name: meExample().name }, answer: closedPlatformExample() }),
    run: ({ services, scope, body }) => closePlatform(services.erasure, scope, body),
  }),
];

export const applicationRoutes = [
  route("GET", "v1/applications", {
    operationId: "listApplications",
    summary: "List applications",
    description: "A session sees all applications of the platform, a key only its own.",
    access: keyOrSession,
    query: ListApplicationsQuery,
    list: true,
    response: application,
    examples: () => ({ answer: applicationExample() }),
    run: ({ services, scope, query }) => listApplications(services.tenants, scope, query),
  }),
  route("POST", "v1/applications", {
    operationId: "createApplication",
    summary: "Create an application",
    description:
      "Also creates its first key, unless `createDefaultKey` is false. Only an owner with a recently confirmed session may create the key. With `createDefaultKey: false`, any member may create the application.",
    access: sessionOnly,
    body: CreateApplicationBody,
    status: 201,
    response: applicationCreated,
    errors: ["owner_required", "confirmation_required", "limit_reached"],
    examples: () => ({ body: { name: "Planner" }, answer: applicationCreatedExample() }),
    run: ({ services, scope, body }) => createApplication(services.tenants, scope, body),
  }),
  route("GET", "v1/applications/{applicationId}", {
    operationId: "getApplication",
    summary: "Get an application",
    access: keyOrSession,
    response: application,
    errors: ["not_found"],
    examples: () => ({ answer: applicationExample() }),
    run: ({ services, scope, params }) =>
      getApplication(services.tenants, scope, params.applicationId),
  }),
  route("PATCH", "v1/applications/{applicationId}", {
    operationId: "updateApplication",
    summary: "Update an application",
    description:
      "Renames, disables or enables it. Keys of a disabled application get 403 `application_disabled`, and its due posts are skipped. Only an owner may disable one.",
    access: sessionOnly,
    body: UpdateApplicationBody,
    response: application,
    errors: ["not_found", "owner_required"],
    examples: () => {
      const status = "disabled" as const;
      return { body: { status }, answer: { ...applicationExample(), status } };
    },
    run: ({ services, scope, params, body }) =>
      updateApplication(services.tenants, scope, { ...params, ...body }),
  }),
];
