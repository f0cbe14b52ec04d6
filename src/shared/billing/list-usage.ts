import { boundToView, listViewOf } from "../callers/caller.ts";
import type { PlatformScope } from "../callers/scope.ts";
import { AppError } from "../runtime/errors.ts";
import type { Page } from "../runtime/page.ts";
import type { BillingDeps } from "./deps.ts";
import type { ListUsage } from "./schema.ts";
import { totalUsage, type UsageTotal } from "./total-usage.ts";
import type { StoredEntry } from "./wallet-row.ts";

/** Returns a ledger entry as its platform sees it. */
export function entryView(entry: StoredEntry) {
  const { sequence: _, legs: _legs, network, ...shown } = entry;
  return { ...shown, platform: network };
}

/**
 * Lists the ledger, newest first, or with `groupBy` its totals. A key sees the entries of its application, a restricted
 * one those of its profiles.
 * @throws AppError `application_mismatch`, `invalid_cursor`
 */
export async function listUsage(
  services: BillingDeps,
  scope: PlatformScope,
  query: ListUsage,
): Promise<Page<ReturnType<typeof entryView> | UsageTotal>> {
  const { limit, cursor, groupBy, ...asked } = query;
  const applicationId = scope.applicationId ?? asked.applicationId;
  // Otherwise its own entries would look like the other application's.
  if (asked.applicationId !== undefined && asked.applicationId !== applicationId)
    throw new AppError("application_mismatch", "The caller's application is another one.");
  const view = listViewOf(scope.caller);
  const fields = { ...asked, applicationId };
  const filter = { ...fields, profileIds: view?.profileIds };
  if (groupBy !== undefined) {
    const { items, ...about } = await totalUsage(services, scope.platformId, filter, groupBy);
    return { items, nextCursor: null, limit, about };
  }
  const bound = {
    list: "usage",
    platformId: scope.platformId,
    ...fields,
    ...boundToView(view),
  };
  const after = services.cursors.read(cursor, bound);
  const { items, next } = await services.wallets.listEntries(scope.platformId, filter, {
    after,
    limit,
  });
  return {
    items: items.map(entryView),
    nextCursor: next === undefined ? null : services.cursors.make(next, bound),
    limit,
  };
}
