import { describe, expect, test } from "vitest";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import type { Answer } from "../setup/relay.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { forFile } from "../setup/for-file.ts";

const { relay } = useSandboxedRelay();
const publisher = forFile(() => aPublisher(relay));

const DAY = 86_400_000;
const inDays = (days: number) => new Date(relay.clock.now().getTime() + days * DAY).toISOString();
const call = (method: string, path: string, body: object) =>
  relay.call(method, path, {
    key: publisher.key,
    headers: { ...publisher.headers, "idempotency-key": "all-at-once-key" },
    body,
  });

/** The fields that a refusal names, each once. */
function fieldsOf({ status, body }: Answer): string[] {
  expect([status, body.error?.code]).toEqual([400, "validation_failed"]);
  const fields = body.error.details.issues.map(({ path }: { path: string }) => path);
  expect(new Set(fields).size).toBe(fields.length);
  return fields.sort();
}

const PHOTO = "https://media.sandbox.test/photo.jpg";

describe("one answer names everything that is wrong", () => {
  test.each(["/v1/posts", "/v1/posts/validate"])(
    "one answer names all that is wrong with a post: %s",
    async (path) => {
      const body = {
        text: 1,
        platforms: ["bluesky"],
        mediaUrls: [PHOTO],
        altTexts: ["a", "b"],
        platformOptions: { mastodon: { color: 1 } },
        color: "red",
      };
      for (const days of [-1, 366])
        expect(fieldsOf(await call("POST", path, { ...body, scheduleAt: inDays(days) }))).toEqual([
          "altTexts",
          "color",
          "platformOptions.mastodon",
          "platformOptions.mastodon.color",
          "scheduleAt",
          "text",
        ]);
    },
  );

  test("one answer names everything that is wrong with networks of which one is repeated and another unknown", async () => {
    const platforms = ["mastodon", "mastodon", "zzz"];
    expect(fieldsOf(await call("POST", "/v1/posts", { text: "Twice", platforms }))).toEqual([
      "platforms",
      "platforms.2",
    ]);
  });

  test("one answer names everything that is wrong with a new post whose fields are right, but not together and not now", async () => {
    const body = {
      platforms: ["bluesky"],
      altTexts: ["a"],
      platformOptions: { mastodon: {} },
      scheduleAt: inDays(-1),
    };
    expect(fieldsOf(await call("POST", "/v1/posts", body))).toEqual([
      "altTexts",
      "platformOptions.mastodon",
      "scheduleAt",
    ]);
  });

  test("one answer names everything that is wrong with the query as well", async () => {
    const body = { text: "x", platforms: [], scheduleAt: inDays(-1) };
    expect(fieldsOf(await call("POST", "/v1/posts/validate?media=maybe", body))).toEqual([
      "media",
      "platforms",
      "scheduleAt",
    ]);
  });

  test("one answer names everything that is wrong with text that can't be stored as well", async () => {
    const body = { text: "a\u0000b", platforms: [], scheduleAt: inDays(-1) };
    expect(fieldsOf(await call("POST", "/v1/posts", body))).toEqual([
      "platforms",
      "scheduleAt",
      "text",
    ]);
  });

  test("one answer names everything that is wrong with a change of a scheduled post, judged with what stays of it", async () => {
    const scheduled = { text: unique("Later"), platforms: ["bluesky"], mediaUrls: [PHOTO] };
    const { id } = await publisher.accept({ ...scheduled, scheduleAt: inDays(1) });
    const patch = (body: object) => call("PATCH", `/v1/posts/${id}`, body);
    const apart = {
      altTexts: ["a", "b"],
      platformOptions: { mastodon: {} },
      scheduleAt: inDays(-1),
    };
    const named = ["altTexts", "platformOptions.mastodon", "scheduleAt"];
    expect(fieldsOf(await patch(apart))).toEqual(named);
    expect(fieldsOf(await patch({ ...apart, text: 1 }))).toEqual([...named, "text"]);
  });

  test("one answer names everything that is wrong with a retry", async () => {
    const { id } = await publisher.accept({
      text: unique("Later"),
      platforms: ["bluesky"],
      scheduleAt: inDays(1),
    });
    const body = { platforms: ["mastodon"], color: "red" };
    expect(fieldsOf(await call("POST", `/v1/posts/${id}/retry`, body))).toEqual([
      "color",
      "platforms.0",
    ]);
  });

  test("one answer names everything that is wrong with a key that has ended before it begins", async () => {
    const body = { name: 1, scope: "all", expiresAt: inDays(-1) };
    expect(fieldsOf(await call("POST", "/v1/keys", body))).toEqual(["expiresAt", "name", "scope"]);
  });

  test("one answer names everything that is wrong with the address of a webhook that is refused", async () => {
    const url = "http://192.168.0.1/hook";
    const body = { url, events: ["post.eaten"], color: "red" };
    const named = ["color", "events.0", "url"];
    expect(fieldsOf(await call("POST", "/v1/webhooks", body))).toEqual(named);
    const made = await relay.call("POST", "/v1/webhooks", {
      key: publisher.key,
      body: { url: "https://receiver.example.com/hook" },
    });
    expect(fieldsOf(await call("PATCH", `/v1/webhooks/${dataOf(made).id}`, body))).toEqual(named);
  });
});

test("a scheduled post is answered again with its key after its time has passed", async () => {
  const body = { text: unique("Soon"), platforms: ["bluesky"], scheduleAt: inDays(1) };
  const key = unique("replayed").replaceAll(" ", "-");
  const { id } = await publisher.accept(body, key);
  relay.advance(2 * DAY);
  const again = await publisher.submit(body, key);
  expect([again.status, dataOf(again).id]).toEqual([201, id]);
});

describe("legs stand in the order in which the request names their networks", () => {
  const REVERSED = ["mastodon", "bluesky"];
  const orderOf = ({ legs }: { legs: { platform: string }[] }) =>
    legs.map(({ platform }) => platform);

  test("legs stand in the order in which the request names their networks in the answer, in reads and lists, and in a replay", async () => {
    const body = { text: unique("In order"), platforms: REVERSED };
    const key = unique("in-order").replaceAll(" ", "-");
    const { key: secret, headers } = publisher;
    const made = await publisher.accept(body, key);
    const listed = dataOf(await relay.call("GET", "/v1/posts", { key: secret, headers }));
    const found = listed.find(({ id }: { id: string }) => id === made.id);
    const posts = [made, await publisher.read(made.id), found, await publisher.accept(body, key)];
    expect(posts.map(orderOf)).toEqual(posts.map(() => REVERSED));
  });

  test("legs stand in the order in which the request names their networks in the answers to a change and to its end, in the order that it asks for", async () => {
    const asked = { text: unique("Turned"), platforms: ["bluesky", "mastodon"] };
    const { id } = await publisher.accept({ ...asked, scheduleAt: inDays(1) });
    const answers = [
      await call("PATCH", `/v1/posts/${id}`, { platforms: REVERSED }),
      await call("PATCH", `/v1/posts/${id}`, { text: unique("Turned again") }),
      await publisher.call("DELETE", `/v1/posts/${id}`),
    ];
    const posts = [...answers.map(dataOf), await publisher.read(id)];
    expect(posts.map(orderOf)).toEqual(posts.map(() => REVERSED));
    relay.advance(60_000);
    await relay.drain();
    const events = dataOf(
      await relay.call("GET", "/v1/events?limit=100", { key: publisher.key }),
    ).filter(({ data }: { data: { post?: { id: string } } }) => data.post?.id === id);
    const canceled = events.find(({ type }: { type: string }) => type === "post.canceled");
    expect(orderOf(canceled.data.post)).toEqual(REVERSED);
  });
});
