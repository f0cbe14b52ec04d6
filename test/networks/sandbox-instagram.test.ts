import { describe, expect, test } from "vitest";
import {
  CREATOR_ACCOUNT,
  DEMO_ACCOUNT,
  DEMO_INSTAGRAM_APP,
  PERSONAL_ACCOUNT,
} from "../../dev/networks/instagram/state.ts";
import type { Sandbox } from "../../dev/networks/server.ts";
import { checkingRefusals } from "../../src/shared/networks/contract/refusals.ts";
import { instagram as unchecked } from "../../src/shared/networks/instagram/index.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import type { LinkedAccount, LinkOutcome } from "../../src/shared/networks/contract/link.ts";
import { publishedBy, resumeLeg, walkLeg, type SandboxTools } from "./sandbox-leg.ts";
import { decideAt } from "./sandbox-links.ts";
import { file, useSandboxTools } from "./use-sandbox-tools.ts";

const instagram = checkingRefusals(unchecked);
let sandbox: Sandbox;
let tools: SandboxTools;

useSandboxTools(
  (fresh) => {
    ({ sandbox, tools } = fresh);
  },
  { ...DEMO_INSTAGRAM_APP, version: "v26.0" },
);

const DAY_SECONDS = 24 * 3600;
const PHOTO = file("portrait.jpg", "A lake");
const CLIP = file("clip.mp4");
const shown = () => sandbox.posts("instagram");
const asked = (route: string) => sandbox.requests().filter((request) => request.route === route);

const redirectUri = "https://relay.example/v1/connect/callback/instagram";

/** The whole way through the consent page; `form` is what the person ticks. */
async function authorize(form: Readonly<Record<string, string>> = {}): Promise<LinkOutcome> {
  const oauth = { redirectUri, state: "state-1", codeChallenge: "challenge" };
  const started = await instagram.link.start({}, oauth, tools);
  if (started.kind === "failed") return started;
  const back = await decideAt(started.url, tools, form);
  const params = Object.fromEntries(back.searchParams);
  expect(params["state"]).toBe("state-1");
  const callback = { params, codeVerifier: "v", redirectUri, flow: started.flow };
  return instagram.link.finish(callback, tools);
}

async function linkAccount(account = DEMO_ACCOUNT): Promise<LinkedAccount> {
  const outcome = await authorize({ account });
  if (outcome.kind === "failed") throw new Error(`not linked: ${JSON.stringify(outcome)}`);
  return outcome.linked;
}

const publish = async (draft: Partial<LegDraft>) =>
  walkLeg(instagram, await linkAccount(), draft, tools);

describe("linking an Instagram account in the sandbox", () => {
  test.each(["data", "flat"] as const)(
    "links a professional account for sixty days, whatever form the token comes in (%s)",
    async (shape) => {
      sandbox.networks.instagram.setTokenShape(shape);
      const { account, scopes, limits, expiresAt } = await linkAccount();
      expect(account).toMatchObject({
        id: DEMO_ACCOUNT,
        username: "demo.bakery",
        displayName: "Demo Bakery",
        url: "https://www.instagram.com/demo.bakery/",
        kind: "business",
      });
      expect(scopes).toContain("instagram_business_content_publish");
      expect(limits).toEqual({ postsPerDayMax: 50 });
      const days = (Date.parse(expiresAt ?? "") - Date.now()) / (DAY_SECONDS * 1000);
      expect(Math.round(days)).toBe(60);
    },
  );

  test("links a creator", async () => {
    expect((await linkAccount(CREATOR_ACCOUNT)).account.kind).toBe("creator");
  });

  test.each([
    ["the person says no", { decision: "deny" }, "access_denied"],
    ["the account is a personal one", { account: PERSONAL_ACCOUNT }, "account_kind_unsupported"],
    [
      "publishing was not allowed",
      { asked: "yes", account: DEMO_ACCOUNT, may_instagram_business_basic: "yes" },
      "permission_missing",
    ],
  ])("links nothing when %s", async (_what, form, code) => {
    expect(await authorize(form)).toMatchObject({ kind: "failed", code });
  });
});

describe("an Instagram token in the sandbox", () => {
  test("is renewed from its half-life on and publishes for as long as it is", async () => {
    const linked = await linkAccount();
    const freshen = (of: LinkedAccount) => instagram.freshen(of.credentials, null, tools);
    expect(await freshen(linked)).toEqual({ kind: "usable" });
    tools.advance(31 * DAY_SECONDS);
    const renewed = await freshen(linked);
    expect(renewed).toMatchObject({ kind: "refreshed" });
    if (renewed.kind !== "refreshed") return;
    tools.advance(29 * DAY_SECONDS + 60);
    const later = { ...linked, credentials: renewed.credentials };
    publishedBy(await walkLeg(instagram, later, { text: "Hi", media: [PHOTO] }, tools));
    tools.advance(61 * DAY_SECONDS);
    expect(await freshen(later)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });
});

describe("publishing to Instagram in the sandbox", () => {
  test("shows an image with its description, and finds it again", async () => {
    const walk = await publish({ text: "A lake #water", media: [PHOTO] });
    const { networkPostId, url } = publishedBy(walk);
    expect(walk.steps).toEqual(["prepare ready", "publish published"]);
    expect(shown()).toMatchObject([
      { id: networkPostId, url, text: "A lake #water", media: [{ alt: "A lake" }] },
    ]);
    const again = await resumeLeg(instagram, walk.leg, tools);
    expect(again.steps).toEqual(["reconcile published"]);
    expect(publishedBy(again)).toEqual(publishedBy(walk));
  });

  test("shows images and videos as a carousel, in their order", async () => {
    const media = [PHOTO, CLIP, file("photo.jpg", "A boat")];
    const walk = await publish({ text: "Three", media });
    publishedBy(walk);
    expect(shown()).toMatchObject([{ text: "Three" }]);
    expect(shown()[0]?.media.map(({ kind, alt }) => [kind, alt])).toEqual([
      ["image", "A lake"],
      ["video", null],
      ["image", "A boat"],
    ]);
    expect(publishedBy(await resumeLeg(instagram, walk.leg, tools))).toEqual(publishedBy(walk));
    expect(asked("media").filter(({ method }) => method === "POST")).toHaveLength(4);
  });

  test("makes a reel of a video", async () => {
    const options = { shareToFeed: false, coverUrl: PHOTO.url, thumbOffsetMs: 1000 };
    const walk = await publish({ text: "A clip", media: [CLIP], options });
    expect(shown()).toMatchObject([{ form: "reel", url: publishedBy(walk).url, text: "A clip" }]);
    expect(walk.steps.slice(0, 2)).toEqual(["prepare processing", "prepare processing"]);
    expect(publishedBy(await resumeLeg(instagram, walk.leg, tools))).toEqual(publishedBy(walk));
  });

  test.each([PHOTO, CLIP])("tells a story (%#)", async (item) => {
    const walk = await publish({ text: "Left out", media: [item], options: { kind: "story" } });
    expect(shown()).toMatchObject([{ form: "story", url: publishedBy(walk).url, text: "" }]);
    expect(publishedBy(await resumeLeg(instagram, walk.leg, tools))).toEqual(publishedBy(walk));
  });

  test("tells no stories of creators, whose account stays linked", async () => {
    const draft = { media: [PHOTO], options: { kind: "story" } };
    const walk = await walkLeg(instagram, await linkAccount(CREATOR_ACCOUNT), draft, tools);
    expect(walk.outcome).toMatchObject({
      kind: "rejected",
      failure: { code: "invalid_request", rule: "instagram.story.account" },
    });
  });

  test("makes a new container of one that ended, once it is wanted again", async () => {
    const linked = await linkAccount();
    const begun = { key: "leg", draft: { text: "Late", media: [PHOTO], options: {} }, ...linked };
    const prepared = await instagram.prepare(
      { ...begun, remote: {}, sentAt: null, isUnpublished: true },
      tools,
    );
    if (prepared.kind !== "ready") throw new Error(prepared.kind);
    tools.advance(DAY_SECONDS + 60);
    const stored = { ...begun, remote: prepared.remote, sentAt: null, isUnpublished: true };
    const walk = await resumeLeg(instagram, stored, tools);
    publishedBy(walk);
    expect(walk.steps[0]).toBe("prepare processing");
    expect(shown()).toHaveLength(1);
  });

  test.each([
    ["is no JPEG", file("photo.png"), "media_rejected", "instagram.media.imageType"],
    ["is not there", file("missing.mp4"), "media_unreachable", undefined],
    ["is no video", file("card.mp4"), "media_unreachable", undefined],
  ])("refuses a file that %s", async (_what, item, code, rule) => {
    const walk = await publish({ text: "Bad", media: [item] });
    expect(walk.outcome).toMatchObject({
      kind: "rejected",
      failure: { code, mediaIndex: 0, ...(rule === undefined ? {} : { rule }) },
    });
    expect(shown()).toEqual([]);
  });

  test.each<[string, () => void, string]>([
    [
      "the password changed",
      () => sandbox.networks.instagram.revokeToken(),
      "connection_needs_reauth",
    ],
    [
      "a permission was taken back",
      () => sandbox.networks.instagram.declinePermission("instagram_business_content_publish"),
      "permission_missing",
    ],
    [
      "the account is restricted",
      () => sandbox.networks.instagram.restrictAccount(DEMO_ACCOUNT, true),
      "account_restricted",
    ],
    [
      "the day's posts are used up",
      () => sandbox.networks.instagram.setQuotaUsed(DEMO_ACCOUNT, 50),
      "quota_exceeded",
    ],
  ])("says what is wrong when %s", async (_what, change, code) => {
    const linked = await linkAccount();
    change();
    const { outcome } = await walkLeg(instagram, linked, { text: "Hi", media: [PHOTO] }, tools);
    expect(outcome).toMatchObject({ kind: "rejected", failure: { code } });
  });
});

const FORMS: readonly (readonly [string, Partial<LegDraft>])[] = [
  ["an image", { media: [PHOTO] }],
  ["a carousel", { media: [PHOTO, file("photo.jpg")] }],
  ["a reel", { media: [CLIP] }],
];

describe.each(FORMS)("a troubled call for %s", (_form, draft) => {
  test.each(["[drop-answer]", "[error-after]", "[drop-before]", "[html-502]"])(
    "%s leaves one post",
    async (word) => {
      const walk = await publish({ text: `Trouble ${word}`, ...draft });
      const { networkPostId, url } = publishedBy(walk);
      expect(shown()).toMatchObject([{ id: networkPostId, url }]);
      expect(walk.steps).toContain("publish in_doubt");
    },
  );

  test("walked twice from the same state leaves one post", async () => {
    const walk = await publish({ text: "Twice", ...draft });
    expect(publishedBy(await resumeLeg(instagram, walk.leg, tools))).toEqual(publishedBy(walk));
    // As by a worker that was taken for dead.
    expect(await instagram.publish(walk.leg, tools)).toEqual(publishedBy(walk));
    expect(shown()).toHaveLength(1);
  });
});

describe("a refusal at Instagram", () => {
  test.each([
    "quota_exceeded",
    "connection_needs_reauth",
    "permission_missing",
    "account_restricted",
    "content_rejected",
    "text_invalid",
    "media_rejected",
    "invalid_request",
  ])("is told as %s and nothing is published", async (code) => {
    const walk = await publish({ text: `No [fail:${code}]`, media: [PHOTO] });
    expect(walk.outcome).toMatchObject({ kind: "rejected", failure: { code } });
    expect(shown()).toEqual([]);
  });

  test.each(["rate_limited", "network_unavailable", "media_unreachable"])(
    "that says %s is tried again",
    async (code) => {
      publishedBy(await publish({ text: `Later [fail:${code}:2]`, media: [PHOTO] }));
      expect(shown()).toHaveLength(1);
    },
  );

  test("of a file that can't be processed ends the leg after fresh containers", async () => {
    const walk = await publish({ text: "[fail:media_processing_failed]", media: [PHOTO] });
    expect(walk.outcome).toMatchObject({
      kind: "rejected",
      failure: { code: "media_processing_failed" },
    });
    expect(asked("media").filter(({ method }) => method === "POST")).toHaveLength(3);
  });
});
