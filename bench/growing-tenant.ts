import { isDeepStrictEqual } from "node:util";
import type { TableClient } from "@azure/data-tables";
import type { Me } from "../src/shared/people/me.ts";
import type { Services } from "../src/shared/compose.ts";
import type { Entity } from "./bare-storage.ts";
import type { BenchStorage } from "./emulator.ts";
import { insert, openBare, rowsUnder } from "./growing-rows.ts";
import {
  BENCH_NETWORKS,
  headersOf,
  openTenant,
  startRelay,
  succeed,
  type Ask,
  type Tenant,
} from "./relay.ts";
import { costOf, RoundTrips, type Cost } from "./round-trips.ts";

/** What there is many of, the row of one, and the row that counts it. */
const KINDS = [
  { table: "core", prefix: "F|", counter: "N|", property: "profiles" },
  { table: "core", prefix: "K|", counter: "N|", property: "lastingKeys" },
  { table: "core", prefix: "C|", counter: "N|", property: "connections" },
] as const;

export interface SizedMe {
  /** Profiles, keys and linked accounts that were added, of each. */
  readonly rows: number;
  readonly cost: Cost;
}

/** Copies of one row of a kind, counted as if each had been created. */
async function grow(
  client: TableClient,
  { platformId }: Tenant,
  { prefix, counter, property }: (typeof KINDS)[number],
  numbers: readonly number[],
): Promise<void> {
  const [one] = await rowsUnder(client, platformId, prefix);
  const [count] = await rowsUnder(client, platformId, counter);
  if (one === undefined || count === undefined) throw new Error(`there is no row of ${prefix}`);
  const copies = numbers.map((number): Entity => ({
    ...one,
    rowKey: one.rowKey + String(number).padStart(9, "0"),
  }));
  await insert(client, platformId, copies);
  const total = Number(count[property]) + numbers.length;
  await client.updateEntity(
    { partitionKey: platformId, rowKey: count.rowKey, [property]: total },
    "Merge",
  );
}

/** @throws Error when `GET /v1/me` does not count as many more than at first */
async function checkCounts(services: Services, tenant: Tenant, rows: number): Promise<void> {
  const ask: Ask = { method: "GET", path: "v1/me", headers: headersOf(tenant) };
  const { counts } = await succeed<Me>(services, ask);
  const { profiles, activeApiKeys, connections } = counts;
  const wanted = [1 + rows, 1 + rows, BENCH_NETWORKS.length + rows];
  if (!isDeepStrictEqual([profiles, activeApiKeys, connections], wanted))
    throw new Error(`with ${rows} more of each, me counts ${JSON.stringify(counts)}`);
}

/** What `GET /v1/me` costs while a platform's profiles, keys and linked accounts grow in number. */
export async function meAtSizes(
  { storage, prefix }: { readonly storage: BenchStorage; readonly prefix: string },
  sizes: readonly number[],
): Promise<SizedMe[]> {
  const services = startRelay(storage, prefix);
  const tenant = await openTenant(services);
  const results: SizedMe[] = [];
  let rows = 0;
  for (const size of sizes) {
    const numbers = Array.from({ length: size - rows }, (_, index) => rows + index);
    for (const kind of KINDS)
      await grow(openBare(storage, prefix + kind.table), tenant, kind, numbers);
    rows = size;
    await checkCounts(services, tenant, rows);
    const { me } = await new RoundTrips(services, tenant).count(["me"]);
    results.push({ rows, cost: costOf(me) });
  }
  return results;
}
