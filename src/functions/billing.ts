import { getBalance } from "../shared/billing/balance.ts";
import { creditPlatform } from "../shared/billing/credit-platform.ts";
import { listUsage } from "../shared/billing/list-usage.ts";
import { getLimits, updateLimits } from "../shared/billing/limits.ts";
import { rateCard } from "../shared/billing/rate-card.ts";
import { CreditBody, LimitsBody, UsageQuery } from "../shared/billing/schema.ts";
import { appAdmin, keyOrSession, operator } from "../shared/http/access.ts";
import { paged } from "../shared/http/reply.ts";
import { route } from "../shared/http/route.ts";

export const billingRoutes = [
  route("GET", "v1/billing/balance", {
    summary: "The wallet's balance",
    access: keyOrSession,
    status: 200,
    run: ({ services, scope }) => getBalance(services, scope),
  }),
  route("GET", "v1/billing/usage", {
    summary: "The ledger, newest first",
    access: keyOrSession,
    query: UsageQuery,
    status: 200,
    run: async ({ services, scope, query }) => paged(await listUsage(services, scope, query)),
  }),
  route("GET", "v1/billing/limits", {
    summary: "The daily token budget and what is used of it",
    access: keyOrSession,
    status: 200,
    run: ({ services, scope }) => getLimits(services, scope),
  }),
  route("PATCH", "v1/billing/limits", {
    summary: "Set or lift the daily token budget",
    access: appAdmin,
    body: LimitsBody,
    status: 200,
    run: ({ services, scope, body }) => updateLimits(services, scope, body),
  }),
  route("GET", "v1/rate-card", {
    summary: "What operations cost",
    access: keyOrSession,
    status: 200,
    run: () => rateCard(),
  }),
  route("POST", "v1/billing/admin/credit", {
    summary: "Add tokens to a platform's wallet",
    access: operator("Admin"),
    body: CreditBody,
    status: 201,
    run: ({ services, scope, body }) => creditPlatform(services, scope, body),
  }),
];
