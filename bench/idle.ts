import { setTimeout as delay } from "node:timers/promises";
import { startAzurite } from "../dev/azurite.ts";
import { buildApp } from "../tools/build.ts";
import { SETTINGS } from "../src/shared/config/settings.ts";
import { onlyOne, readSnapshot } from "../test/outside/infra/snapshot.ts";
import { startFaultProxy } from "../test/setup/fault-proxy.ts";
import { startRelayProcess } from "../test/process/relay/relay-process.ts";
import { tableText } from "./report.ts";
import { readLife, saveResults } from "./results.ts";
import { runBench } from "./run.ts";

const POLLING_INTERVAL = "AzureFunctionsJobHost__extensions__queues__maxPollingInterval";
/** What the app does once after its start is over by then. */
const SETTLED_MS = 65_000;
const COUNTED_MINUTES = 3;
const MINUTES_OF_DAY = 24 * 60;
const POSTS = 1_000;
/** A call of a function is billed as a second of the instance's memory at least. */
const CALL_SECONDS_LEAST = 1;
const MEMORY_GB = 2;

type Size = "small" | "large";

interface IdleDay {
  readonly queueRequests: number;
  readonly tableRequests: number;
  readonly logLines: number;
  readonly gbSeconds: number;
}

const KEPT = ["queueRequests", "tableRequests", "logLines"] as const;

/** The waits of the harness are those of tests; here they are the app's own. */
const WAITS =
  "NETWORK_TIMEOUT_MS,LEG_LEASE_SECONDS,LEG_RETRY_SECONDS,WORK_CHECK_SECONDS,TICK_SECONDS";
const OWN_WAITS = Object.fromEntries(
  WAITS.split(",").map((name) => [name, SETTINGS[name]?.fallback ?? ""]),
);

/** Returns what the template sets by size: how long an idle queue is left alone at most. */
function pollingOf(size: Size): string {
  const settings = onlyOne(readSnapshot(size), "Microsoft.Web/sites/config").properties;
  return String(settings[POLLING_INTERVAL]);
}

/** Nothing listens there: an idle day sends no mail, and asks each minute whether there is any. */
const MAIL = { MAIL_URL: "smtp://127.0.0.1:1", MAIL_FROM: "relay@example.com" };

/**
 * Closes a platform, whose erasure waits for its week while the day is counted. In a process without mail, so that no mail
 * of it is waiting.
 */
async function closePlatform(settings: Readonly<Record<string, string>>): Promise<void> {
  const relay = await startRelayProcess({ settings });
  const name = "Example Media";
  const user = { email: "owner@example.com", password: "a password of some length" };
  const signUp = { body: { ...user, platformName: name } };
  const signedUp = await relay.call("POST", "/v1/auth/signup", signUp);
  const bearer = String(signedUp.body.data?.token);
  const closed = await relay.call("POST", "/v1/platform/close", { bearer, body: { name } });
  await relay.stop();
  if (closed.status !== 202) throw new Error(`not closed: ${JSON.stringify(closed.body)}`);
}

/** Counts what one instance without work asks of storage and logs, by the minute. */
async function countIdle(size: Size): Promise<IdleDay> {
  const azurite = await startAzurite({ inMemory: true });
  const counts = { queue: 0, table: 0, lines: 0 };
  const proxies = [];
  let storage = azurite.connectionString;
  for (const [service, endpoint] of [
    ["queue", /(QueueEndpoint=http:\/\/127\.0\.0\.1:)(\d+)/],
    ["table", /(TableEndpoint=http:\/\/127\.0\.0\.1:)(\d+)/],
  ] as const) {
    const proxy = await startFaultProxy(Number(endpoint.exec(storage)?.[2]), () => {
      counts[service] += 1;
      return "pass";
    });
    proxies.push(proxy);
    storage = storage.replace(endpoint, `$1${proxy.port}`);
  }
  const settings = {
    ...OWN_WAITS,
    AzureWebJobsStorage: storage,
    STORAGE_PREFIX: `idle${size}`,
    [POLLING_INTERVAL]: pollingOf(size),
  };
  await closePlatform(settings);
  const relay = await startRelayProcess({
    settings: { ...settings, ...MAIL },
    onLine: () => (counts.lines += 1),
  });
  try {
    await delay(SETTLED_MS);
    Object.assign(counts, { queue: 0, table: 0, lines: 0 });
    await delay(COUNTED_MINUTES * 60_000);
    const perDay = (count: number) => Math.round((count / COUNTED_MINUTES) * MINUTES_OF_DAY);
    return {
      queueRequests: perDay(counts.queue),
      tableRequests: perDay(counts.table),
      logLines: perDay(counts.lines),
      // One timer function, once a minute.
      gbSeconds: MINUTES_OF_DAY * CALL_SECONDS_LEAST * MEMORY_GB,
    };
  } finally {
    await relay.stop();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await azurite.stop();
  }
}

/** Rounds to two digits: what a minute more or less has in it says nothing. */
const rounded = (value: number) => Number(value.toPrecision(2));

async function main(): Promise<void> {
  await buildApp();
  const [small, large] = await Promise.all([countIdle("small"), countIdle("large")]);
  const life = Object.values(await readLife());
  const sum = (of: "messages" | "queueRequests" | "tableRequests") =>
    life.reduce((total, stage) => total + (stage?.[of] ?? 0), 0);
  const row = (name: string, { queueRequests, tableRequests, logLines, gbSeconds }: IdleDay) => [
    name,
    ...[queueRequests, tableRequests, logLines, gbSeconds].map((value) =>
      rounded(value).toLocaleString("en-US"),
    ),
  ];
  const busy = (idle: IdleDay): IdleDay => ({
    ...idle,
    queueRequests: idle.queueRequests + POSTS * sum("queueRequests"),
    tableRequests: idle.tableRequests + POSTS * sum("tableRequests"),
    // One call of a function for the request, and one for each message.
    gbSeconds: idle.gbSeconds + POSTS * (1 + sum("messages")) * CALL_SECONDS_LEAST * MEMORY_GB,
  });
  console.log(
    tableText([
      ["a day of one instance", "queue requests", "table requests", "log lines", "GB-seconds"],
      row("small, idle", small),
      row(`small, ${POSTS} posts`, busy(small)),
      row("large, idle", large),
      row(`large, ${POSTS} posts`, busy(large)),
    ]),
  );
  const kept = (idle: IdleDay) =>
    Object.fromEntries(KEPT.map((name) => [name, rounded(idle[name])]));
  await saveResults("idleDay", { small: kept(small), large: kept(large) });
}

runBench(main);
