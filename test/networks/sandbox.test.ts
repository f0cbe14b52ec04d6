import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../dev/networks/server.ts";
import { bluesky } from "../../src/shared/networks/bluesky/index.ts";
import { mastodon } from "../../src/shared/networks/mastodon/index.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import type {
  LinkedAccount,
  LinkOutcome,
  LinkRestart,
} from "../../src/shared/networks/contract/link.ts";
import { publishedBy, resumeLeg, walkLeg, type SandboxTools } from "./sandbox-leg.ts";
import { decideAt } from "./sandbox-links.ts";
import { file, useSandboxTools } from "./use-sandbox-tools.ts";

let sandbox: Sandbox;
let tools: SandboxTools;

useSandboxTools((fresh) => {
  ({ sandbox, tools } = fresh);
});

const STRICT = "mastodon.sandbox.test";
const LENIENT = "gotosocial.sandbox.test";

function accountOf(outcome: LinkOutcome | LinkRestart): LinkedAccount {
  if (outcome.kind !== "linked") throw new Error(`not linked: ${JSON.stringify(outcome)}`);
  return outcome.linked;
}

async function linkBluesky(): Promise<LinkedAccount> {
  const form = { identifier: "demo.bsky.social", appPassword: "demo-demo-demo-demo" };
  return accountOf(await bluesky.link.alternative.signIn(form, tools));
}

async function linkMastodon(host: string): Promise<LinkedAccount> {
  const codeVerifier = "verifier".repeat(8);
  const redirectUri = "https://relay.example/v1/connect/callback/mastodon";
  const started = await mastodon.link.start(
    { instance: `@demo@${host}` },
    {
      redirectUri,
      state: "state-1",
      codeChallenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    },
    tools,
  );
  if (started.kind === "failed") throw new Error(`not started: ${JSON.stringify(started)}`);
  const back = await decideAt(started.url, tools);
  const params = Object.fromEntries(back.searchParams);
  expect(params["state"]).toBe("state-1");
  const callback = { params, codeVerifier, redirectUri, flow: started.flow };
  return accountOf(await mastodon.link.finish(callback, tools));
}

describe("Bluesky in the sandbox", () => {
  test("links, publishes what was written and finds it again", async () => {
    const linked = await linkBluesky();
    expect(linked.account.username).toBe("demo.bsky.social");
    const text = "Héllo 👋 see https://example.com/a?b=1. #café @demo.bsky.social";
    const walk = await walkLeg(bluesky, linked, { text, options: { langs: ["en"] } }, tools);
    const { networkPostId, url } = publishedBy(walk);
    expect(walk.steps).toEqual(["prepare ready", "publish published"]);
    expect(sandbox.posts("bluesky")).toMatchObject([{ id: networkPostId, url, text, edits: 0 }]);
    const links = sandbox.posts("bluesky")[0]?.segments.filter(({ href }) => href !== undefined);
    expect(links?.map((segment) => segment.text)).toEqual([
      "https://example.com/a?b=1",
      "#café",
      "@demo.bsky.social",
    ]);
    const again = await resumeLeg(bluesky, walk.leg, tools);
    expect(again.steps).toEqual(["reconcile published"]);
    expect(sandbox.posts()).toHaveLength(1);
  });

  test.each<[string, Partial<LegDraft>, number]>([
    ["one photo", { media: [file("photo.jpg", "A lake")] }, 1],
    ["seven photos", { media: [1, 2, 3, 4, 5, 6, 7].map((n) => file(`photo-${n}.jpg`)) }, 7],
    ["a video", { media: [file("clip.mp4", "A clip")] }, 1],
  ])("shows %s with their descriptions", async (_what, draft, count) => {
    const walk = await walkLeg(bluesky, await linkBluesky(), { text: "Look", ...draft }, tools);
    publishedBy(walk);
    const media = sandbox.posts("bluesky")[0]?.media;
    expect(media).toHaveLength(count);
    expect(media?.[0]?.alt || null).toBe(draft.media?.[0]?.altText ?? null);
  });

  test("makes a card of the first link", async () => {
    const text = "Read https://links.sandbox.test/article";
    publishedBy(await walkLeg(bluesky, await linkBluesky(), { text }, tools));
    expect(sandbox.posts("bluesky")[0]?.card).toMatchObject({
      url: "https://links.sandbox.test/article",
      title: "The lake at dawn: a walk & a photograph",
      imagePath: expect.stringContaining("/") as string,
    });
  });

  test("renews a token that ended before its time", async () => {
    const linked = await linkBluesky();
    sandbox.networks.bluesky.expireAccessTokens();
    const walk = await walkLeg(bluesky, linked, { text: "Hello" }, tools);
    publishedBy(walk);
    expect(walk.steps).toEqual(["prepare ready", "publish try_later", "publish published"]);
  });

  test("asks for a reconnect when the app password was revoked", async () => {
    const linked = await linkBluesky();
    sandbox.networks.bluesky.expireAccessTokens();
    sandbox.networks.bluesky.revokeAppPasswords("demo.bsky.social");
    const { outcome } = await walkLeg(bluesky, linked, { text: "Hello" }, tools);
    expect(outcome).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });

  test("uploads anew what the network threw away", async () => {
    const linked = await linkBluesky();
    let isThrownAway = false;
    const forgetful: typeof tools = {
      ...tools,
      http(request) {
        if (request.url.endsWith("putRecord") && !isThrownAway) {
          isThrownAway = true;
          sandbox.networks.bluesky.collectTemporaryBlobs();
        }
        return tools.http(request);
      },
    };
    const draft = { text: "Hello", media: [file("photo.jpg")] };
    const walk = await walkLeg(bluesky, linked, draft, forgetful);
    expect(walk.steps).toEqual([
      "prepare ready",
      "publish prepare_again",
      "prepare ready",
      "publish published",
    ]);
    expect(sandbox.posts()).toMatchObject([{ edits: 0, media: [{ kind: "image" }] }]);
  });

  test.each([
    ["", "wrong", "app_password_needed"],
    ["demo.bsky.social", "abcd-abcd-abcd-abcd", "wrong_credentials"],
    ["nobody.bsky.social", "demo-demo-demo-demo", "account_not_found"],
  ])("does not link %j with %j", async (identifier, appPassword, code) => {
    const form = { identifier: identifier || "demo.bsky.social", appPassword };
    expect(await bluesky.link.alternative.signIn(form, tools)).toMatchObject({
      kind: "failed",
      code,
    });
  });
});

describe.each([STRICT, LENIENT])("Mastodon in the sandbox (%s)", (host) => {
  test("links, publishes what was written and finds it again", async () => {
    const linked = await linkMastodon(host);
    expect(linked.account.username).toBe(`demo@${host}`);
    const text = "Hi @alice@other.example, see https://example.com/a?b=1 & say\n\n#hello";
    const options = { visibility: "unlisted", spoilerText: "cw", language: "en" };
    const walk = await walkLeg(mastodon, linked, { text, options }, tools);
    const { networkPostId, url } = publishedBy(walk);
    expect(sandbox.posts("mastodon")).toMatchObject([
      { id: networkPostId, url, text, contentWarning: "cw", visibility: "unlisted" },
    ]);
    const again = await resumeLeg(mastodon, walk.leg, tools);
    expect(again.steps).toEqual(["reconcile published"]);
    expect(publishedBy(again)).toEqual({ kind: "published", networkPostId, url });
    expect(sandbox.posts()).toHaveLength(1);
  });

  test.each<[string, Partial<LegDraft>]>([
    ["photos", { media: [file("photo.jpg", "A lake"), file("photo-2.jpg")] }],
    ["a video", { media: [file("clip.mp4", "A clip")] }],
    ["a slow photo", { media: [file("photo.jpg", "A lake [processing:3]")] }],
    ["a photo that a post has to wait for", { text: "[processing:2]", media: [file("photo.jpg")] }],
  ])("shows %s with their descriptions", async (_what, draft) => {
    const walk = await walkLeg(
      mastodon,
      await linkMastodon(host),
      { text: "Look", ...draft },
      tools,
    );
    publishedBy(walk);
    const alts = sandbox.posts("mastodon")[0]?.media.map(({ alt }) => alt);
    expect(alts).toEqual(draft.media?.map(({ altText }) => altText));
  });

  test("asks for a reconnect when the token was revoked", async () => {
    const linked = await linkMastodon(host);
    sandbox.networks.mastodon.revokeTokens(host);
    const { outcome } = await walkLeg(mastodon, linked, { text: "Hello" }, tools);
    expect(outcome).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });

  test("registers once, and anew after the instance forgot the relay", async () => {
    const registrations = () => sandbox.requests().filter(({ route }) => route === "apps").length;
    await linkMastodon(host);
    await linkMastodon(host);
    expect(registrations()).toBe(1);
    sandbox.networks.mastodon.forgetApps(host);
    expect((await linkMastodon(host)).account.username).toBe(`demo@${host}`);
    expect(registrations()).toBe(2);
  });
});

describe.each(["bluesky", STRICT, LENIENT])("a troubled call at %s", (where) => {
  const network = where === "bluesky" ? bluesky : mastodon;
  const link = () => (where === "bluesky" ? linkBluesky() : linkMastodon(where));

  test.each(["[drop-before]", "[drop-answer]", "[error-after]", "[html-502]", "[hang]"])(
    "%s leaves one post, never edited",
    async (word) => {
      const linked = await link();
      // Of a list that shows no post, nobody knows whether it would show another.
      const earlier = { text: `Before ${word.slice(1, -1)}`, media: [] };
      publishedBy(await walkLeg(network, linked, earlier, tools));
      const photo = [file("photo.jpg", "A lake")];
      // Each waits for the time limit.
      for (const media of word === "[hang]" ? [photo] : [[], photo]) {
        const draft = { text: `Trouble ${word} ${media.length}`, media };
        const walk = await walkLeg(network, linked, draft, tools);
        const { networkPostId } = publishedBy(walk);
        const posts = sandbox.posts().filter(({ text }) => text === draft.text);
        expect(posts).toMatchObject([{ id: networkPostId, edits: 0 }]);
        expect(walk.steps).toContain("publish in_doubt");
      }
    },
  );

  test("walked twice from the same state leaves one post", async () => {
    const linked = await link();
    const walk = await walkLeg(
      network,
      linked,
      { text: "Twice", media: [file("photo.jpg")] },
      tools,
    );
    publishedBy(walk);
    expect(publishedBy(await resumeLeg(network, walk.leg, tools))).toEqual(publishedBy(walk));
    if (where !== LENIENT) {
      expect(await network.publish(walk.leg, tools)).toEqual(publishedBy(walk));
    }
    expect(sandbox.posts()).toHaveLength(1);
    expect(sandbox.posts()[0]?.edits).toBe(0);
  });
});

describe.each(["bluesky", STRICT])("a refusal at %s", (where) => {
  const network = where === "bluesky" ? bluesky : mastodon;
  const link = () => (where === "bluesky" ? linkBluesky() : linkMastodon(where));

  test.each([
    "quota_exceeded",
    "connection_needs_reauth",
    "permission_missing",
    "account_restricted",
    "text_too_long",
    "text_invalid",
    "media_rejected",
    "invalid_request",
  ])("is told as %s and nothing is published", async (code) => {
    const walk = await walkLeg(network, await link(), { text: `No [fail:${code}]` }, tools);
    expect(walk.outcome).toMatchObject({ kind: "rejected", failure: { code } });
    expect(sandbox.posts()).toEqual([]);
  });

  test.each(["rate_limited", "network_unavailable"])(
    "that says %s is tried again",
    async (code) => {
      const walk = await walkLeg(network, await link(), { text: `Later [fail:${code}:2]` }, tools);
      publishedBy(walk);
      expect(sandbox.posts()).toHaveLength(1);
    },
  );
});
