import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { startInstantNetwork, type InstantNetwork } from "../../bench/instant-network.ts";
import { lifeOfPost, type Stage } from "../../bench/life-of-post.ts";
import { BENCH_PREFIX, startRelay } from "../../bench/relay.ts";
import { readLife } from "../../bench/results.ts";
import { openLinked } from "../../bench/whole-relay.ts";

const STAGES = ["accept", "legs", "deliveries"] as const;
/** Requests of a whole life, receiving and deleting messages included. */
const REQUESTS_MAX = 34;
/**
 * The first of a process, and one that begins a minute, also note what is noted once a minute. On a busy machine many
 * fall together with what goes on beside.
 */
const LIVES = 8;

let network: InstantNetwork;
const lives: (readonly Stage[])[] = [];

beforeAll(async () => {
  network = await startInstantNetwork();
  const storage = { tables: inject("azurite"), queues: inject("azurite"), stop: async () => {} };
  const prefix = `${BENCH_PREFIX}${randomBytes(6).toString("hex")}`;
  const services = startRelay(storage, prefix, network.settings);
  const [tenant] = await openLinked(services, network, 1);
  if (tenant === undefined) throw new Error("there is no tenant to post for");
  while (lives.length < LIVES) lives.push(await lifeOfPost(services, storage, tenant));
}, 180_000);
afterAll(() => network.stop());

/** The fewest that any of the lives took. */
function fewest(name: string, of: (stage: Stage) => number): number {
  const stages = lives.map((life) => life.find((stage) => stage.name === name));
  return Math.min(...stages.map((stage) => (stage === undefined ? Infinity : of(stage))));
}

describe("the life of a post with one leg and one endpoint", () => {
  test(`takes ${REQUESTS_MAX} requests at most`, () => {
    const ofStage = ({ tableRequests, queueRequests }: Stage) => tableRequests + queueRequests;
    const sum = STAGES.reduce((all, name) => all + fewest(name, ofStage), 0);
    expect(sum).toBeLessThanOrEqual(REQUESTS_MAX);
  });

  // What may grow on purpose is written down again by `npm run bench:counts`.
  test.each(STAGES)("%s asks no more of storage than bench/results.json says", async (name) => {
    const recorded = (await readLife())[name];
    if (recorded === undefined) throw new Error(`bench/results.json says nothing of ${name}`);
    expect(fewest(name, (stage) => stage.tableRequests)).toBeLessThanOrEqual(
      recorded.tableRequests,
    );
    expect(fewest(name, (stage) => stage.queueRequests)).toBeLessThanOrEqual(
      recorded.queueRequests,
    );
    expect(fewest(name, (stage) => stage.messages)).toBeLessThanOrEqual(recorded.messages);
  });
});
