import { FREE } from "../../../src/shared/runtime/lease.ts";
import { idBefore, inverted, newId, timeOfId } from "../../../src/shared/runtime/ids.ts";
import { Deployment } from "./deployment.ts";

const DAY_MS = 24 * 60 * 60_000;
const MINUTE_MS = 60_000;
const ID_LENGTH = "plt_01KJW2M3E8W0R7QK9V3C5T1XAB".length;

export interface Swept {
  /** Seconds from the announcement until the last platform was looked at. */
  readonly seconds: number;
  readonly missed: number;
  readonly handedOver: number;
}

/** Has so many platforms announce open work in one minute, and lets the service sweep them. */
export function sweepOnce(platforms: number, processes: number): Promise<Swept> {
  const deployment = new Deployment();
  return deployment.run(async () => {
    for (let index = 0; index < processes; index += 1) deployment.start();
    const ids = deployment.platforms(platforms);
    deployment.announce(ids);
    deployment.startTimer();
    const from = deployment.time.now;
    await deployment.pass(30, () => deployment.hinted.size === ids.length);
    const last = Math.max(...deployment.hinted.values());
    return {
      seconds: Math.round((last - from) / 1_000),
      missed: ids.length - deployment.hinted.size,
      handedOver: deployment.handedOver,
    };
  });
}

/** Has all platforms lose a hint in every minute; answers how many were not looked at within two minutes of each. */
export function sweepForLong(platforms: number, minutes: number): Promise<number[]> {
  const deployment = new Deployment(2);
  return deployment.run(async () => {
    deployment.start();
    deployment.start();
    const ids = deployment.platforms(platforms);
    deployment.startTimer();
    const missed: number[] = [];
    for (let minute = 0; minute < minutes; minute += 1) {
      deployment.announce(ids);
      deployment.hinted.clear();
      await deployment.pass(2);
      missed.push(ids.filter((id) => !deployment.hinted.has(id)).length);
    }
    return missed;
  });
}

/** Kinds of expired rows: how `count` of them are put in place, and the tables and prefixes where none may be left. */
export const EXPIRED = {
  windows(deployment, count) {
    const day = new Date(deployment.time.now - 3 * DAY_MS).toISOString().slice(0, 10);
    for (const [shard, share] of shares(count, "0123456789abcdef".split("")))
      deployment.put("ratewindows", `${shard}|${day}`, rows(share, "subject|"));
    return ["ratewindows", "subject"];
  },
  logins(deployment, count) {
    const failures = `p0123456789ab.${(deployment.time.now - DAY_MS).toString(36)}.0`;
    for (const [hex, share] of shares(count, ["00", "7f", "ff"]))
      deployment.put("ratewindows", `login|${hex}`, rows(share, hex, { failures }));
    return ["ratewindows", ""];
  },
  "dead-deliveries"(deployment, count) {
    const key = inverted(deployment.time.now - 40 * DAY_MS);
    deployment.put("dead", "dead", rows(count, `${key}|`));
    return ["dead", ""];
  },
  "oauth-states"(deployment, count) {
    const expiresAt = new Date(deployment.time.now - 2 * DAY_MS).toISOString();
    for (let index = 0; index < count; index += 1)
      deployment.put("oauthstates", `state ${index}`, { S: { expiresAt } });
    return ["oauthstates", ""];
  },
  texts(deployment, count) {
    const old = new Date(deployment.time.now - 10 * DAY_MS);
    const holder = { platformId: newId("platform", old), profileId: newId("profile", old) };
    const text = { ...holder, postId: idAt("post", old, 0), legKey: "key" };
    for (const [account, share] of shares(count, accounts()))
      deployment.put("accounts", `bluesky|${account}`, rows(share, "T|", text));
    // The posts are gone: of a table that is not there nothing can be read.
    deployment.model.createTable("core");
    return ["accounts", ""];
  },
  "idempotency-keys"(deployment, count) {
    const old = new Date(deployment.time.now - 100 * DAY_MS);
    const accepted = { fingerprint: "f", postId: newId("post", old), httpStatus: 202 };
    const key = { ...accepted, profileId: newId("profile", old), createdAt: old.toISOString() };
    for (const [id, share] of shares(count, deployment.platforms(40)))
      deployment.put("core", id, rows(share, "I|", key));
    return ["core", "I|"];
  },
  markers(deployment, count) {
    const createdAt = new Date(deployment.time.now - 100 * DAY_MS).toISOString();
    const marker = { createdAt, operation: "posts.schedule", tokens: 1 };
    for (const [id, share] of shares(count, deployment.platforms(40)))
      deployment.put("core", id, rows(share, "O|", marker));
    return ["core", "O|"];
  },
  "connect-sessions"(deployment, count) {
    const old = new Date(deployment.time.now - 40 * DAY_MS);
    const profileId = newId("profile", old);
    for (const [id, share] of shares(count, deployment.platforms(40))) {
      const ids = Array.from({ length: share }, (_, nth) => idAt("connectSession", old, nth));
      const places = ids.map((one) => `${inverted(timeOfId("connectSession", one))}|${one}`);
      const sessions = places.map((place) => [`S|${place}`, { profileId }] as const);
      const listed = places.map((place) => [`SP|${profileId}|${place}`, {}] as const);
      deployment.put("core", id, Object.fromEntries([...sessions, ...listed]));
    }
    return ["core", "S"];
  },
  events(deployment, count) {
    const old = new Date(deployment.time.now - 40 * DAY_MS);
    const at = old.toISOString();
    for (const [id, share] of shares(count, deployment.platforms(40))) {
      const application = newId("application", old);
      const named = {
        id: application,
        name: "App",
        status: "active",
        createdAt: at,
        updatedAt: at,
      };
      const rowKey = `A|${inverted(timeOfId("application", application))}|${application}`;
      deployment.put("core", id, { [rowKey]: named });
      const own = Array.from({ length: share }, (_, nth) => [idAt("event", old, nth), {}] as const);
      deployment.put("events", application, Object.fromEntries(own));
    }
    // The counts of the days stay for longer.
    return ["events", "evt_"];
  },
  deliveries(deployment, count) {
    const old = new Date(deployment.time.now - 40 * DAY_MS);
    const ended = { status: "succeeded" };
    const endpoints = Array.from({ length: 40 }, () => newId("endpoint", old));
    for (const [endpoint, share] of shares(count, endpoints))
      deployment.put("deliveries", endpoint, rows(share, `D|${inverted(old.getTime())}|`, ended));
    return ["deliveries", "D|"];
  },
} as const satisfies Readonly<
  Record<
    string,
    (deployment: Deployment, count: number) => readonly [table: string, prefix: string]
  >
>;

/** Ids that are made by the usual means never go back in time. */
function idAt(kind: Parameters<typeof idBefore>[0], time: Date, nth: number): string {
  const start = idBefore(kind, time.getTime());
  return start + String(nth).padStart(ID_LENGTH - start.length, "0");
}

const accounts = () => Array.from({ length: 200 }, (_, index) => `account ${index}`);

function shares<T>(count: number, among: readonly T[]): (readonly [T, number])[] {
  const share = Math.ceil(count / among.length);
  return among.map((one) => [one, share] as const);
}

function rows(count: number, prefix: string, properties: Readonly<Record<string, unknown>> = {}) {
  const keys = Array.from({ length: count }, (_, index) => prefix + String(index).padStart(9, "0"));
  return Object.fromEntries(keys.map((key) => [key, properties]));
}

export interface Purged {
  /** From the time that the schedule names until the last row was gone. */
  readonly minutes: number;
  readonly left: number;
  /** Messages that it took. */
  readonly messages: number;
}

/** Lets the nightly purge remove so many rows of each of these kinds. */
export function purge(kinds: readonly (keyof typeof EXPIRED)[], count: number): Promise<Purged> {
  const deployment = new Deployment(3, { DAILY_WALKS_AT: "11" });
  return deployment.run(async () => {
    const { services } = deployment.start();
    deployment.start();
    // As if there had been a purge the day before.
    await seed(deployment, services.background.stores.walks);
    const places = kinds.map((kind) => EXPIRED[kind](deployment, count));
    const left = () =>
      places.reduce((sum, [table, prefix]) => sum + deployment.count(table, prefix), 0);
    deployment.startTimer();
    await deployment.pass(59.5);
    const [before, handedOver] = [left(), deployment.handedOver];
    if (before < count * kinds.length) throw new Error("purged before its time");
    const from = deployment.time.now;
    let checkedAt = from;
    await deployment.pass(24 * 60, () => {
      if (deployment.time.now - checkedAt < 10_000) return false;
      checkedAt = deployment.time.now;
      return left() === 0;
    });
    const minutes = Math.round((deployment.time.now - from) / MINUTE_MS) - 1;
    return { minutes, left: left(), messages: deployment.handedOver - handedOver };
  });
}

type Walks = ReturnType<Deployment["start"]>["services"]["background"]["stores"]["walks"];

async function seed(deployment: Deployment, walks: Walks): Promise<void> {
  const { WALKS } = await import("../../../src/shared/background/walks.ts");
  const at = new Date(deployment.time.now).toISOString();
  let isDone = false;
  const put = async () => {
    for (const { name } of WALKS)
      await walks.write(
        name,
        {
          position: null,
          ...FREE,
          roundAt: at,
          endedAt: at,
          restsSince: null,
          lastRoundAt: at,
          failures: 0,
          counts: {},
          lastCounts: {},
        },
        undefined,
      );
    isDone = true;
  };
  void put();
  await deployment.time.pass(deployment.time.now + 20_000, () => isDone);
}
