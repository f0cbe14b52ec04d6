import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { STRICT_HOST } from "../../sandbox/mastodon/state.ts";
import { anOwner, openWorld, type Owner, type World } from "../connections/world.ts";
import { dataOf } from "../setup/factories.ts";
import { unique, uniqueKey } from "../setup/publisher.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { DAY_MS, toldTypes } from "./accounts.ts";
import { checkAccounts, enqueueDuePosts } from "../setup/walks.ts";
import { connectionOf } from "../setup/stored.ts";

const ROUNDS_MAX = 20;

let world: World;
let owner: Owner;
beforeEach(async () => {
  world = await openWorld();
  owner = await anOwner(world);
  await linkSandboxAccount(world.services, owner, "mastodon");
});
afterEach(() => world.close());

const call = (method: string, path: string, body?: object) =>
  world.relay.call(method, path, {
    key: owner.key,
    headers: { "x-profile-id": owner.profileId, "idempotency-key": uniqueKey() },
    ...(body === undefined ? {} : { body }),
  });

/** Lets time pass until the post has ended; a due post is fired by its timer. */
async function ended(id: string) {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await enqueueDuePosts(world.services);
    await world.relay.drain();
    const post = dataOf(await call("GET", `/v1/posts/${id}`));
    if (!["scheduled", "processing"].includes(post.status)) return post;
    world.relay.advance(60_000);
  }
  throw new Error("the post did not end");
}

/** The account is taken back at the network, and the daily look finds it out. */
async function loseAccount(): Promise<string> {
  world.sandbox.networks.mastodon.revokeTokens(STRICT_HOST);
  world.relay.advance(4 * DAY_MS);
  await checkAccounts(world.services);
  const { id, status } = await connectionOf(world.services, owner, "mastodon");
  expect(status).toBe("needs_reauth");
  return id;
}

describe("an account that was linked again after it was taken back", () => {
  test("keeps its id and publishes what was scheduled before", async () => {
    const scheduleAt = new Date(world.relay.clock.now().getTime() + 6 * DAY_MS).toISOString();
    const text = unique("Scheduled before the account was lost");
    const post = dataOf(
      await call("POST", "/v1/posts", { text, platforms: ["mastodon"], scheduleAt }),
    );
    const id = await loseAccount();
    await linkSandboxAccount(world.services, owner, "mastodon", { id });
    const linked = await connectionOf(world.services, owner, "mastodon");
    expect(linked).toMatchObject({ id, status: "active", lastError: null });
    world.relay.advance(2 * DAY_MS);
    expect((await ended(post.id)).status).toBe("succeeded");
    const posts = world.sandbox.posts("mastodon").filter((shown) => shown.text.includes(text));
    expect(posts).toHaveLength(1);
  });

  test("publishes what failed for it, when that is tried again", async () => {
    const id = await loseAccount();
    const told = await toldTypes(world, owner);
    expect(told).toEqual(["connection.needs_reauth"]);
    const text = unique("Too early");
    const check = dataOf(
      await call("POST", "/v1/posts/validate", { text, platforms: ["mastodon"] }),
    );
    expect(check.platforms.mastodon).toMatchObject({
      valid: false,
      connection: { id, status: "needs_reauth" },
      errors: [{ code: "connection_needs_reauth" }],
    });
    const scheduleAt = new Date(world.relay.clock.now().getTime() + 60_000).toISOString();
    const post = dataOf(
      await call("POST", "/v1/posts", { text, platforms: ["mastodon"], scheduleAt }),
    );
    world.relay.advance(120_000);
    const failed = await ended(post.id);
    expect(failed).toMatchObject({
      status: "failed",
      legs: [{ error: { code: "connection_needs_reauth" }, retryAvailable: false }],
    });
    await linkSandboxAccount(world.services, owner, "mastodon", { id });
    const again = dataOf(await call("GET", `/v1/posts/${post.id}`));
    expect(again.legs[0].retryAvailable).toBe(true);
    dataOf(await call("POST", `/v1/posts/${post.id}/retry`, {}));
    expect((await ended(post.id)).status).toBe("succeeded");
  });
});
