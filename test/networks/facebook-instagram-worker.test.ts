import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_FACEBOOK_APP } from "../../dev/networks/facebook/state.ts";
import { DEMO_INSTAGRAM_APP } from "../../dev/networks/instagram/state.ts";
import { startSandbox, type Sandbox } from "../../dev/networks/server.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, settlePost, submitPost, unique } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { sandboxSettings } from "../setup/sandbox-accounts.ts";

type Name = "facebook" | "instagram";

let sandbox: Sandbox;
let relay: Relay;

const settings = (app: { readonly id: string; readonly secret: string }, name: Name) => ({
  [`${name.toUpperCase()}_APP_ID`]: app.id,
  [`${name.toUpperCase()}_APP_SECRET`]: app.secret,
});

beforeAll(async () => {
  // The worker, its accounts and the sandbox go by one clock: tests put it forward.
  sandbox = await startSandbox({ now: () => relay?.clock.now().getTime() ?? Date.now() });
  relay = await startRelay({
    settings: {
      ...sandboxSettings(sandbox, sandbox.url),
      ...settings(DEMO_FACEBOOK_APP, "facebook"),
      ...settings(DEMO_INSTAGRAM_APP, "instagram"),
    },
  });
});
afterAll(async () => {
  await relay.stop();
  await sandbox.stop();
});

const MEDIA = {
  text: undefined,
  image: ["https://media.sandbox.test/portrait.jpg"],
  images: ["https://media.sandbox.test/portrait.jpg", "https://media.sandbox.test/photo.jpg"],
  video: ["https://media.sandbox.test/clip.mp4"],
} as const;

interface Draft {
  readonly text: string;
  readonly media: keyof typeof MEDIA;
  readonly kind?: "feed" | "reel" | "story" | undefined;
}

async function publish(name: Name, { text, media, kind }: Draft) {
  const publisher = await aPublisher(relay, [name]);
  const accepted = await submitPost(relay, publisher, {
    text,
    platforms: [name],
    ...(MEDIA[media] === undefined ? {} : { mediaUrls: MEDIA[media] }),
    ...(kind === undefined ? {} : { platformOptions: { [name]: { kind } } }),
  });
  const post = await settlePost(relay, publisher, dataOf(accepted).id);
  return post.legs[0];
}

const visible = (name: Name, text: string) =>
  sandbox.posts(name).filter((post) => post.text === text);

const FORMS: readonly (readonly [Name, keyof typeof MEDIA, Draft["kind"]])[] = [
  ["facebook", "text", undefined],
  ["facebook", "images", undefined],
  ["facebook", "video", undefined],
  ["facebook", "video", "feed"],
  ["instagram", "image", undefined],
  ["instagram", "images", undefined],
  ["instagram", "video", "reel"],
];

describe.each(FORMS)("a leg at %s (%s, %s)", (name, media, kind) => {
  test("is published and paid for when it can be seen", async () => {
    const text = unique("Look #here");
    const leg = await publish(name, { text, media, kind });
    expect(leg).toMatchObject({ status: "succeeded", attempts: 1, tokensCharged: 10, error: null });
    expect(visible(name, text)).toMatchObject([{ url: leg.url }]);
  });
});

const TROUBLED = FORMS.filter(([, , kind]) => kind !== "feed");

describe.each(TROUBLED)("a leg at %s (%s, %s) whose call meets trouble", (name, media, kind) => {
  test.each(["[drop-before]", "[drop-answer]"])(
    "is published once and paid for once after %s",
    async (word) => {
      const text = unique(`Trouble ${word}`);
      const leg = await publish(name, { text, media, kind });
      if (media === "text" && word === "[drop-before]") {
        // No list of Facebook's proves that a text is not there.
        expect(leg).toMatchObject({ error: { code: "outcome_unknown" }, tokensCharged: 0 });
        expect(visible(name, text)).toEqual([]);
        return;
      }
      expect(leg).toMatchObject({ status: "succeeded", tokensCharged: 10 });
      expect(visible(name, text)).toMatchObject([{ url: leg.url }]);
    },
  );
});

test("a video in the feed whose answer is lost may be live, says so, and is not sent again", async () => {
  const text = unique("Lost [drop-answer]");
  const leg = await publish("facebook", { text, media: "video", kind: "feed" });
  expect(leg).toMatchObject({
    status: "failed",
    error: { code: "outcome_unknown" },
    retryAvailable: true,
    tokensCharged: 0,
  });
});

test.each<[Name, string]>([
  ["facebook", "connection_needs_reauth"],
  ["instagram", "connection_needs_reauth"],
  ["instagram", "permission_missing"],
])("a refusal of the account at %s (%s) breaks the connection", async (name, code) => {
  const publisher = await aPublisher(relay, [name]);
  const text = unique(`No [fail:${code}]`);
  const body = { text, platforms: [name], mediaUrls: MEDIA.image };
  const accepted = await submitPost(relay, publisher, body);
  const [leg] = (await settlePost(relay, publisher, dataOf(accepted).id)).legs;
  expect(leg).toMatchObject({ status: "failed", error: { code }, tokensCharged: 0 });
  const path = `/v1/profiles/${publisher.profileId}/connections`;
  const connections = dataOf(await relay.call("GET", path, { key: publisher.key }));
  expect(connections).toMatchObject([{ status: "needs_reauth", lastError: { code } }]);
});

test("a post without media is refused for Instagram before anything is sent", async () => {
  const publisher = await aPublisher(relay, ["instagram"]);
  const body = { text: unique("Words"), platforms: ["instagram"] };
  const answer = await submitPost(relay, publisher, body);
  expect(answer.status).toBe(422);
  expect(JSON.stringify(answer.body)).toContain("instagram.media.required");
});
