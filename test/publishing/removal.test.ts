import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { aKey, dataOf } from "../setup/factories.ts";
import { aPublisher, publisherOf, unique, type Publisher } from "../setup/publisher.ts";
import { replaceIn } from "../setup/replace-in.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { LENIENT_HOST } from "../../sandbox/mastodon/state.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import { HttpFailure } from "../../src/shared/runtime/http-call.ts";
import { erase, untilGone } from "../erasure/world.ts";
import { eraseProfiles } from "../setup/walks.ts";
import { Deletions } from "./deletions.ts";

const deletions = new Deletions();

const { relay } = useSandboxedRelay();
beforeAll(() => deletions.watch(relay));
beforeEach(() => {
  deletions.next.length = 0;
  deletions.calls.length = 0;
  deletions.during = () => Promise.resolve();
});

async function published(
  publisher: Publisher,
  platforms: readonly string[],
  text = unique("Gone"),
) {
  const submitted = await publisher.submit({ text, platforms });
  return publisher.settle(dataOf(submitted).id);
}

/** Lets time pass until no removal is pending. */
async function removed(publisher: Publisher, postId: string) {
  for (let round = 0; round < 60; round += 1) {
    await relay.drain();
    const post = await publisher.read(postId);
    const isPending = post.legs.some(
      ({ removal }: { removal: { status: string } | null }) => removal?.status === "pending",
    );
    if (!isPending) return post;
    relay.advance(130_000);
  }
  throw new Error("the removal did not end");
}

const code = (error: string) => ({ status: 409, body: { error: { code: error } } });

describe("removing a post", () => {
  test("takes down every leg, says so, and changes nothing else", async () => {
    const publisher = await aPublisher(relay);
    const before = await published(publisher, ["bluesky", "mastodon"]);
    const balance = await publisher.balance();
    const asked = await publisher.remove(before.id);
    expect(asked).toMatchObject({
      status: 202,
      body: { data: { legs: [{ removal: { status: "pending", at: null } }, { removal: {} }] } },
    });
    const post = await removed(publisher, before.id);
    expect(deletions.calls).toHaveLength(2);
    for (const [index, leg] of post.legs.entries()) {
      expect(leg.removal).toMatchObject({ status: "removed", error: null });
      expect({ ...leg, removal: null }).toEqual(before.legs[index]);
    }
    expect({ ...post, legs: [], updatedAt: "" }).toEqual({ ...before, legs: [], updatedAt: "" });
    expect(await publisher.balance()).toEqual(balance);
    const events = await publisher.eventTypes(before.id);
    expect(events.filter((type: string) => type === "leg.removed")).toHaveLength(2);
    expect(
      await relay.services.publishing.stores.posts.listOpenWork(publisher.owner.platformId),
    ).toMatchObject({ works: [] });
  });

  test("touches the named legs alone, and says in the timeline what it did", async () => {
    const publisher = await aPublisher(relay);
    const { id } = await published(publisher, ["bluesky", "mastodon"]);
    await publisher.remove(id, ["mastodon"]);
    const post = await removed(publisher, id);
    expect(post.legs.map((leg: { removal: unknown }) => leg.removal)).toMatchObject([
      null,
      { status: "removed" },
    ]);
    const { body } = await publisher.call("GET", `/v1/posts/${id}/timeline`);
    const steps = body.data.filter(({ step }: { step: string }) => step === "removal");
    expect(steps).toMatchObject([{ outcome: "asked" }, { outcome: "done", platform: "mastodon" }]);
  });

  test("removing a post is made again after a lost answer, and ends as one removal", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await published(publisher, ["mastodon"]);
    deletions.next.push("lost_before", "down", "lost");
    await publisher.remove(id);
    const post = await removed(publisher, id);
    expect(post.legs[0].removal).toMatchObject({ status: "removed" });
    expect(deletions.calls).toHaveLength(4);
    const events = await publisher.eventTypes(id);
    expect(events.filter((type: string) => type === "leg.removed")).toHaveLength(1);
  });

  test("removing a post waits while a lost call that published it may still arrive", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const { outbound } = relay.services.connections;
    const calledAt: number[] = [];
    let removedAt = 0;
    replaceIn(outbound, (former) => ({
      request: async (asked) => {
        if (!asked.url.endsWith("putRecord")) return former.request(asked);
        calledAt.push(relay.clock.now().getTime());
        if (calledAt.length === 1) throw new HttpFailure("in_doubt", "timeout");
        return former.request(asked);
      },
    }));
    deletions.during = async () => void (removedAt = relay.clock.now().getTime());
    const { id } = dataOf(await publisher.submit({ text: unique("Gone"), platforms: ["bluesky"] }));
    for (let round = 0; calledAt.length < 2 && round < 20; round += 1) {
      relay.advance(5_000);
      await relay.drain();
    }
    await publisher.remove(id);
    await relay.drain();
    expect(deletions.calls).toEqual([]);
    expect((await removed(publisher, id)).legs[0].removal.status).toBe("removed");
    expect(deletions.calls).toHaveLength(1);
    expect(removedAt - (calledAt[1] ?? 0)).toBeGreaterThan(60_000);
  });

  test("removing a post is given up after an hour, and can be asked for again", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id, status } = await published(publisher, ["mastodon"]);
    deletions.next.push(...Array.from({ length: 200 }, () => "down" as const));
    const before = relay.clock.now().getTime();
    await publisher.remove(id);
    const post = await removed(publisher, id);
    const minutes = (relay.clock.now().getTime() - before) / 60_000;
    expect(minutes).toBeGreaterThan(55);
    expect(minutes).toBeLessThan(70);
    expect(post).toMatchObject({
      status,
      legs: [
        {
          status: "succeeded",
          removal: { status: "failed", error: { code: "network_unavailable" } },
        },
      ],
    });
    expect(await publisher.eventTypes(id)).toContain("leg.removal_failed");
    deletions.next.length = 0;
    expect((await publisher.remove(id, ["mastodon"])).status).toBe(202);
    expect((await removed(publisher, id)).legs[0].removal.status).toBe("removed");
  });

  test("removing a post that the network forbids fails, and is the end user's to solve", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await published(publisher, ["mastodon"]);
    deletions.next.push("forbidden");
    await publisher.remove(id);
    expect((await removed(publisher, id)).legs[0].removal).toMatchObject({
      status: "failed",
      error: { code: "permission_missing", docUrl: expect.stringContaining("permission_missing") },
    });
  });

  test("frees its text at once", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const text = unique("Again");
    const { id } = await published(publisher, ["mastodon"], text);
    const again = () => publisher.submit({ text, platforms: ["mastodon"] });
    expect(await again()).toMatchObject(code("duplicate_content"));
    await publisher.remove(id);
    await removed(publisher, id);
    expect((await again()).status).toBe(202);
  });

  test("removing a post is waited for when its profile is erased, before its account is unlinked", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await published(publisher, ["mastodon"]);
    deletions.next.push("down");
    await publisher.remove(id);
    await relay.drain();
    expect((await erase(relay, publisher)).status).toBe(202);
    await eraseProfiles(relay.services);
    expect(deletions.calls).toHaveLength(1);
    await untilGone(relay, publisher);
    expect(deletions.calls).toHaveLength(2);
  });

  test("fails when another account is linked than the one that published", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await published(publisher, ["mastodon"]);
    await linkSandboxAccount(relay.services, publisher.owner, "mastodon", {
      form: { instance: LENIENT_HOST },
    });
    await publisher.remove(id);
    expect((await removed(publisher, id)).legs[0].removal).toMatchObject({
      status: "failed",
      error: { code: "connection_missing", networkCode: "account_replaced" },
    });
    expect(deletions.calls).toEqual([]);
  });

  test("works for a disabled profile and with a restricted key, and for nobody else", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await published(publisher, ["mastodon"]);
    const stranger = await aPublisher(relay, ["mastodon"]);
    expect((await stranger.remove(id)).status).toBe(404);
    const { key, profileId } = publisher;
    await relay.call("PATCH", `/v1/profiles/${profileId}`, { key, body: { status: "disabled" } });
    const restricted = { scope: "restricted", allowedProfileIds: [profileId] };
    const { secret } = await aKey(relay, publisher.application, restricted);
    const restrictedPublisher = publisherOf(
      relay,
      { ...publisher.application, key: secret },
      profileId,
    );
    expect((await restrictedPublisher.remove(id)).status).toBe(202);
    expect((await removed(publisher, id)).legs[0].removal.status).toBe("removed");
  });
});

describe("a removal of what can't be removed", () => {
  test("a network that is not in the post is 400, and what is removed or failed is nothing to remove", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const post = await published(publisher, ["mastodon", "bluesky"]);
    expect(post.status).toBe("partial");
    expect((await publisher.remove(post.id, ["linkedin"])).status).toBe(400);
    expect(await publisher.remove(post.id, ["bluesky"])).toMatchObject(code("nothing_to_remove"));
    expect(await publisher.remove(post.id, ["mastodon", "bluesky"])).toMatchObject(
      code("nothing_to_remove"),
    );
    expect((await publisher.remove(post.id)).status).toBe(202);
    await removed(publisher, post.id);
    expect(await publisher.remove(post.id)).toMatchObject(code("nothing_to_remove"));
    expect(await publisher.remove(post.id, ["mastodon"])).toMatchObject({
      body: { error: { code: "nothing_to_remove", details: { platforms: ["mastodon"] } } },
    });
    expect(deletions.calls).toHaveLength(1);
  });

  test("a leg that is removed already changes nothing beside one that is to be removed", async () => {
    const publisher = await aPublisher(relay);
    const { id } = await published(publisher, ["bluesky", "mastodon"]);
    await publisher.remove(id, ["bluesky"]);
    const [first] = (await removed(publisher, id)).legs;
    expect((await publisher.remove(id, ["bluesky", "mastodon"])).status).toBe(202);
    const { legs } = await removed(publisher, id);
    expect(legs).toMatchObject([first, { removal: { status: "removed" } }]);
    expect(deletions.calls).toHaveLength(2);
  });

  test("an open removal answers for another request, and keeps the leg from being retried", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await published(publisher, ["mastodon"]);
    const first = dataOf(await publisher.remove(id));
    const second = dataOf(await publisher.remove(id, ["mastodon"]));
    expect(second).toEqual(first);
    await removed(publisher, id);
    expect(deletions.calls).toHaveLength(1);
  });

  test("a scheduled post is to be canceled, and a published one names the way to remove it", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const scheduleAt = new Date(relay.clock.now().getTime() + 3_600_000).toISOString();
    const body = { text: unique("Later"), platforms: ["mastodon"], scheduleAt };
    const { id } = await publisher.accept(body);
    expect(await publisher.remove(id)).toMatchObject(code("invalid_state"));
    const post = await published(publisher, ["mastodon"]);
    expect(await publisher.call("DELETE", `/v1/posts/${post.id}`)).toMatchObject({
      status: 409,
      body: {
        error: {
          message: expect.stringContaining(`send POST /v1/posts/${post.id}/remove.`),
          details: { remove: `/v1/posts/${post.id}/remove` },
        },
      },
    });
  });

  test("a network without removals is named with the address of the post, and does not stop the others", async () => {
    const publisher = await aPublisher(relay);
    const post = await published(publisher, ["mastodon", "bluesky"]);
    const bluesky = networkOf("bluesky");
    const { calls } = bluesky;
    Object.assign(bluesky, { calls: {} });
    const alone = await publisher.remove(post.id, ["bluesky"]);
    const both = await publisher.remove(post.id);
    const { legs } = await removed(publisher, post.id);
    Object.assign(bluesky, { calls });
    const posts = [{ platform: "bluesky", url: post.legs[1].url }];
    expect(alone).toMatchObject({
      status: 409,
      body: { error: { code: "removal_unsupported", details: { posts } } },
    });
    expect(both.status).toBe(202);
    expect(legs).toMatchObject([
      { removal: { status: "removed" } },
      { removal: { status: "unsupported", error: { code: "feature_unsupported" } } },
    ]);
  });
});

describe("a post of unknown outcome", () => {
  /** Publishes while no answer of the network comes back. */
  async function unknown(publisher: Publisher, failure: "before" | "after") {
    const { outbound } = relay.services.connections;
    const request = outbound.request.bind(outbound);
    outbound.request = async (asked) => {
      if (failure === "after" && asked.method === "POST") await request(asked);
      throw new HttpFailure("in_doubt", "timeout");
    };
    const body = { text: unique("Unknown"), platforms: ["mastodon"] };
    const { id } = await publisher.accept(body);
    const post = await publisher.settle(id);
    outbound.request = request;
    expect(post.legs[0].error.code).toBe("outcome_unknown");
    return post;
  }

  test("a post of unknown outcome is looked for before it is removed", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await unknown(publisher, "after");
    await publisher.remove(id);
    const { legs } = await removed(publisher, id);
    expect(legs[0]).toMatchObject({ status: "failed", removal: { status: "removed" } });
    expect(deletions.calls).toHaveLength(1);
  });

  test("a post of unknown outcome that is not there needs no removal", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await unknown(publisher, "before");
    await publisher.remove(id);
    const { legs } = await removed(publisher, id);
    expect(legs[0]).toMatchObject({ status: "failed", removal: { status: "removed" } });
    expect(deletions.calls).toEqual([]);
  });

  test("a post of unknown outcome can't be retried while it is removed, nor removed while it is retried", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await unknown(publisher, "after");
    const retry = () => publisher.call("POST", `/v1/posts/${id}/retry`, { body: {} });
    await publisher.remove(id);
    expect(await retry()).toMatchObject(code("invalid_state"));
    await removed(publisher, id);
    expect((await retry()).status).toBe(202);
    expect(await publisher.remove(id, ["mastodon"])).toMatchObject(code("invalid_state"));
  });
});
