import { describe, expect, test } from "vitest";
import { vouchedHandle } from "../../src/shared/networks/mastodon/handle.ts";
import { mastodon } from "../../src/shared/networks/mastodon/index.ts";
import type { LinkOutcome } from "../../src/shared/networks/contract/link.ts";
import type { NetworkData } from "../../src/shared/networks/contract/draft.ts";
import { HttpFailure } from "../../src/shared/runtime/http-call.ts";
import {
  type Script,
  NOW,
  answer,
  htmlPage,
  lost,
  refusedToConnect,
  scriptedTools,
  sentForm,
  sentJson,
} from "./scripted-tools.ts";
import { HOST, ORIGIN, credentials } from "./mastodon-script.ts";

/** What registrations say of the service. */
const SERVICE = { name: "Publishing Relay", website: "https://relay.example" };

const V2 = `GET ${ORIGIN}/api/v2/instance`;
const V1 = `GET ${ORIGIN}/api/v1/instance`;
const DISCOVERY = `GET ${ORIGIN}/.well-known/oauth-authorization-server`;
const APPS = `POST ${ORIGIN}/api/v1/apps`;
const TOKEN = `POST ${ORIGIN}/oauth/token`;
const VERIFY = `GET ${ORIGIN}/api/v1/accounts/verify_credentials`;

const LINKS = `GET ${ORIGIN}/.well-known/nodeinfo`;
const NOWHERE = {
  [`GET ${ORIGIN}/.well-known/webfinger`]: htmlPage(404),
  [`GET ${ORIGIN}/.well-known/host-meta`]: htmlPage(404),
  [`GET ${ORIGIN}/.well-known/host-meta.json`]: htmlPage(404),
};
const NODEINFO = `GET ${ORIGIN}/nodeinfo/2.0`;

/** What Cloudflare answers programs with, in front of any server. */
const CHALLENGE = answer(403, "<!DOCTYPE html><title>Just a moment...</title>", {
  "content-type": "text/html",
  "cf-mitigated": "challenge",
});
const BLOCKED = answer(403, "<!DOCTYPE html><title>Attention Required! | Cloudflare</title>", {
  "content-type": "text/html",
});

describe("linking a Mastodon account", () => {
  const { link } = mastodon;
  const general = "https://relay.example/v1/connect/callback/mastodon";
  const redirectUri = `${general}/m.example`;
  const oauth = { redirectUri: general, state: "state-1", codeChallenge: "challenge" };
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
      video_frame_rate_limit: 90,
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
      [LINKS]: answer(200, {
        links: [
          {
            rel: "http://nodeinfo.diaspora.software/ns/schema/2.0",
            href: `${ORIGIN}/nodeinfo/2.0`,
          },
        ],
      }),
      [NODEINFO]: answer(200, { software: { name: "mastodon", version: "4.5.2" } }),
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
    const callback = { params, codeVerifier: "verifier", redirectUri: general, flow: outcome.flow };
    return { outcome: await link.finish(callback, tools), tools };
  };
  const failure = (outcome: LinkOutcome | { kind: "redirect" | "restart" }) =>
    outcome.kind === "failed" ? outcome.code : outcome.kind;

  test("registers once and sends the browser to the instance", async () => {
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

  test("registers again for another redirect address", async () => {
    const hosts = {
      [HOST]: {
        ...SERVICE,
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

  test("asks a server that names it for the search scope, and registers again for it", async () => {
    const former = "profile write:statuses write:media";
    const hosts = {
      [HOST]: { clientId: "old", clientSecret: "s", redirectUri, scope: former, ...SERVICE },
    };
    const named = answer(200, {
      scopes_supported: ["profile", "read:search", "write:statuses", "write:media"],
    });
    const { outcome, tools } = await start(script({ [DISCOVERY]: named }, hosts));
    if (outcome.kind !== "redirect") throw new Error("not started");
    expect(new URL(outcome.url).searchParams.get("scope")).toBe(`${former} read:search`);
    expect(new URL(outcome.url).searchParams.get("client_id")).toBe("client");
    expect(tools.saved.get(HOST)).toMatchObject({ scope: `${former} read:search` });
  });

  test.each([
    ["profile write:statuses write:media", ["read:search"]],
    ["profile write:statuses write:media read:search", []],
    ["read write", []],
  ])("%s lacks %j", (scopes, missing) => {
    expect(mastodon.missingScopes(scopes.split(" "))).toEqual(missing);
  });

  test("registers again under another name or page, and keeps a registration that says the same", async () => {
    const known = answer(400, { error: "unsupported_grant_type" });
    const kept = {
      clientId: "old",
      clientSecret: "s",
      redirectUri,
      scope: "profile write:statuses write:media",
      ...SERVICE,
    };
    const startAs = async (name: string, url: string, registration: NetworkData) =>
      await start({
        ...script({ [TOKEN]: known }, { [HOST]: registration }),
        service: { name, url },
      });
    const same = await startAs("Publishing Relay", "https://relay.example", kept);
    expect(same.tools.asked).not.toContain(APPS);
    for (const [name, url] of [
      ["Corner Post", "https://relay.example"],
      ["Publishing Relay", "https://corner.example/about"],
    ] as const) {
      const { tools, outcome } = await startAs(name, url, kept);
      if (outcome.kind !== "redirect") throw new Error("not started");
      const registration = tools.calls.find((call) => call.url.endsWith("/api/v1/apps"));
      expect(sentJson(registration)).toMatchObject({ client_name: name, website: url });
      expect(new URL(outcome.url).searchParams.get("client_id")).toBe("client");
      const renewed = tools.saved.get(HOST) ?? {};
      const again = await startAs(name, url, renewed);
      expect(again.tools.asked).not.toContain(APPS);
    }
  });

  test("an account linked with an earlier registration is ended with that one", async () => {
    const revoked = `POST ${ORIGIN}/oauth/revoke`;
    const hosts = { [HOST]: { clientId: "newer", clientSecret: "newer", redirectUri, scope: "" } };
    const tools = scriptedTools({ http: { [revoked]: answer(200, {}) }, hosts });
    await mastodon.revoke(credentials, null, tools);
    expect(sentForm(tools.calls[0])).toMatchObject({ client_id: credentials.clientId });
  });

  test("asks servers of before 4.3 for the older scopes, without PKCE", async () => {
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

  test.each([
    [answer(401, { error: "invalid_client" }), true],
    [answer(400, { error: "invalid_client" }), true],
    [answer(400, { error: "Invalid credentials" }), true],
    [answer(401, { error: "invalid client credentials" }), true],
    [answer(401, ""), true],
    [answer(400, { error: "no entries", error_description: "could not get access token" }), true],
    [answer(400, { error: "unsupported_grant_type" }), false],
    [answer(400, { error: "unsupported grant type" }), false],
    [answer(400, { error: "invalid_request" }), false],
    [answer(500, { error: "Invalid credentials" }), false],
    [htmlPage(401), false],
    [answer(200, { access_token: "app" }), false],
    [lost, false],
  ])("finds out whether the server deleted the registration (%#)", async (reply, isDeleted) => {
    const scope = "read:accounts write:statuses write:media";
    const hosts = {
      [HOST]: { clientId: "old", clientSecret: "s", redirectUri, scope, ...SERVICE },
    };
    const { outcome, tools } = await start(
      script({ [DISCOVERY]: answer(404), [TOKEN]: reply }, hosts),
    );
    expect(outcome.kind).toBe("redirect");
    expect(tools.asked.includes(APPS)).toBe(isDeleted);
    const asked = tools.calls.find((call) => `POST ${call.url}` === TOKEN);
    expect(sentForm(asked)).toMatchObject({
      grant_type: "client_credentials",
      redirect_uri: redirectUri,
    });
  });

  const MITRA = { statuses: { max_characters: 5_000, max_media_attachments: 16 } };
  const NO_LIMIT = { max_characters: 0, max_media_attachments: 0, characters_reserved_per_url: 23 };
  test.each<[string, object, object]>([
    [
      "Pleroma's, with the type of unknown bytes and a link of no length",
      {
        configuration: {
          statuses: {
            max_characters: 5_000,
            max_media_attachments: 1_000,
            characters_reserved_per_url: 0,
          },
          media_attachments: {
            image_size_limit: 16_000_000,
            video_size_limit: 16_000_000,
            supported_mime_types: ["application/octet-stream"],
          },
        },
        pleroma: { metadata: { description_limit: 5_000 } },
      },
      {
        mediaTypes: [],
        counts: "codePoints",
        altTextMax: 5_000,
        mediaMax: 1_000,
        videoBytesMax: 16_000_000,
      },
    ],
    [
      "Akkoma's, which has no configuration",
      { max_toot_chars: 4_000, upload_limit: 9_000_000, description_limit: 3_000 },
      {
        charactersMax: 4_000,
        imageBytesMax: 9_000_000,
        videoBytesMax: 9_000_000,
        altTextMax: 3_000,
        counts: "links",
      },
    ],
    [
      "Mitra's, with one size for all files",
      { configuration: { ...MITRA, media_attachments: { image_size_limit: 7_000_000 } } },
      { videoBytesMax: 7_000_000, counts: "codePoints", mediaMax: 16 },
    ],
    [
      "Friendica's, where zero is no limit",
      {
        configuration: {
          statuses: NO_LIMIT,
          media_attachments: { image_size_limit: 0, image_matrix_limit: 0, video_size_limit: 0 },
        },
      },
      {
        charactersMax: 100_000,
        mediaMax: 4,
        imageBytesMax: 16_777_216,
        videoBytesMax: 103_809_024,
        counts: "links",
      },
    ],
    [
      "null, texts and numbers that are too large",
      {
        max_toot_chars: "700",
        configuration: {
          statuses: {
            max_characters: null,
            max_media_attachments: null,
            characters_reserved_per_url: 23,
          },
          media_attachments: {
            image_size_limit: 2 ** 63,
            video_size_limit: 5_000_000.5,
            supported_mime_types: null,
          },
        },
      },
      {
        charactersMax: 700,
        mediaMax: 4,
        imageBytesMax: Number.MAX_SAFE_INTEGER,
        videoBytesMax: 5_000_000,
        mediaTypes: [],
      },
    ],
  ])("reads an instance's limits: %s", async (_whose, said, limits) => {
    const http = { [V2]: answer(200, { domain: HOST, version: "2.7.2", ...said }) };
    const { outcome } = await start(script(http));
    if (outcome.kind !== "redirect") throw new Error("not started");
    expect(outcome.flow["limits"]).toMatchObject(limits);
  });

  test("goes where the domain points", async () => {
    const social = "https://social.m.example";
    const moved = (path: string) => answer(301, "", { location: `${social}${path}` });
    const { outcome } = await start({
      http: {
        [V2]: moved("/api/v2/instance"),
        [`GET ${social}/api/v2/instance`]: answer(200, { domain: HOST, version: "4.5.2" }),
        [`GET ${social}/.well-known/oauth-authorization-server`]: answer(404),
        [`GET ${social}/.well-known/nodeinfo`]: answer(404),
        [`POST ${social}/api/v1/apps`]: answer(200, { client_id: "c", client_secret: "s" }),
      },
    });
    expect(outcome).toMatchObject({ kind: "redirect", flow: { origin: social, domain: HOST } });
  });

  test("finds the server of a handle whose domain is only a name", async () => {
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
          [`GET ${social}/.well-known/nodeinfo`]: answer(404),
          [`POST ${social}/api/v1/apps`]: answer(200, { client_id: "c", client_secret: "s" }),
        },
      },
      "@alice@m.example",
    );
    expect(outcome).toMatchObject({ kind: "redirect", flow: { origin: social } });
  });

  const social = "https://social.m.example";
  const raw = Buffer.from("https://social.m.example/api/vü/instance").toString("latin1");
  const atSocial: Script["http"] = {
    [`GET ${social}/api/v2/instance`]: answer(200, { domain: HOST, version: "4.5.2" }),
    [`GET ${social}/.well-known/oauth-authorization-server`]: answer(404),
    [`GET ${social}/.well-known/nodeinfo`]: answer(404),
    [`POST ${social}/api/v1/apps`]: answer(200, { client_id: "c", client_secret: "s" }),
  };
  const notHere = { [V2]: htmlPage(404), [V1]: htmlPage(404), ...NOWHERE };
  const WEBFINGER = `GET ${ORIGIN}/.well-known/webfinger`;
  const HOST_META = `GET ${ORIGIN}/.well-known/host-meta`;
  const to = (location: string) => answer(301, "", { location });
  const jrd = answer(200, {
    subject: "acct:alice@m.example",
    links: [
      { rel: "http://x.example/odd", href: 7 },
      { rel: "self", href: `${social}/users/alice` },
    ],
  });
  const xrd = (template: string) =>
    answer(
      200,
      `<?xml version="1.0"?><XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0"><Link rel="lrdd" template="${template}"/></XRD>`,
    );
  const TEMPLATE = `${social}/.well-known/webfinger?resource={uri}&amp;x=1`;

  test.each<[string, string, Script["http"]]>([
    [
      "its WebFinger redirects",
      "@alice@m.example",
      {
        [WEBFINGER]: to(`${social}/.well-known/webfinger`),
        [`GET ${social}/.well-known/webfinger`]: jrd,
      },
    ],
    [
      "its WebFinger redirects, and is of no use there",
      "https://m.example/@alice",
      {
        [WEBFINGER]: to(`${social}/.well-known/webfinger`),
        [`GET ${social}/.well-known/webfinger`]: htmlPage(404),
      },
    ],
    ["its WebFinger names it", "m.example/users/alice", { [WEBFINGER]: jrd }],
    [
      "its WebFinger names the profile",
      "@alice@m.example",
      {
        [WEBFINGER]: answer(200, {
          links: [{ rel: "http://webfinger.net/rel/profile-page", href: `${social}/@alice` }],
        }),
      },
    ],
    [
      "its host-meta redirects",
      "m.example",
      {
        [HOST_META]: to(`${social}/.well-known/host-meta`),
        [`GET ${social}/.well-known/host-meta`]: xrd(TEMPLATE),
      },
    ],
    ["its host-meta names it", "m.example", { [HOST_META]: xrd(TEMPLATE) }],
    [
      "its host-meta names it, in JSON",
      "m.example",
      { [`${HOST_META}.json`]: answer(200, { links: [{ rel: "lrdd", template: TEMPLATE }] }) },
    ],
    [
      "its host-meta names it, and WebFinger does not",
      "@alice@m.example",
      { [HOST_META]: xrd(TEMPLATE) },
    ],
    [
      "all its pages redirect to it",
      "m.example",
      { [V2]: to(`${social}/`), [`GET ${social}/`]: htmlPage(200) },
    ],
    [
      "it redirects step by step",
      "m.example",
      {
        [V2]: to("/elsewhere"),
        [`GET ${ORIGIN}/elsewhere`]: to(raw),
        [`GET ${social}/api/v%C3%BC/instance`]: answer(200, { domain: HOST, version: "4.5.2" }),
      },
    ],
  ])("finds the server of a domain where %s", async (_what, typed, http) => {
    const { outcome } = await start({ http: { ...atSocial, ...notHere, ...http } }, typed);
    expect(outcome).toMatchObject({ kind: "redirect", flow: { origin: social, domain: HOST } });
  });

  test.each<[string, Script["http"]]>([
    [
      "redirects in a circle",
      { [WEBFINGER]: to("/.well-known/webfinger"), [HOST_META]: to("/.well-known/host-meta") },
    ],
    [
      "names no web address",
      { [WEBFINGER]: answer(200, { links: [{ rel: "self", href: "javascript:alert(1)" }] }) },
    ],
    [
      "names itself",
      { [WEBFINGER]: answer(200, { links: [{ rel: "self", href: `${ORIGIN}/users/alice` }] }) },
    ],
    [
      "names a server that is none",
      {
        [WEBFINGER]: jrd,
        [`GET ${social}/api/v2/instance`]: htmlPage(404),
        [`GET ${social}/api/v1/instance`]: htmlPage(404),
      },
    ],
    [
      "answers with something else",
      { [WEBFINGER]: answer(200, []), [HOST_META]: answer(200, "<html>") },
    ],
  ])("tells about a domain whose WebFinger %s", async (_what, http) => {
    const { outcome, tools } = await start({ http: { ...notHere, ...http } }, "@alice@m.example");
    expect(failure(outcome)).toBe("instance_unsupported");
    expect(tools.calls.length).toBeLessThan(25);
  });

  test.each<[string, Script["http"], string]>([
    ["no such host", { [V2]: refusedToConnect, ...NOWHERE }, "instance_unreachable"],
    [
      "a private address",
      { [V2]: new HttpFailure("not_sent", "blocked_address"), ...NOWHERE },
      "instance_unreachable",
    ],
    ["a broken server", { [V2]: htmlPage(502), ...NOWHERE }, "instance_unreachable"],
    [
      "a server without the API",
      { [V2]: htmlPage(501), [V1]: htmlPage(501), ...NOWHERE },
      "instance_unsupported",
    ],
    ["a website", { [V2]: htmlPage(404), [V1]: htmlPage(200), ...NOWHERE }, "instance_unsupported"],
    [
      "another API",
      { [V2]: answer(200, { hello: 1 }), [V1]: answer(200, []), ...NOWHERE },
      "instance_unsupported",
    ],
    ["a server behind a challenge", { [V2]: CHALLENGE, ...NOWHERE }, "instance_protected"],
    [
      "a server behind a firewall",
      { [V2]: BLOCKED, [V1]: BLOCKED, ...NOWHERE },
      "instance_protected",
    ],
    ["a busy server", { [V2]: answer(429, { error: "Too many requests" }) }, "rate_limited"],
    ["a refused registration", { [APPS]: answer(422, { error: "no" }) }, "instance_unsupported"],
    ["a failed registration", { [APPS]: answer(500, "") }, "network_unavailable"],
    ["a lost registration", { [APPS]: lost }, "instance_unreachable"],
  ])("tells about %s", async (_what, http, code) => {
    expect(failure((await start(script(http))).outcome)).toBe(code);
  });

  test.each(["", "mastodon", "javascript:alert(1)"])(
    "asks again for the instance %j",
    async (typed) => {
      const { outcome, tools } = await start(script(), typed);
      expect(failure(outcome)).toBe("input_invalid");
      expect(tools.calls).toEqual([]);
    },
  );

  describe("the name that people see", () => {
    const BIG = "mastodon.example";
    const leadsTo = (origin: string) =>
      answer(200, {
        subject: `acct:alice@${BIG}`,
        links: [{ rel: "self", type: "application/activity+json", href: `${origin}/users/alice` }],
      });
    const asked = `GET https://${BIG}/.well-known/webfinger`;
    const moved = `GET ${ORIGIN}/.well-known/webfinger`;
    const away = answer(301, "", { location: `${moved.slice(4)}?resource=acct%3Aalice%40${BIG}` });
    const named = async (domain: string, more: Script["http"] = {}, account: object = {}) => {
      const instance = answer(200, { domain, version: "4.5.2", configuration });
      const own = { id: "42", username: "alice", url: `${ORIGIN}/@alice`, ...account };
      const { outcome: started } = await start(script({ [V2]: instance }));
      if (started.kind !== "redirect") throw new Error("not started");
      const tools = scriptedTools(script({ [VERIFY]: answer(200, own), ...more }));
      const params = { code: "code-1" };
      const outcome = await link.finish(
        { params, codeVerifier: "verifier", redirectUri: general, flow: started.flow },
        tools,
      );
      if (outcome.kind !== "linked") throw new Error(JSON.stringify(outcome));
      return outcome.linked.account;
    };

    test.each<[string, string, Script["http"], string]>([
      ["a domain that leads back to the server", BIG, { [asked]: leadsTo(ORIGIN) }, BIG],
      ["its capitals aside", BIG.toUpperCase(), { [asked]: leadsTo(ORIGIN) }, BIG],
      [
        "a domain that redirects to the server",
        BIG,
        {
          [asked]: away,
          [moved]: leadsTo(ORIGIN),
        },
        BIG,
      ],
      ["a domain that leads elsewhere", BIG, { [asked]: leadsTo(`https://${BIG}`) }, HOST],
      ["a domain that knows no such account", BIG, { [asked]: answer(404, "") }, HOST],
      ["a domain that is down", BIG, { [asked]: answer(503, "") }, HOST],
      [
        "a domain that redirects to another server",
        BIG,
        {
          [asked]: away,
          [moved]: leadsTo("https://another.example"),
        },
        HOST,
      ],
      ["text that is no domain", "javascript:alert(1)", {}, HOST],
      ["marks of direction", "\u202enodotsam", {}, HOST],
      ["the server itself", HOST, {}, HOST],
    ])("the name has %s only if that can be vouched for", async (_what, domain, more, expected) => {
      expect((await named(domain, more)).username).toBe(`alice@${expected}`);
    });

    test("asks a domain for this very account", async () => {
      const claim = { origin: ORIGIN, username: "alice", domain: BIG };
      const tools = scriptedTools({ http: { [asked]: leadsTo(ORIGIN) } });
      expect(await vouchedHandle(claim, tools)).toBe(`alice@${BIG}`);
      expect(tools.calls.map(({ url }) => url)).toEqual([
        `${asked.slice(4)}?resource=acct%3Aalice%40${BIG}`,
      ]);
    });

    test("the name that people see has one at sign, whatever the account is called", async () => {
      const account = await named(HOST, {}, { username: `alice@${BIG}` });
      expect(account.username).toBe(`alice@${HOST}`);
    });

    test.each([
      ["https://mastodon.example/@alice", `${ORIGIN}/@alice`],
      ["javascript:alert(1)", `${ORIGIN}/@alice`],
      [`${ORIGIN}.evil.example/@alice`, `${ORIGIN}/@alice`],
      [`${ORIGIN}/profile/alice`, `${ORIGIN}/profile/alice`],
    ])("leads from %s to the server itself", async (url, expected) => {
      expect((await named(HOST, {}, { url })).url).toBe(expected);
    });
  });

  test("exchanges the code, in a form, and links the account", async () => {
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
          videoFrameRateMax: 90,
          mediaTypes: ["image/jpeg"],
          mixesFiles: false,
          needsMedia: false,
          needsText: false,
          hasDirect: true,
          gifPixelsMax: 921_600,
          counts: "links",
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

  test("takes a token without a scope as one for what was asked", async () => {
    const { outcome } = await finish(
      script({ [TOKEN]: answer(200, { access_token: "token", expires_in: 3600 }) }),
      { code: "c" },
    );
    expect(outcome).toMatchObject({
      linked: { expiresAt: new Date(NOW.getTime() + 3_600_000).toISOString() },
    });
  });

  test.each([
    [{ error: "access_denied" }, "access_denied"],
    [{ error: "invalid_scope" }, "restart"],
    [{ error: "server_error" }, "network_unavailable"],
    [{ error: "something" }, "access_denied"],
    [{}, "input_invalid"],
  ])("tells about the callback %j", async (params, code) => {
    expect(failure((await finish(script(), params)).outcome)).toBe(code);
  });

  test.each([
    [TOKEN, answer(400, { error: "invalid_grant" }), "access_denied"],
    [TOKEN, answer(400, { error: "Invalid credentials" }), "access_denied"],
    [TOKEN, answer(403, { error: "Your account is currently disabled" }), "account_restricted"],
    [TOKEN, answer(403, { error: "Password reset is required" }), "account_restricted"],
    [TOKEN, answer(403, { error: "Your account is awaiting approval." }), "account_restricted"],
    [
      TOKEN,
      answer(403, { error: "Your login is missing a confirmed e-mail address" }),
      "account_restricted",
    ],
    [TOKEN, answer(400, { error: "unsupported_grant_type" }), "instance_unsupported"],
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
    [VERIFY, answer(401, { error: "The access token is invalid" }), "instance_unsupported"],
    [TOKEN, answer(401, { error: "invalid_client" }), "network_unavailable"],
    [VERIFY, answer(500, ""), "network_unavailable"],
    [VERIFY, answer(200, {}), "instance_unsupported"],
    [VERIFY, lost, "instance_unreachable"],
  ])("tells why linking failed (%#)", async (call, reply, code) => {
    expect(failure((await finish(script({ [call]: reply }), { code: "c" })).outcome)).toBe(code);
  });

  test.each<[unknown, string | undefined]>([
    [answer(200, { software: { name: "mastodon", version: "4.5.2" } }), "mastodon"],
    [answer(200, { software: { name: "another", version: "4.0.0" } }), "another"],
    [answer(404), undefined],
    [lost, undefined],
  ])("notes what the server runs (%#)", async (info, software) => {
    const http = { [NODEINFO]: info as ReturnType<typeof answer> };
    const { outcome } = await finish(script(http), { code: "c" });
    if (outcome.kind !== "linked") throw new Error("not linked");
    expect(outcome.linked.credentials["software"]).toBe(software);
  });

  test.each(["invalid_client", "unauthorized_client", "invalid_request", "server_error"])(
    "keeps the registration that all share, no matter who sends the error %s",
    async (error) => {
      const { outcome, tools } = await finish(script({}, { [HOST]: { clientId: "client" } }), {
        error,
      });
      expect(outcome.kind).toBe("failed");
      expect(tools.saved.get(HOST)).toEqual({ clientId: "client" });
      expect(tools.asked).toEqual([]);
    },
  );

  test("linking a Mastodon account can be undone at the instance, which may be away", async () => {
    for (const reply of [answer(200, {}), answer(403, { error: "unauthorized_client" }), lost]) {
      const tools = scriptedTools({ http: { [`POST ${ORIGIN}/oauth/revoke`]: reply } });
      await mastodon.revoke(credentials, ORIGIN, tools);
      expect(tools.calls[0]?.body).toBe("client_id=client&client_secret=secret&token=token");
    }
  });

  describe("at a server with coarse scopes", () => {
    const unlisted = { [DISCOVERY]: answer(404) };
    const asked = (outcome: Awaited<ReturnType<typeof start>>["outcome"]) =>
      outcome.kind === "redirect" ? new URL(outcome.url).searchParams.get("scope") : outcome.code;

    test.each<[string, Script["http"], string]>([
      [
        "lists them",
        { [DISCOVERY]: answer(200, { scopes_supported: ["read", "write", "follow", "push"] }) },
        "read write",
      ],
      [
        "runs Pixelfed and lists none",
        { ...unlisted, [NODEINFO]: answer(200, { software: { name: "pixelfed" } }) },
        "read write",
      ],
      ["lists none", unlisted, "read:accounts write:statuses write:media"],
    ])(
      "a server with coarse scopes that %s is asked for what it has",
      async (_what, http, scope) => {
        expect(asked((await start(script(http))).outcome)).toBe(scope);
      },
    );

    test("linking at a server that says too late that its scopes are coarse tries once more, and only once", async () => {
      const { outcome } = await finish(script(), { error: "invalid_scope" });
      expect(outcome).toEqual({
        kind: "restart",
        form: { instance: ORIGIN, scopes: "read write" },
      });
      if (outcome.kind !== "restart") return;
      const tools = scriptedTools(script());
      const again = await link.start(outcome.form, oauth, tools);
      expect(asked(again)).toBe("read write");
      if (again.kind !== "redirect") return;
      const params = { error: "invalid_scope" };
      const callback = { params, codeVerifier: "v", redirectUri: general, flow: again.flow };
      expect(await link.finish(callback, tools)).toMatchObject({ code: "instance_unsupported" });
    });
  });

  test("goes on at a server that describes itself to its members only, and asks with the token", async () => {
    const members = answer(401, { error: "This method requires an authenticated user" });
    const hidden = script({
      [V2]: ({ headers }) =>
        headers?.["authorization"] === "Bearer token"
          ? answer(200, { domain: HOST, version: "4.5.2", configuration })
          : members,
      [V1]: members,
    });
    const { outcome } = await start(hidden);
    if (outcome.kind !== "redirect") throw new Error(`not started: ${outcome.code}`);
    const params = { code: "c" };
    const callback = { params, codeVerifier: "v", redirectUri: general, flow: outcome.flow };
    expect(await link.finish(callback, scriptedTools(hidden))).toMatchObject({
      kind: "linked",
      linked: { limits: { charactersMax: 5000 } },
    });
    const checked = { account: {} as never, credentials, instanceUrl: ORIGIN };
    expect(await mastodon.accountCheck.readLimits?.(checked, scriptedTools(hidden))).toMatchObject({
      limits: { charactersMax: 5000 },
    });
  });

  test.each([null, 7, "", ["profile", "write:statuses", "write:media"]])(
    "forgives what it does not need: a scope that is %j",
    async (scope) => {
      const { outcome } = await finish(
        script({
          [TOKEN]: answer(200, { access_token: "token", scope, expires_in: null }),
          [VERIFY]: answer(200, { id: "42", username: "alice", display_name: null, bot: "no" }),
        }),
        { code: "c" },
      );
      expect(outcome).toMatchObject({
        kind: "linked",
        linked: {
          account: { displayName: "alice" },
          scopes: ["profile", "write:statuses", "write:media"],
        },
      });
    },
  );

  describe("a token that ends", () => {
    const DAY_MS = 86_400_000;
    const at = (days: number) => new Date(NOW.getTime() + days * DAY_MS).toISOString();
    const issued = { access_token: "next", expires_in: 15 * 86_400, refresh_token: "second" };
    const ending = (days: number) => ({
      ...credentials,
      refreshToken: "first",
      renewAt: at(days - 5),
      accessExpiresAt: at(days),
    });
    const freshen = (data: NetworkData, reply: Script["http"] = {}) =>
      mastodon.freshen(data, ORIGIN, scriptedTools({ http: reply }));

    test("a token that ends is linked as one that is renewed", async () => {
      const { outcome } = await finish(script({ [TOKEN]: answer(200, issued) }), { code: "c" });
      expect(outcome).toMatchObject({
        kind: "linked",
        linked: {
          expiresAt: null,
          credentials: { refreshToken: "second", renewAt: at(10), accessExpiresAt: at(15) },
        },
      });
    });

    test("a token that ends is renewed in the last third of its life", async () => {
      expect(await freshen(credentials)).toEqual({ kind: "usable" });
      expect(await freshen(ending(6))).toEqual({ kind: "usable" });
      const tools = scriptedTools({ http: { [TOKEN]: answer(200, issued) } });
      expect(await mastodon.freshen(ending(4), ORIGIN, tools)).toEqual({
        kind: "refreshed",
        credentials: {
          ...credentials,
          accessToken: "next",
          refreshToken: "second",
          renewAt: at(10),
          accessExpiresAt: at(15),
        },
        expiresAt: null,
      });
      expect(sentForm(tools.calls[0])).toEqual({
        grant_type: "refresh_token",
        refresh_token: "first",
        client_id: "client",
        client_secret: "secret",
      });
    });

    test.each([
      [answer(400, { error: "invalid_grant" }), "rejected", "connection_needs_reauth"],
      [answer(401, { error: "invalid_client" }), "rejected", "app_misconfigured"],
      [answer(200, { ...issued, scope: "read" }), "rejected", "permission_missing"],
      [lost, "try_later", "network_unavailable"],
    ])("a token that can't be renewed (%#) serves while it lasts", async (reply, kind, code) => {
      const http = { [TOKEN]: reply };
      expect(await freshen(ending(0), http)).toMatchObject({ kind, failure: { code } });
      if (kind === "try_later") expect(await freshen(ending(1), http)).toEqual({ kind: "usable" });
    });
  });
});
