import { describe, expect, test } from "vitest";
import type { Services } from "../../src/shared/compose.ts";
import { type EventType, newEvent } from "../../src/shared/events/events.ts";
import type { DayCounts } from "../../src/shared/webhooks/events/day-counts.ts";
import { hintEvents } from "../../src/shared/webhooks/webhooks.ts";
import { anApplication, dataOf, freshSession, type TestApplication } from "../setup/factories.ts";
import { dyingAt, type Death } from "../setup/dying-relay.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { type Relay, startRelay } from "../setup/relay.ts";
import { replaceIn } from "../setup/replace-in.ts";
import { storedRows } from "../setup/stored-rows.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { runWalks } from "../setup/walks.ts";
import { addPending } from "./emit-event.ts";
import { allEvents, statsOfEvents } from "./stats-of-events.ts";

const { relay } = useSandboxedRelay();
const DAY_MS = 24 * 60 * 60_000;
const WRITES_MAX = 60;

/** The product, or the product with one of its safeguards taken away. */
type Change = (services: Services) => void;
const theProduct: Change = () => undefined;

async function statsAt(process: Relay, { id, key }: TestApplication, query = "") {
  return dataOf(await process.call("GET", `/v1/applications/${id}/stats${query}`, { key }));
}

/** Lets everything of the deployment end and become old enough to be counted. */
async function settleAll(): Promise<void> {
  await relay.drain();
  relay.advance(180_000);
  await runWalks(relay.services, "sweep-stalled-work");
  await relay.drain();
  relay.advance(16_000);
}

/** What is wrong with an application's counts, which everything is in by now. */
async function wrongCounts(application: TestApplication): Promise<string[]> {
  const { days } = await statsAt(relay, application);
  const wanted = statsOfEvents(await allEvents(relay, application));
  const [counted, right] = [JSON.stringify(days), JSON.stringify(wanted)];
  if (wanted.length === 0) return ["nothing happened"];
  return days.length === wanted.length && sorted(days) === sorted(wanted)
    ? []
    : [`counted are ${counted}, and events are ${right}`];
}

/** JSON of something, whatever the order of its fields is. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(
          Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1)),
        )
      : part,
  );

/** A process dies at each write of publishing and counting; another one goes on. */
async function crashes(change: Change, moment: Death["moment"]): Promise<string[]> {
  const wrong: string[] = [];
  let end = "died";
  for (let nth = 1; end === "died" && nth < WRITES_MAX; nth += 1) {
    const publisher = await aPublisher(relay, ["bluesky"]);
    await publisher.accept({ text: unique("Counted"), platforms: ["bluesky", "mastodon"] });
    end = await dyingAt(relay, { nth, moment }, async (process) => {
      change(process.services);
      await process.drain();
      relay.advance(16_000);
      return statsAt(process, publisher.application);
    });
    await settleAll();
    wrong.push(...(await wrongCounts(publisher.application)));
  }
  if (end !== "lived") wrong.push("it did not come to an end");
  return wrong;
}

/** One more process of the deployment, changed. */
async function aProcess(change: Change): Promise<Relay> {
  const process = await startRelay({ sameDeploymentAs: relay });
  change(process.services);
  return process;
}

/** A process is about to write what it counted, while another one counts the same events and those of the next day. */
async function contest(change: Change): Promise<string[]> {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const { application } = publisher;
  const publish = async () => {
    await publisher.accept({ text: unique("Contested"), platforms: ["bluesky", "mastodon"] });
    await settleAll();
  };
  const slow = await aProcess(change);
  const [arrives, goes] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  replaceIn(slow.services.webhooks.stores.days, (former) => ({
    async write(...given) {
      arrives.resolve(undefined);
      await goes.promise;
      return await former.write(...given);
    },
  }));
  await publish();
  const counting = statsAt(slow, application);
  await arrives.promise;
  await statsAt(relay, application);
  relay.advance(DAY_MS);
  await publish();
  const { days } = await statsAt(relay, application);
  goes.resolve(undefined);
  const { days: counted } = await counting;
  const wrong = await wrongCounts(application);
  await slow.stop();
  // It was asked on the first day.
  return sorted(days[0]) === sorted(counted[0]) ? wrong : [...wrong, "they counted differently"];
}

/** An event as the log has it. */
function ended(
  { id: applicationId }: TestApplication,
  at = relay.clock.now(),
  { type = "leg.succeeded", code = "" }: { readonly type?: EventType; readonly code?: string } = {},
) {
  const error = code === "" ? null : { code };
  const data = { leg: { platform: "bluesky", error } };
  const nobody = { sequence: 1, profileId: null, postId: null };
  return { ...newEvent({ type, applicationId, ...nobody, data }, at), applicationId };
}

/** An event is written to the log later than a younger one. */
async function overtaking(change: Change): Promise<string[]> {
  const application = await anApplication(relay);
  const { platform } = application;
  const process = await aProcess(change);
  const late = ended(application);
  await addPending(relay.tables.core, platform.id, late);
  relay.advance(1_000);
  await relay.services.webhooks.stores.events.log([ended(application)]);
  relay.advance(16_000);
  const before = await statsAt(process, application);
  const wrong = before.days.length === 0 ? [] : ["what comes after a pending event is counted"];
  if (before.asOf !== late.createdAt) wrong.push(`it is counted up to ${before.asOf}`);
  await hintEvents(relay.services.webhooks, platform.id);
  await relay.drain();
  await process.stop();
  return [...wrong, ...(await wrongCounts(application))];
}

/** Events that nobody asked to count are removed after a month. */
async function purging(change: Change): Promise<string[]> {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const { application } = publisher;
  await publisher.accept({ text: unique("Purged"), platforms: ["bluesky", "mastodon"] });
  await settleAll();
  const before = statsOfEvents(await allEvents(relay, application));
  relay.advance(40 * DAY_MS);
  const process = await aProcess(change);
  await runWalks(process.services, "purge-events");
  await process.stop();
  const { events } = relay.services.webhooks.stores;
  const left = await events.listAfter(application.id, "", 1);
  const { day } = before[0];
  const { days } = await statsAt(relay, application, `?from=${day}&to=${day}`);
  const wrong = left.length === 0 ? [] : ["events were not removed"];
  return sorted(days) === sorted(before) ? wrong : [...wrong, "counts went with the events"];
}

type Days = Services["webhooks"]["stores"]["days"];

/** Changes how days are written. */
const writing =
  (change: (former: Days) => Days["write"]): Change =>
  ({ webhooks: { stores } }) =>
    replaceIn(stores.days, (former) => ({ write: change(former) }));

/** Writes the end in one transaction, and the days in another one. */
const inTwo = (isEndFirst: boolean) =>
  writing((former) => async (applicationId, end, days) => {
    const { end: stored } = await former.read(applicationId);
    const isMoved = isEndFirst
      ? await former.write(applicationId, end, [])
      : await former.write(applicationId, { ...end, last: stored.last }, days);
    if (!isMoved) return false;
    const { end: moved } = await former.read(applicationId);
    return await former.write(applicationId, { ...moved, last: end.last }, isEndFirst ? days : []);
  });

/** Overwrites what is stored, in whatever version. */
const blindly = writing((former) => async (applicationId, end, days) => {
  const { end: stored, days: rows } = await former.read(applicationId, "0");
  const known = days.map((one) => ({ ...one, etag: rows.get(one.day)?.etag }));
  return await former.write(applicationId, { ...end, etag: stored.etag }, known);
});

describe("events are counted once", () => {
  test.each(["before", "after"] as const)(
    "when a process dies %s any of its writes",
    { timeout: 240_000 },
    async (moment) => {
      expect(await crashes(theProduct, moment)).toEqual([]);
    },
  );

  test.each([
    ["the end is written before the days", inTwo(true)],
    ["the end is written after the days", inTwo(false)],
  ])("which is noticed to fail when %s", { timeout: 240_000 }, async (_, change) => {
    expect(await crashes(change, "after")).not.toEqual([]);
  });

  test("when two processes count at the same time", async () => {
    expect(await contest(theProduct)).toEqual([]);
    expect(await contest(blindly)).not.toEqual([]);
  });

  test("when one is logged after a younger one", async () => {
    expect(await overtaking(theProduct)).toEqual([]);
    const carelessly: Change = ({ webhooks: { stores } }) =>
      replaceIn(stores.events, () => ({ listPending: () => Promise.resolve([]) }));
    expect(await overtaking(carelessly)).not.toEqual([]);
  });

  test("before they are removed", async () => {
    expect(await purging(theProduct)).toEqual([]);
    const uncounted: Change = ({ webhooks: { stores } }) =>
      replaceIn(stores.events, () => ({ listOutcomes: () => Promise.resolve([]) }));
    expect(await purging(uncounted)).not.toEqual([]);
  });

  test("and not held up for ever by one that can't be logged", async () => {
    const application = await anApplication(relay);
    await addPending(relay.tables.core, application.platform.id, ended(application));
    relay.advance(31 * DAY_MS);
    await relay.services.webhooks.stores.events.log([ended(application)]);
    relay.advance(16_000);
    const { days, asOf } = await statsAt(relay, application);
    expect(days).toHaveLength(1);
    expect(relay.clock.now().getTime() - Date.parse(asOf)).toBeLessThan(16_000);
  });
});

describe("many events", () => {
  const log = async (events: readonly ReturnType<typeof ended>[]) => {
    await relay.services.webhooks.stores.events.log(events);
    relay.advance(16_000);
  };

  test("are counted over several calls, and asOf says how far each came", async () => {
    const application = await anApplication(relay);
    const start = relay.clock.now().getTime();
    const events = Array.from({ length: 6_000 }, (_, at) =>
      ended(application, new Date(start + at)),
    );
    relay.advance(6_000);
    await log(events);
    const counted = ({ days: [day] }: { readonly days: readonly DayCounts[] }) =>
      day?.legs["bluesky"]?.succeeded;
    const first = await statsAt(relay, application);
    expect(counted(first)).toBe(5_000);
    expect(first.asOf).toBe(events[4_999]?.createdAt);
    const second = await statsAt(relay, application);
    expect(counted(second)).toBe(6_000);
    expect(Date.parse(second.asOf)).toBeGreaterThan(start + 6_000);
    expect(second.days).toEqual(statsOfEvents(events));
  });

  test("of many days are counted, also those before the range that was asked for", async () => {
    const application = await anApplication(relay);
    const events = [];
    for (let day = 0; day < 40; day += 1) {
      events.push(ended(application));
      relay.advance(DAY_MS);
    }
    await log(events);
    const today = relay.clock.now().toISOString().slice(0, 10);
    for (let call = 0; call < 2; call += 1) {
      const { days } = await statsAt(relay, application, `?from=${today}`);
      expect(days).toEqual([]);
    }
    const first = events[0]?.createdAt.slice(0, 10);
    const { days } = await statsAt(relay, application, `?from=${first}`);
    expect(days).toEqual(statsOfEvents(events));
    expect(days).toHaveLength(40);
  });

  test("with more than 30 codes on a day have the others added up", async () => {
    const application = await anApplication(relay);
    const codes = Array.from({ length: 35 }, (_, at) => `code_${at}`);
    const failed = (code: string) =>
      ended(application, relay.clock.now(), { type: "leg.failed", code });
    await log([...codes, ...codes].map(failed));
    const { days } = await statsAt(relay, application);
    const { failed: sum, failedBy } = days[0].legs.bluesky;
    expect(sum).toBe(70);
    expect(Object.keys(failedBy)).toEqual([...codes.slice(0, 30), "other"]);
    expect(failedBy).toMatchObject({ code_0: 2, code_29: 2, other: 10 });
    await log([failed("code_0"), failed("code_34")]);
    const later = (await statsAt(relay, application)).days[0].legs.bluesky.failedBy;
    expect(later).toMatchObject({ code_0: 3, other: 11 });
  });

  test("are counted without the damaged ones, and days are shown without a damaged one", async () => {
    const application = await anApplication(relay);
    const [good, bad] = [ended(application), ended(application)];
    await log([good, bad]);
    const { events } = relay.tables;
    await events.putProperties(application.id, { rowKey: bad.id, createdAt: 1 });
    expect((await statsAt(relay, application)).days).toEqual(statsOfEvents([good]));
    const day = good.createdAt.slice(0, 10);
    await events.putProperties(`${application.id}|days`, { rowKey: day, ended: "{" });
    relay.advance(DAY_MS);
    const next = ended(application);
    await log([next]);
    expect((await statsAt(relay, application)).days).toEqual(statsOfEvents([next]));
  });
});

test("counts are kept for 400 days, and go with the platform", async () => {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const { application } = publisher;
  await publisher.accept({ text: unique("Kept"), platforms: ["bluesky"] });
  await settleAll();
  const [{ day }] = (await statsAt(relay, application)).days;
  const keysOf = async () => {
    const rows = await storedRows(relay);
    return rows
      .filter(({ partitionKey }) => partitionKey === `${application.id}|days`)
      .map(({ rowKey }) => rowKey);
  };
  relay.advance(399 * DAY_MS);
  await runWalks(relay.services, "purge-events");
  expect(await keysOf()).toEqual([day, "F"]);
  relay.advance(2 * DAY_MS);
  // A run has a budget, which the applications of other tests may use up.
  for (let run = 0; run < 10 && (await keysOf()).length > 1; run += 1) {
    await runWalks(relay.services, "purge-events");
    relay.advance(60_000);
  }
  expect(await keysOf()).toEqual(["F"]);
  const session = await freshSession(relay, application.platform);
  const body = { name: "Example Media" };
  dataOf(await relay.call("POST", "/v1/platform/close", { session, body }));
  for (let at = 0; at < 10; at += 1) {
    for (let round = 0; round < 4; round += 1) {
      await runWalks(relay.services, "erase-profiles");
      relay.advance(11 * 60_000);
    }
    relay.advance(DAY_MS);
  }
  expect(await keysOf()).toEqual([]);
});
