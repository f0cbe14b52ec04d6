import type { NetworkApp } from "../../src/shared/networks/contract/settings.ts";
import { describe, expect, test } from "vitest";
import type { Connection } from "../../src/shared/connections/connection.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import type { Problem } from "../../src/shared/networks/contract/rules.ts";
import { inWords } from "../../src/shared/networks/wording.ts";
import { firstLeg } from "../../src/shared/publishing/leg.ts";
import { errorsOf, warningsOf } from "../../src/shared/publishing/problems.ts";
import { checkDraft, checkView } from "../../src/shared/publishing/accept/check-post.ts";
import { type Draft, legDraft } from "../../src/shared/publishing/post.ts";
import { draftOf, partsOf, NOW, postOf } from "./fixtures.ts";

function connectionOf(overrides: Partial<Connection> = {}): Connection {
  const at = NOW.toISOString();
  return {
    id: "con_test",
    platformId: "plt_test",
    applicationId: "app_test",
    profileId: "prf_test",
    network: "bluesky",
    status: "active",
    account: {
      id: "did:plc:test",
      username: "test",
      displayName: "Test",
      avatarUrl: null,
      url: "https://social.example/test",
      kind: "person",
    },
    instanceUrl: null,
    scopes: [],
    limits: {},
    expiresAt: null,
    lastUsedAt: null,
    lastError: null,
    checkedAt: null,
    warnedExpiresAt: null,
    generation: 1,
    createdAt: at,
    updatedAt: at,
    ...overrides,
  };
}

const [one, two] = ["https://media.example/1.png", "https://media.example/2.png"];

describe("the draft of one leg", () => {
  test.each<[string, Partial<Draft>, Partial<LegDraft>]>([
    ["is the post's", { text: "Hello" }, { text: "Hello", media: [], options: {} }],
    [
      "has the post's media with their alt texts",
      { mediaUrls: [one, two], altTexts: ["first", null] },
      {
        media: [
          { url: one, altText: "first" },
          { url: two, altText: null },
        ],
      },
    ],
    ["has media without alt texts", { mediaUrls: [one] }, { media: [{ url: one, altText: null }] }],
    [
      "has the network's own text",
      { platformOptions: { bluesky: { text: "Mine" } } },
      { text: "Mine" },
    ],
    [
      "has no text when the network's own is empty",
      { platformOptions: { bluesky: { text: "" } } },
      { text: "" },
    ],
    [
      "has the network's own media, to which the post's alt texts do not belong",
      { mediaUrls: [one], altTexts: ["first"], platformOptions: { bluesky: { mediaUrls: [two] } } },
      { media: [{ url: two, altText: null }] },
    ],
    [
      "has the network's own media with their own alt texts",
      {
        mediaUrls: [one],
        altTexts: ["first"],
        platformOptions: { bluesky: { mediaUrls: [two], altTexts: ["second"] } },
      },
      { media: [{ url: two, altText: "second" }] },
    ],
    [
      "has the post's media with the network's own alt texts",
      {
        mediaUrls: [one],
        altTexts: ["first"],
        platformOptions: { bluesky: { altTexts: ["other"] } },
      },
      { media: [{ url: one, altText: "other" }] },
    ],
    [
      "has no media when the network's own are none",
      { mediaUrls: [one], altTexts: ["first"], platformOptions: { bluesky: { mediaUrls: [] } } },
      { media: [] },
    ],
    [
      "is not changed by another network's options",
      { text: "Hello", platformOptions: { mastodon: { text: "Other" } } },
      { text: "Hello", options: {} },
    ],
    [
      "carries the network's options",
      { platformOptions: { bluesky: { langs: ["en"] } } },
      { options: { langs: ["en"] } },
    ],
  ])("the draft of one leg: %s", (_, draft, wanted) => {
    expect(legDraft(draftOf(draft), "bluesky")).toMatchObject(wanted);
  });
});

const judge = (
  draft: Partial<Draft>,
  connection: Connection | undefined,
  network: NetworkName = "bluesky",
) => checkDraft(draftOf(draft), network, connection, { apps: {} });

describe("a network's check", () => {
  test.each<[string, Connection | undefined, readonly string[]]>([
    ["nothing is linked", undefined, ["connection_missing"]],
    ["the account was revoked", connectionOf({ status: "revoked" }), ["connection_missing"]],
    [
      "the account must be linked again",
      connectionOf({ status: "needs_reauth" }),
      ["connection_needs_reauth"],
    ],
    ["the account is linked", connectionOf(), []],
  ])("a network's check when %s", (_, connection, codes) => {
    expect(errorsOf(judge({}, connection)).map(({ code }) => code)).toEqual(codes);
  });

  test("the check of a scheduled draft does not report missing accounts", () => {
    expect(
      checkDraft(draftOf(), "bluesky", undefined, { apps: {}, isLater: true }).problems,
    ).toEqual([]);
  });

  test("a network's check also reports the network's own rules, errors apart from warnings", () => {
    const long = judge({ text: "x".repeat(301) }, connectionOf());
    expect(errorsOf(long).map(({ rule }) => rule)).toEqual(["bluesky.text.graphemes"]);
    const near = judge({ text: "x".repeat(290) }, connectionOf());
    expect(errorsOf(near)).toEqual([]);
    expect(warningsOf(near).map(({ rule }) => rule)).toEqual(["bluesky.text.nearLimit"]);
  });

  test("a network's check uses the limits of the linked account", () => {
    const connection = connectionOf({ network: "mastodon", limits: {} });
    expect(judge({ text: "12345" }, connection, "mastodon").measure).toMatchObject({
      usedCharacters: 5,
    });
  });

  test("a network's check returns errors and warnings in the form of the contract", () => {
    const view = checkView(
      judge({ text: "x".repeat(301) }, undefined),
      "https://relay.example.net/api",
    );
    expect(view).toMatchObject({
      valid: false,
      usedCharacters: 301,
      maxCharacters: 300,
      connection: null,
    });
    expect(view.errors.map(({ code }) => code)).toEqual(["connection_missing", expect.any(String)]);
    for (const error of view.errors)
      expect(Object.keys(error).sort()).toEqual([
        "code",
        "developerHint",
        "docUrl",
        "field",
        "mediaIndex",
        "message",
        "remediation",
        "rule",
      ]);
  });
});

describe("a leg as it is accepted", () => {
  test("an accepted leg without errors is pending and has reserved its tokens", () => {
    const post = postOf();
    const leg = firstLeg(post, judge({}, connectionOf()), NOW);
    expect(partsOf(leg)).toMatchObject({
      network: "bluesky",
      status: "pending",
      reservation: { state: "open", tokens: 10, operation: "publish_leg", day: "2030-01-31" },
      connectionId: "con_test",
      account: { id: "did:plc:test", username: "test", url: "https://social.example/test" },
      error: null,
      round: post.id,
      attempts: 0,
    });
  });

  test("a first comment without its permission is warned of, and the post is published", () => {
    const post = draftOf({ platformOptions: { facebook: { firstComment: "First" } } });
    const check = (scopes: readonly string[], extraScopes: readonly string[]) =>
      checkDraft(post, "facebook", connectionOf({ network: "facebook", scopes }), {
        apps: { facebook: { extraScopes } as unknown as NetworkApp },
      });
    const asked = ["pages_manage_engagement", "pages_read_user_content"];
    const lacking = check(["pages_manage_posts"], asked);
    expect(errorsOf(lacking)).toEqual([]);
    expect(warningsOf(lacking)).toMatchObject([
      {
        code: "permission_missing",
        rule: "facebook.firstComment.permission",
        field: "platformOptions.facebook.firstComment",
      },
    ]);
    // Only a finding that comes from the list points to it: after a refusal the list may be empty.
    const hintOf = (found: Problem) =>
      inWords(found, { network: "facebook", locale: "en" }).developerHint;
    expect(warningsOf(lacking).map(hintOf)).toEqual([expect.stringContaining("missingScopes")]);
    const refused = {
      code: "permission_missing",
      values: {},
      field: null,
      mediaIndex: null,
    } as const;
    const role = { ...refused, severity: "error", rule: "facebook.account.role" } as const;
    expect(hintOf(role)).not.toContain("missingScopes");
    const full = ["pages_manage_posts", "pages_manage_engagement"];
    expect(warningsOf(check(full, asked))).toEqual([]);
    expect(warningsOf(check(full, []))).toEqual([]);
    // Linking again would not help: this deployment doesn't ask for the permission.
    const unasked = check(["pages_manage_posts"], []);
    expect(errorsOf(unasked)).toEqual([]);
    expect(warningsOf(unasked)).toMatchObject([
      {
        code: "feature_unsupported",
        rule: "facebook.firstComment.unavailable",
      },
    ]);
  });

  test("an accepted leg with an error has failed and reserves nothing", () => {
    const leg = firstLeg(postOf(), judge({}, undefined), NOW);
    expect(partsOf(leg)).toMatchObject({
      status: "failed",
      reservation: { state: "none", tokens: 0 },
      connectionId: null,
      account: null,
      error: { code: "connection_missing", networkCode: null },
    });
  });

  test("an accepted leg of a scheduled post waits and reserves nothing yet", () => {
    const leg = firstLeg(postOf({ status: "scheduled" }), judge({}, connectionOf()), NOW);
    expect(partsOf(leg)).toMatchObject({
      status: "pending",
      reservation: { state: "none", tokens: 0 },
    });
  });

  test("an accepted leg has a key of its own by post, network and content", () => {
    const connection = connectionOf();
    const post = postOf();
    const keyOf = (one: typeof post, network: NetworkName) =>
      firstLeg(one, checkDraft(one.draft, network, connection, { apps: {} }), NOW).calls[0].key;
    const others = [
      keyOf(post, "mastodon"),
      keyOf(postOf(), "bluesky"),
      keyOf({ ...post, draft: draftOf({ text: "Other" }) }, "bluesky"),
    ];
    expect(new Set([keyOf(post, "bluesky"), ...others]).size).toBe(4);
    expect(keyOf({ ...post, draft: draftOf({ externalId: "x" }) }, "bluesky")).toBe(
      keyOf(post, "bluesky"),
    );
  });
});
