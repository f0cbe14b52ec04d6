import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FAILURE_MODES } from "../../dev/networks/faults.ts";
import { escapeHtml } from "../../dev/networks/html.ts";
import { startSandbox, type Sandbox } from "../../dev/networks/server.ts";
import { type NetworkName, networkOf } from "../../src/shared/networks/lookup.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import { walkLeg } from "../networks/sandbox-leg.ts";
import { linkDemoAccount } from "../networks/sandbox-links.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
});
beforeEach(() => sandbox.reset());
afterAll(() => sandbox.stop());

const PHOTO = "https://media.sandbox.test/portrait.jpg";

async function publish(network: NetworkName, text: string, withFile = network === "instagram") {
  const { linked, tools } = await linkDemoAccount(sandbox, network);
  const media = withFile ? [{ url: PHOTO, altText: "A lake" }] : [];
  const draft: LegDraft = { text, media, options: {} };
  const walk = await walkLeg(networkOf(network), linked, draft, tools);
  return { walk, posts: sandbox.posts(network) };
}

const onEach = (words: readonly string[]) =>
  NETWORK_NAMES.flatMap((network) => words.map((word) => [network, word] as const));

/** After which it is not known whether the call had its effect. Facebook can't be asked about a text that is in no list. */
const LOSSES = ["[drop-before]", "[html-502]", "[fail:network_unavailable:1]"];

describe("a failure that passes", () => {
  test.each(
    onEach([...LOSSES, "[fail:rate_limited:1]", "[processing:2]"]).filter(
      ([network, word]) => network !== "facebook" || !LOSSES.includes(word),
    ),
  )("on %s, %s, leaves one post", async (network, word) => {
    const { walk, posts } = await publish(
      network,
      `hello ${word}`,
      word === "[processing:2]" || network === "instagram",
    );
    expect(walk.outcome.kind).toBe("published");
    expect(posts).toHaveLength(1);
  });

  test.each(LOSSES)("on facebook, %s, is not known, and nothing is sent again", async (word) => {
    const { walk, posts } = await publish("facebook", `hello ${word}`);
    expect(walk.outcome.kind).toBe("unknowable");
    expect(posts).toHaveLength(0);
  });

  test.each(onEach(["[drop-answer]", "[error-after]"]))(
    "on %s, %s, shows the post once and finds it again",
    async (network, word) => {
      const { walk, posts } = await publish(network, `hello ${word}`);
      expect(walk.outcome).toMatchObject({ kind: "published", networkPostId: posts[0]?.id });
      expect(posts).toHaveLength(1);
    },
  );
});

describe("a failure that stays", () => {
  test.each(onEach(["[fail:connection_needs_reauth]"]))(
    "on %s, %s, asks for a new link and shows nothing",
    async (network, word) => {
      const { walk, posts } = await publish(network, `hello ${word}`);
      expect(walk.outcome).toMatchObject({
        kind: "rejected",
        failure: { code: "connection_needs_reauth" },
      });
      expect(posts).toHaveLength(0);
    },
  );

  test.each(onEach(["[fail:quota_exceeded]"]))("on %s, %s, ends the leg", async (network, word) => {
    const { walk, posts } = await publish(network, `hello ${word}`);
    expect(walk.outcome).toMatchObject({ kind: "rejected", failure: { code: "quota_exceeded" } });
    expect(posts).toHaveLength(0);
  });

  test.each([
    ["facebook", "duplicate_content"],
    ["linkedin", "duplicate_content"],
    ["facebook", "link_rejected"],
    ["instagram", "content_rejected"],
    ["mastodon", "content_rejected"],
    ["instagram", "media_rejected"],
    ["bluesky", "account_restricted"],
    ["mastodon", "text_too_long"],
  ] as const)("on %s, %s, is said in our words", async (network, code) => {
    const { walk, posts } = await publish(network, `hello [fail:${code}]`);
    expect(walk.outcome).toMatchObject({ kind: "rejected", failure: { code } });
    expect(posts).toHaveLength(0);
  });
});

describe("an access token that reaches its end in the middle", () => {
  test("is renewed where there is something to renew it with", async () => {
    const { walk, posts } = await publish("bluesky", "hello [fail:token_expired:1]");
    expect(walk.outcome.kind).toBe("published");
    expect(posts).toHaveLength(1);
  });

  test.each(["facebook", "instagram", "linkedin", "mastodon"] as const)(
    "asks for a new link on %s",
    async (network) => {
      const { walk, posts } = await publish(network, "hello [fail:token_expired:1]");
      expect(walk.outcome).toMatchObject({
        kind: "rejected",
        failure: { code: "connection_needs_reauth" },
      });
      expect(posts).toHaveLength(0);
    },
  );
});

describe("the front page", () => {
  test("names every failure mode and its words, and holds still when it is asked to", async () => {
    const page = await (await fetch(sandbox.url)).text();
    for (const { mode, words } of FAILURE_MODES) {
      expect(page).toContain(`<h3>${mode}</h3>`);
      for (const { word } of words) expect(page).toContain(`<code>${escapeHtml(word)}</code>`);
    }
    expect(page).toContain('http-equiv="refresh"');
    expect(await (await fetch(`${sandbox.url}/?still`)).text()).not.toContain("http-equiv");
  });

  test.each(
    FAILURE_MODES.flatMap(({ words }) => words.map(({ word }) => word)).filter(
      (word) => !word.includes("<"),
    ),
  )("names %s, which is one that the sandbox plays", (word) => {
    expect(() => sandbox.fault("mastodon", "*", word.slice(1, -1))).not.toThrow();
  });
});
