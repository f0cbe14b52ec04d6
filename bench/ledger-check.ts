import type { Services } from "../src/shared/compose.ts";
import type { StoredEntry } from "../src/shared/billing/wallet-row.ts";
import type { Tenant } from "./relay.ts";

const PAGE = 500;
const PAGES_MAX = 100;

async function ledgerOf(services: Services, platformId: string): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await services.wallets.listEntries(platformId, {}, { after, limit: PAGE });
    entries.push(...page.items);
    if (page.next === undefined) return entries.toReversed();
    after = page.next;
  }
  throw new Error(`the ledger of ${platformId} does not end`);
}

async function openHoldsOf(services: Services, { platformId, profileId }: Tenant) {
  let posts = 0;
  let tokens = 0;
  let after: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const scope = { platformId, profileId };
    const page = await services.posts.listOfProfile(scope, { after, limit: PAGE }, () => true);
    for (const { legs } of page.items) {
      posts += 1;
      for (const { reservation } of legs)
        if (reservation.state === "open") tokens += reservation.tokens;
    }
    if (page.next === undefined) return { posts, tokens };
    after = page.next;
  }
  throw new Error(`the posts of ${profileId} do not end`);
}

const MOVES_BALANCE: ReadonlySet<string> = new Set(["credit", "debit", "settle"]);

/** What is wrong with a tenant's money after so many accepted posts; nothing when it adds up. */
export async function ledgerProblems(
  services: Services,
  tenant: Tenant,
  acceptedPosts: number,
): Promise<string[]> {
  const [wallet, entries, holds] = await Promise.all([
    services.wallets.read(tenant.platformId),
    ledgerOf(services, tenant.platformId),
    openHoldsOf(services, tenant),
  ]);
  const problems: string[] = [];
  const expect = (what: string, actual: number, wanted: number) => {
    if (actual !== wanted)
      problems.push(`${tenant.platformId}: ${what} is ${actual}, not ${wanted}`);
  };
  const moved = entries.filter(({ type }) => MOVES_BALANCE.has(type));
  expect(
    "the ledger's sum",
    moved.reduce((sum, { tokens }) => sum + tokens, 0),
    wallet.balance,
  );
  expect("the sum of open holds", holds.tokens, wallet.reserved);
  expect("the number of posts", holds.posts, acceptedPosts);
  expect("the number of entries", entries.length, wallet.sequence);
  for (const [index, entry] of entries.entries())
    expect("an entry's number", entry.sequence, index + 1);
  expect("the last balanceAfter", entries.at(-1)?.balanceAfter ?? 0, wallet.balance);
  expect("the last reservedAfter", entries.at(-1)?.reservedAfter ?? 0, wallet.reserved);
  return problems;
}
