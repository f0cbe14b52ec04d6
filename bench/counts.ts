import { randomBytes } from "node:crypto";
import { startBenchStorage, type BenchStorage } from "./emulator.ts";
import { startInstantNetwork } from "./instant-network.ts";
import { lifeOfPost, storedRows, type Stage } from "./life-of-post.ts";
import { openLinked } from "./whole-relay.ts";
import { readsAtSizes } from "./growing-reads.ts";
import { meAtSizes } from "./growing-tenant.ts";
import { BENCH_PREFIX, openTenant, startRelay } from "./relay.ts";
import { goalText, tableText } from "./report.ts";
import { saveResults } from "./results.ts";
import { costOf, COUNTED, RoundTrips } from "./round-trips.ts";
import { runBench } from "./run.ts";

const MORE_LIVES = 4;
const GOAL_LIFE_REQUESTS = 34;
const GOAL_READ = { requests: 2, sequential: 1 };
/** Posts of a platform, from the first page to far more than anybody's page; the last as the only argument. */
const SIZES = [100, Number(process.argv[2] ?? 100_000)];

/** Profiles, keys and linked accounts of a platform, of each. */
const TENANT_SIZES = [0, 5_000];

const newPrefix = () => `${BENCH_PREFIX}${randomBytes(6).toString("hex")}`;

async function printLife(storage: BenchStorage): Promise<void> {
  const network = await startInstantNetwork();
  try {
    const prefix = newPrefix();
    const services = startRelay(storage, prefix, network.settings);
    const [tenant] = await openLinked(services, network, 1);
    if (tenant === undefined) throw new Error("there is no tenant to post for");
    // The first of a process also notes what is noted once a minute, and any may fall together with what goes on beside.
    await lifeOfPost(services, storage, tenant);
    const before = await storedRows(storage, prefix);
    let stages = await lifeOfPost(services, storage, tenant);
    const after = await storedRows(storage, prefix);
    for (let more = 0; more < MORE_LIVES; more += 1) {
      const another = await lifeOfPost(services, storage, tenant);
      if (requestsOf(another) < requestsOf(stages)) stages = another;
    }
    const head = [
      "one post, one leg, one endpoint",
      "messages",
      "tables",
      "queues",
      "EGTs",
      "bytes",
    ];
    const rows = stages.map(({ name, messages, tableRequests, queueRequests, ...stage }) => {
      const numbers = [messages, tableRequests, queueRequests, stage.transactions, stage.bytes];
      return [name, ...numbers.map(String)];
    });
    console.log(`\n${tableText([head, ...rows])}`);
    const requests = requestsOf(stages);
    const text = `a life of at most ${GOAL_LIFE_REQUESTS} requests`;
    const isMet = requests <= GOAL_LIFE_REQUESTS;
    console.log(goalText({ text, measured: String(requests), isMet }));
    const stored = { rows: after.rows - before.rows, bytes: after.bytes - before.bytes };
    console.log(`stored of it in the end: ${stored.rows} rows, ${stored.bytes} bytes`);
    const byName = stages.map(({ name, bytes: _bytes, ...stage }) => [name, stage]);
    await saveResults("lifeOfPost", { ...Object.fromEntries(byName), storedRows: stored.rows });
  } finally {
    await network.stop();
  }
}

const requestsOf = (stages: readonly Stage[]) =>
  stages.reduce((sum, { tableRequests, queueRequests }) => sum + tableRequests + queueRequests, 0);

async function main(): Promise<void> {
  const storage = await startBenchStorage();
  try {
    const services = startRelay(storage, newPrefix());
    const counts = await new RoundTrips(services, await openTenant(services)).count(COUNTED);
    const head = ["request", "requests", "in turn", "EGTs", "messages", "rows read", "bytes"];
    console.log(
      tableText([
        head,
        ...COUNTED.map((name) => {
          const { requests, sequential, transactions, messages, entitiesRead } = costOf(
            counts[name],
          );
          const numbers = [requests, sequential, transactions, messages, entitiesRead];
          return [name, ...numbers.map(String), String(counts[name].bytes)];
        }),
      ]),
    );
    const { requests, sequential } = costOf(counts.readPost);
    const text = `a read of a post in ${GOAL_READ.requests} requests, ${GOAL_READ.sequential} in turn`;
    const isMet = requests <= GOAL_READ.requests && sequential <= GOAL_READ.sequential;
    console.log(goalText({ text, measured: `${requests}, ${sequential}`, isMet }));
    const ofCost = Object.fromEntries(COUNTED.map((name) => [name, { ...costOf(counts[name]) }]));
    await saveResults("roundTrips", ofCost);

    await printLife(storage);

    const sized = await readsAtSizes({ storage, prefix: newPrefix() }, SIZES);
    console.log(
      `\n${tableText([
        ["posts", "request", "requests", "in turn", "rows read"],
        ...sized.map(({ posts, name, cost }) => [
          String(posts),
          name,
          String(cost.requests),
          String(cost.sequential),
          String(cost.entitiesRead),
        ]),
      ])}`,
    );
    const largest = SIZES.at(-1);
    const grown = sized.filter(({ posts }) => posts === largest);
    await saveResults(
      "readsOfManyPosts",
      Object.fromEntries(grown.map(({ name, cost }) => [name, { posts: largest ?? 0, ...cost }])),
    );

    const tenants = await meAtSizes({ storage, prefix: newPrefix() }, TENANT_SIZES);
    console.log(
      `\n${tableText([
        ["profiles, keys, accounts", "request", "requests", "in turn", "rows read"],
        ...tenants.map(({ rows, cost: { requests, sequential, entitiesRead } }) => [
          String(rows),
          "me",
          String(requests),
          String(sequential),
          String(entitiesRead),
        ]),
      ])}`,
    );
  } finally {
    await storage.stop();
  }
}

runBench(main);
