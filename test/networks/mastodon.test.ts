import { describe, expect, it } from "vitest";
import { mastodon } from "../../src/shared/networks/mastodon/index.ts";
import { MediaFailure } from "../../src/shared/networks/media.ts";
import type {
  HttpRequest,
  LegDraft,
  LegToPublish,
  LinkOutcome,
  NetworkData,
} from "../../src/shared/networks/network.ts";
import { HttpFailure } from "../../src/shared/networks/network.ts";
import type { Script } from "./scripted-tools.ts";
import {
  NOW,
  answer,
  htmlPage,
  image,
  lost,
  refusedToConnect,
  scriptedTools,
  sentJson,
} from "./scripted-tools.ts";

const HOST = "m.example";
const ORIGIN = `https://${HOST}`;
const POST = `POST ${ORIGIN}/api/v1/statuses`;
const MEDIA = `POST ${ORIGIN}/api/v2/media`;
const LOOK = (id: string) => `GET ${ORIGIN}/api/v1/media/${id}`;
const LIST = `GET ${ORIGIN}/api/v1/accounts/42/statuses`;
const V2 = `GET ${ORIGIN}/api/v2/instance`;
const V1 = `GET ${ORIGIN}/api/v1/instance`;
const DISCOVERY = `GET ${ORIGIN}/.well-known/oauth-authorization-server`;
const APPS = `POST ${ORIGIN}/api/v1/apps`;
const TOKEN = `POST ${ORIGIN}/oauth/token`;
const VERIFY = `GET ${ORIGIN}/api/v1/accounts/verify_credentials`;

const FILE = "https://files.example/a.jpg";
const CLIP = "https://files.example/b.mp4";
const minutes = (count: number) => new Date(NOW.getTime() - count * 60_000);

const credentials = {
  origin: ORIGIN,
  accessToken: "token",
  clientId: "client",
  clientSecret: "secret",
  keepsKeys: true,
};
const begun = mastodon.begin({ key: "leg-1" });

function leg(draft: Partial<LegDraft> = {}, overrides: Partial<LegToPublish> = {}): LegToPublish {
  return {
    key: "leg-1",
    draft: { text: "Hello", media: [], options: {}, ...draft },
    account: {
      id: `${HOST}/42`,
      username: `alice@${HOST}`,
      displayName: "Alice",
      avatarUrl: null,
      url: `${ORIGIN}/@alice`,
      kind: "person",
    },
    credentials,
    instanceUrl: ORIGIN,
    limits: {},
    remote: begun,
    sentAt: null,
    ...overrides,
  };
}

const files = (...urls: readonly string[]) => urls.map((url) => ({ url, altText: null }));
const uploaded = (...ids: readonly string[]): NetworkData => ({
  ...begun,
  media: ids.map((id) => ({ id, kind: "image", isReady: true })),
});
const published = { kind: "published", networkPostId: "7", url: `${ORIGIN}/@alice/7` };
const status = { id: "7", url: `${ORIGIN}/@alice/7`, uri: `${ORIGIN}/users/alice/statuses/7` };

describe("linking a Mastodon account", () => {
  const { link } = mastodon;
  const redirectUri = "https://relay.example/v1/connect/callback/mastodon";
  const oauth = { redirectUri, state: "state-1", codeChallenge: "challenge" };
  const configuration = {
    statuses: {
      max_characters: 5000,
      max_media_attachments: 6,
      characters_reserved_per_url: 30,
    },
    media_attachments: {
      supported_mime_types: ["image/jpeg"],
      description_limit: 100,
      image_size_limit: 1000,
      image_matrix_limit: 2000,
      video_size_limit: 3000,
    },
  };
  const script = (overrides: Script["http"] = {}, hosts: Script["hosts"] = {}): Script => ({
    hosts,
    http: {
      [V2]: answer(200, { domain: HOST, version: "4.5.2", configuration }),
      [DISCOVERY]: answer(200, {
        scopes_supported: ["read", "profile", "write:statuses", "write:media"],
        code_challenge_methods_supported: ["S256"],
      }),
      [APPS]: answer(200, { client_id: "client", client_secret: "secret" }),
      [TOKEN]: answer(200, {
        access_token: "token",
        token_type: "Bearer",
        scope: "profile write:statuses write:media",
      }),
      [VERIFY]: answer(200, {
        id: "42",
        username: "alice",
        acct: "alice",
        display_name: "Alice",
        url: `${ORIGIN}/@alice`,
        avatar: `${ORIGIN}/a.png`,
      }),
      ...overrides,
    },
  });
  const start = async (given: Script = script(), instance = HOST) => {
    const tools = scriptedTools(given);
    return { outcome: await link.start({ instance }, oauth, tools), tools };
  };
  const finish = async (given: Script, params: Readonly<Record<string, string>>) => {
    const { outcome } = await start();
    if (outcome.kind !== "redirect") throw new Error("not started");
    const tools = scriptedTools(given);
    const callback = { params, codeVerifier: "verifier", redirectUri, flow: outcome.flow };
    return { outcome: await link.finish(callback, tools), tools };
  };
  const failure = (outcome: LinkOutcome | { kind: "redirect" }) =>
    outcome.kind === "failed" ? outcome.code : outcome.kind;

  it("registers once and sends the browser to the instance", async () => {
    const { outcome, tools } = await start(script(), "@alice@m.example");
    if (outcome.kind !== "redirect") throw new Error("not started");
    const url = new URL(outcome.url);
    expect(url.origin + url.pathname).toBe(`${ORIGIN}/oauth/authorize`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: "code",
      client_id: "client",
      redirect_uri: redirectUri,
      scope: "profile write:statuses write:media",
      state: "state-1",
      force_login: "true",
      code_challenge: "challenge",
      code_challenge_method: "S256",
    });
    expect(outcome.url).not.toContain("secret");
    const registration = tools.calls.find((call) => call.url.endsWith("/api/v1/apps"));
    expect(sentJson(registration)).toMatchObject({
      redirect_uris: redirectUri,
      scopes: "profile write:statuses write:media",
      website: "https://relay.example",
    });
    const known = answer(400, { error: "unsupported_grant_type" });
    const again = await start(script({ [TOKEN]: known }, Object.fromEntries(tools.saved)));
    expect(again.outcome.kind).toBe("redirect");
    expect(again.tools.asked).not.toContain(APPS);
  });

  it("registers anew for another redirect address", async () => {
    const hosts = {
      [HOST]: {
        clientId: "old",
        clientSecret: "s",
        redirectUri: "https://old.example/cb",
        scope: "profile write:statuses write:media",
      },
    };
    const { tools } = await start(script({}, hosts));
    expect(tools.asked).toContain(APPS);
    expect(tools.saved.get(HOST)).toMatchObject({ clientId: "client", redirectUri });
  });

  it("asks servers of before 4.3 for the older scopes, without PKCE", async () => {
    const { outcome } = await start(
      script({
        [V2]: answer(404, { error: "Not Found" }),
        [V1]: answer(200, { uri: HOST, version: "3.5.0", max_toot_chars: 1000 }),
        [DISCOVERY]: htmlPage(404),
      }),
    );
    if (outcome.kind !== "redirect") throw new Error("not started");
    const { searchParams } = new URL(outcome.url);
    expect(searchParams.get("scope")).toBe("read:accounts write:statuses write:media");
    expect(searchParams.has("code_challenge")).toBe(false);
    expect(outcome.flow["limits"]).toMatchObject({ charactersMax: 1000, mediaMax: 4 });
  });

  it.each([
    [answer(401, { error: "invalid_client" }), true],
    [answer(400, { error: "unsupported_grant_type" }), false],
    [answer(200, { access_token: "app" }), false],
    [lost, false],
  ])("finds out whether the server deleted the registration (%#)", async (reply, isDeleted) => {
    const scope = "read:accounts write:statuses write:media";
    const hosts = { [HOST]: { clientId: "old", clientSecret: "s", redirectUri, scope } };
    const { outcome, tools } = await start(
      script({ [DISCOVERY]: answer(404), [TOKEN]: reply }, hosts),
    );
    expect(outcome.kind).toBe("redirect");
    expect(tools.asked.includes(APPS)).toBe(isDeleted);
  });

  it("goes where the domain points", async () => {
    const social = "https://social.m.example";
    const moved = (path: string) => answer(301, "", { location: `${social}${path}` });
    const { outcome } = await start({
      http: {
        [V2]: moved("/api/v2/instance"),
        [`GET ${social}/api/v2/instance`]: answer(200, { domain: HOST, version: "4.5.2" }),
        [`GET ${social}/.well-known/oauth-authorization-server`]: answer(404),
        [`POST ${social}/api/v1/apps`]: answer(200, { client_id: "c", client_secret: "s" }),
      },
    });
    expect(outcome).toMatchObject({ kind: "redirect", flow: { origin: social, domain: HOST } });
  });

  it("finds the server of a handle whose domain is only a name", async () => {
    const social = "https://social.m.example";
    const { outcome } = await start(
      {
        http: {
          [V2]: htmlPage(404),
          [V1]: htmlPage(404),
          [`GET ${ORIGIN}/.well-known/webfinger`]: answer(200, {
            subject: "acct:alice@m.example",
            links: [{ rel: "self", href: `${social}/users/alice` }],
          }),
          [`GET ${social}/api/v2/instance`]: answer(200, { domain: HOST, version: "4.5.2" }),
          [`GET ${social}/.well-known/oauth-authorization-server`]: answer(404),
          [`POST ${social}/api/v1/apps`]: answer(200, { client_id: "c", client_secret: "s" }),
        },
      },
      "@alice@m.example",
    );
    expect(outcome).toMatchObject({ kind: "redirect", flow: { origin: social } });
  });

  it.each<[string, Script["http"], string]>([
    ["no such host", { [V2]: refusedToConnect }, "instance_unreachable"],
    [
      "a private address",
      { [V2]: new HttpFailure("not_sent", "blocked_address") },
      "instance_unreachable",
    ],
    ["a broken server", { [V2]: htmlPage(502) }, "instance_unreachable"],
    ["a website", { [V2]: htmlPage(404), [V1]: htmlPage(200) }, "instance_unsupported"],
    [
      "another API",
      { [V2]: answer(200, { hello: 1 }), [V1]: answer(200, []) },
      "instance_unsupported",
    ],
    ["a busy server", { [V2]: answer(429, { error: "Too many requests" }) }, "rate_limited"],
    ["a refused registration", { [APPS]: answer(422, { error: "no" }) }, "instance_unsupported"],
    ["a failed registration", { [APPS]: answer(500, "") }, "network_unavailable"],
    ["a lost registration", { [APPS]: lost }, "instance_unreachable"],
  ])("tells about %s", async (_what, http, code) => {
    expect(failure((await start(script(http))).outcome)).toBe(code);
  });

  it.each(["", "mastodon", "javascript:alert(1)"])(
    "asks anew for the instance %j",
    async (typed) => {
      const { outcome, tools } = await start(script(), typed);
      expect(failure(outcome)).toBe("input_invalid");
      expect(tools.calls).toEqual([]);
    },
  );

  it("exchanges the code, in a form, and links the account", async () => {
    const { outcome, tools } = await finish(script(), { code: "code-1", state: "state-1" });
    expect(outcome).toEqual({
      kind: "linked",
      linked: {
        account: {
          id: `${HOST}/42`,
          username: `alice@${HOST}`,
          displayName: "Alice",
          avatarUrl: `${ORIGIN}/a.png`,
          url: `${ORIGIN}/@alice`,
          kind: "person",
        },
        credentials,
        instanceUrl: ORIGIN,
        scopes: ["profile", "write:statuses", "write:media"],
        limits: {
          charactersMax: 5000,
          charactersPerUrl: 30,
          mediaMax: 6,
          altTextMax: 100,
          imageBytesMax: 1000,
          imagePixelsMax: 2000,
          videoBytesMax: 3000,
          mediaTypes: ["image/jpeg"],
        },
        expiresAt: null,
      },
    });
    const [token] = tools.calls;
    expect(token?.headers?.["content-type"]).toBe("application/x-www-form-urlencoded");
    const form = token?.body;
    expect(typeof form === "string" ? Object.fromEntries(new URLSearchParams(form)) : form).toEqual(
      {
        grant_type: "authorization_code",
        code: "code-1",
        client_id: "client",
        client_secret: "secret",
        redirect_uri: redirectUri,
        code_verifier: "verifier",
      },
    );
  });

  it("takes a token without a scope as one for what was asked", async () => {
    const { outcome } = await finish(
      script({ [TOKEN]: answer(200, { access_token: "token", expires_in: 3600 }) }),
      { code: "c" },
    );
    expect(outcome).toMatchObject({
      linked: { expiresAt: new Date(NOW.getTime() + 3_600_000).toISOString() },
    });
  });

  it.each([
    [{ error: "access_denied" }, "access_denied"],
    [{ error: "invalid_scope" }, "instance_unsupported"],
    [{ error: "server_error" }, "network_unavailable"],
    [{ error: "something" }, "access_denied"],
    [{}, "input_invalid"],
  ])("tells about the callback %j", async (params, code) => {
    expect(failure((await finish(script(), params)).outcome)).toBe(code);
  });

  it.each([
    [TOKEN, answer(400, { error: "invalid_grant" }), "access_denied"],
    [TOKEN, answer(429, ""), "rate_limited"],
    [TOKEN, htmlPage(502), "network_unavailable"],
    [TOKEN, lost, "instance_unreachable"],
    [TOKEN, answer(200, { access_token: "t", scope: "profile" }), "permission_missing"],
    [VERIFY, answer(403, { error: "Your login is currently disabled" }), "account_restricted"],
    [
      VERIFY,
      answer(403, { error: "This action is outside the authorized scopes" }),
      "permission_missing",
    ],
    [VERIFY, answer(401, { error: "The access token is invalid" }), "access_denied"],
    [VERIFY, answer(500, ""), "network_unavailable"],
    [VERIFY, answer(200, {}), "instance_unsupported"],
    [VERIFY, lost, "instance_unreachable"],
  ])("tells why linking failed (%#)", async (call, reply, code) => {
    expect(failure((await finish(script({ [call]: reply }), { code: "c" })).outcome)).toBe(code);
  });

  it.each([
    ["4.5.2", true],
    ["4.3.0-beta.1+glitch", true],
    ["0.20.1+git-0000000", false],
    ["2.7.2 (compatible; Pleroma 2.5.0)", false],
    ["3.5.3 (compatible; Pixelfed 0.12.4)", false],
  ])("knows whether version %s keeps idempotency keys: %s", async (version, keepsKeys) => {
    const { outcome } = await start(script({ [V2]: answer(200, { domain: HOST, version }) }));
    expect(outcome).toMatchObject({ kind: "redirect", flow: { keepsKeys } });
  });

  it("forgets a registration that the instance does not know any more", async () => {
    const { outcome, tools } = await finish(
      script(
        { [TOKEN]: answer(401, { error: "invalid_client" }) },
        { [HOST]: { clientId: "client" } },
      ),
      { code: "c" },
    );
    expect(failure(outcome)).toBe("network_unavailable");
    expect(tools.saved.has(HOST)).toBe(false);
  });

  it("can be undone at the instance, which may be away", async () => {
    for (const reply of [answer(200, {}), answer(403, { error: "unauthorized_client" }), lost]) {
      const tools = scriptedTools({ http: { [`POST ${ORIGIN}/oauth/revoke`]: reply } });
      await mastodon.revoke(credentials, ORIGIN, tools);
      expect(tools.calls[0]?.body).toBe("client_id=client&client_secret=secret&token=token");
    }
  });

  it("gives a token that needs no renewal", async () => {
    expect(await mastodon.freshen()).toEqual({ kind: "usable" });
  });
});

describe("preparing a Mastodon post", () => {
  const prepare = (
    script: Script,
    overrides: Partial<LegToPublish> = {},
    draft: Partial<LegDraft> = {},
  ) => mastodon.prepare(leg({ media: files(FILE), ...draft }, overrides), scriptedTools(script));
  const both = { [FILE]: image(), [CLIP]: image({ contentType: "video/mp4" }) };

  it("has nothing to do without files", async () => {
    expect(await prepare({}, {}, { media: [] })).toEqual({ kind: "ready", remote: begun });
  });

  it("uploads each file once, with its description, in the order of the draft", async () => {
    const sent: FormData[] = [];
    const tools = scriptedTools({
      media: {
        [FILE]: image(),
        "https://files.example/c.png": image({ contentType: "image/png" }),
      },
      http: {
        [MEDIA]: (request: HttpRequest) => {
          if (request.body instanceof FormData) sent.push(request.body);
          return answer(200, { id: String(sent.length) });
        },
      },
    });
    const media = [
      { url: FILE, altText: "A cat" },
      { url: "https://files.example/c.png", altText: null },
    ];
    const options = { focus: [{ x: -0.5, y: 1 }, null] };
    const outcome = await mastodon.prepare(leg({ media, options }), tools);
    expect(outcome).toEqual({ kind: "ready", remote: uploaded("1", "2") });
    expect(sent.map((form) => form.get("focus"))).toEqual(["-0.5,1", null]);
    expect(sent[0]?.get("description")).toBe("A cat");
    expect(sent[1]?.has("description")).toBe(false);
    const file = sent[0]?.get("file");
    expect(file instanceof File && [file.name, file.type, file.size]).toEqual([
      "file.jpeg",
      "image/jpeg",
      7,
    ]);
    if (outcome.kind !== "ready") return;
    const again = scriptedTools();
    expect(await mastodon.prepare(leg({ media }, { remote: outcome.remote }), again)).toEqual(
      outcome,
    );
    expect(again.calls).toEqual([]);
  });

  it("looks once per step at a file that the server still works on", async () => {
    const draft = { media: files(CLIP) };
    const script = {
      media: both,
      http: { [MEDIA]: answer(202, { id: "9", url: null }), [LOOK("9")]: answer(206, { id: "9" }) },
    };
    const first = await prepare(script, {}, draft);
    expect(first).toMatchObject({
      kind: "processing",
      remote: { media: [{ id: "9", isReady: false }] },
    });
    if (first.kind !== "processing") return;
    const tools = scriptedTools(script);
    const second = await mastodon.prepare(leg(draft, { remote: first.remote }), tools);
    expect(second.kind).toBe("processing");
    expect(tools.asked).toEqual([LOOK("9")]);
    for (const reply of [answer(200, { id: "9" }), answer(404, { error: "Record not found" })]) {
      const ready = { ...script, http: { [LOOK("9")]: reply } };
      const third = await prepare(ready, { remote: first.remote }, draft);
      expect(third).toMatchObject({
        kind: "ready",
        remote: { media: [{ id: "9", isReady: true }] },
      });
    }
  });

  it("uploads a file anew that failed, once; a retry by hand, later, does so again", async () => {
    const pending = { ...begun, media: [{ id: "9", kind: "video", isReady: false }] };
    const failed = { http: { [LOOK("9")]: answer(422, { error: "Error processing" }) } };
    const draft = { media: files(CLIP) };
    const first = await prepare(failed, { remote: pending }, draft);
    expect(first).toMatchObject({ kind: "processing", remote: { media: [] } });
    if (first.kind !== "processing") return;
    const again = { ...first.remote, media: pending.media };
    expect(await prepare(failed, { remote: again }, draft)).toMatchObject({
      kind: "rejected",
      failure: { code: "media_processing_failed", mediaIndex: 0 },
    });
    const later = { ...failed, now: new Date(NOW.getTime() + 3_600_000) };
    expect(await prepare(later, { remote: again }, draft)).toMatchObject({ kind: "processing" });
  });

  it.each([
    [answer(401, { error: "The access token is invalid" }), "rejected", "connection_needs_reauth"],
    [answer(503, { error: "busy" }), "try_later", "network_unavailable"],
    [lost, "try_later", "network_unavailable"],
  ])("looks again later when a look tells nothing (%#)", async (reply, kind, code) => {
    const pending = { ...begun, media: [{ id: "9", kind: "image", isReady: false }] };
    const outcome = await prepare({ http: { [LOOK("9")]: reply } }, { remote: pending });
    expect(outcome).toMatchObject({ kind, failure: { code } });
  });

  it("keeps what it uploaded when a later file fails", async () => {
    const second = "https://files.example/z.jpg";
    const script = {
      media: { [FILE]: image(), [second]: image() },
      http: { [MEDIA]: [answer(200, { id: "1" }), answer(429, { error: "Too many requests" })] },
    };
    const draft = { media: files(FILE, second) };
    const first = await prepare(script, {}, draft);
    expect(first).toMatchObject({ kind: "try_later", remote: uploaded("1") });
    if (first.kind !== "try_later" || first.remote === undefined) throw new Error("not kept");
    const limited = { ...script, http: { [MEDIA]: answer(429, { error: "Too many requests" }) } };
    expect(await prepare(limited, { remote: first.remote }, draft)).toMatchObject({
      kind: "try_later",
      failure: { code: "rate_limited", mediaIndex: 1 },
    });
    const tools = scriptedTools({ ...script, http: { [MEDIA]: answer(200, { id: "2" }) } });
    expect(await mastodon.prepare(leg(draft, { remote: first.remote }), tools)).toEqual({
      kind: "ready",
      remote: uploaded("1", "2"),
    });
    expect(tools.asked).toEqual([MEDIA]);
  });

  it.each([
    [answer(401, { error: "The access token is invalid" }), "rejected", "connection_needs_reauth"],
    [
      answer(403, { error: "This action is outside the authorized scopes" }),
      "rejected",
      "permission_missing",
    ],
    [
      answer(422, { error: "Validation failed: File content type is invalid" }),
      "rejected",
      "media_rejected",
    ],
    [answer(413, ""), "rejected", "media_rejected"],
    [htmlPage(413), "rejected", "media_rejected"],
    [
      answer(500, { error: "Error processing thumbnail for uploaded media" }),
      "try_later",
      "media_processing_failed",
    ],
    [answer(429, { error: "Too many requests" }), "try_later", "rate_limited"],
    [htmlPage(502), "try_later", "network_unavailable"],
    [answer(200, "no id"), "try_later", "network_unavailable"],
    [lost, "try_later", "network_unavailable"],
    [refusedToConnect, "try_later", "network_unavailable"],
  ])("publishes nothing when an upload fails (%#)", async (reply, kind, code) => {
    const outcome = await prepare({ media: both, http: { [MEDIA]: reply } });
    expect(outcome).toMatchObject({ kind, failure: { code } });
  });

  it.each([
    [new MediaFailure("media_unreachable", "404"), "try_later", { code: "media_unreachable" }],
    [new MediaFailure("media_rejected", "big"), "rejected", { rule: "mastodon.media.size" }],
    [image({ bytes: Buffer.alloc(1001) }), "rejected", { rule: "mastodon.media.size" }],
    [image({ width: 100, height: 100 }), "rejected", { rule: "mastodon.media.pixels" }],
    [image({ contentType: "image/png" }), "rejected", { rule: "mastodon.media.type" }],
  ])("refuses what the instance would (%#)", async (file, kind, failure) => {
    const limits = { imageBytesMax: 1000, imagePixelsMax: 9999, mediaTypes: ["image/jpeg"] };
    const outcome = await prepare({ media: { [FILE]: file } }, { limits });
    expect(outcome).toMatchObject({ kind, failure: { mediaIndex: 0, ...failure } });
  });

  it("refuses a video among images, whatever their names", async () => {
    const second = "https://files.example/z.jpg";
    const outcome = await prepare(
      {
        media: { [FILE]: image(), [second]: image({ contentType: "video/mp4" }) },
        http: { [MEDIA]: [answer(200, { id: "1" }), answer(202, { id: "2" })] },
      },
      {},
      { media: files(FILE, second) },
    );
    expect(outcome).toMatchObject({ kind: "rejected", failure: { rule: "mastodon.media.mixed" } });
  });
});

describe("publishing to Mastodon", () => {
  const publish = (http: NonNullable<Script["http"]>, overrides: Partial<LegToPublish> = {}) =>
    mastodon.publish(leg({}, { sentAt: NOW, ...overrides }), scriptedTools({ http }));

  it("sends the same request under the same key each time", async () => {
    const tools = scriptedTools({ http: { [POST]: answer(200, status) } });
    const options = {
      visibility: "unlisted",
      spoilerText: "cw",
      sensitive: true,
      language: "en",
    };
    const ready = leg({ options }, { remote: uploaded("1"), sentAt: NOW });
    expect(await mastodon.publish(ready, tools)).toEqual(published);
    expect(await mastodon.publish(ready, tools)).toEqual(published);
    expect(tools.calls[0]).toEqual(tools.calls[1]);
    expect(sentJson(tools.calls[0])).toEqual({
      status: "Hello",
      media_ids: ["1"],
      visibility: "unlisted",
      spoiler_text: "cw",
      sensitive: true,
      language: "en",
    });
    expect(tools.calls[0]?.headers).toMatchObject({
      authorization: "Bearer token",
      "idempotency-key": begun["idempotencyKey"],
    });
    expect(mastodon.begin({ key: "leg-1" })).toEqual(begun);
    expect(mastodon.begin({ key: "leg-2" })["idempotencyKey"]).not.toBe(begun["idempotencyKey"]);
  });

  it("leaves visibility to the account's own default", async () => {
    const tools = scriptedTools({
      http: { [POST]: answer(200, { id: 7, uri: "https://m.example/7" }) },
    });
    expect(await mastodon.publish(leg(), tools)).toEqual({
      ...published,
      url: "https://m.example/7",
    });
    expect(sentJson(tools.calls[0])).toEqual({ status: "Hello" });
  });

  it.each([
    ["a lost answer", lost],
    ["a 500", answer(500, { error: "oops" })],
    [
      "a 500 of a thumbnail",
      answer(500, { error: "Error processing thumbnail for uploaded media" }),
    ],
    ["a 502 of a proxy", htmlPage(502)],
    ["a 403 of a firewall", htmlPage(403)],
    ["a 200 that is none", answer(200, "ok")],
  ])("is in doubt after %s", async (_what, reply) => {
    expect(await publish({ [POST]: reply })).toMatchObject({
      kind: "in_doubt",
      failure: { code: "outcome_unknown" },
    });
  });

  it.each([
    [refusedToConnect, "try_later", "network_unavailable"],
    [answer(429, { error: "Too many requests" }), "try_later", "rate_limited"],
    [answer(401, { error: "The access token is invalid" }), "rejected", "connection_needs_reauth"],
    [answer(403, { error: "Your login is currently disabled" }), "rejected", "account_restricted"],
    [answer(422, { error: "Validation failed: Text can't be blank" }), "rejected", "text_invalid"],
    [answer(422, ""), "rejected", "invalid_request"],
  ])("certainly did not happen (%#)", async (reply, kind, code) => {
    expect(await publish({ [POST]: reply })).toMatchObject({ kind, failure: { code } });
  });

  it("waits for files that are not ready after all", async () => {
    const reply = answer(422, {
      error: "Cannot attach files that have not finished processing. Try again in a moment!",
    });
    expect(await publish({ [POST]: reply }, { remote: uploaded("1") })).toMatchObject({
      kind: "prepare_again",
      remote: { ...begun, media: [{ id: "1", isReady: false }] },
      failure: { code: "media_not_ready" },
    });
  });

  describe("when files are gone or taken", () => {
    const gone = answer(422, { error: "Media 1 not found or already attached to another post" });
    const run = (
      list: ReturnType<typeof answer> | HttpFailure,
      draft: Partial<LegDraft>,
      sentAt: Date,
    ) =>
      mastodon.publish(
        leg({ media: files(FILE), ...draft }, { remote: uploaded("1"), sentAt }),
        scriptedTools({ http: { [POST]: gone, [LIST]: list } }),
      );

    it("finds the post that has them", async () => {
      const list = answer(200, [
        { ...status, created_at: NOW.toISOString(), content: "", media_attachments: [{ id: "1" }] },
      ]);
      expect(await run(list, {}, minutes(120))).toEqual(published);
    });

    it("uploads anew when no post has them", async () => {
      const empty = answer(200, []);
      const expected = { kind: "prepare_again", remote: begun };
      expect(await run(empty, {}, minutes(1))).toMatchObject(expected);
      expect(await run(empty, { options: { visibility: "public" } }, minutes(120))).toMatchObject(
        expected,
      );
    });

    it("stays in doubt when the list would not show the post", async () => {
      expect(await run(answer(200, []), {}, minutes(120))).toMatchObject({ kind: "in_doubt" });
      expect(await run(answer(401, {}), {}, NOW)).toMatchObject({ kind: "in_doubt" });
      expect(await run(lost, {}, NOW)).toMatchObject({ kind: "in_doubt" });
    });
  });
});

describe("an unknown outcome at Mastodon", () => {
  const reconcile = (
    http: NonNullable<Script["http"]>,
    overrides: Partial<LegToPublish> = {},
    draft: Partial<LegDraft> = {},
  ) =>
    mastodon.reconcile(
      leg({ text: "Hi @bob@b.example, see & say", ...draft }, { sentAt: NOW, ...overrides }),
      scriptedTools({ http }),
    );
  const listed = (overrides: Record<string, unknown> = {}) => ({
    ...status,
    created_at: NOW.toISOString(),
    content: '<p>Hi <span><a href="x">@<span>bob</span></a></span>, see &amp; say</p>',
    spoiler_text: "",
    media_attachments: [],
    ...overrides,
  });

  it("is nothing when nothing was sent", async () => {
    expect(await reconcile({}, { sentAt: null })).toMatchObject({ kind: "may_publish" });
  });

  it.each([minutes(1), minutes(120)])(
    "is the post with the same words (sent %s)",
    async (sentAt) => {
      const list = answer(200, [listed({ id: "8", content: "<p>Other</p>" }), listed()]);
      expect(await reconcile({ [LIST]: list }, { sentAt })).toEqual(published);
    },
  );

  it.each([
    ["other words", listed({ content: "<p>Something else</p>" })],
    ["an older post", listed({ created_at: minutes(10).toISOString() })],
    ["another content warning", listed({ spoiler_text: "cw" })],
  ])("is not %s", async (_what, found) => {
    expect(await reconcile({ [LIST]: answer(200, [found]) })).toMatchObject({
      kind: "may_publish",
    });
  });

  it("is the post with the same files, whatever its words", async () => {
    const list = answer(200, [
      listed(),
      listed({ id: "9", content: "", media_attachments: [{ id: "1" }] }),
    ]);
    const outcome = await reconcile(
      { [LIST]: list },
      { remote: uploaded("1") },
      { media: files(FILE) },
    );
    expect(outcome).toMatchObject({ kind: "published", networkPostId: "9" });
  });

  it("waits out an attempt on its way where no key would tell a repeat from it", async () => {
    const without = { ...credentials, keepsKeys: false };
    const http = { [LIST]: answer(200, []) };
    const at = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);
    const early = await reconcile(http, { credentials: without, sentAt: at(29) });
    expect(early).toMatchObject({ kind: "ask_again", pollAfterSeconds: 30 });
    const late = await reconcile(http, { credentials: without, sentAt: at(30) });
    expect(late).toMatchObject({ kind: "may_publish" });
  });

  it("is never repeated without a key when the list can't be read", async () => {
    const without = { ...credentials, keepsKeys: false };
    const outcome = await reconcile(
      { [LIST]: answer(403, {}) },
      { credentials: without, sentAt: minutes(2) },
    );
    expect(outcome).toMatchObject({ kind: "unknowable" });
  });

  it("is looked for on later pages, but not for ever", async () => {
    const page = (from: number) =>
      answer(
        200,
        Array.from({ length: 20 }, (_, index) =>
          listed({ id: String(from - index), content: "x" }),
        ),
      );
    const found = await reconcile({ [LIST]: [page(99), answer(200, [listed()])] });
    expect(found).toEqual(published);
    const tools = scriptedTools({ http: { [LIST]: page(99) } });
    await mastodon.reconcile(leg({}, { sentAt: NOW }), tools);
    expect(tools.calls).toHaveLength(3);
    expect(tools.calls[1]?.url).toContain("max_id=80");
  });

  it("is read as a stranger where the token may not read", async () => {
    const tools = scriptedTools({
      http: {
        [LIST]: [
          answer(403, { error: "This action is outside the authorized scopes" }),
          answer(200, [listed({ content: "<p>Hello</p>" })]),
        ],
      },
    });
    expect(await mastodon.reconcile(leg({}, { sentAt: NOW }), tools)).toEqual(published);
    expect(tools.calls[0]?.headers?.["authorization"]).toBe("Bearer token");
    expect(tools.calls[1]?.headers?.["authorization"]).toBeUndefined();
  });

  it.each([
    ["of words alone", {}, {}],
    ["of words that cannot be read", { [LIST]: answer(401, {}) }, {}],
  ])("%s may be repeated only while the key is remembered", async (_what, http, draft) => {
    const script = { [LIST]: answer(200, []), ...http };
    expect(await reconcile(script, { sentAt: minutes(49) }, draft)).toEqual({
      kind: "may_publish",
      isAbsent: false,
    });
    expect(await reconcile(script, { sentAt: minutes(51) }, draft)).toMatchObject({
      kind: "unknowable",
      failure: { code: "outcome_unknown" },
    });
  });

  it.each<[string, LegDraft["options"], ReturnType<typeof answer> | HttpFailure, string]>([
    ["a listed post is absent", { visibility: "public" }, answer(500), "may_publish"],
    ["the file is free", {}, answer(200, { id: "1" }), "may_publish"],
    ["the file is in work", {}, answer(206, { id: "1" }), "may_publish"],
    ["the file failed", {}, answer(422, { error: "failed" }), "may_publish"],
    ["the file is taken or gone", {}, answer(404, { error: "Record not found" }), "unknowable"],
    ["the file may not be read", {}, answer(401, {}), "unknowable"],
    ["the server does not say", {}, answer(503, {}), "ask_again"],
    ["the server is away", {}, lost, "ask_again"],
  ])("of files, late: %s", async (_what, options, look, kind) => {
    const outcome = await reconcile(
      { [LIST]: answer(200, []), [LOOK("1")]: look },
      { sentAt: minutes(120), remote: uploaded("1") },
      { media: files(FILE), options },
    );
    expect(outcome.kind).toBe(kind);
  });

  it.each([
    lost,
    refusedToConnect,
    htmlPage(502),
    answer(500, { error: "oops" }),
    answer(200, "ok"),
    answer(429, { error: "Too many requests" }, { "retry-after": "7" }),
  ])("is asked again when the server does not say (%#)", async (reply) => {
    expect(await reconcile({ [LIST]: reply })).toMatchObject({
      kind: "ask_again",
      failure: { code: "outcome_unknown" },
    });
  });
});
