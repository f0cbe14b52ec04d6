import { setTimeout as wait } from "node:timers/promises";
import type { Customer } from "../relay/customer.ts";
import { dataOf } from "../relay/relay-process.ts";
import type { Answer, RelayProcess } from "../relay/relay-process.ts";
import type { Tenant } from "./tenants.ts";

const PAGES_MAX = 2_000;
const TRIES_MAX = 20;
const PAUSE_MS = 1_000;

export interface ShownLeg {
  readonly platform: string;
  readonly status: string;
  readonly publishedAt: string | null;
  readonly error: { readonly code: string } | null;
  readonly tokensCharged: number;
}

export interface ShownPost {
  readonly id: string;
  readonly status: string;
  readonly text: string;
  readonly externalId: string | null;
  readonly scheduleAt: string | null;
  readonly startedAt: string | null;
  readonly legs: readonly ShownLeg[];
}

export interface ShownEntry {
  readonly id: string;
  readonly type: string;
  readonly tokens: number;
  readonly balanceAfter: number;
  readonly reservedAfter: number;
  readonly postId: string | null;
  readonly platform: string | null;
}

export interface ShownEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly post?: { readonly id: string } };
}

/** Everything that the API shows a tenant. */
export interface Snapshot {
  readonly tenant: Tenant;
  readonly posts: readonly ShownPost[];
  /** Oldest first. */
  readonly ledger: readonly ShownEntry[];
  readonly balance: { readonly tokenBalance: number; readonly tokenReserved: number };
  readonly events: readonly ShownEvent[];
}

/** A key sees its own application's part of the ledger, a session all of it. */
const bearerFor = (path: string, { key, session }: Customer) =>
  path.startsWith("/v1/billing/") ? session : key;

async function read(relay: RelayProcess, path: string, { customer }: Tenant): Promise<Answer> {
  const options = {
    bearer: bearerFor(path, customer),
    headers: { "x-profile-id": customer.profileId },
  };
  for (let attempt = 1; ; attempt += 1)
    try {
      const answer = await relay.call("GET", path, options);
      dataOf(answer);
      return answer;
    } catch (error) {
      if (attempt === TRIES_MAX) throw error;
      await wait(PAUSE_MS);
    }
}

async function readAll<Item>(relay: RelayProcess, list: string, tenant: Tenant): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const after: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await read(relay, `${list}?limit=100${after}`, tenant);
    items.push(...(body.data as Item[]));
    cursor = body.page.nextCursor as string | null;
    if (cursor === null) return items;
  }
  throw new Error(`${list} does not come to an end`);
}

/** How many of the tenant's posts have not come to their end. */
export async function countOpen(relay: RelayProcess, tenant: Tenant): Promise<number> {
  let open = 0;
  for (const status of ["scheduled", "processing"]) {
    const { body } = await read(relay, `/v1/posts?limit=100&status=${status}`, tenant);
    open += body.data.length;
  }
  return open;
}

export async function takeSnapshot(relay: RelayProcess, tenant: Tenant): Promise<Snapshot> {
  const posts = await readAll<ShownPost>(relay, "/v1/posts", tenant);
  const ledger = await readAll<ShownEntry>(relay, "/v1/billing/usage", tenant);
  const events = await readAll<ShownEvent>(relay, "/v1/events", tenant);
  const { body } = await read(relay, "/v1/billing/balance", tenant);
  return { tenant, posts, ledger: ledger.toReversed(), events, balance: body.data };
}
