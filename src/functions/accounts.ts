import { me, meExample } from "../shared/tenants/platforms/schema.ts";
import { getMe } from "../shared/tenants/platforms/platform-account.ts";
import { auditEvent, auditExample, listAudit, ListAuditQuery } from "../shared/audit/list-audit.ts";
import { prices } from "../shared/billing/answer-schema.ts";
import { rateCard } from "../shared/billing/rate-card.ts";
import { keyOrSession } from "../shared/http/access/access.ts";
import { route } from "../shared/http/route.ts";

export const accountRoutes = [
  route("GET", "v1/me", {
    operationId: "getMe",
    summary: "The caller's platform with its wallet, applications and counts.",
    access: keyOrSession,
    status: 200,
    response: me,
    examples: () => ({ answer: meExample() }),
    run: ({ services, scope }) => getMe(services, scope),
  }),
  route("GET", "v1/rate-card", {
    operationId: "getRateCard",
    summary: "What operations cost.",
    access: keyOrSession,
    status: 200,
    response: prices,
    examples: () => ({ answer: rateCard() }),
    run: () => rateCard(),
  }),
  route("GET", "v1/audit", {
    operationId: "listAudit",
    summary: "Recent audit events of the platform, as far as this process saw them.",
    description:
      "A session sees its platform's, an `app_admin` key its application's, a restricted key what is about the profiles of its allowlist and what it did itself. The list is kept in memory, 1,000 events per process; the durable record is the log.",
    access: keyOrSession,
    query: ListAuditQuery,
    status: 200,
    list: true,
    response: auditEvent,
    examples: () => ({ answer: auditExample() }),
    run: ({ services, scope, query }) => listAudit(services, scope, query),
  }),
];
