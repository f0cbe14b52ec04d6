import { describe, expect, it } from "vitest";
import { instagram } from "../../src/shared/networks/instagram/index.ts";
import type { LegDraft, LegToPublish, NetworkData } from "../../src/shared/networks/network.ts";
import type { Script } from "./scripted-tools.ts";
import {
  NOW,
  answer,
  htmlPage,
  lost,
  refusedToConnect,
  scriptedTools,
  sentForm,
} from "./scripted-tools.ts";

const GRAPH = "https://graph.instagram.com/v26.0";
const app = { id: "app-1", secret: "secret-1", version: "v26.0" };
const DAY = 24 * 3600;
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000).toISOString();
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);
const credentials = {
  userId: "42",
  accessToken: "token",
  authVariant: "instagram_login",
  issuedAt: at(-DAY),
  expiresAt: at(59 * DAY),
};

const MEDIA = `POST ${GRAPH}/42/media`;
const PUBLISH = `POST ${GRAPH}/42/media_publish`;
const LIST = `GET ${GRAPH}/42/media`;
const STORIES = `GET ${GRAPH}/42/stories`;
const LOOK = (id: string) => `GET ${GRAPH}/${id}`;

const FILE = "https://files.example/a.jpg";
const CLIP = "https://files.example/b.mp4";
const files = (...urls: readonly string[]) => urls.map((url) => ({ url, altText: null }));

function leg(draft: Partial<LegDraft> = {}, overrides: Partial<LegToPublish> = {}): LegToPublish {
  return {
    key: "leg-1",
    draft: { text: "Hello", media: files(FILE), options: {}, ...draft },
    account: {
      id: "42",
      username: "bakery",
      displayName: "Bakery",
      avatarUrl: null,
      url: "https://www.instagram.com/bakery/",
      kind: "business",
    },
    credentials,
    instanceUrl: null,
    limits: {},
    remote: {},
    sentAt: null,
    ...overrides,
  };
}

const tools = (script: Script = {}) => scriptedTools({ app, ...script });
const error = (code: number, subcode?: number, status = 400, message = "words") =>
  answer(status, {
    error: {
      message,
      type: "OAuthException",
      code,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
    },
  });
const state = (status_code: string, status = "") => answer(200, { id: "1", status_code, status });

const container = (id: string, overrides: Record<string, unknown> = {}) => ({
  id,
  createdAt: ago(10).toISOString(),
  isFinished: false,
  ...overrides,
});
const ofForm = (name: string, kinds: readonly string[], more: Record<string, unknown> = {}) => ({
  form: name,
  kinds,
  children: [],
  restarts: 0,
  ...more,
});
const anImage = ofForm("image", ["image"], { container: container("1") });

describe("linking an Instagram account", () => {
  const { link } = instagram;
  const redirectUri = "https://relay.example/v1/connect/callback/instagram";
  const TOKEN = "POST https://api.instagram.com/oauth/access_token";
  const LONG = "GET https://graph.instagram.com/access_token";
  const ME = `GET ${GRAPH}/me`;
  const LIMIT = `GET ${GRAPH}/42/content_publishing_limit`;
  const scopes = ["instagram_business_basic", "instagram_business_content_publish"];
  const me = {
    id: "1",
    user_id: "42",
    username: "bakery",
    name: "Bakery",
    profile_picture_url: "https://img.example/a.jpg",
    account_type: "BUSINESS",
  };
  const script = (overrides: Script["http"] = {}): Script => ({
    http: {
      [TOKEN]: answer(200, {
        data: [{ access_token: "short", user_id: 1, permissions: scopes.join(",") }],
      }),
      [LONG]: answer(200, { access_token: "long", token_type: "bearer", expires_in: 5_184_000 }),
      [ME]: answer(200, me),
      [LIMIT]: answer(200, {
        data: [{ quota_usage: 2, config: { quota_total: 100, quota_duration: 86_400 } }],
      }),
      ...overrides,
    },
  });
  const finish = async (
    overrides: Script["http"] = {},
    params: Record<string, string> = { code: "code-1#_", state: "s" },
  ) => {
    const used = tools(script(overrides));
    const callback = { params, codeVerifier: "v", redirectUri, flow: {} };
    return { outcome: await link.finish(callback, used), used };
  };

  it("asks at Instagram for what publishing needs", async () => {
    const oauth = { redirectUri, state: "state-1", codeChallenge: "challenge" };
    const started = await link.start({}, oauth, tools());
    if (started.kind === "failed") throw new Error(started.code);
    const url = new URL(started.url);
    expect(url.origin + url.pathname).toBe("https://www.instagram.com/oauth/authorize");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "app-1",
      redirect_uri: redirectUri,
      response_type: "code",
      scope: scopes.join(","),
      state: "state-1",
    });
  });

  it.each([
    ["with a list around it", { data: [{ access_token: "short", permissions: scopes }] }],
    ["flat", { access_token: "short", user_id: "1", permissions: scopes.join(", ") }],
    ["without permissions", { access_token: "short", user_id: "1" }],
  ])("makes a token of sixty days of the code's, which comes %s", async (_what, body) => {
    const { outcome, used } = await finish({ [TOKEN]: answer(200, body) });
    expect(outcome).toEqual({
      kind: "linked",
      linked: {
        account: {
          id: "42",
          username: "bakery",
          displayName: "Bakery",
          avatarUrl: "https://img.example/a.jpg",
          url: "https://www.instagram.com/bakery/",
          kind: "business",
        },
        credentials: {
          userId: "42",
          accessToken: "long",
          authVariant: "instagram_login",
          issuedAt: NOW.toISOString(),
          expiresAt: at(60 * DAY),
        },
        instanceUrl: null,
        scopes,
        limits: { postsPerDayMax: 100 },
        expiresAt: at(60 * DAY),
      },
    });
    expect(sentForm(used.calls[0])).toEqual({
      client_id: "app-1",
      client_secret: "secret-1",
      grant_type: "authorization_code",
      redirect_uri: redirectUri,
      code: "code-1",
    });
    expect(Object.fromEntries(new URL(used.calls[1]?.url ?? "").searchParams)).toEqual({
      grant_type: "ig_exchange_token",
      client_secret: "secret-1",
      access_token: "short",
    });
    expect(used.calls[2]?.headers?.["authorization"]).toBe("Bearer long");
  });

  it("links without a quota where none is told", async () => {
    for (const reply of [lost, error(10), answer(200, { data: [] })])
      expect((await finish({ [LIMIT]: reply })).outcome).toMatchObject({
        kind: "linked",
        linked: { limits: {} },
      });
  });

  const refusedToken = (message: string, status = 400) =>
    answer(status, { error_type: "OAuthException", code: status, error_message: message });
  const notBusiness = error(10, undefined, 403, "(#10) The user is not an Instagram Business");

  it.each<[string, Script["http"], string]>([
    [
      "publishing was not allowed",
      { [TOKEN]: answer(200, { access_token: "short", permissions: scopes[0] }) },
      "permission_missing",
    ],
    [
      "the account is a personal one",
      { [ME]: answer(200, { ...me, account_type: "PERSONAL" }) },
      "account_kind_unsupported",
    ],
    ["its token says so", { [ME]: notBusiness }, "account_kind_unsupported"],
    ["its exchange says so", { [LONG]: notBusiness }, "account_kind_unsupported"],
    [
      "its code says so",
      { [TOKEN]: refusedToken("The account must be a professional account") },
      "account_kind_unsupported",
    ],
    [
      "the code was used before",
      { [TOKEN]: refusedToken("This authorization code has been used") },
      "access_denied",
    ],
    [
      "our secret is wrong",
      { [TOKEN]: refusedToken("Error validating client secret.") },
      "network_unavailable",
    ],
    ["there were too many calls", { [TOKEN]: refusedToken("Wait", 429) }, "rate_limited"],
    ["Instagram is away", { [TOKEN]: lost }, "network_unavailable"],
    ["Instagram fails", { [LONG]: answer(500, "") }, "network_unavailable"],
    ["Instagram answers with a page", { [ME]: htmlPage(502) }, "network_unavailable"],
    ["the account is restricted", { [ME]: error(25, 2207050) }, "account_restricted"],
  ])("links nothing when %s", async (_what, http, code) => {
    expect((await finish(http)).outcome).toMatchObject({ kind: "failed", code });
  });

  it.each<[Record<string, string>, string]>([
    [{ error: "access_denied", error_reason: "user_denied" }, "access_denied"],
    [{ code: "#_" }, "input_invalid"],
    [{}, "input_invalid"],
  ])("says what came back with the browser: %j", async (params, code) => {
    expect((await finish({}, params)).outcome).toMatchObject({ kind: "failed", code });
  });

  it("calls nobody when it is unlinked, for Instagram has no call for it", async () => {
    await expect(instagram.revoke()).resolves.toBeUndefined();
  });
});

describe("an Instagram token", () => {
  const REFRESH = "GET https://graph.instagram.com/refresh_access_token";
  const token = (ageDays: number, leftDays: number) => ({
    ...credentials,
    issuedAt: at(-ageDays * DAY),
    expiresAt: at(leftDays * DAY),
  });
  const renewed = answer(200, { access_token: "new", token_type: "bearer", expires_in: 5_184_000 });
  const freshen = (data: NetworkData, http: NonNullable<Script["http"]> = {}) =>
    instagram.freshen(data, null, tools({ http }));

  it.each([
    ["young", 0.9, 59.1],
    ["young, though it ends soon", 0.9, 5],
    ["a day old", 1, 59],
    ["of half its life", 30, 30],
  ])("is left alone when it is %s", async (_what, age, left) => {
    expect(await freshen(token(age, left))).toEqual({ kind: "usable" });
  });

  it.each([
    ["beyond half its life", 31, 29],
    ["old, whatever is left", 31, 40],
    ["a day old and ends within thirty days", 1, 29],
  ])("is renewed when it is %s", async (_what, age, left) => {
    const used = tools({ http: { [REFRESH]: renewed } });
    expect(await instagram.freshen(token(age, left), null, used)).toEqual({
      kind: "refreshed",
      credentials: {
        ...credentials,
        accessToken: "new",
        issuedAt: NOW.toISOString(),
        expiresAt: at(60 * DAY),
      },
      expiresAt: at(60 * DAY),
    });
    expect(Object.fromEntries(new URL(used.calls[0]?.url ?? "").searchParams)).toEqual({
      grant_type: "ig_refresh_token",
      access_token: "token",
    });
  });

  it("that has ended is not even tried", async () => {
    expect(await freshen(token(60, 0))).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });

  it.each([lost, refusedToConnect, answer(500, ""), error(4), error(100), error(1)])(
    "stays usable while it can't be renewed (%#)",
    async (reply) => {
      expect(await freshen(token(31, 29), { [REFRESH]: reply })).toEqual({ kind: "usable" });
      expect(await freshen(token(59.999, 0.001), { [REFRESH]: reply })).toMatchObject({
        kind: "try_later",
      });
    },
  );

  it("that was taken back is found when it is renewed", async () => {
    expect(await freshen(token(31, 29), { [REFRESH]: error(190, 460) })).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });
});

describe("preparing a post for Instagram", () => {
  const prepare = (
    http: NonNullable<Script["http"]>,
    draft: Partial<LegDraft> = {},
    overrides: Partial<LegToPublish> = {},
  ) => instagram.prepare(leg(draft, overrides), tools({ http }));

  it("makes an image's container as a form, and looks whether it is finished", async () => {
    const used = tools({
      http: { [MEDIA]: answer(200, { id: 1 }), [LOOK("1")]: state("FINISHED") },
    });
    const media = [{ url: "https://files.example/ä.jpg", altText: "A lake" }];
    const options = { collaborators: ["@a.b", "c"] };
    expect(await instagram.prepare(leg({ media, options }), used)).toEqual({
      kind: "ready",
      remote: ofForm("image", ["image"], {
        container: { id: "1", createdAt: NOW.toISOString(), isFinished: false },
      }),
    });
    expect(sentForm(used.calls[0])).toEqual({
      image_url: "https://files.example/%C3%A4.jpg",
      alt_text: "A lake",
      caption: "Hello",
      collaborators: '["a.b","c"]',
    });
    expect(used.calls[0]?.headers).toMatchObject({
      authorization: "Bearer token",
      "content-type": "application/x-www-form-urlencoded",
    });
    expect(new URL(used.calls[1]?.url ?? "").searchParams.get("fields")).toBe("status_code,status");
  });

  it.each<[string, Partial<LegDraft>, Record<string, string>]>([
    [
      "a reel",
      {
        media: [{ url: CLIP, altText: "not taken" }],
        options: { coverUrl: "https://a.example/ö.jpg", thumbOffsetMs: 0 },
      },
      {
        media_type: "REELS",
        video_url: CLIP,
        caption: "Hello",
        share_to_feed: "true",
        cover_url: "https://a.example/%C3%B6.jpg",
        thumb_offset: "0",
      },
    ],
    [
      "a reel outside the feed",
      { text: "", media: files(CLIP), options: { kind: "reel", shareToFeed: false } },
      { media_type: "REELS", video_url: CLIP, share_to_feed: "false" },
    ],
    [
      "a video in the feed, which is a reel",
      { media: files(CLIP), options: { kind: "feed" } },
      { media_type: "REELS", video_url: CLIP, caption: "Hello", share_to_feed: "true" },
    ],
    [
      "a story of an image",
      { options: { kind: "story" } },
      { media_type: "STORIES", image_url: FILE },
    ],
    [
      "a story of a video",
      { media: files(CLIP), options: { kind: "story" } },
      { media_type: "STORIES", video_url: CLIP },
    ],
  ])("asks for %s", async (_what, draft, fields) => {
    const used = tools({
      http: { [MEDIA]: answer(200, { id: "1" }), [LOOK("1")]: state("FINISHED") },
    });
    await instagram.prepare(leg(draft), used);
    expect(sentForm(used.calls[0])).toEqual(fields);
  });

  it("makes a carousel when all its items are finished, each look once a turn", async () => {
    const used = tools({
      http: {
        [MEDIA]: ["1", "2", "3"].map((id) => answer(200, { id })),
        [LOOK("1")]: state("FINISHED"),
        [LOOK("2")]: [state("IN_PROGRESS"), state("FINISHED")],
        [LOOK("3")]: state("FINISHED"),
      },
    });
    const media = [
      { url: FILE, altText: "A lake" },
      { url: CLIP, altText: null },
    ];
    const kinds: string[] = [];
    let remote: NetworkData = {};
    for (let turn = 0; turn < 3; turn += 1) {
      const outcome = await instagram.prepare(leg({ media }, { remote }), used);
      kinds.push(outcome.kind);
      if ("remote" in outcome) remote = JSON.parse(JSON.stringify(outcome.remote)) as NetworkData;
    }
    expect(kinds).toEqual(["processing", "processing", "ready"]);
    expect(used.asked).toEqual([MEDIA, MEDIA, LOOK("1"), LOOK("2"), LOOK("2"), MEDIA, LOOK("3")]);
    const made = used.calls.filter(({ method }) => method === "POST").map(sentForm);
    expect(made).toEqual([
      { image_url: FILE, alt_text: "A lake", is_carousel_item: "true" },
      { video_url: CLIP, media_type: "VIDEO", is_carousel_item: "true" },
      { media_type: "CAROUSEL", children: "1,2", caption: "Hello" },
    ]);
    expect(remote).toMatchObject({ form: "carousel", container: { id: "3" } });
  });

  it("keeps the items that it made when a later one fails, and makes only the rest", async () => {
    const media = files(FILE, CLIP);
    const first = await prepare({ [MEDIA]: [answer(200, { id: "1" }), lost] }, { media });
    expect(first).toMatchObject({ kind: "try_later", remote: { children: [{ id: "1" }] } });
    if (first.kind !== "try_later" || first.remote === undefined) throw new Error("not kept");
    const used = tools({ http: { [MEDIA]: answer(200, { id: "2" }) } });
    const again = leg({ media }, { remote: first.remote });
    expect(await instagram.prepare(again, used)).toMatchObject({
      kind: "processing",
      remote: { children: [{ id: "1" }, { id: "2" }] },
    });
    expect(used.calls).toHaveLength(1);
  });

  it("names the item that is refused", async () => {
    const http = { [MEDIA]: [answer(200, { id: "1" }), error(36001, 2207005)] };
    expect(await prepare(http, { media: files(FILE, FILE) })).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected", mediaIndex: 1, rule: "instagram.media.imageType" },
    });
    const remote = ofForm("carousel", ["image", "video"], {
      children: [container("1", { isFinished: true }), container("2")],
    });
    const broken = state("ERROR", "Error: Media upload has failed with error code 2207026");
    const media = files(FILE, CLIP);
    expect(await prepare({ [LOOK("2")]: broken }, { media }, { remote })).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected", mediaIndex: 1 },
    });
  });

  it("asks what a file is whose name does not tell", async () => {
    const bare = "https://files.example/download";
    const used = tools({
      http: {
        [`HEAD ${bare}`]: answer(200, "", { "content-type": "video/mp4" }),
        [MEDIA]: answer(200, { id: "1" }),
      },
    });
    const outcome = await instagram.prepare(leg({ media: files(bare) }), used);
    expect(outcome).toMatchObject({ kind: "processing", remote: { form: "reel" } });
  });

  it("refuses a post without media, even when it comes this far", async () => {
    expect(await prepare({}, { media: [] })).toMatchObject({
      kind: "rejected",
      failure: { code: "text_invalid", rule: "instagram.media.required" },
    });
  });

  it.each([
    [5, 3],
    [30, 10],
    [200, 30],
    [600, 60],
  ])("looks ever less often: after %s s again in %s s", async (age, seconds) => {
    const remote = ofForm("reel", ["video"], {
      container: container("1", { createdAt: ago(age).toISOString() }),
    });
    const http = { [LOOK("1")]: state("IN_PROGRESS") };
    expect(await prepare(http, { media: files(CLIP) }, { remote })).toMatchObject({
      kind: "processing",
      pollAfterSeconds: seconds,
    });
  });

  it.each([
    ["expired", state("EXPIRED")],
    ["failed for no told reason", state("ERROR", "Error")],
    ["failed at Instagram", state("ERROR", "error code 2207053")],
    ["could not be downloaded", state("ERROR", "error code 2207003")],
    ["is not known any more", error(100, 33)],
  ])("makes a container anew that %s, twice at most", async (_what, look) => {
    const run = (restarts: number, restartedAt?: string) =>
      prepare({ [LOOK("1")]: look }, {}, { remote: { ...anImage, restarts, restartedAt } });
    const first = await run(0);
    expect(first).toMatchObject({ kind: "processing", remote: { restarts: 1 } });
    expect(first).not.toHaveProperty("remote.container");
    expect(await run(1, at(-60))).toMatchObject({ remote: { restarts: 2 } });
    expect(await run(2, at(-60))).toMatchObject({
      kind: "rejected",
      failure: {
        code: expect.stringMatching(/^media_(?:processing_failed|unreachable)$/) as string,
      },
    });
    expect(await run(2, at(-3600))).toMatchObject({ kind: "processing", remote: { restarts: 1 } });
  });

  it("makes none anew while an earlier call may have published it", async () => {
    const overrides = { remote: anImage, sentAt: ago(90) };
    expect(await prepare({ [LOOK("1")]: error(100, 33) }, {}, overrides)).toMatchObject({
      kind: "try_later",
    });
  });

  it.each([
    [lost, "try_later", "network_unavailable"],
    [htmlPage(502), "try_later", "network_unavailable"],
    [error(-1, 2207032), "try_later", "network_unavailable"],
    [error(9004, 2207052), "try_later", "media_unreachable"],
    [error(4), "try_later", "rate_limited"],
    [error(190, 463), "rejected", "connection_needs_reauth"],
    [error(10), "rejected", "permission_missing"],
    [error(36003, 2207009), "rejected", "media_rejected"],
    [error(36004, 2207010), "rejected", "text_invalid"],
    [answer(200, {}), "try_later", "network_unavailable"],
  ])("publishes nothing when a container is refused (%#)", async (reply, kind, code) => {
    expect(await prepare({ [MEDIA]: reply })).toMatchObject({ kind, failure: { code } });
  });

  it("keeps a container whose status is not told", async () => {
    const http = { [MEDIA]: answer(200, { id: "1" }), [LOOK("1")]: lost };
    expect(await prepare(http)).toMatchObject({
      kind: "try_later",
      remote: { container: { id: "1" } },
    });
    const revoked = { ...http, [LOOK("1")]: error(190) };
    expect(await prepare(revoked)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });

  it("leaves the account linked that can't tell stories", async () => {
    const http = { [MEDIA]: error(10, undefined, 403, "The user is not an Instagram Business") };
    expect(await prepare(http, { options: { kind: "story" } })).toMatchObject({
      kind: "rejected",
      failure: { code: "invalid_request", rule: "instagram.story.account" },
    });
    expect(await prepare(http)).toMatchObject({ failure: { code: "account_restricted" } });
  });
});

describe("publishing to Instagram", () => {
  const publish = (
    http: NonNullable<Script["http"]>,
    remote: NetworkData = anImage,
    draft: Partial<LegDraft> = {},
  ) => instagram.publish(leg(draft, { remote, sentAt: NOW }), tools({ http }));

  it("publishes the container and reads the address", async () => {
    const permalink = "https://www.instagram.com/p/x/";
    const used = tools({
      http: { [PUBLISH]: answer(200, { id: "5" }), [LOOK("5")]: answer(200, { permalink }) },
    });
    expect(await instagram.publish(leg({}, { remote: anImage, sentAt: NOW }), used)).toEqual({
      kind: "published",
      networkPostId: "5",
      url: permalink,
    });
    expect(sentForm(used.calls[0])).toEqual({ creation_id: "1" });
  });

  it.each([lost, answer(500, ""), answer(200, {}), error(190)])(
    "is published even when the address can't be read (%#)",
    async (reply) => {
      const http = { [PUBLISH]: answer(200, { id: "5" }), [LOOK("5")]: reply };
      expect(await publish(http)).toEqual({ kind: "published", networkPostId: "5", url: null });
    },
  );

  it.each([
    ["a lost answer", lost],
    ["a transient error", error(2)],
    ["a server error", error(-1, 2207001)],
    ["a 500 with another code", error(9, 2207042, 500)],
    ["a 502 of a proxy", htmlPage(502)],
    ["a 200 that is none", answer(200, "ok")],
  ])("is in doubt after %s", async (_what, reply) => {
    expect(await publish({ [PUBLISH]: reply })).toMatchObject({
      kind: "in_doubt",
      failure: { code: "outcome_unknown" },
    });
  });

  it.each([
    [refusedToConnect, "try_later", "network_unavailable"],
    [error(4), "try_later", "rate_limited"],
    [error(9, 2207042), "rejected", "quota_exceeded"],
    [error(4, 2207051), "rejected", "content_rejected"],
    [error(25, 2207050), "rejected", "account_restricted"],
    [error(190, 460), "rejected", "connection_needs_reauth"],
    [error(9007, 2207027), "prepare_again", "media_not_ready"],
  ])("certainly did not happen (%#)", async (reply, kind, code) => {
    expect(await publish({ [PUBLISH]: reply })).toMatchObject({ kind, failure: { code } });
  });

  describe("when the container is said to be gone", () => {
    const gone = error(24, 2207006);
    const listed = answer(200, {
      data: [{ id: "5", caption: "Hello", timestamp: NOW.toISOString(), media_type: "IMAGE" }],
    });

    it("finds the post that an earlier call made of it", async () => {
      const http = { [PUBLISH]: gone, [LOOK("1")]: state("PUBLISHED"), [LIST]: listed };
      expect(await publish(http)).toMatchObject({ kind: "published", networkPostId: "5" });
    });

    it("makes a new one only of one that certainly ended", async () => {
      const expired = { [PUBLISH]: gone, [LOOK("1")]: state("EXPIRED") };
      const outcome = await publish(expired);
      expect(outcome).toMatchObject({ kind: "prepare_again", remote: { restarts: 1 } });
      expect(outcome).not.toHaveProperty("remote.container");
      const last = { ...anImage, restarts: 2, restartedAt: at(-60) };
      expect(await publish(expired, last)).toMatchObject({
        kind: "rejected",
        failure: { code: "media_processing_failed" },
      });
    });

    it.each([lost, error(100, 33), state("FINISHED"), state("IN_PROGRESS")])(
      "stays in doubt otherwise (%#)",
      async (look) => {
        const http = { [PUBLISH]: gone, [LOOK("1")]: look };
        expect(await publish(http)).toMatchObject({ kind: "in_doubt" });
      },
    );
  });

  it("does not call for a container that is published already", async () => {
    const done = { ...anImage, container: container("1", { isPublished: true }) };
    const used = tools({ http: { [LIST]: answer(200, { data: [] }) } });
    expect(await instagram.publish(leg({}, { remote: done, sentAt: NOW }), used)).toEqual({
      kind: "published",
      networkPostId: "1",
      url: null,
    });
    expect(used.asked).toEqual([LIST]);
  });

  it("sees that a container was published when it prepares again", async () => {
    const used = tools({ http: { [LOOK("1")]: state("PUBLISHED") } });
    expect(await instagram.prepare(leg({}, { remote: anImage, sentAt: NOW }), used)).toMatchObject({
      kind: "ready",
      remote: { container: { isPublished: true } },
    });
  });
});

describe("an unknown outcome at Instagram", () => {
  const reconcile = (
    http: NonNullable<Script["http"]>,
    seconds = 5,
    remote: NetworkData = anImage,
    draft: Partial<LegDraft> = {},
  ) => instagram.reconcile(leg(draft, { remote, sentAt: ago(seconds) }), tools({ http }));
  const item = (overrides: Record<string, unknown> = {}) => ({
    id: "5",
    caption: "Hello",
    timestamp: NOW.toISOString(),
    permalink: "https://www.instagram.com/p/x/",
    media_type: "IMAGE",
    ...overrides,
  });
  const published = (...items: readonly Record<string, unknown>[]) => ({
    [LOOK("1")]: state("PUBLISHED"),
    [LIST]: answer(200, { data: items }),
  });

  it("is nothing when nothing was sent", async () => {
    const used = tools();
    expect(await instagram.reconcile(leg({}, { remote: anImage }), used)).toEqual({
      kind: "may_publish",
      isAbsent: true,
    });
    expect(used.calls).toEqual([]);
  });

  it("is the account's post with the same words", async () => {
    const others = [
      item({ id: "6", caption: "Other" }),
      item({ id: "7", media_type: "VIDEO" }),
      item({ caption: " Hello\r\n" }),
      item({ id: "4", timestamp: ago(300).toISOString() }),
    ];
    expect(await reconcile(published(...others))).toEqual({
      kind: "published",
      networkPostId: "5",
      url: "https://www.instagram.com/p/x/",
    });
  });

  it("of several without words is none of them: it goes by its container's id", async () => {
    const both = [item({ id: "6", caption: undefined }), item({ caption: undefined })];
    expect(await reconcile(published(...both), 5, anImage, { text: "" })).toMatchObject({
      networkPostId: "1",
      url: null,
    });
  });

  it("is a story by its kind and time", async () => {
    const story = { ...anImage, form: "image_story" };
    const http = {
      [LOOK("1")]: state("PUBLISHED"),
      [STORIES]: answer(200, { data: [item({ caption: undefined })] }),
    };
    expect(await reconcile(http, 5, story)).toMatchObject({ networkPostId: "5" });
  });

  it.each([lost, answer(500, ""), answer(200, { data: [] })])(
    "is known to be published even when no list shows it (%#)",
    async (reply) => {
      const http = { [LOOK("1")]: state("PUBLISHED"), [LIST]: reply };
      expect(await reconcile(http)).toEqual({ kind: "published", networkPostId: "1", url: null });
    },
  );

  it.each<[string, ReturnType<typeof answer>, number, unknown]>([
    ["finished, early", state("FINISHED"), 5, { kind: "may_publish", isAbsent: false }],
    ["finished, late", state("FINISHED"), 60, { kind: "may_publish", isAbsent: true }],
    ["failed", state("ERROR"), 5, { kind: "may_publish", isAbsent: true }],
    ["expired", state("EXPIRED"), 5, { kind: "may_publish", isAbsent: true }],
    ["in work", state("IN_PROGRESS"), 5, { kind: "ask_again" }],
    ["not known", error(100, 33), 5, { kind: "ask_again" }],
    ["not told", answer(503, ""), 5, { kind: "ask_again" }],
    ["not told to us", error(190), 5, { kind: "ask_again", failure: { code: "outcome_unknown" } }],
  ])("of a container that is %s", async (_what, look, seconds, expected) => {
    expect(await reconcile({ [LOOK("1")]: look }, seconds)).toMatchObject(expected as object);
  });
});
