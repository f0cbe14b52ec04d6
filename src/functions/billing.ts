import { balance, credited, limits, usage, usageAbout } from "../shared/ledger/answer-schema.ts";
import {
  creditPlatform,
  exportUsage,
  getBalance,
  getLimits,
  listUsage,
  updateLimits,
} from "../shared/ledger/ledger.ts";
import {
  balanceExample,
  creditBodyExample,
  creditedExample,
  entryExample,
  limitsExample,
} from "../shared/ledger/examples.ts";
import { CreditBody, ExportUsageQuery, LimitsBody, UsageQuery } from "../shared/ledger/schema.ts";
import { appAdmin, keyOrSession } from "../shared/http/access/access.ts";
import { ofOwner } from "../shared/http/access/narrowed-access.ts";
import { operator } from "../shared/http/access/operator-access.ts";
import { Reply } from "../shared/http/reply.ts";
import { route } from "../shared/http/route.ts";

export const billingRoutes = [
  route("GET", "v1/billing/balance", {
    operationId: "getBalance",
    summary: "Get the balance",
    description: "Returns the wallet's tokens, and how many of them are reserved.",
    access: keyOrSession,
    response: balance,
    examples: () => ({ answer: balanceExample() }),
    run: ({ services, scope }) => getBalance(services.ledger, scope),
  }),
  route("GET", "v1/billing/usage", {
    operationId: "listUsage",
    summary: "List ledger entries",
    description:
      "Newest first. Every change of the wallet is one entry, so the balance is the sum of all `credit`, `debit` and `settle` entries. With `groupBy`, the response has totals of whole UTC days instead of entries, on one page: `from` and `to` are extended to midnight (see `range`, next to `page`), and entries after `asOf` may be missing. A range with more than 100,000 groups a day is refused. A key sees its application's entries, and a restricted key those of the profiles on its allowlist.",
    access: keyOrSession,
    query: UsageQuery,
    list: true,
    response: usage,
    about: usageAbout,
    errors: ["application_mismatch"],
    examples: () => ({ answer: entryExample() }),
    run: ({ services, scope, query }) => listUsage(services.ledger, scope, query),
  }),
  route("GET", "v1/billing/usage/export", {
    operationId: "exportUsage",
    summary: "Export ledger entries as CSV",
    description:
      "The entries of a range of up to 31 days and 50,000 entries, newest first, as RFC 4180: a header line, and a line for each entry with its fields. `actor` is two columns, `actorKind` and `actorId`. Text that a spreadsheet would interpret as a formula, because it begins with `=`, `+`, `-`, `@`, a tab or a carriage return, is prefixed with an apostrophe. A larger range is refused with an issue `range_too_large`, before the other filters are applied. A key exports its application's entries, and a restricted key those of the profiles on its allowlist.",
    access: keyOrSession,
    query: ExportUsageQuery,
    produces: "csv",
    answers: { 200: "A CSV file, encoded as UTF-8." },
    answerHeaders: ["Content-Disposition"],
    errors: ["application_mismatch", "rate_limited"],
    async run({ services, scope, query }) {
      const { name, bytes } = await exportUsage(services.ledger, scope, query);
      return new Reply({
        headers: [
          ["content-type", "text/csv; charset=utf-8"],
          ["content-disposition", `attachment; filename="${name}"`],
        ],
        body: bytes,
      });
    },
  }),
  route("GET", "v1/billing/limits", {
    operationId: "getBillingLimits",
    summary: "Get the daily budget",
    description: "Returns the daily token budget and its use.",
    access: keyOrSession,
    response: limits,
    examples: () => ({ answer: limitsExample() }),
    run: ({ services, scope }) => getLimits(services.ledger, scope),
  }),
  route("PATCH", "v1/billing/limits", {
    operationId: "updateBillingLimits",
    summary: "Change the daily budget",
    description:
      "Sets or removes the daily token budget. A budget below today's spending stops only new spending.",
    access: ofOwner(appAdmin),
    body: LimitsBody,
    response: limits,
    examples: () => ({ body: { dailyTokenBudget: 500 }, answer: limitsExample() }),
    run: ({ services, scope, body }) => updateLimits(services.ledger, scope, body),
  }),
  route("POST", "v1/billing/admin/credit", {
    operationId: "creditPlatform",
    summary: "Credit a platform",
    description:
      "Adds tokens to its wallet. The same `reference` credits only once, and a repeat returns the first entry. A different number of tokens with the same `reference` gets 409 `conflict`.",
    access: operator("Admin"),
    body: CreditBody,
    status: 201,
    response: credited,
    errors: ["not_found", "conflict", "invalid_state"],
    examples: () => ({ body: creditBodyExample(), answer: creditedExample() }),
    run: ({ services, scope, body }) => creditPlatform(services.ledger, scope, body),
  }),
];
