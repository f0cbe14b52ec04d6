import { describe, expect, test } from "vitest";
import type { Services } from "../../src/shared/compose.ts";
import { type Event, newEvent } from "../../src/shared/events/events.ts";
import { hintEvents } from "../../src/shared/webhooks/webhooks.ts";
import { anApplication, dataOf, type TestApplication } from "../setup/factories.ts";
import { dyingAt, type Death } from "../setup/dying-relay.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { type Relay, startRelay } from "../setup/relay.ts";
import { replaceIn } from "../setup/replace-in.ts";
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
      ? Object.fromEntries(Object.entries(part).toSorted())
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

/** Two processes count the same events, each having read before the other one writes. */
async function contest(change: Change): Promise<string[]> {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const other = await startRelay({ sameDeploymentAs: relay });
  const read = Promise.withResolvers<undefined>();
  let readers = 0;
  for (const { services } of [relay, other]) {
    change(services);
    replaceIn(services.webhooks.stores.days, (former) => ({
      async write(...given) {
        readers += 1;
        if (readers === 2) read.resolve(undefined);
        await read.promise;
        return former.write(...given);
      },
    }));
  }
  await publisher.accept({ text: unique("Contested"), platforms: ["bluesky", "mastodon"] });
  await settleAll();
  const own = publisher.application;
  const [left, right] = await Promise.all([statsAt(relay, own), statsAt(other, own)]);
  const wrong = await wrongCounts(own);
  await other.stop();
  if (sorted(left.days) !== sorted(right.days)) wrong.push("they counted differently");
  return readers < 2 ? [...wrong, "they did not meet"] : wrong;
}

const ended = (
  application: TestApplication,
  more: Partial<Event> = {},
  at = relay.clock.now(),
) => ({
  ...newEvent(
    {
      type: "leg.succeeded",
      sequence: 1,
      applicationId: application.id,
      profileId: null,
      postId: null,
      data: { leg: { platform: "bluesky", error: null } },
    },
    at,
  ),
  ...more,
});

/** An event that is written to the log later than a younger one. */
async function overtaking(change: Change): Promise<string[]> {
  const application = await anApplication(relay);
  const { platform } = application;
  change(relay.services);
  const late = ended(application);
  await addPending(relay.tables.core, platform.id, late);
  relay.advance(1_000);
  const young = ended(application);
  await relay.services.webhooks.stores.events.log([{ ...young, applicationId: application.id }]);
  relay.advance(16_000);
  const before = await statsAt(relay, application);
  const wrong = before.days.length === 0 ? [] : ["what comes after a pending event is counted"];
  if (before.asOf !== late.createdAt) wrong.push(`it is counted up to ${before.asOf}`);
  await hintEvents(relay.services.webhooks, platform.id);
  await relay.drain();
  return [...wrong, ...(await wrongCounts(application))];
}

/** Events that nobody asked to count are removed after a month. */
async function purging(change: Change): Promise<string[]> {
  const publisher = await aPublisher(relay, ["bluesky"]);
  change(relay.services);
  await publisher.accept({ text: unique("Purged"), platforms: ["bluesky", "mastodon"] });
  await settleAll();
  const events = await allEvents(relay, publisher.application);
  const { days: before } = { days: statsOfEvents(events) };
  const day = before[0].day as string;
  relay.advance(40 * DAY_MS);
  await runWalks(relay.services, "purge-events");
  const left = await relay.services.webhooks.stores.events.listAfter(
    publisher.application.id,
    "",
    1,
  );
  const { days } = await statsAt(relay, publisher.application, `?from=${day}&to=${day}`);
  const wrong = left.length === 0 ? [] : ["events were not removed"];
  return sorted(days) === sorted(before) ? wrong : [...wrong, "counts went with the events"];
}

describe("events are counted once", () => {
  test.each(["before", "after"] as const)(
    "when a process dies %s any of its writes",
    { timeout: 240_000 },
    async (moment) => {
      expect(await crashes(theProduct, moment)).toEqual([]);
    },
  );

  test("when two processes count at the same time", async () => {
    expect(await contest(theProduct)).toEqual([]);
  });

  test("when one is logged after a younger one", async () => {
    expect(await overtaking(theProduct)).toEqual([]);
  });

  test("before they are removed", async () => {
    expect(await purging(theProduct)).toEqual([]);
  });
});
