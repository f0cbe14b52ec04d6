import { describe, expect, test } from "vitest";
import { chargeTogether } from "../../src/shared/ledger/ledger.ts";
import { aCharge } from "../setup/a-charge.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique, uniqueKey, type Publisher } from "../setup/publisher.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay, visible } = useSandboxedRelay();

describe("publishing a post", () => {
  test("a post is published to every network, charged once per leg and read back with its URLs", async () => {
    const publisher = await aPublisher(relay);
    const before = await publisher.balance();
    const text = unique("Hello");
    const accepted = await publisher.submit({ text, platforms: ["bluesky", "mastodon"] });
    expect(accepted.status).toBe(202);
    const draft = dataOf(accepted);
    expect(draft).toMatchObject({ status: "processing", tokens: { reserved: 20, charged: 0 } });
    expect(await publisher.balance()).toMatchObject({
      tokenBalance: before.tokenBalance,
      tokenReserved: 20,
    });
    const post = await publisher.settle(draft.id);
    expect(post).toMatchObject({
      status: "succeeded",
      tokens: { reserved: 0, charged: 20, released: 0 },
      legs: [
        { platform: "bluesky", status: "succeeded", attempts: 1, tokensCharged: 10, error: null },
        { platform: "mastodon", status: "succeeded", attempts: 1, tokensCharged: 10, error: null },
      ],
    });
    for (const leg of post.legs) expect(leg.url).toMatch(/^https:\/\//);
    expect(visible(text)).toHaveLength(2);
    expect(await publisher.balance()).toMatchObject({
      tokenBalance: before.tokenBalance - 20,
      tokenReserved: 0,
    });
  });

  test("a network without an account fails its leg from the start and costs nothing", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const text = unique("Half");
    const accepted = await publisher.accept({ text, platforms: ["bluesky", "mastodon"] });
    expect(accepted.tokens.reserved).toBe(10);
    const post = await publisher.settle(accepted.id);
    expect(post.status).toBe("partial");
    expect(post.legs[1]).toMatchObject({
      status: "failed",
      error: { code: "connection_missing" },
      retryAvailable: false,
    });
  });

  test("a retry is published once the missing account is linked", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const text = unique("Later");
    const accepted = await publisher.accept({ text, platforms: ["bluesky", "mastodon"] });
    await publisher.settle(accepted.id);
    await linkSandboxAccount(relay.services, publisher.owner, "mastodon");
    const path = `/v1/posts/${accepted.id}/retry`;
    expect((await publisher.read(accepted.id)).legs[1].retryAvailable).toBe(true);
    const retried = await publisher.call("POST", path);
    expect(retried.status).toBe(202);
    expect(dataOf(retried)).toMatchObject({ status: "processing", tokens: { reserved: 10 } });
    const post = await publisher.settle(accepted.id);
    expect(post.status).toBe("succeeded");
    expect(visible(text)).toHaveLength(2);
    const again = await publisher.call("POST", path);
    expect(again).toMatchObject({ status: 409, body: { error: { code: "nothing_to_retry" } } });
  });

  test.each(["[fail:network_unavailable:6]", "[drop-before:2]"])(
    "a post that Bluesky got late stands where its feeds show new ones: %s",
    async (word) => {
      const publisher = await aPublisher(relay, ["bluesky"]);
      const text = unique(`${word} Late`);
      const accepted = await publisher.accept({ text, platforms: ["bluesky"] });
      let post = await publisher.settle(accepted.id);
      if (post.status === "failed") {
        relay.advance(3 * 86_400_000);
        await publisher.retry(accepted.id);
        post = await publisher.settle(accepted.id);
      }
      expect(post.status).toBe("succeeded");
      const [shown, ...others] = visible(text);
      expect(others).toEqual([]);
      const lateMs = Date.parse(post.legs[0].publishedAt) - Date.parse(shown?.createdAt ?? "");
      expect(lateMs).toBeLessThan(5_000);
    },
  );

  test("a post that no network can publish is refused with every network's reasons", async () => {
    const publisher = await aPublisher(relay, []);
    const answer = await publisher.submit({ text: "x".repeat(400), platforms: ["bluesky"] });
    expect(answer).toMatchObject({ status: 422, body: { error: { code: "not_publishable" } } });
    const codes = answer.body.error.details.platforms.bluesky.errors.map(
      (error: { code: string }) => error.code,
    );
    expect(codes).toEqual(expect.arrayContaining(["connection_missing", "text_too_long"]));
  });
});

describe("what a network does", () => {
  test("an account whose access was withdrawn is marked, and later posts say so immediately", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const text = unique("[fail:connection_needs_reauth]");
    const accepted = await publisher.accept({ text, platforms: ["mastodon"] });
    await publisher.settle(accepted.id);
    const next = await publisher.submit({ text: unique("Next"), platforms: ["mastodon"] });
    expect(next.status).toBe(422);
    expect(next.body.error.details.platforms.mastodon.errors[0].code).toBe(
      "connection_needs_reauth",
    );
  });
});

describe("an Idempotency-Key", () => {
  test("an Idempotency-Key that fifty requests use at the same moment makes one post, and all fifty get it", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const text = unique("Fifty");
    const key = uniqueKey();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => publisher.submit({ text, platforms: ["bluesky"] }, key)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map((answer) => dataOf(answer).id)).size).toBe(1);
    const first = answers.filter(({ headers }) => headers.get("idempotent-replayed") === null);
    expect(first).toHaveLength(1);
    expect(await publisher.balance()).toMatchObject({ tokenReserved: 10 });
    for (const answer of answers.slice(0, 1)) await publisher.settle(dataOf(answer).id);
    expect(visible(text)).toHaveLength(1);
  });

  test("an Idempotency-Key of another request, also of another profile, is a conflict that reveals nothing", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const key = uniqueKey();
    const accepted = await publisher.accept({ text: unique("One"), platforms: ["bluesky"] }, key);
    const other = await publisher.submit({ text: unique("Two"), platforms: ["bluesky"] }, key);
    expect(other).toMatchObject({ status: 409, body: { error: { code: "idempotency_conflict" } } });
    expect(JSON.stringify(other.body)).not.toContain(accepted.id);
  });

  test.each([
    [undefined, "idempotency_key_required"],
    ["short", "idempotency_key_invalid"],
    ["with a space in it", "idempotency_key_invalid"],
    ["x".repeat(129), "idempotency_key_invalid"],
  ])("the Idempotency-Key %s is refused as %s", async (key, code) => {
    const publisher = await aPublisher(relay, []);
    const answer = await relay.call("POST", "/v1/posts", {
      key: publisher.key,
      headers: { ...publisher.headers, ...(key === undefined ? {} : { "idempotency-key": key }) },
      body: { text: "Hello", platforms: ["bluesky"] },
    });
    expect(answer).toMatchObject({ status: 400, body: { error: { code } } });
  });

  test("a refused request does not use up its Idempotency-Key", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const key = uniqueKey();
    const refused = await publisher.submit({ text: "x".repeat(500), platforms: ["bluesky"] }, key);
    expect(refused.status).toBe(422);
    const accepted = await publisher.submit({ text: unique("Fine"), platforms: ["bluesky"] }, key);
    expect(accepted.status).toBe(202);
  });
});

describe("the wallet", () => {
  test("a wallet that can pay for 120 of 200 posts at the same moment accepts exactly 120", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const { tokenBalance } = await publisher.balance();
    await spendDownTo(publisher, tokenBalance, 1_200);
    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        publisher.submit({ text: unique("Rush"), platforms: ["bluesky"] }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(120);
    expect(statuses.filter((status) => status === 402)).toHaveLength(80);
    const refused = answers.find(({ status }) => status === 402);
    expect(refused?.body.error).toMatchObject({
      code: "insufficient_tokens",
      details: { required: 10, available: 0 },
    });
    expect(await publisher.balance()).toMatchObject({ tokenBalance: 1_200, available: 0 });
  });
});

/** Takes tokens from the wallet until this many are left. */
async function spendDownTo({ application }: Publisher, have: number, left: number): Promise<void> {
  await chargeTogether(relay.services.ledger, application.platform.id, [
    aCharge(unique("spend"), have - left, { operation: "posts.schedule" }),
  ]);
}
