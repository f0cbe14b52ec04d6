import { describe, expect, test } from "vitest";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const HOUR = 60 * 60_000;

const { relay, sandbox, visible } = useSandboxedRelay();

const submit = (publisher: Publisher, text: string, platforms: readonly string[] = ["bluesky"]) =>
  publisher.submit({ text, platforms });

async function publish(publisher: Publisher, text: string, platforms?: readonly string[]) {
  return publisher.settle(dataOf(await submit(publisher, text, platforms)).id);
}

describe("the same text to the same account within 48 hours", () => {
  test("a repeated text is refused with the post's id and the time when it is allowed again, and is allowed then", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const text = unique("Twice");
    const first = await publish(publisher, text);
    const second = await submit(publisher, `  ${text.replaceAll(" ", "\n ")} `);
    expect(second).toMatchObject({
      status: 409,
      body: {
        error: {
          code: "duplicate_content",
          details: { postId: first.id, platforms: ["bluesky"] },
        },
      },
    });
    const { allowedAfter } = second.body.error.details;
    expect(Date.parse(allowedAfter) - Date.parse(first.legs[0].publishedAt)).toBe(48 * HOUR);
    relay.advance(48 * HOUR);
    expect(await publish(publisher, text)).toMatchObject({ status: "succeeded" });
    expect(visible(text)).toHaveLength(2);
  });

  test("a repeated text fails its own leg alone if another network can publish it", async () => {
    const publisher = await aPublisher(relay);
    const text = unique("One of two");
    await publish(publisher, text, ["bluesky"]);
    expect(await publish(publisher, text, ["bluesky", "mastodon"])).toMatchObject({
      status: "partial",
      tokens: { charged: 10 },
      legs: [{ error: { code: "duplicate_content" }, retryAvailable: false }, { error: null }],
    });
  });

  test("a repeated text counts for all profiles and tenants that linked the account, and names no foreign post", async () => {
    const [one, other] = [
      await aPublisher(relay, ["bluesky"]),
      await aPublisher(relay, ["bluesky"]),
    ];
    const text = unique("Shared");
    await publish(one, text);
    const refused = await submit(other, text);
    expect(refused.body.error).toMatchObject({
      code: "duplicate_content",
      details: { postId: null },
    });
  });

  test("a text that is sent twice at the same moment is published once, and the other leg says why it was not", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const text = unique("At once");
    const answers = await Promise.all([submit(publisher, text), submit(publisher, text)]);
    const ended = [];
    for (const answer of answers) ended.push(await publisher.settle(dataOf(answer).id));
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(["failed", "succeeded"]));
    const failed = ended.find(({ status }) => status === "failed");
    expect(failed.legs[0].error.code).toBe("duplicate_content");
    expect(failed.tokens).toEqual({ reserved: 0, charged: 0, released: 10 });
    expect(visible(text)).toHaveLength(1);
  });

  test("a text is no repetition if the first leg failed", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const text = unique("Refused once");
    sandbox.fault("mastodon", "*", "fail:content_rejected");
    expect(await publish(publisher, text, ["mastodon"])).toMatchObject({ status: "failed" });
    expect(await publish(publisher, text, ["mastodon"])).toMatchObject({ status: "succeeded" });
  });

  test("validate reports a repeated text", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const text = unique("Checked");
    await publish(publisher, text);
    const call = { body: { text, platforms: ["bluesky"] } };
    expect(dataOf(await publisher.call("POST", "/v1/posts/validate", call))).toMatchObject({
      valid: false,
      platforms: { bluesky: { errors: [{ code: "duplicate_content" }] } },
    });
  });

  test("posts without text are no duplicates, and other texts pass", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    await linkSandboxAccount(relay.services, publisher.owner, "bluesky");
    expect(await publish(publisher, unique("A"))).toMatchObject({ status: "succeeded" });
    const body = { platforms: ["bluesky"], mediaUrls: ["https://media.sandbox.test/photo.jpg"] };
    for (const _ of [1, 2]) {
      const answer = await publisher.submit(body);
      const post = await publisher.settle(dataOf(answer).id);
      expect(post.status).toBe("succeeded");
    }
  });
});

describe("a quota of an account", () => {
  const account = { network: "instagram", accountId: unique("account") } as const;
  const quota = { kind: "posts", limit: 3 };
  const store = () => relay.services.publishing.stores.networkAccounts;

  test("an account's quota is used once per leg, never beyond its limit, and is free again after a day", async () => {
    const now = relay.clock.now();
    const claims = await Promise.all(
      [1, 2, 3, 4, 5, 1].map((leg) => store().claimQuota(account, quota, `leg-${leg}`, now)),
    );
    const taken = claims.slice(0, 5).filter(Boolean).length;
    expect(taken).toBe(3);
    expect(claims[5]).toBe(claims[0]);
    expect((await store().readQuota(account, "posts", now)).used).toBe(3);
    const tomorrow = new Date(now.getTime() + 24 * HOUR);
    expect((await store().readQuota(account, "posts", tomorrow)).used).toBe(0);
    expect(await store().claimQuota(account, quota, "leg-9", tomorrow)).toBe(true);
  });

  test("a leg that published nothing returns its quota once", async () => {
    const other = { ...account, accountId: unique("account") };
    const now = relay.clock.now();
    for (const leg of ["a", "b", "c"]) await store().claimQuota(other, quota, leg, now);
    expect(await store().claimQuota(other, quota, "d", now)).toBe(false);
    await store().returnQuota(other, "posts", "b");
    await store().returnQuota(other, "posts", "b");
    expect(await store().claimQuota(other, quota, "d", now)).toBe(true);
    expect(await store().claimQuota(other, quota, "e", now)).toBe(false);
  });
});
