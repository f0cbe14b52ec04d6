import { randomBytes } from "node:crypto";
import { TableServiceClient } from "@azure/data-tables";
import type { Services } from "../src/shared/compose.ts";
import { Accepting } from "./accepting.ts";
import { throughBareHttp } from "./bare-http.ts";
import {
  openClients,
  rowsOfPost,
  type BareClients,
  type PostRows,
  type StoreBare,
} from "./bare-storage.ts";
import type { BenchStorage } from "./emulator.ts";
import { measure, median, timingOf, type Measured, type Timing } from "./load.ts";
import { BENCH_NETWORKS, BENCH_PREFIX, openTenant, startRelay, type Tenant } from "./relay.ts";
import { countRequests, type RequestCounts } from "./request-counter.ts";

/** Each with product and bare clients in turn, so that a machine that is busy for a moment slows all of them. */
const ROUNDS = 3;
const TENANTS_OPENED_AT_ONCE = 4;
const SINGLE_ACCEPTS = 5;

export interface Load {
  readonly tenants: number;
  /** Of each post. */
  readonly legs: number;
  readonly concurrency: number;
  /** Per round. Few: the emulator scans, so that partitions and queues have to stay small. */
  readonly calls: number;
}

export interface Cell {
  readonly load: Load;
  readonly product: Timing;
  readonly http: Timing;
  /** Medians of the rounds' ratios of rates. */
  readonly ofHttp: number;
  readonly requestsPerPost: number;
  readonly postsPerTransaction: number;
  readonly rowsPerPost: number;
  /** One accept on an idle, warm process. */
  readonly single: RequestCounts;
}

interface Round {
  readonly rowsPerPost: number;
  readonly single: RequestCounts;
  readonly product: Measured;
  readonly counts: RequestCounts;
  readonly http: Measured;
}

export async function openTenants(services: Services, count: number): Promise<Tenant[]> {
  const tenants: Tenant[] = [];
  while (tenants.length < count) {
    const more = Math.min(TENANTS_OPENED_AT_ONCE, count - tenants.length);
    tenants.push(...(await Promise.all(Array.from({ length: more }, () => openTenant(services)))));
  }
  return tenants;
}

async function counted<T>(run: () => Promise<T>): Promise<{ result: T; counts: RequestCounts }> {
  const results: T[] = [];
  const counts = await countRequests(async () => {
    results.push(await run());
  });
  // Safe: `run` has pushed exactly one, or the line above has thrown.
  return { result: results[0] as T, counts };
}

/** The single accept in the middle of several, by the length of its chain. */
async function singleAccept(accepting: Accepting): Promise<RequestCounts> {
  const singles: RequestCounts[] = [];
  for (let index = 0; index < SINGLE_ACCEPTS; index += 1)
    singles.push((await counted(() => accepting.accept(0))).counts);
  singles.sort((left, right) => left.sequential - right.sequential || left.total - right.total);
  // Safe: there are as many as were pushed above.
  return singles[Math.floor(SINGLE_ACCEPTS / 2)] as RequestCounts;
}

interface Contest {
  readonly load: Load;
  readonly accepting: Accepting;
  readonly http: StoreBare;
  readonly clear: () => Promise<void>;
}

/** Both one after the other, each after calls that do not count: they open connections and fill caches. */
async function runContest({ load, accepting, http, clear }: Contest) {
  const warmUpCalls = Math.max(load.tenants, load.concurrency);
  let stored = 0;
  const bare = async (store: StoreBare, calls = load.calls) => {
    const from = stored;
    stored += calls;
    const call = (index: number) => store(`bench-${index % load.tenants}`, from + index);
    return await measure({ ...load, calls, call });
  };
  const product = (calls = load.calls) =>
    measure({ ...load, calls, call: (index) => accepting.accept(index) });
  await product(warmUpCalls);
  await bare(http, warmUpCalls);
  await clear();
  const { result, counts } = await counted(() => product());
  return {
    product: result,
    counts,
    http: await bare(http),
  };
}

/** What is left of a round would slow the next one down: the emulator scans over it. */
async function removeAll(storage: BenchStorage, prefix: string, queues: readonly BareClients[]) {
  const service = TableServiceClient.fromConnectionString(storage.tables, {
    allowInsecureConnection: true,
  });
  for await (const { name } of service.listTables())
    if (name?.startsWith(prefix) === true) await service.deleteTable(name);
  await Promise.all(queues.map(({ queue }) => queue.deleteIfExists()));
}

async function rowsOf(
  clients: BareClients,
  tenant: Tenant,
  accepting: Accepting,
): Promise<PostRows> {
  await accepting.accept(0);
  await clients.queue.clearMessages();
  return await rowsOfPost(clients, tenant.platformId, () => accepting.accept(0));
}

async function runRound(storage: BenchStorage, load: Load): Promise<Round> {
  const prefix = `${BENCH_PREFIX}${randomBytes(6).toString("hex")}`;
  const services = startRelay(storage, prefix);
  const tenants = await openTenants(services, load.tenants);
  const [first] = tenants;
  if (first === undefined) throw new Error("a load needs a tenant");
  const accepting = new Accepting(services, tenants, BENCH_NETWORKS.slice(0, load.legs));
  const own = openClients(storage, { table: `${prefix}core`, queue: `${prefix}publishing` });
  const rows = await rowsOf(own, first, accepting);
  const single = await singleAccept(accepting);
  const names = { table: `${prefix}bare`, queue: `${prefix}bare` };
  const bare = openClients(storage, names);
  await Promise.all([bare.table.createTable(), bare.queue.create()]);
  const results = await runContest({
    load,
    accepting,
    http: throughBareHttp(storage, names, rows),
    async clear() {
      await Promise.all([own.queue.clearMessages(), bare.queue.clearMessages()]);
    },
  });
  await removeAll(storage, prefix, [own, bare]);
  return { ...results, single, rowsPerPost: rows.created.length + rows.rewritten.length };
}

/**
 * Measures accepting under one load, beside the same rows and message written bare. Every round has tables and tenants
 * of its own, so that partitions stay as small as the emulator needs them.
 * @throws Error on any wrong answer
 */
export async function measureCell(
  storage: BenchStorage,
  load: Load,
  count = ROUNDS,
): Promise<Cell> {
  const rounds: Round[] = [];
  while (rounds.length < count) rounds.push(await runRound(storage, load));
  const [first] = rounds;
  if (first === undefined) throw new Error("a cell needs a round");
  const posts = load.calls * rounds.length;
  const sum = (of: (counts: RequestCounts) => number) =>
    rounds.reduce((total, { counts }) => total + of(counts), 0);
  const timing = (of: "product" | "http") => timingOf(rounds.map((round) => round[of]));
  return {
    load,
    product: timing("product"),
    http: timing("http"),
    ofHttp: median(rounds.map(({ product, http }) => http.durationMs / product.durationMs)),
    requestsPerPost: sum(({ total }) => total) / posts,
    postsPerTransaction: posts / sum(({ byKind }) => byKind.transaction),
    rowsPerPost: first.rowsPerPost,
    single: first.single,
  };
}
