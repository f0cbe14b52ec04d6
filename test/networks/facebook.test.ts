import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { facebook } from "../../src/shared/networks/facebook/index.ts";
import type {
  HttpRequest,
  LegDraft,
  LegToPublish,
  NetworkData,
} from "../../src/shared/networks/network.ts";
import type { Script } from "./scripted-tools.ts";
import {
  NOW,
  answer,
  htmlPage,
  lost,
  refusedToConnect,
  scriptedTools,
  sentJson,
} from "./scripted-tools.ts";

const GRAPH = "https://graph.facebook.com/v26.0";
const app = { id: "app-1", secret: "secret-1", version: "v26.0" };
const credentials = {
  userId: "7",
  userToken: "user-token",
  pageId: "42",
  pageToken: "page-token",
};
const proof = (token: string) => createHmac("sha256", app.secret).update(token).digest("hex");

const FEED = `POST ${GRAPH}/42/feed`;
const PHOTOS = `POST ${GRAPH}/42/photos`;
const REELS = `POST ${GRAPH}/42/video_reels`;
const VIDEOS = `POST ${GRAPH}/42/videos`;
const PHOTO_STORIES = `POST ${GRAPH}/42/photo_stories`;
const VIDEO_STORIES = `POST ${GRAPH}/42/video_stories`;
const UPLOAD = "POST https://rupload.facebook.com/video-upload/v26.0/9";
const LOOK = `GET ${GRAPH}/9`;
const POSTS = `GET ${GRAPH}/42/published_posts`;
const FEED_LIST = `GET ${GRAPH}/42/feed`;
const STORIES = `GET ${GRAPH}/42/stories`;

const FILE = "https://files.example/a.jpg";
const SECOND = "https://files.example/z.jpg";
const CLIP = "https://files.example/b.mp4";
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);
const files = (...urls: readonly string[]) => urls.map((url) => ({ url, altText: null }));

function leg(draft: Partial<LegDraft> = {}, overrides: Partial<LegToPublish> = {}): LegToPublish {
  return {
    key: "leg-1",
    draft: { text: "Hello", media: [], options: {}, ...draft },
    account: {
      id: "42",
      username: "bakery",
      displayName: "Bakery",
      avatarUrl: null,
      url: "https://www.facebook.com/bakery",
      kind: "page",
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
const error = (code: number, subcode?: number, status = 400) =>
  answer(status, {
    error: {
      message: "words",
      type: "OAuthException",
      code,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
    },
  });
const status = (fields: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  answer(200, { id: "9", status: fields, ...more });
const uploaded = status({ uploading_phase: { status: "complete" } });
const working = status({
  uploading_phase: { status: "complete" },
  processing_phase: { status: "in_progress" },
});
const live = status(
  { video_status: "ready", publishing_phase: { status: "complete" } },
  { permalink_url: "/reel/9/" },
);
const failed = status({ video_status: "error", processing_phase: { status: "error" } });

const asText = { form: "text", photos: [] };
const asPhotos = {
  form: "photos",
  photos: ["1", "2"],
  photosSince: ago(60).toISOString(),
};
const asReel = {
  form: "reel",
  photos: [],
  video: {
    id: "9",
    uploadUrl: "https://rupload.facebook.com/video-upload/v26.0/9",
    handedOverAt: ago(60).toISOString(),
  },
};

describe("linking a Facebook page", () => {
  const { link } = facebook;
  const redirectUri = "https://relay.example/v1/connect/callback/facebook";
  const TOKEN = `GET ${GRAPH}/oauth/access_token`;
  const PERMISSIONS = `GET ${GRAPH}/me/permissions`;
  const ME = `GET ${GRAPH}/me`;
  const ACCOUNTS = `GET ${GRAPH}/me/accounts`;
  const DEBUG = `GET ${GRAPH}/debug_token`;
  const BUSINESSES = `GET ${GRAPH}/me/businesses`;
  const granted = (...names: readonly string[]) =>
    answer(200, { data: names.map((permission) => ({ permission, status: "granted" })) });
  const page = (id: string, overrides: Record<string, unknown> = {}) => ({
    id,
    name: `Page ${id}`,
    username: `page${id}`,
    tasks: ["ANALYZE", "CREATE_CONTENT"],
    access_token: `token-${id}`,
    picture: { data: { url: `https://img.example/${id}.jpg` } },
    ...overrides,
  });
  const script = (overrides: Script["http"] = {}): Script => ({
    http: {
      [TOKEN]: [
        answer(200, { access_token: "short", token_type: "bearer", expires_in: 5000 }),
        answer(200, { access_token: "long", token_type: "bearer" }),
      ],
      [PERMISSIONS]: granted(
        "pages_show_list",
        "pages_read_engagement",
        "pages_manage_posts",
        "business_management",
      ),
      [ME]: answer(200, { id: "7" }),
      [ACCOUNTS]: answer(200, { data: [page("1")] }),
      [DEBUG]: answer(200, { data: { is_valid: true, granular_scopes: [] } }),
      [BUSINESSES]: answer(200, { data: [] }),
      ...overrides,
    },
  });
  const finish = async (
    overrides: Script["http"] = {},
    params: Record<string, string> = { code: "code-1#_=_", state: "s" },
  ) => {
    const used = tools(script(overrides));
    const callback = { params, codeVerifier: "v", redirectUri, flow: {} };
    return { outcome: await link.finish(callback, used), used };
  };

  it("asks at the dialog for what publishing needs, and again for what was declined", async () => {
    const oauth = { redirectUri, state: "state-1", codeChallenge: "challenge" };
    const started = await link.start({}, oauth, tools());
    if (started.kind === "failed") throw new Error(started.code);
    const url = new URL(started.url);
    expect(url.origin + url.pathname).toBe("https://www.facebook.com/v26.0/dialog/oauth");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "app-1",
      redirect_uri: redirectUri,
      response_type: "code",
      state: "state-1",
      scope: "pages_show_list,pages_read_engagement,pages_manage_posts,business_management",
      auth_type: "rerequest",
    });
  });

  it("makes a long-lived token of the code, and links the one page that there is", async () => {
    const { outcome, used } = await finish();
    expect(outcome).toEqual({
      kind: "linked",
      linked: {
        account: {
          id: "1",
          username: "page1",
          displayName: "Page 1",
          avatarUrl: "https://img.example/1.jpg",
          url: "https://www.facebook.com/page1",
          kind: "page",
        },
        credentials: { userId: "7", userToken: "long", pageId: "1", pageToken: "token-1" },
        instanceUrl: null,
        scopes: [
          "pages_show_list",
          "pages_read_engagement",
          "pages_manage_posts",
          "business_management",
        ],
        limits: {},
        expiresAt: null,
        grantId: "7",
      },
    });
    const [first, second] = used.calls.map(({ url }) => new URL(url).searchParams);
    expect(Object.fromEntries(first ?? [])).toEqual({
      client_id: "app-1",
      client_secret: "secret-1",
      code: "code-1",
      redirect_uri: redirectUri,
    });
    expect(Object.fromEntries(second ?? [])).toMatchObject({
      grant_type: "fb_exchange_token",
      fb_exchange_token: "short",
    });
    const listing = used.calls[used.asked.indexOf(ACCOUNTS)];
    expect(listing?.headers?.["authorization"]).toBe("Bearer long");
    expect(new URL(listing?.url ?? "").searchParams.get("appsecret_proof")).toBe(proof("long"));
    expect(listing?.url).not.toContain("access_token=");
  });

  it("offers the pages of all lists, without those that may not be published for", async () => {
    const cursors = { paging: { next: "https://x.example", cursors: { after: "A" } } };
    const { outcome, used } = await finish({
      [ACCOUNTS]: [
        answer(200, { data: [page("1"), page("2", { tasks: ["ANALYZE"] })], ...cursors }),
        answer(200, { data: [page("3", { username: undefined }), { odd: true }] }),
      ],
      [DEBUG]: answer(200, {
        data: {
          granular_scopes: [
            { scope: "pages_manage_posts", target_ids: ["1", "4", "5"] },
            { scope: "business_management" },
          ],
        },
      }),
      [`GET ${GRAPH}/4`]: answer(200, page("4")),
      [`GET ${GRAPH}/5`]: error(100, 33),
    });
    expect(outcome).toMatchObject({
      kind: "choose",
      candidates: [
        { id: "1", label: "Page 1", hint: "@page1" },
        { id: "3", label: "Page 3", hint: "3" },
        { id: "4", label: "Page 4", hint: "@page4" },
      ],
    });
    expect(used.calls.filter(({ url }) => url.includes("after=A"))).toHaveLength(1);
    if (outcome.kind !== "choose") return;
    expect(await link.choose("3", outcome.flow)).toMatchObject({
      kind: "linked",
      linked: {
        account: { id: "3", url: "https://www.facebook.com/3" },
        credentials: { pageToken: "token-3" },
      },
    });
    const stored = JSON.parse(JSON.stringify(outcome.flow)) as NetworkData;
    expect(await link.choose("2", stored)).toMatchObject({ kind: "failed" });
  });

  const none = { [ACCOUNTS]: answer(200, { data: [] }) };

  it.each<[string, Script["http"]]>([
    ["the person", { ...none, [ME]: answer(200, { id: "7", accounts: { data: [page("8")] } }) }],
    [
      "the token",
      {
        ...none,
        [DEBUG]: answer(200, {
          data: { granular_scopes: [{ scope: "pages_show_list", target_ids: ["8"] }] },
        }),
        [`GET ${GRAPH}/8`]: answer(200, page("8")),
      },
    ],
    [
      "the business portfolios",
      {
        ...none,
        [BUSINESSES]: answer(200, { data: [{ id: "50" }, { id: "51" }] }),
        [`GET ${GRAPH}/50/owned_pages`]: error(100, 33),
        [`GET ${GRAPH}/50/client_pages`]: answer(200, { data: [page("8", { tasks: undefined })] }),
        [`GET ${GRAPH}/51/owned_pages`]: answer(200, { data: [page("9", { access_token: "" })] }),
        [`GET ${GRAPH}/51/client_pages`]: lost,
      },
    ],
  ])("finds pages that the list leaves out by way of %s", async (_what, http) => {
    const { outcome } = await finish(http);
    expect(outcome).toMatchObject({ kind: "linked", linked: { account: { id: "8" } } });
  });

  it.each<[string, Script["http"], string]>([
    ["there is no page", none, "nothing_to_choose"],
    [
      "a permission was declined",
      {
        [PERMISSIONS]: answer(200, {
          data: [
            { permission: "pages_show_list", status: "granted" },
            { permission: "pages_read_engagement", status: "granted" },
            { permission: "pages_manage_posts", status: "declined" },
          ],
        }),
      },
      "permission_missing",
    ],
    ["the code was used before", { [TOKEN]: error(100, 36009) }, "access_denied"],
    ["the app's secret is wrong", { [TOKEN]: error(1) }, "network_unavailable"],
    ["Facebook is away", { [TOKEN]: lost }, "network_unavailable"],
    ["Facebook answers with a page", { [ACCOUNTS]: htmlPage(502) }, "network_unavailable"],
    ["there were too many calls", { [ACCOUNTS]: error(4) }, "rate_limited"],
    ["the account has to be confirmed", { [ACCOUNTS]: error(368, 4854002) }, "account_restricted"],
  ])("links nothing when %s", async (_what, http, code) => {
    expect((await finish(http)).outcome).toMatchObject({ kind: "failed", code });
  });

  it.each<[Record<string, string>, string]>([
    [{ error: "access_denied", error_reason: "user_denied" }, "access_denied"],
    [{ error: "server_error" }, "network_unavailable"],
    [{ error_code: "1349048", error_message: "Can't load URL" }, "network_unavailable"],
    [{}, "input_invalid"],
    [{ code: "#_=_" }, "input_invalid"],
  ])("says what came back with the browser: %j", async (params, code) => {
    const { outcome, used } = await finish({}, params);
    expect(outcome).toMatchObject({ kind: "failed", code });
    expect(used.calls).toEqual([]);
  });

  it("keeps no token in what it notes of a failure", async () => {
    const words = { message: "Bad access_token=EAAsecret123 and Bearer EAAsecret123" };
    const { outcome } = await finish({ [ACCOUNTS]: answer(400, { error: { ...words, code: 1 } }) });
    expect(JSON.stringify(outcome)).not.toContain("EAAsecret123");
  });

  it("ends what was allowed with the person's token", async () => {
    const used = tools({ http: { [`DELETE ${GRAPH}/7/permissions`]: answer(200, {}) } });
    await facebook.revoke(credentials, null, used);
    expect(used.calls[0]?.headers?.["authorization"]).toBe("Bearer user-token");
    expect(await facebook.freshen()).toEqual({ kind: "usable" });
  });
});

describe("preparing photos for Facebook", () => {
  const prepare = (
    http: NonNullable<Script["http"]>,
    draft: Partial<LegDraft> = { media: files(FILE, SECOND) },
    overrides: Partial<LegToPublish> = {},
  ) => facebook.prepare(leg(draft, overrides), tools({ http }));

  it("makes them unpublished, with their descriptions", async () => {
    const used = tools({
      http: { [PHOTOS]: [answer(200, { id: "1" }), answer(200, { id: "2" })] },
    });
    const media = [
      { url: "https://files.example/ä b.jpg", altText: "A lake" },
      { url: SECOND, altText: null },
    ];
    expect(await facebook.prepare(leg({ media }), used)).toMatchObject({
      kind: "ready",
      remote: { form: "photos", photos: ["1", "2"], photosSince: NOW.toISOString() },
    });
    expect(used.calls.map(sentJson)).toEqual([
      {
        url: "https://files.example/%C3%A4%20b.jpg",
        published: false,
        alt_text_custom: "A lake",
        appsecret_proof: proof("page-token"),
      },
      { url: SECOND, published: false, appsecret_proof: proof("page-token") },
    ]);
    expect(used.calls[0]?.headers?.["authorization"]).toBe("Bearer page-token");
  });

  it("keeps what it made when a later one fails, and makes only the rest", async () => {
    const first = await prepare({ [PHOTOS]: [answer(200, { id: "1" }), lost] });
    expect(first).toMatchObject({ kind: "try_later", remote: { photos: ["1"] } });
    if (first.kind !== "try_later" || first.remote === undefined) throw new Error("not kept");
    const used = tools({ http: { [PHOTOS]: answer(200, { id: "2" }) } });
    const again = leg({ media: files(FILE, SECOND) }, { remote: first.remote });
    expect(await facebook.prepare(again, used)).toMatchObject({
      kind: "ready",
      remote: { photos: ["1", "2"] },
    });
    expect(used.calls).toHaveLength(1);
  });

  it("makes nothing again that is there, but all anew when it is too old to be published", async () => {
    expect(await prepare({}, undefined, { remote: asPhotos })).toEqual({
      kind: "ready",
      remote: asPhotos,
    });
    const old = { ...asPhotos, photosSince: ago(21 * 3600).toISOString() };
    const http = { [PHOTOS]: [answer(200, { id: "3" }), answer(200, { id: "4" })] };
    expect(await prepare(http, undefined, { remote: old })).toMatchObject({
      kind: "ready",
      remote: { photos: ["3", "4"], photosSince: NOW.toISOString() },
    });
  });

  it.each([
    [lost, "try_later", "network_unavailable"],
    [htmlPage(502), "try_later", "network_unavailable"],
    [error(2, undefined, 500), "try_later", "network_unavailable"],
    [error(4), "try_later", "rate_limited"],
    [error(190, 463), "rejected", "connection_needs_reauth"],
    [error(100, 33), "rejected", "permission_missing"],
    [error(100, 1366046), "rejected", "media_rejected"],
    [answer(200, {}), "try_later", "network_unavailable"],
  ])("publishes nothing when it fails (%#)", async (reply, kind, code) => {
    expect(await prepare({ [PHOTOS]: reply })).toMatchObject({ kind, failure: { code } });
  });

  const unreadable = error(324, 2069019);

  it.each<[string, NonNullable<Script["http"]>, string, string]>([
    ["can be read by us", { [`HEAD ${FILE}`]: answer(200) }, "rejected", "media_rejected"],
    [
      "is where it was moved to",
      {
        [`HEAD ${FILE}`]: answer(302, "", { location: "/c.jpg" }),
        "HEAD https://files.example/c.jpg": answer(200),
      },
      "rejected",
      "media_rejected",
    ],
    [
      "can be read, though not asked about",
      { [`HEAD ${FILE}`]: answer(405), [`GET ${FILE}`]: answer(206) },
      "rejected",
      "media_rejected",
    ],
    [
      "can't be read by us either",
      { [`HEAD ${FILE}`]: lost, [`GET ${FILE}`]: answer(404) },
      "try_later",
      "media_unreachable",
    ],
  ])(
    "judges a file that Facebook could not read: one that %s",
    async (_what, probe, kind, code) => {
      const outcome = await prepare({ [PHOTOS]: unreadable, ...probe }, { media: files(FILE) });
      expect(outcome).toMatchObject({ kind, failure: { code, mediaIndex: 0 } });
    },
  );

  it("asks what a file is whose name does not tell", async () => {
    const bare = "https://files.example/download?id=1";
    const asks = (type: string) => ({
      "HEAD https://files.example/download": answer(200, "", { "content-type": type }),
      [PHOTOS]: answer(200, { id: "1" }),
      [REELS]: answer(200, { video_id: "9" }),
    });
    const draft = { media: files(bare) };
    expect(await prepare(asks("video/mp4"), draft)).toMatchObject({ remote: { form: "reel" } });
    expect(await prepare(asks("image/jpeg"), draft)).toMatchObject({ remote: { form: "photos" } });
    expect(await prepare(asks("video/mp4"), { media: files(FILE, bare) })).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected", rule: "facebook.media.mixed" },
    });
  });

  it("looks for photos that were not found when they were to be published", async () => {
    const missed = (seconds: number) => ({
      remote: { ...asPhotos, missedAt: ago(seconds).toISOString() },
    });
    const [one, two] = [`GET ${GRAPH}/1`, `GET ${GRAPH}/2`];
    const there = answer(200, { id: "1" });
    const gone = error(100, 33);
    const look = (http: NonNullable<Script["http"]>, seconds: number) =>
      prepare(http, undefined, missed(seconds));
    expect(await look({ [one]: there, [two]: there }, 5)).toMatchObject({ kind: "ready" });
    expect(await look({ [one]: there, [two]: gone }, 5)).toMatchObject({ kind: "processing" });
    expect(await look({ [one]: lost }, 5)).toMatchObject({ kind: "try_later" });
    expect(await look({ [one]: gone }, 121)).toMatchObject({
      kind: "rejected",
      failure: { code: "permission_missing" },
    });
  });
});

describe("preparing a video for Facebook", () => {
  const draft = { media: files(CLIP) };
  const prepare = (
    http: NonNullable<Script["http"]>,
    remote: NetworkData = {},
    options: LegDraft["options"] = {},
  ) => facebook.prepare(leg({ ...draft, options }, { remote }), tools({ http }));
  const begun = {
    form: "reel",
    photos: [],
    video: { id: "9", uploadUrl: "https://rupload.facebook.com/video-upload/v26.0/9" },
  };

  it("begins, hands over the address and looks: each kept before the next", async () => {
    const used = tools({
      http: {
        [REELS]: answer(200, { video_id: 9, upload_url: begun.video.uploadUrl }),
        [UPLOAD]: answer(200, { success: true }),
        [LOOK]: [status({ video_status: "uploading" }), uploaded],
      },
    });
    const kinds: string[] = [];
    let remote: NetworkData = {};
    for (let turn = 0; turn < 4; turn += 1) {
      const outcome = await facebook.prepare(leg(draft, { remote }), used);
      kinds.push(outcome.kind);
      if ("remote" in outcome) remote = JSON.parse(JSON.stringify(outcome.remote)) as NetworkData;
    }
    expect(kinds).toEqual(["processing", "processing", "processing", "ready"]);
    expect(used.asked).toEqual([REELS, UPLOAD, LOOK, LOOK]);
    expect(sentJson(used.calls[0])).toMatchObject({ upload_phase: "start" });
    expect(used.calls[1]?.headers).toMatchObject({
      authorization: "OAuth page-token",
      file_url: CLIP,
    });
  });

  it.each([
    "https://evil.example/upload",
    "http://rupload.facebook.com/video-upload/v26.0/9",
    "https://rupload.facebook.com.evil.example/9",
    undefined,
  ])("hands the page's token to no other host (%s)", async (upload_url) => {
    const outcome = await prepare({ [REELS]: answer(200, { video_id: "9", upload_url }) });
    expect(outcome).toMatchObject({ remote: { video: begun.video } });
  });

  it.each([
    ["had arrived after all", uploaded, "processing", { video: { id: "9" } }],
    [
      "had begun to arrive",
      status({ uploading_phase: { status: "in_progress", bytes_transfered: 5 } }),
      "processing",
      { video: { id: "9" } },
    ],
    [
      "never came",
      status({ uploading_phase: { status: "not_started" } }),
      "processing",
      { restartedAt: NOW.toISOString() },
    ],
  ])("looks before it hands over again what %s", async (_what, look, kind, remote) => {
    const refused = answer(400, { debug_info: { retriable: false, type: "InvalidRequestError" } });
    const outcome = await prepare({ [UPLOAD]: refused, [LOOK]: look }, begun);
    expect(outcome).toMatchObject({ kind, remote });
  });

  it.each([
    [lost, "try_later", "network_unavailable"],
    [answer(503, ""), "try_later", "network_unavailable"],
    [error(190, 460), "rejected", "connection_needs_reauth"],
    [error(4), "try_later", "rate_limited"],
  ])("publishes nothing when the upload fails (%#)", async (reply, kind, code) => {
    const http = { [UPLOAD]: reply, [LOOK]: status({ video_status: "uploading" }) };
    expect(await prepare(http, begun)).toMatchObject({ kind, failure: { code } });
  });

  it("uploads once more what failed, and then gives up", async () => {
    const http = { [LOOK]: failed, [`HEAD ${CLIP}`]: answer(200) };
    const first = await prepare(http, asReel);
    expect(first).toEqual({
      kind: "processing",
      remote: { form: "reel", photos: [], restartedAt: NOW.toISOString() },
      pollAfterSeconds: 5,
    });
    const again = { ...asReel, restartedAt: ago(60).toISOString() };
    expect(await prepare(http, again)).toMatchObject({
      kind: "rejected",
      failure: { code: "media_processing_failed", mediaIndex: 0 },
    });
    const later = { ...asReel, restartedAt: ago(3600).toISOString() };
    expect(await prepare(http, later)).toMatchObject({ kind: "processing" });
  });

  it("says that a file is not to be had when we can't read it either", async () => {
    const http = { [LOOK]: failed, [`HEAD ${CLIP}`]: answer(404), [`GET ${CLIP}`]: answer(404) };
    const again = { ...asReel, restartedAt: ago(60).toISOString() };
    expect(await prepare(http, again)).toMatchObject({
      kind: "rejected",
      failure: { code: "media_unreachable" },
    });
  });

  const tooLong = status({
    video_status: "error",
    processing_phase: { status: "error", error: { code: 1363128, message: "Too long" } },
  });

  it("takes for a feed video what is no reel, unless a reel was asked for", async () => {
    expect(await prepare({ [LOOK]: tooLong }, asReel)).toEqual({
      kind: "ready",
      remote: { form: "video", photos: [] },
    });
    const http = { [LOOK]: tooLong, [`HEAD ${CLIP}`]: answer(200) };
    expect(await prepare(http, asReel, { kind: "reel" })).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected", rule: "facebook.video.duration" },
    });
  });

  it.each([
    ["in work", working, "ready", undefined],
    ["unknown to us", error(100, 33), "rejected", "permission_missing"],
    ["not told", answer(503, ""), "try_later", "network_unavailable"],
    ["not told for now", error(4), "try_later", "network_unavailable"],
  ])("goes by the status: %s", async (_what, look, kind, code) => {
    const outcome = await prepare({ [LOOK]: look }, asReel);
    expect(outcome).toMatchObject({ kind, ...(code === undefined ? {} : { failure: { code } }) });
  });

  it("uploads nothing for a feed video", async () => {
    expect(await prepare({}, {}, { kind: "feed" })).toMatchObject({
      kind: "ready",
      remote: { form: "video" },
    });
  });
});

describe("publishing to Facebook", () => {
  const publish = (
    http: NonNullable<Script["http"]>,
    remote: NetworkData = asText,
    draft: Partial<LegDraft> = {},
    sentAt = NOW,
  ) => facebook.publish(leg(draft, { remote, sentAt }), tools({ http }));

  it("sends text and link in one call and reads the address with it", async () => {
    const created = answer(200, {
      id: "42_5",
      permalink_url: "https://www.facebook.com/42/posts/5",
    });
    const used = tools({ http: { [FEED]: created } });
    const ready = leg({ options: { link: "https://a.example" } }, { remote: asText, sentAt: NOW });
    expect(await facebook.publish(ready, used)).toEqual({
      kind: "published",
      networkPostId: "42_5",
      url: "https://www.facebook.com/42/posts/5",
    });
    expect(sentJson(used.calls[0])).toEqual({
      message: "Hello",
      link: "https://a.example",
      published: true,
      appsecret_proof: proof("page-token"),
    });
    expect(new URL(used.calls[0]?.url ?? "").search).toBe("?fields=id%2Cpermalink_url");
    expect(await publish({ [FEED]: answer(200, { id: "42_5" }) })).toMatchObject({
      url: "https://www.facebook.com/42_5",
    });
  });

  it("attaches the photos, and leaves a link out then", async () => {
    const used = tools({ http: { [FEED]: answer(200, { id: "42_5" }) } });
    const draft = { text: "", media: files(FILE, SECOND), options: { link: "https://a.example" } };
    await facebook.publish(leg(draft, { remote: asPhotos, sentAt: NOW }), used);
    expect(sentJson(used.calls[0])).toEqual({
      attached_media: [{ media_fbid: "1" }, { media_fbid: "2" }],
      published: true,
      appsecret_proof: proof("page-token"),
    });
  });

  it("finishes a reel, and is done when it can be seen", async () => {
    const used = tools({ http: { [REELS]: answer(200, { success: true }), [LOOK]: live } });
    const draft = { media: files(CLIP), options: { title: "Clip" } };
    const outcome = await facebook.publish(leg(draft, { remote: asReel, sentAt: NOW }), used);
    expect(outcome).toEqual({
      kind: "published",
      networkPostId: "9",
      url: "https://www.facebook.com/reel/9/",
    });
    expect(sentJson(used.calls[0])).toEqual({
      upload_phase: "finish",
      video_id: "9",
      video_state: "PUBLISHED",
      description: "Hello",
      title: "Clip",
      appsecret_proof: proof("page-token"),
    });
  });

  const video = { form: "video", photos: [] };

  it.each<[string, NetworkData, string, unknown]>([
    ["a reel", asReel, REELS, { success: true }],
    ["a feed video", video, VIDEOS, { id: "9" }],
    [
      "a video story",
      { ...asReel, form: "video_story" },
      VIDEO_STORIES,
      { success: true, post_id: "6" },
    ],
  ])("keeps %s that is still in work in doubt, by its id", async (_what, remote, call, taken) => {
    for (const look of [working, uploaded, answer(503, ""), lost]) {
      const http = { [call]: answer(200, taken), [LOOK]: look };
      const outcome = await publish(http, remote, { media: files(CLIP) });
      expect(outcome).toMatchObject({ kind: "in_doubt", remote: { postedVideoId: "9" } });
    }
  });

  it("leaves open what became of a video whose status it may not read", async () => {
    const http = { [VIDEOS]: answer(200, { id: "9" }), [LOOK]: error(100, 33) };
    expect(await publish(http, video, { media: files(CLIP) })).toMatchObject({
      kind: "in_doubt",
      remote: { postedVideoId: "9" },
    });
  });

  it("begins anew with a video that failed, once, and never with one in the feed", async () => {
    const draft = { media: files(CLIP) };
    const http = { [REELS]: answer(200, { success: true }), [LOOK]: failed };
    expect(await publish(http, asReel, draft)).toMatchObject({
      kind: "prepare_again",
      remote: { form: "reel", restartedAt: NOW.toISOString() },
    });
    const again = { ...asReel, restartedAt: ago(60).toISOString() };
    expect(await publish(http, again, draft)).toMatchObject({
      kind: "rejected",
      failure: { code: "media_processing_failed" },
    });
    const inFeed = { [VIDEOS]: answer(200, { id: "9" }), [LOOK]: failed };
    expect(await publish(inFeed, video, draft)).toMatchObject({ kind: "rejected" });
  });

  it("tells a story of a photo, with its address where the list has it", async () => {
    const story = { form: "photo_story", photos: ["1"] };
    const listed = { post_id: "6", media_id: "1", url: "https://facebook.com/stories/6" };
    const taken = answer(200, { success: true, post_id: "6" });
    const http = { [PHOTO_STORIES]: taken, [STORIES]: answer(200, { data: [listed] }) };
    expect(await publish(http, story)).toEqual({
      kind: "published",
      networkPostId: "6",
      url: "https://facebook.com/stories/6",
    });
    expect(await publish({ ...http, [STORIES]: lost }, story)).toEqual({
      kind: "published",
      networkPostId: "6",
      url: null,
    });
  });

  it.each([
    ["a lost answer", lost],
    ["a 500", error(2, undefined, 500)],
    ["a transient error", error(1)],
    ["a 500 with another code", error(506, undefined, 500)],
    ["a 502 of a proxy", htmlPage(502)],
    ["a 403 of a firewall", htmlPage(403)],
    ["a 200 that is none", answer(200, "ok")],
  ])("is in doubt after %s", async (_what, reply) => {
    expect(await publish({ [FEED]: reply })).toMatchObject({
      kind: "in_doubt",
      failure: { code: "outcome_unknown" },
    });
  });

  it.each([
    [refusedToConnect, "try_later", "network_unavailable"],
    [error(613), "try_later", "rate_limited"],
    [error(190, 460), "rejected", "connection_needs_reauth"],
    [error(200), "rejected", "permission_missing"],
    [error(368, 1346003), "rejected", "content_rejected"],
    [error(100, 1609005), "rejected", "link_rejected"],
    [error(506), "rejected", "duplicate_content"],
  ])("certainly did not happen (%#)", async (reply, kind, code) => {
    expect(await publish({ [FEED]: reply })).toMatchObject({ kind, failure: { code } });
  });

  it("waits once for photos that are not found", async () => {
    const http = { [FEED]: error(100, 33) };
    expect(await publish(http, asPhotos)).toMatchObject({
      kind: "prepare_again",
      remote: { ...asPhotos, missedAt: NOW.toISOString() },
      failure: { code: "media_not_ready" },
    });
    const missed = { ...asPhotos, missedAt: ago(9).toISOString() };
    expect(await publish(http, missed)).toMatchObject({
      kind: "rejected",
      failure: { code: "permission_missing" },
    });
  });

  describe("what Facebook calls a duplicate", () => {
    const listed = answer(200, { data: [{ id: "42_5", message: "Hello" }] });
    const empty = answer(200, { data: [] });
    const duplicate = error(506);

    it("is our own post, when an earlier call may have made it", async () => {
      const http = { [FEED]: duplicate, [POSTS]: listed };
      expect(await publish(http, asText, {}, ago(90))).toMatchObject({
        kind: "published",
        networkPostId: "42_5",
      });
    });

    it("stays in doubt then, when no list shows it", async () => {
      const http = { [FEED]: duplicate, [POSTS]: empty, [FEED_LIST]: empty };
      expect(await publish(http, asText, {}, ago(90))).toMatchObject({ kind: "in_doubt" });
    });

    it("is somebody else's, when nothing was sent before: nobody's words are looked for", async () => {
      const used = tools({ http: { [FEED]: duplicate } });
      const outcome = await facebook.publish(leg({}, { remote: asText, sentAt: NOW }), used);
      expect(outcome).toMatchObject({ kind: "rejected", failure: { code: "duplicate_content" } });
      expect(used.calls).toHaveLength(1);
    });

    it("is ours by its photos, which nobody else has", async () => {
      const attachments = { data: [{ media_type: "photo", target: { id: "2" } }] };
      const found = answer(200, { data: [{ id: "42_5", attachments }] });
      const http = { [FEED]: error(100, 1366051), [POSTS]: found };
      expect(await publish(http, asPhotos)).toMatchObject({ kind: "published" });
    });

    it("is ours by the story's photo", async () => {
      const story = { form: "photo_story", photos: ["1"] };
      const stories = answer(200, { data: [{ post_id: "6", media_id: "1" }] });
      const http = { [PHOTO_STORIES]: error(100, 1366051), [STORIES]: stories };
      expect(await publish(http, story)).toMatchObject({ networkPostId: "6" });
      expect(await publish({ ...http, [STORIES]: empty }, story)).toMatchObject({
        kind: "in_doubt",
      });
    });
  });

  it("falls back to the feed only where a reel was not asked for", async () => {
    const http = { [REELS]: error(100, 1363040) };
    const draft = { media: files(CLIP) };
    expect(await publish(http, asReel, draft)).toMatchObject({
      kind: "prepare_again",
      remote: { form: "video" },
      pollAfterSeconds: 0,
    });
    const asked = { ...draft, options: { kind: "reel" } };
    expect(await publish(http, asReel, asked)).toMatchObject({
      kind: "rejected",
      failure: { rule: "facebook.video.ratio" },
    });
  });

  it("judges by our own look a feed video that Facebook can't fetch", async () => {
    const draft = { media: files(CLIP) };
    const http = { [VIDEOS]: error(389), [`HEAD ${CLIP}`]: answer(200) };
    expect(await publish(http, video, draft)).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected" },
    });
    const gone = { ...http, [`HEAD ${CLIP}`]: answer(404), [`GET ${CLIP}`]: answer(404) };
    expect(await publish(gone, video, draft)).toMatchObject({
      kind: "try_later",
      failure: { code: "media_unreachable" },
    });
  });
});

describe("an unknown outcome at Facebook", () => {
  const reconcile = (
    http: NonNullable<Script["http"]>,
    remote: NetworkData,
    seconds: number,
    draft: Partial<LegDraft> = {},
  ) => facebook.reconcile(leg(draft, { remote, sentAt: ago(seconds) }), tools({ http }));
  const list = (...posts: readonly Record<string, unknown>[]) => answer(200, { data: posts });
  const empty = { [POSTS]: list(), [FEED_LIST]: list() };

  it("is nothing when nothing was sent", async () => {
    const used = tools();
    expect(await facebook.reconcile(leg(), used)).toEqual({ kind: "may_publish", isAbsent: true });
    expect(used.calls).toEqual([]);
  });

  it("is looked for since two minutes before the call, in both lists", async () => {
    const used = tools({
      http: { [POSTS]: list(), [FEED_LIST]: list({ id: "42_5", message: " Hello\n" }) },
    });
    const stored = leg({}, { remote: asText, sentAt: ago(5) });
    expect(await facebook.reconcile(stored, used)).toMatchObject({
      kind: "published",
      networkPostId: "42_5",
    });
    const since = Math.floor(ago(125).getTime() / 1000);
    for (const { url } of used.calls)
      expect(new URL(url).searchParams.get("since")).toBe(String(since));
  });

  it.each<[string, Partial<LegDraft>, NetworkData, Record<string, unknown>, boolean]>([
    ["the same words", { text: "a\r\nb" }, asText, { message: "a\nb" }, true],
    ["other words", {}, asText, { message: "Hello!" }, false],
    [
      "the same link without words",
      { text: "", options: { link: "https://a.example/x?y=1" } },
      asText,
      {
        attachments: {
          data: [
            {
              target: { url: "https://l.facebook.com/l.php?u=https%3A%2F%2Fa.example%2Fx%3Fy%3D1" },
            },
          ],
        },
      },
      true,
    ],
    [
      "another link without words",
      { text: "", options: { link: "https://a.example/x" } },
      asText,
      { attachments: { data: [{ target: { url: "https://b.example" } }] } },
      false,
    ],
    [
      "one of the photos in an album",
      { text: "Other" },
      asPhotos,
      {
        attachments: {
          data: [{ media_type: "album", subattachments: { data: [{ target: { id: "2" } }] } }],
        },
      },
      true,
    ],
    ["the same words with other photos", {}, asPhotos, { message: "Hello" }, false],
    [
      "a video with the same words",
      { media: files(CLIP) },
      { form: "video", photos: [] },
      { message: "Hello", attachments: { data: [{ media_type: "video" }] } },
      true,
    ],
    [
      "a text with a video's words",
      { media: files(CLIP) },
      { form: "video", photos: [] },
      { message: "Hello" },
      false,
    ],
  ])("knows the leg's post by %s", async (...[, draft, remote, post, isOurs]) => {
    const posts = list({ id: "42_1", message: "older" }, { id: "42_5", ...post });
    const http = { [POSTS]: posts, [FEED_LIST]: posts };
    const outcome = await reconcile(http, remote, 5, draft);
    expect(outcome.kind).toBe(isOurs ? "published" : "ask_again");
  });

  it.each<[string, NetworkData, number, unknown]>([
    ["text, early", asText, 40, { kind: "ask_again", pollAfterSeconds: 20 }],
    ["text, after a minute", asText, 60, { kind: "may_publish", isAbsent: false }],
    ["photos, after a minute", asPhotos, 60, { kind: "may_publish", isAbsent: false }],
    [
      "photos that have to be made anew",
      { ...asPhotos, photosSince: ago(21 * 3600).toISOString() },
      3600,
      { kind: "unknowable" },
    ],
    ["a video, after a minute", { form: "video", photos: [] }, 60, { kind: "ask_again" }],
    ["a video, after half an hour", { form: "video", photos: [] }, 1800, { kind: "unknowable" }],
  ])("in no list: %s", async (_what, remote, seconds, expected) => {
    expect(await reconcile(empty, remote, seconds)).toMatchObject(expected as object);
  });

  it.each([lost, htmlPage(502), error(2, undefined, 500), error(190), answer(200, "ok")])(
    "is asked again when the list is not to be had (%#)",
    async (reply) => {
      expect(await reconcile({ [POSTS]: reply }, asText, 3600)).toMatchObject({
        kind: "ask_again",
        failure: { code: "outcome_unknown" },
      });
    },
  );

  it.each<[string, ReturnType<typeof answer>, number, NetworkData, unknown]>([
    ["live", live, 5, asReel, { kind: "published", url: "https://www.facebook.com/reel/9/" }],
    ["in work", working, 5, asReel, { kind: "ask_again" }],
    ["not asked for, early", uploaded, 5, asReel, { kind: "may_publish", isAbsent: false }],
    ["not asked for, late", uploaded, 60, asReel, { kind: "may_publish", isAbsent: true }],
    [
      "taken, but not begun with",
      uploaded,
      60,
      { ...asReel, postedVideoId: "9" },
      { kind: "ask_again" },
    ],
    [
      "taken, and not begun with for long",
      uploaded,
      301,
      { ...asReel, postedVideoId: "9" },
      { kind: "may_publish", isAbsent: true },
    ],
    [
      "a feed video that was taken",
      uploaded,
      3600,
      { form: "video", postedVideoId: "9" },
      { kind: "ask_again" },
    ],
    ["failed", failed, 5, asReel, { kind: "may_publish", isAbsent: true }],
    [
      "failed again",
      failed,
      5,
      { ...asReel, restartedAt: ago(60).toISOString() },
      { kind: "rejected", failure: { code: "media_processing_failed", mediaIndex: 0 } },
    ],
    ["a failed feed video", failed, 5, { form: "video", postedVideoId: "9" }, { kind: "rejected" }],
    ["not to be read", error(100, 33), 5, asReel, { kind: "ask_again" }],
    ["not told", answer(503, ""), 5, asReel, { kind: "ask_again" }],
  ])("of a video: %s", async (...[, look, seconds, remote, expected]) => {
    const outcome = await reconcile({ [LOOK]: look }, remote, seconds, { media: files(CLIP) });
    expect(outcome).toMatchObject(expected as object);
  });

  it.each<[string, ReturnType<typeof answer>, number, unknown]>([
    [
      "listed",
      answer(200, { data: [{ post_id: "6", media_id: "1", url: "/stories/6/" }] }),
      5,
      { kind: "published", networkPostId: "6", url: "https://www.facebook.com/stories/6/" },
    ],
    [
      "only others listed",
      answer(200, { data: [{ post_id: "6", media_id: "8" }] }),
      5,
      { kind: "ask_again", pollAfterSeconds: 55 },
    ],
    ["absent", answer(200, { data: [] }), 60, { kind: "may_publish", isAbsent: true }],
    ["not told", answer(500, ""), 60, { kind: "ask_again" }],
  ])("of a story: %s", async (_what, stories, seconds, expected) => {
    const story = { form: "photo_story", photos: ["1"], photosSince: ago(100).toISOString() };
    const outcome = await reconcile({ [STORIES]: stories }, story, seconds);
    expect(outcome).toMatchObject(expected as object);
  });

  it("never sends anything", async () => {
    const seen: HttpRequest[] = [];
    for (const remote of [asText, asPhotos, asReel, { form: "photo_story", photos: ["1"] }]) {
      const used = tools({ http: { ...empty, [LOOK]: live, [STORIES]: list() } });
      await facebook.reconcile(leg({ media: files(CLIP) }, { remote, sentAt: NOW }), used);
      seen.push(...used.calls);
    }
    expect(seen.filter(({ method }) => method !== "GET")).toEqual([]);
  });
});
