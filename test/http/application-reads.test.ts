import { describe, expect, test } from "vitest";
import { HttpFailure } from "../../src/shared/runtime/http-call.ts";
import { aKey, anApplication, aProfile, dataOf, outcomeOf } from "../setup/factories.ts";
import { forTest } from "../setup/for-file.ts";
import { aPublisher, publisherOf, unique, type Publisher } from "../setup/publisher.ts";
import type { Answer, CallOptions } from "../setup/relay.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay } = useSandboxedRelay();
const HOUR_MS = 60 * 60_000;

/** Two profiles of one application, on different networks. */
const world = forTest(async () => {
  const first = await aPublisher(relay, ["bluesky"]);
  const { application } = first;
  const { id } = await aProfile(relay, application, { title: "Second" });
  const second = publisherOf(relay, application, id);
  await linkSandboxAccount(relay.services, second.owner, "mastodon");
  return { first, second, application };
});

const inHours = (hours: number) =>
  new Date(relay.clock.now().getTime() + hours * HOUR_MS).toISOString();

async function accept(publisher: Publisher, more: object = {}): Promise<string> {
  // Lists are sorted by the time of creation.
  relay.advance(1);
  const platforms = publisher === world.first ? ["bluesky"] : ["mastodon"];
  return (await publisher.accept({ text: unique("Read"), platforms, ...more })).id;
}

function call(what: string, options: CallOptions = {}): Promise<Answer> {
  const { id, key } = world.application;
  const caller = options.session === undefined && options.key === undefined ? { key } : {};
  return relay.call("GET", `/v1/applications/${id}/${what}`, { ...caller, ...options });
}

const idsOf = async (what: string): Promise<string[]> =>
  dataOf(await call(what)).map(({ id }: { readonly id: string }) => id);

/** Every page of a list, one after the other. */
async function pagesOf(what: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor = ""; ;) {
    const answer = await call(`${what}${cursor}`);
    pages.push(dataOf(answer).map(({ id }: { readonly id: string }) => id));
    const { nextCursor, hasMore } = answer.body.page;
    expect(hasMore).toBe(nextCursor !== null);
    if (nextCursor === null) return pages;
    cursor = `&cursor=${nextCursor}`;
  }
}

describe("the posts of an application", () => {
  test("lists a post of every profile from the answer that accepts it, newest first", async () => {
    const one = await accept(world.first);
    expect(await idsOf("posts")).toEqual([one]);
    const two = await accept(world.second);
    const three = await accept(world.first, { scheduleAt: inHours(2) });
    expect(await idsOf("posts")).toEqual([three, two, one]);
    const [listed] = dataOf(await call(`posts?limit=1`));
    expect(listed).toEqual(await world.first.read(three));
    expect(dataOf(await call(`posts/${two}`))).toEqual(await world.second.read(two));
  });

  test("pages through all of them, each once, also with a filter", async () => {
    const ids = [];
    for (let count = 0; count < 7; count += 1)
      ids.unshift(await accept(count % 2 === 0 ? world.first : world.second));
    const pages = await pagesOf("posts?limit=3");
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
    expect(pages.flat()).toEqual(ids);
    const filtered = await pagesOf("posts?platform=bluesky&limit=2");
    expect(filtered.flat()).toEqual(ids.filter((_, place) => place % 2 === 0));
    const status = await pagesOf("posts?status=processing&limit=2");
    expect(status.flat()).toEqual(ids);
  });

  test("filters by profile, network and reference", async () => {
    const one = await accept(world.first, { externalId: "customer-1" });
    const two = await accept(world.second, { externalId: "customer-2" });
    expect(await idsOf(`posts?profileId=${world.first.profileId}`)).toEqual([one]);
    expect(await idsOf("posts?profileId=prf_unknown")).toEqual([]);
    expect(await idsOf("posts?platform=mastodon")).toEqual([two]);
    expect(await idsOf("posts?platform=facebook")).toEqual([]);
    expect(await idsOf("posts?externalId=customer-1")).toEqual([one]);
    expect(await idsOf(`posts?externalId=customer-1&platform=mastodon`)).toEqual([]);
    const spaced = await call("posts?externalId=customer+3");
    expect(spaced.body.error.details.issues).toMatchObject([{ path: "externalId" }]);
  });

  test("bounds the time of creation, the first inclusive and the second exclusive", async () => {
    const one = await accept(world.first);
    const two = await accept(world.second);
    const [{ createdAt: second }, { createdAt: first }] = dataOf(await call("posts"));
    expect(await idsOf(`posts?from=${first}&to=${second}`)).toEqual([one]);
    expect(await idsOf(`posts?from=${second}`)).toEqual([two]);
    expect(await idsOf(`posts?to=${first}`)).toEqual([]);
    expect(await idsOf("posts?from=0001-01-01T00:00:00Z")).toEqual([two, one]);
    expect(await idsOf("posts?to=0001-01-01T00:00:00Z")).toEqual([]);
    expect(await idsOf("posts?to=9999-12-31T23:59:59Z")).toEqual([two, one]);
  });

  test("filters by every state as the posts move through them", async () => {
    const scheduled = await accept(world.first, { scheduleAt: inHours(2) });
    const canceled = await accept(world.first, { scheduleAt: inHours(3) });
    expect(await idsOf("posts?status=scheduled")).toEqual([canceled, scheduled]);
    await world.first.cancel(canceled);
    const succeeded = await accept(world.first);
    expect(await idsOf("posts?status=processing")).toEqual([succeeded]);
    await world.first.settle(succeeded);
    const partial = await accept(world.first, { platforms: ["bluesky", "mastodon"] });
    await world.first.settle(partial);
    const all = { scheduled, canceled, succeeded, partial };
    for (const [status, id] of Object.entries(all))
      expect(await idsOf(`posts?status=${status}`), status).toEqual([id]);
    expect(await idsOf("posts?status=failed")).toEqual([]);
    expect(await idsOf("posts?status=processing")).toEqual([]);
    expect(await idsOf("posts?problem=any")).toEqual([]);
    expect(await idsOf("posts?status=partial&problem=any")).toEqual([]);
  });

  test("finds a post of unknown outcome until it is removed", async () => {
    const { outbound } = relay.services.connections;
    const request = outbound.request.bind(outbound);
    outbound.request = async (asked) => {
      if (asked.method === "POST") await request(asked);
      throw new HttpFailure("in_doubt", "timeout");
    };
    const lost = await accept(world.second);
    await world.second.settle(lost);
    outbound.request = request;
    expect(await idsOf("posts?problem=outcome_unknown")).toEqual([lost]);
    expect(await idsOf("posts?problem=any&status=failed")).toEqual([lost]);
    expect(await idsOf("posts?problem=removal")).toEqual([]);
    expect(await idsOf("posts?problem=any&platform=bluesky")).toEqual([]);
    await world.second.remove(lost);
    for (let round = 0; round < 20; round += 1) {
      await relay.drain();
      relay.advance(10_000);
    }
    expect((await world.second.read(lost)).legs[0].removal.status).toBe("removed");
    expect(await idsOf("posts?problem=any")).toEqual([]);
    expect(await idsOf("posts?status=failed")).toEqual([lost]);
  });

  test("says whether a retry is possible by the profile's own connections", async () => {
    const { connections } = dataOf(
      await world.first.call("GET", `/v1/profiles/${world.first.profileId}`),
    );
    expect(connections).not.toEqual([]);
    const partial = await accept(world.first, { platforms: ["bluesky", "mastodon"] });
    await world.first.settle(partial);
    const retryOf = async () => dataOf(await call(`posts/${partial}`)).legs[1].retryAvailable;
    expect(await retryOf()).toBe(false);
    await linkSandboxAccount(relay.services, world.first.owner, "mastodon");
    expect(await retryOf()).toBe(true);
    expect(dataOf(await call("posts"))[0]).toEqual(await world.first.read(partial));
  });

  test("follows a change of networks, reference and time", async () => {
    const id = await accept(world.first, { scheduleAt: inHours(2), externalId: "before" });
    await linkSandboxAccount(relay.services, world.first.owner, "mastodon");
    const change = { platforms: ["mastodon"], externalId: "after", scheduleAt: inHours(5) };
    dataOf(await world.first.change(id, change));
    expect(await idsOf("posts?externalId=before")).toEqual([]);
    expect(await idsOf("posts?externalId=after&platform=mastodon")).toEqual([id]);
    expect(await idsOf("posts?platform=bluesky")).toEqual([]);
    expect(await idsOf("schedule?platform=mastodon")).toEqual([id]);
    expect(await idsOf(`schedule?from=${inHours(1)}&to=${inHours(3)}`)).toEqual([]);
    expect(await idsOf(`schedule?from=${inHours(4)}`)).toEqual([id]);
  });
});

describe("the schedule of an application", () => {
  test("lists scheduled posts of all profiles, soonest first, until they start or are canceled", async () => {
    const late = await accept(world.first, { scheduleAt: inHours(3) });
    const soon = await accept(world.second, { scheduleAt: inHours(1) });
    const middle = await accept(world.first, { scheduleAt: inHours(2) });
    await accept(world.second);
    expect(await idsOf("schedule")).toEqual([soon, middle, late]);
    expect((await pagesOf("schedule?limit=1")).flat()).toEqual([soon, middle, late]);
    expect(await idsOf(`schedule?profileId=${world.second.profileId}`)).toEqual([soon]);
    const { scheduleAt } = await world.first.read(middle);
    expect(await idsOf(`schedule?from=${scheduleAt}`)).toEqual([middle, late]);
    expect(await idsOf(`schedule?to=${scheduleAt}`)).toEqual([soon]);
    await world.first.cancel(middle);
    expect(await idsOf("schedule")).toEqual([soon, late]);
    relay.advance(1.5 * HOUR_MS);
    await relay.runTimer("fire-due-posts");
    await relay.drain();
    expect(await idsOf("schedule")).toEqual([late]);
    expect((await pagesOf("posts?status=scheduled&limit=1")).flat()).toEqual([late]);
  });
});

describe("what a caller may read", () => {
  test("a key reads its own application alone, whatever X-Application-Id says", async () => {
    const id = await accept(world.first);
    const sibling = await anApplication(relay, world.application.platform);
    const headers = { "x-application-id": sibling.id };
    expect(outcomeOf(await call("posts", { headers }))).toBe("200");
    for (const what of ["posts", `posts/${id}`, "schedule"])
      expect(outcomeOf(await call(what, { key: sibling.key })), what).toBe("404 not_found");
    const own = await relay.call("GET", `/v1/applications/${sibling.id}/posts/${id}`, {
      key: sibling.key,
    });
    expect(outcomeOf(own)).toBe("404 not_found");
    const listed = await relay.call("GET", `/v1/applications/${sibling.id}/posts`, {
      key: sibling.key,
    });
    expect(dataOf(listed)).toEqual([]);
  });

  test("a session reads every application of its platform, unless it names another one", async () => {
    const id = await accept(world.first);
    const { session } = world.application.platform;
    const sibling = await anApplication(relay, world.application.platform);
    expect(outcomeOf(await call(`posts/${id}`, { session }))).toBe("200");
    const named = { "x-application-id": world.application.id };
    expect(outcomeOf(await call("schedule", { session, headers: named }))).toBe("200");
    const other = { "x-application-id": sibling.id };
    expect(outcomeOf(await call("posts", { session, headers: other }))).toBe("404 not_found");
    const unknown = { "x-application-id": `app_${"0".repeat(26)}` };
    expect(outcomeOf(await call("posts", { session, headers: unknown }))).toBe("404 not_found");
    for (const text of [`app_${"0".repeat(26)}`, "x", "app_'", "%00"]) {
      const answer = await relay.call("GET", `/v1/applications/${text}/posts`, { session });
      expect(outcomeOf(answer), text).toBe("404 not_found");
    }
  });

  test("another tenant finds neither the application nor its posts", async () => {
    const id = await accept(world.first);
    const foreign = await aPublisher(relay, []);
    const { session } = foreign.application.platform;
    for (const caller of [{ session }, { key: foreign.key }])
      for (const what of ["posts", `posts/${id}`, "schedule"])
        expect(outcomeOf(await call(what, caller)), what).toBe("404 not_found");
    const own = `/v1/applications/${foreign.application.id}/posts`;
    for (const what of [`${own}/${id}`, `${own}/x`, `${own}/${id}%7C`])
      expect(outcomeOf(await relay.call("GET", what, { session })), what).toBe("404 not_found");
    expect(dataOf(await relay.call("GET", own, { session }))).toEqual([]);
  });

  test("a restricted key may not, with whatever grant and path", async () => {
    const { secret } = await aKey(relay, world.application, {
      scope: "restricted",
      allowedProfileIds: [world.first.profileId],
    });
    const sibling = await anApplication(relay, world.application.platform);
    for (const what of ["posts", "schedule", "posts/x"])
      expect(outcomeOf(await call(what, { key: secret }))).toBe("403 app_admin_required");
    const path = `/v1/applications/${sibling.id}/posts`;
    expect(outcomeOf(await relay.call("GET", path, { key: secret }))).toBe(
      "403 app_admin_required",
    );
  });

  test("a cursor is only good for the list that it came from", async () => {
    await accept(world.first, { scheduleAt: inHours(1) });
    await accept(world.first, { scheduleAt: inHours(2) });
    const cursor = (await call("posts?limit=1")).body.page.nextCursor;
    const foreign = await aPublisher(relay, []);
    const elsewhere = await relay.call(
      "GET",
      `/v1/applications/${foreign.application.id}/posts?limit=1&cursor=${cursor}`,
      { key: foreign.key },
    );
    expect(outcomeOf(elsewhere)).toBe("400 invalid_cursor");
    for (const what of ["schedule?limit=1", "posts?problem=any", `posts?from=${inHours(-1)}`])
      expect(outcomeOf(await call(`${what}&cursor=${cursor}`)), what).toBe("400 invalid_cursor");
    const last = cursor.at(-1) === "A" ? "B" : "A";
    const tampered = cursor.slice(0, 10) + last + cursor.slice(11);
    expect(outcomeOf(await call(`posts?cursor=${tampered}`))).toBe("400 invalid_cursor");
  });
});

test.each(["posts", "schedule"])(
  "%s refuses a range that is empty or reversed, with all other mistakes",
  async (list) => {
    const [early, late] = [inHours(1), inHours(2)];
    const issuesOf = async (query: string) => {
      const { status, body } = await call(`${list}?${query}`);
      expect(status).toBe(400);
      return body.error.details.issues.map(({ path }: { readonly path: string }) => path).sort();
    };
    expect(await issuesOf(`from=${late}&to=${early}`)).toEqual(["to"]);
    expect(await issuesOf(`from=${early}&to=${early}`)).toEqual(["to"]);
    expect(await issuesOf(`from=${late}&to=${early}&limit=0&x=1`)).toEqual(["limit", "to", "x"]);
    expect(await issuesOf(`from=${late}&to=now`)).toEqual(["to"]);
    expect(await issuesOf("from=2030-01-01T00:00:00&limit=101")).toEqual(["from", "limit"]);
  },
);
