import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { startNameServer, type NameServer } from "../setup/name-server.ts";
import {
  aCustomer,
  endedPost,
  linkMastodon,
  publish,
  startVisit,
  type Customer,
} from "../process/relay/customer.ts";
import { dataOf, startRelayProcess, type RelayProcess } from "../process/relay/relay-process.ts";
import { startWorld, type World } from "../process/relay/world.ts";

const CONTROL_MS = 20_000;
/** The attack is measured for no longer; without the bounds it goes on for minutes. */
const ATTACK_MS_MAX = 90_000;
const TOKENS = 10_000;
const REQUESTS = 3;
const NAMES_OF_REQUEST = 20;
const ENDPOINTS = 5;
const VISITORS = 10;
/** Longer than an idle connection to storage lives, so that each burst looks up its host again. */
const PAUSE_MS = 6_000;
const READS_OF_BURST = 5;
/** An attack fails only above ten times the control run. */
const FACTOR = 10;

let world: World;
let names: NameServer;
let relay: RelayProcess;
let attacker: Customer;
let neighbor: Customer;
let endpointIds: readonly string[];

/** As on Azure, storage and networks have names, which the system's resolver looks up. */
const byName = (text: string) => text.replaceAll("127.0.0.1", "localhost");

const silentUrl = (name: string) => `https://${name}.silent.example.com/photo.jpg`;

async function anEndpoint(index: number): Promise<string> {
  const body = { url: silentUrl(`hook${index}`) };
  return dataOf(await relay.call("POST", "/v1/webhooks", { bearer: attacker.key, body })).id;
}

beforeAll(async () => {
  world = await startWorld();
  names = await startNameServer(() => "silence");
  const settings = {
    ...world.settings,
    OUTBOUND_HOST_MAP: byName(world.settings["OUTBOUND_HOST_MAP"] ?? ""),
    OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32,::1/128",
    OUTBOUND_NAME_SERVERS: names.address,
    AzureWebJobsStorage: byName(inject("azurite")),
  };
  relay = await startRelayProcess({ settings });
  [attacker, neighbor] = await Promise.all([
    aCustomer(relay, world, TOKENS),
    aCustomer(relay, world, TOKENS),
  ]);
  await linkMastodon(relay, neighbor, "gotosocial.sandbox.test");
  endpointIds = await Promise.all(
    Array.from({ length: ENDPOINTS }, (_, index) => anEndpoint(index)),
  );
});
afterAll(async () => {
  await relay?.stop();
  await Promise.all([world?.stop(), names?.stop()]);
});

interface Slowest {
  readonly readMs: number;
  readonly publishMs: number;
  readonly failedPosts: number;
}

let posts = 0;

/** Reads and publishes as the neighbor until it is over. Returns the longest of each. */
async function slowest(over: AbortSignal): Promise<Slowest> {
  let failedPosts = 0;
  const timed = async (step: () => Promise<unknown>) => {
    let longest = 0;
    while (!over.aborted) {
      const startedAt = performance.now();
      await step();
      longest = Math.max(longest, performance.now() - startedAt);
      await delay(PAUSE_MS, undefined, { signal: over }).catch(() => undefined);
    }
    return Math.round(longest);
  };
  const headers = { "x-profile-id": neighbor.profileId };
  const options = { bearer: neighbor.key, headers, timeoutMs: 10 * 60_000 };
  const [readMs, publishMs] = await Promise.all([
    timed(async () => {
      const read = async () => dataOf(await relay.call("GET", "/v1/posts", options));
      await Promise.all(Array.from({ length: READS_OF_BURST }, read));
    }),
    timed(async () => {
      posts += 1;
      const body = { platforms: ["mastodon"], text: `Fresh bread ${posts}` };
      const { id } = dataOf(await publish(relay, neighbor, body));
      const post = await endedPost(relay, neighbor, id, 10 * 60_000);
      if (post.status !== "succeeded") failedPosts += 1;
    }),
  ]);
  return { readMs, publishMs, failedPosts };
}

/** Sends files, webhooks and sign-ins to names whose servers never answer. Ends when all were answered. */
async function attack(): Promise<void> {
  const { key: bearer, profileId } = attacker;
  const headers = { "x-profile-id": profileId };
  const timeoutMs = 10 * 60_000;
  const checks = Array.from({ length: REQUESTS }, (_, request) => {
    const mediaUrls = Array.from({ length: NAMES_OF_REQUEST }, (_, file) =>
      silentUrl(`r${request}-${file}`),
    );
    const body = { text: "x", platforms: ["mastodon"], mediaUrls };
    const call = { bearer, headers, body, timeoutMs };
    return relay.call("POST", "/v1/posts/validate?media=true", call);
  });
  const tests = endpointIds.map((id) => relay.call("POST", `/v1/webhooks/${id}/test`, { bearer }));
  const visits = Array.from({ length: VISITORS }, async (_, index) => {
    const { visitor } = await startVisit(relay, attacker, ["mastodon"]);
    return visitor.submit("mastodon", { instance: `v${index}.silent.example.com` });
  });
  await Promise.allSettled([...checks, ...tests, ...visits]);
}

test(
  "names that never resolve keep no other customer waiting",
  { timeout: 15 * 60_000 },
  async () => {
    const without = await slowest(AbortSignal.timeout(CONTROL_MS));
    const over = new AbortController();
    const stop = setTimeout(() => over.abort(), ATTACK_MS_MAX);
    const startedAt = performance.now();
    const attacking = attack().finally(() => over.abort());
    const during = await slowest(over.signal);
    clearTimeout(stop);
    const measuredMs = Math.round(performance.now() - startedAt);
    process.stdout.write(`silent names: ${JSON.stringify({ without, during, measuredMs })}\n`);
    expect(during.failedPosts).toBe(0);
    expect(during.readMs).toBeLessThan(FACTOR * without.readMs);
    expect(during.publishMs).toBeLessThan(FACTOR * without.publishMs);
    await attacking;
  },
);
