import { describe, expect, test } from "vitest";
import type { PostWithLegs } from "../../src/shared/publishing/post-store.ts";
import type { IndexName } from "../../src/shared/publishing/post.ts";
import { listViolations } from "../model/simulation/lists.ts";
import { dataOf } from "../setup/factories.ts";
import { dyingAt, type Death } from "../setup/dying-relay.ts";
import { DEATHS_APART } from "../setup/long-check.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import type { Relay } from "../setup/relay.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { storedRows } from "../setup/stored-rows.ts";
import { enqueueDuePosts, eraseProfiles, sweepStalledLegs } from "../setup/walks.ts";

const { relay } = useSandboxedRelay();
const HOUR_MS = 60 * 60_000;
const ROUNDS = 12;
/** More than any of these changes writes. */
const WRITES_MAX = 40;
const ERASURE_WRITES_MAX = 150;

const inHours = (hours: number) =>
  new Date(relay.clock.now().getTime() + hours * HOUR_MS).toISOString();

async function postsOf({ owner }: Publisher): Promise<readonly PostWithLegs[]> {
  const { posts } = relay.services.publishing.stores;
  return (await posts.listOfProfile(owner, { after: undefined, limit: 50 }, () => true)).items;
}

/** What is wrong with the lists of the publisher's application, whose only profile it is. */
async function wrongLists(publisher: Publisher): Promise<string[]> {
  const { platformId, applicationId } = publisher.owner;
  const read = async (index: IndexName) => {
    const { postIndex } = relay.services.publishing.stores;
    const entries = await postIndex.list({ index, platformId, applicationId, limit: 50 });
    return entries.map(({ post }) => post);
  };
  const lists = {
    application: await read("application"),
    problem: await read("problem"),
    schedule: await read("schedule"),
  };
  return listViolations(lists, await postsOf(publisher));
}

/** Lets another process do what is left to do. */
async function goOn(): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    await enqueueDuePosts(relay.services);
    await sweepStalledLegs(relay.services);
    await relay.drain();
    relay.advance(60_000);
  }
}

interface Change {
  /** Returns the id of the post that is changed. */
  readonly prepare: (publisher: Publisher) => Promise<string>;
  /** The change, at a process that may die. */
  readonly act: (doomed: Publisher, id: string, process: Relay) => Promise<unknown>;
  /** What the post may be once another process went on. */
  readonly ends: readonly string[];
}

const BOTH = { platforms: ["bluesky", "mastodon"] };
const none = () => Promise.resolve("");
const accepted =
  (more: object = {}) =>
  async (publisher: Publisher) =>
    (await publisher.accept({ text: unique("Listed"), platforms: ["bluesky"], ...more })).id;
const scheduled = (publisher: Publisher) => accepted({ scheduleAt: inHours(1) })(publisher);

async function partial(publisher: Publisher): Promise<string> {
  const id = await accepted(BOTH)(publisher);
  expect((await publisher.settle(id)).status).toBe("partial");
  return id;
}

const CHANGES: Readonly<Record<string, Change>> = {
  "accepts a post": {
    prepare: none,
    act: (doomed) => doomed.submit({ text: unique("Listed"), ...BOTH }),
    ends: ["partial"],
  },
  "accepts a scheduled post": {
    prepare: none,
    act: (doomed) =>
      doomed.submit({
        text: unique("Listed"),
        platforms: ["bluesky"],
        externalId: "mine",
        scheduleAt: inHours(2),
      }),
    ends: ["scheduled"],
  },
  "moves a scheduled post": {
    prepare: scheduled,
    act: (doomed, id) =>
      doomed.change(id, { scheduleAt: inHours(3), externalId: "other", ...BOTH }),
    ends: ["scheduled"],
  },
  "cancels a scheduled post": {
    prepare: scheduled,
    act: (doomed, id) => doomed.cancel(id),
    // It starts in an hour.
    ends: ["scheduled", "canceled"],
  },
  "starts a scheduled post": {
    async prepare(publisher) {
      const id = await scheduled(publisher);
      relay.advance(HOUR_MS + 1_000);
      await enqueueDuePosts(relay.services);
      return id;
    },
    act: (_doomed, _id, process) => process.drain(),
    ends: ["succeeded"],
  },
  "publishes one leg of two": {
    prepare: accepted(BOTH),
    act: (_doomed, _id, process) => process.drain(),
    ends: ["partial"],
  },
  "retries a leg": {
    async prepare(publisher) {
      const id = await partial(publisher);
      await linkSandboxAccount(relay.services, publisher.owner, "mastodon");
      return id;
    },
    act: (doomed, id) => doomed.retry(id),
    ends: ["succeeded", "partial"],
  },
  "removes a published post": {
    async prepare(publisher) {
      const id = await accepted()(publisher);
      await publisher.settle(id);
      return id;
    },
    async act(doomed, id, process) {
      await doomed.remove(id);
      await process.drain();
    },
    ends: ["succeeded"],
  },
};

describe.each(Object.entries(CHANGES))(
  "a process that %s and dies",
  (_, { prepare, act, ends }) => {
    test.each(["before", "after"] as const)(
      "%s any of its writes leaves lists that are exact, also once another one went on",
      { timeout: 120_000 },
      async (moment) => {
        let end: Awaited<ReturnType<typeof dyingAt>> = "died";
        let nth = 1;
        for (; end === "died" && nth < WRITES_MAX; nth += DEATHS_APART) {
          const death: Death = { nth, moment };
          const publisher = await aPublisher(relay, ["bluesky"]);
          const id = await prepare(publisher);
          expect(await wrongLists(publisher), `prepared ${nth}`).toEqual([]);
          end = await dyingAt(relay, death, (process) => act(publisher.at(process), id, process));
          expect(await wrongLists(publisher), `death ${nth}`).toEqual([]);
          await goOn();
          expect(await wrongLists(publisher), `after ${nth}`).toEqual([]);
          for (const { post } of await postsOf(publisher)) expect(ends).toContain(post.status);
        }
        expect(end).toBe("lived");
        expect(nth).toBeGreaterThan(1 + DEATHS_APART);
      },
    );
  },
);

test(
  "an erasure that dies at any of its writes leaves no list of what is gone",
  { timeout: 240_000 },
  async () => {
    let end: Awaited<ReturnType<typeof dyingAt>> = "died";
    for (let nth = 1; end === "died" && nth < ERASURE_WRITES_MAX; nth += DEATHS_APART) {
      const publisher = await aPublisher(relay, ["bluesky"]);
      await partial(publisher);
      await scheduled(publisher);
      const { profileId, key } = publisher;
      dataOf(await relay.call("POST", `/v1/profiles/${profileId}/erase`, { key }));
      // The connections are gone by then, and the posts are canceled.
      await eraseProfiles(relay.services);
      relay.advance(11 * 60_000);
      const moment = nth % 2 === 0 ? "before" : "after";
      end = await dyingAt(relay, { nth, moment }, async (process) => {
        for (let round = 0; round < 3; round += 1) {
          await eraseProfiles(process.services);
          relay.advance(11 * 60_000);
        }
      });
      expect(await wrongLists(publisher), `death ${nth}`).toEqual([]);
      for (let round = 0; round < 6; round += 1) {
        await eraseProfiles(relay.services);
        relay.advance(11 * 60_000);
      }
      expect(await postsOf(publisher)).toEqual([]);
      expect(await wrongLists(publisher), `after ${nth}`).toEqual([]);
      const left = (await storedRows(relay)).filter(
        ({ rowKey, text }) => text.includes(profileId) && !/^[LOT]\|/.test(rowKey),
      );
      expect(left.map(({ rowKey }) => rowKey)).toEqual([]);
    }
    expect(end).toBe("lived");
  },
);

test("a list leaves out a damaged post and a damaged row, and shows the others", async () => {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const ids: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    relay.advance(1);
    ids.unshift(await accepted()(publisher));
  }
  const { platformId, applicationId } = publisher.owner;
  const rows = (await storedRows(relay)).filter(({ table }) => table === "core");
  const damage = async (id: string | undefined, prefix: string, columns: object) => {
    const found = rows.find(
      ({ rowKey }) => rowKey.startsWith(prefix) && rowKey.endsWith(id ?? "none"),
    );
    if (found === undefined) throw new Error(`there is no row ${prefix} of ${id}`);
    const row = { rowKey: found.rowKey, ...columns };
    await relay.tables.core.putProperties(platformId, row);
  };
  await damage(ids[0], "P|", { draft0: "{" });
  await damage(ids[2], "PA|", { networks: "{" });
  const path = `/v1/applications/${applicationId}/posts`;
  const { key } = publisher;
  const listed = dataOf(await relay.call("GET", path, { key }));
  expect(listed.map(({ id }: { readonly id: string }) => id)).toEqual([ids[1], ids[3]]);
  const filtered = dataOf(await relay.call("GET", `${path}?platform=bluesky`, { key }));
  expect(filtered).toEqual(listed);
  const damaged = await relay.call("GET", `${path}/${ids[0]}`, { key });
  expect(damaged.status).toBe(500);
});
