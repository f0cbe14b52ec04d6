import { describe, expect, test } from "vitest";
import type { GivenAnswer } from "../../sandbox/faults.ts";
import { PIXELFED_HOST, STRICT_HOST } from "../../sandbox/mastodon/state.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { connectionOf } from "../setup/stored.ts";

// Answers that networks gave to somebody in public, from the call to what the customer is told.

const { relay, sandbox, visible } = useSandboxedRelay(DEMO_APPS);

const at = (name: string) => `https://media.sandbox.test/${name}`;
const said = (status: number, body: unknown, headers = {}): GivenAnswer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
  isAfter: false,
});
const graph = (message: string, code: number, more: object = {}) =>
  said(400, { error: { message, type: "OAuthException", code, ...more } });

type NetworkName = "facebook" | "linkedin" | "bluesky" | "mastodon";

async function aPublisherAt(network: NetworkName, instance = STRICT_HOST): Promise<Publisher> {
  sandbox.reset();
  const publisher = await aPublisher(relay, []);
  const form = network === "mastodon" ? { form: { instance } } : {};
  await linkSandboxAccount(relay.services, publisher.owner, network, form);
  return publisher;
}

async function publish(publisher: Publisher, network: NetworkName, more: object = {}) {
  const text = unique("Odd");
  const { id } = await publisher.accept({ text, platforms: [network], ...more });
  const { legs } = await publisher.settle(id);
  const { status } = await connectionOf(relay.services, publisher.owner, network);
  return { id, leg: legs[0], count: visible(text).length, connection: status };
}

const PHOTO = { mediaUrls: [at("photo.jpg")] };

describe("a file that got lost on the way", () => {
  test.each<[NetworkName, string, GivenAnswer]>([
    ["facebook", "photos", graph("(#324) Requires upload file", 324)],
    [
      "bluesky",
      "uploadBlob",
      said(400, {
        error: "InvalidRequest",
        message: "A request body is expected but none was provided",
      }),
    ],
    ["mastodon", "media", said(422, { error: "Validation failed: File can't be blank" })],
  ])("is sent to %s again, and the post is published once", async (network, route, answer) => {
    const publisher = await aPublisherAt(network);
    sandbox.fault(network, route, answer);
    const { leg, count } = await publish(publisher, network, PHOTO);
    expect(leg).toMatchObject({ status: "succeeded", attempts: 2 });
    expect(count).toBe(1);
  });
});

describe("what only the account's owner can do", () => {
  test.each([
    [graph("Two factor authentication required.", 415, { error_subcode: 2859009 }), "Log in to"],
    [
      graph("Invalid parameter", 100, {
        error_subcode: 1404006,
        error_user_title: "Security check required",
      }),
      "security check",
    ],
  ])("is told, and nothing is published", async (answer, words) => {
    const publisher = await aPublisherAt("facebook");
    sandbox.fault("facebook", "feed", answer, 100);
    const { leg, count, connection } = await publish(publisher, "facebook");
    expect(leg).toMatchObject({ status: "failed", error: { code: "account_restricted" } });
    expect(leg.error.remediation).toContain(words);
    expect([count, connection]).toEqual([0, "needs_reauth"]);
  });
});

test("a refusal of LinkedIn's without words is one of the account's permissions", async () => {
  const publisher = await aPublisherAt("linkedin");
  sandbox.fault("linkedin", "images", said(403, { message: "", status: 403 }), 100);
  const { leg, count, connection } = await publish(publisher, "linkedin", PHOTO);
  expect(leg).toMatchObject({ status: "failed", error: { code: "permission_missing" } });
  expect([count, connection]).toEqual([0, "needs_reauth"]);
});

test("a token that Pixelfed does not accept is told as one, although the server calls it a failure of its own", async () => {
  const publisher = await aPublisherAt("mastodon", PIXELFED_HOST);
  sandbox.fault("mastodon", "*", said(500, { error: "Unauthenticated." }), 1000);
  const { leg, connection } = await publish(publisher, "mastodon", PHOTO);
  expect(leg).toMatchObject({ status: "failed", error: { code: "connection_needs_reauth" } });
  expect(connection).toBe("needs_reauth");
});

test.each([301, 307, 308])(
  "a server that leads a post elsewhere (%s) gets no second call, and the customer hears why",
  async (status) => {
    const publisher = await aPublisherAt("mastodon");
    const location = "https://social.elsewhere.test/api/v1/statuses";
    sandbox.fault("mastodon", "statuses", said(status, "", { location }), 100);
    const { leg, count, connection } = await publish(publisher, "mastodon");
    expect(leg).toMatchObject({ status: "failed", attempts: 1, retryAvailable: true });
    expect(leg.error.message).toContain("sends requests to another address");
    expect([count, connection]).toEqual([0, "active"]);
    const calls = sandbox.requests().filter(({ route }) => route === "statuses");
    expect(calls).toHaveLength(1);
  },
);

describe("a post that Facebook can't load for its removal", () => {
  const UNLOADED = graph("(#100) This post could not be loaded", 100);

  async function removed(isAfter: boolean) {
    const publisher = await aPublisherAt("facebook");
    const { id } = await publish(publisher, "facebook");
    sandbox.fault("facebook", "remove", { ...UNLOADED, isAfter }, 100);
    await publisher.remove(id);
    await relay.drain();
    return (await publisher.read(id)).legs[0].removal;
  }

  test("is removed where it is gone", async () => {
    expect(await removed(true)).toMatchObject({ status: "removed" });
  });

  test("can't be removed where it is still there", async () => {
    expect(await removed(false)).toMatchObject({ status: "unsupported" });
  });
});
