import { describe, expect, it } from "vitest";
import { bluesky } from "../../src/shared/networks/bluesky/index.ts";
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
  sentSize,
} from "./scripted-tools.ts";

const DID = `did:plc:${"a".repeat(24)}`;
const PDS = "https://pds.example";
const SOCIAL = "https://bsky.social";
const PASSWORD = "abcd-efgh-ijkl-mnop";

const xrpc = (method: "GET" | "POST", name: string, origin = PDS) =>
  `${method} ${origin}/xrpc/${name}`;
const PUT = xrpc("POST", "com.atproto.repo.putRecord");
const GET = xrpc("GET", "com.atproto.repo.getRecord");
const UPLOAD = xrpc("POST", "com.atproto.repo.uploadBlob");
const RESOLVE = xrpc("GET", "com.atproto.identity.resolveHandle");
const REFRESH = xrpc("POST", "com.atproto.server.refreshSession");
const PUBLIC_RESOLVE = xrpc(
  "GET",
  "com.atproto.identity.resolveHandle",
  "https://public.api.bsky.app",
);
const DIRECTORY = `GET https://plc.directory/${DID}`;

function jwt(secondsLeft: number): string {
  const claims = { exp: Math.floor(NOW.getTime() / 1000) + secondsLeft };
  return `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;
}

const credentials = {
  did: DID,
  pds: PDS,
  service: PDS,
  accessJwt: "access",
  refreshJwt: "refresh",
  accessExpiresAt: new Date(NOW.getTime() + 3_600_000).toISOString(),
};

function leg(draft: Partial<LegDraft> = {}, overrides: Partial<LegToPublish> = {}): LegToPublish {
  return {
    key: "leg-1",
    draft: { text: "Hello", media: [], options: {}, ...draft },
    account: {
      id: DID,
      username: "alice.test",
      displayName: "Alice",
      avatarUrl: null,
      url: `https://bsky.app/profile/${DID}`,
      kind: "person",
    },
    credentials,
    instanceUrl: PDS,
    limits: {},
    remote: bluesky.begin({ key: "leg-1", now: NOW }),
    sentAt: null,
    ...overrides,
  };
}

const { rkey } = leg().remote as { rkey: string };
const uri = `at://${DID}/app.bsky.feed.post/${rkey}`;
const published = {
  kind: "published",
  networkPostId: uri,
  url: `https://bsky.app/profile/${DID}/post/${rkey}`,
};

function blobOf(request: HttpRequest) {
  const mimeType = request.headers?.["content-type"] ?? "";
  const size = sentSize(request);
  return answer(200, { blob: { $type: "blob", ref: { $link: `bafk${size}` }, mimeType, size } });
}

async function preparedRecord(draft: Partial<LegDraft>, script: Script = {}) {
  const outcome = await bluesky.prepare(leg(draft), scriptedTools(script));
  if (outcome.kind !== "ready") throw new Error(`not ready: ${JSON.stringify(outcome)}`);
  return outcome.remote["record"] as Record<string, unknown>;
}

describe("linking a Bluesky account", () => {
  const link = bluesky.link.alternative;
  const session = {
    did: DID,
    handle: "alice.test",
    accessJwt: jwt(7200),
    refreshJwt: jwt(90 * 86_400),
    active: true,
  };
  const didDocument = {
    id: DID,
    service: [{ id: "#atproto_pds", type: "AtprotoPersonalDataServer", serviceEndpoint: PDS }],
  };
  const script = (overrides: Script["http"] = {}, origin = PDS): Script => ({
    http: {
      [PUBLIC_RESOLVE]: answer(200, { did: DID }),
      [DIRECTORY]: answer(200, didDocument),
      [xrpc("POST", "com.atproto.server.createSession", origin)]: answer(200, session),
      [xrpc("GET", "app.bsky.actor.getProfile")]: answer(200, {
        displayName: "Alice",
        avatar: "https://cdn.example/a.jpg",
      }),
      [xrpc("GET", "com.atproto.server.describeServer")]: answer(200, {
        blobUploadLimit: 5_242_880,
      }),
      ...overrides,
    },
  });
  const signIn = async (form: Record<string, string>, given: Script = script()) => {
    const tools = scriptedTools(given);
    return { outcome: await link.signIn({ appPassword: PASSWORD, ...form }, tools), tools };
  };
  const failure = (outcome: LinkOutcome) =>
    outcome.kind === "failed" ? outcome.code : outcome.kind;

  it("finds the server by the handle and keeps tokens, never the password", async () => {
    const { outcome } = await signIn({ identifier: " @Alice.TEST " });
    expect(outcome).toMatchObject({
      kind: "linked",
      linked: {
        account: {
          id: DID,
          username: "alice.test",
          displayName: "Alice",
          avatarUrl: "https://cdn.example/a.jpg",
          url: `https://bsky.app/profile/${DID}`,
        },
        credentials: { did: DID, pds: PDS, service: PDS, accessJwt: session.accessJwt },
        instanceUrl: PDS,
        limits: { blobBytesMax: 5_242_880 },
        expiresAt: new Date(NOW.getTime() + 90 * 86_400_000).toISOString(),
      },
    });
    expect(JSON.stringify(outcome)).not.toContain(PASSWORD);
  });

  it("works when neither profile nor limits are told", async () => {
    const { outcome } = await signIn(
      { identifier: DID },
      script({
        [xrpc("GET", "app.bsky.actor.getProfile")]: answer(501, { error: "MethodNotImplemented" }),
        [xrpc("GET", "com.atproto.server.describeServer")]: lost,
      }),
    );
    expect(outcome).toMatchObject({
      kind: "linked",
      linked: { account: { displayName: "alice.test", avatarUrl: null }, limits: {} },
    });
  });

  it("completes a bare name as the network's own app does", async () => {
    const { tools } = await signIn({ identifier: "alice" });
    expect(tools.calls[0]?.url).toContain("handle=alice.bsky.social");
  });

  it("logs an e-mail address in at the network's own host and publishes at the account's server", async () => {
    const { outcome, tools } = await signIn({ identifier: "a@example.com" }, script({}, SOCIAL));
    expect(outcome).toMatchObject({
      linked: { credentials: { pds: PDS, service: SOCIAL }, instanceUrl: PDS },
    });
    expect(tools.asked).not.toContain(PUBLIC_RESOLVE);
  });

  it("logs accounts of the network's own servers in at its log-in host", async () => {
    const own = "https://morel.us-east.host.bsky.network";
    const service = [{ id: `${DID}#atproto_pds`, serviceEndpoint: own }];
    const { outcome } = await signIn(
      { identifier: "alice.test" },
      script(
        {
          [DIRECTORY]: answer(200, { id: DID, service }),
          [xrpc("GET", "app.bsky.actor.getProfile", own)]: answer(200, {}),
          [xrpc("GET", "com.atproto.server.describeServer", own)]: answer(200, {}),
        },
        SOCIAL,
      ),
    );
    expect(outcome).toMatchObject({ linked: { credentials: { pds: own, service: SOCIAL } } });
  });

  it("takes a server's address for accounts that no public directory of handles knows", async () => {
    const { outcome, tools } = await signIn({ identifier: "alice.test", server: "pds.example" });
    expect(outcome.kind).toBe("linked");
    expect(tools.asked).not.toContain(PUBLIC_RESOLVE);
  });

  it("does not believe a server about an account that is on another one", async () => {
    const rogue = "https://rogue.example";
    const { outcome } = await signIn(
      { identifier: "alice.test", server: rogue },
      script({}, rogue),
    );
    expect(failure(outcome)).toBe("instance_unsupported");
  });

  it("does not believe a server that answers for another account", async () => {
    const other = { ...session, did: `did:plc:${"b".repeat(24)}` };
    const { outcome } = await signIn(
      { identifier: "alice.test" },
      script({ [xrpc("POST", "com.atproto.server.createSession")]: answer(200, other) }),
    );
    expect(failure(outcome)).toBe("account_not_found");
  });

  it.each([
    ["hunter2", "app_password_needed"],
    ["abcd-efgh-ijkl", "app_password_needed"],
    ["", "input_invalid"],
  ])("sends nothing anywhere for the password %j", async (appPassword, code) => {
    const { outcome, tools } = await signIn({ identifier: "alice.test", appPassword });
    expect(failure(outcome)).toBe(code);
    expect(tools.calls).toEqual([]);
  });

  it.each(["", "not a handle", "did:key:abc", "a@b", "alice..test"])(
    "asks anew for the identifier %j",
    async (identifier) => {
      const { outcome, tools } = await signIn({ identifier });
      expect(failure(outcome)).toBe("input_invalid");
      expect(tools.calls).toEqual([]);
    },
  );

  it.each([
    [
      answer(400, { error: "InvalidRequest", message: "Unable to resolve handle" }),
      "account_not_found",
    ],
    [answer(502, ""), "network_unavailable"],
    [answer(429, ""), "network_unavailable"],
    [lost, "network_unavailable"],
  ])("tells why a handle was not found (%#)", async (reply, code) => {
    const { outcome } = await signIn(
      { identifier: "alice.test" },
      script({ [PUBLIC_RESOLVE]: reply }),
    );
    expect(failure(outcome)).toBe(code);
  });

  it.each([
    [answer(404, { message: "DID not registered" }), "account_not_found"],
    [answer(200, { id: "did:plc:other" }), "account_not_found"],
    [answer(200, { id: DID, service: [] }), "account_not_found"],
    [answer(503, ""), "network_unavailable"],
    [lost, "network_unavailable"],
  ])("tells why a server was not found (%#)", async (reply, code) => {
    const { outcome } = await signIn({ identifier: "alice.test" }, script({ [DIRECTORY]: reply }));
    expect(failure(outcome)).toBe(code);
  });

  it.each([
    [answer(401, { error: "AuthenticationRequired" }), "wrong_credentials"],
    [answer(401, { error: "AuthFactorTokenRequired" }), "app_password_needed"],
    [answer(401, { error: "AccountTakedown" }), "account_restricted"],
    [answer(200, { ...session, active: false, status: "deactivated" }), "account_restricted"],
    [answer(429, { error: "RateLimitExceeded" }), "rate_limited"],
    [answer(400, { error: "InvalidRequest" }), "input_invalid"],
    [answer(500, { error: "InternalServerError" }), "network_unavailable"],
    [htmlPage(404), "instance_unsupported"],
    [answer(200, { hello: "world" }), "instance_unsupported"],
    [refusedToConnect, "instance_unreachable"],
  ])("tells why a log-in failed (%#)", async (reply, code) => {
    const { outcome } = await signIn(
      { identifier: "alice.test" },
      script({ [xrpc("POST", "com.atproto.server.createSession")]: reply }),
    );
    expect(failure(outcome)).toBe(code);
  });

  it("resolves a did:web at its own host", async () => {
    const did = "did:web:alice.example";
    const { outcome } = await signIn(
      { identifier: did },
      script({
        "GET https://alice.example/.well-known/did.json": answer(200, { ...didDocument, id: did }),
        [xrpc("POST", "com.atproto.server.createSession")]: answer(200, { ...session, did }),
      }),
    );
    expect(outcome).toMatchObject({ linked: { account: { id: did } } });
  });
});

describe("Bluesky credentials", () => {
  const expiring = (secondsLeft: number): NetworkData => ({
    ...credentials,
    accessExpiresAt: new Date(NOW.getTime() + secondsLeft * 1000).toISOString(),
  });
  const renewed = { did: DID, handle: "alice.test", accessJwt: jwt(7200), refreshJwt: jwt(86_400) };
  const freshen = (data: NetworkData, script: Script) =>
    bluesky.freshen(data, PDS, scriptedTools(script));

  it("are left alone while the token lasts", async () => {
    expect(await freshen(expiring(301), {})).toEqual({ kind: "usable" });
  });

  it("are renewed with the refresh token, never by a log-in", async () => {
    const tools = scriptedTools({ http: { [REFRESH]: answer(200, renewed) } });
    expect(await bluesky.freshen(expiring(299), PDS, tools)).toEqual({
      kind: "refreshed",
      credentials: {
        ...credentials,
        accessJwt: renewed.accessJwt,
        refreshJwt: renewed.refreshJwt,
        accessExpiresAt: new Date(NOW.getTime() + 7_200_000).toISOString(),
      },
      expiresAt: new Date(NOW.getTime() + 86_400_000).toISOString(),
    });
    expect(tools.calls[0]?.headers?.["authorization"]).toBe("Bearer refresh");
    expect(tools.calls[0]?.body).toBeUndefined();
  });

  it("of opaque tokens are renewed soon", async () => {
    const opaque = { ...renewed, accessJwt: "opaque", refreshJwt: "opaque" };
    const outcome = await freshen(expiring(0), { http: { [REFRESH]: answer(200, opaque) } });
    expect(outcome).toMatchObject({
      credentials: { accessExpiresAt: new Date(NOW.getTime() + 1_800_000).toISOString() },
      expiresAt: null,
    });
  });

  it.each([
    [answer(400, { error: "ExpiredToken" }), "rejected", "connection_needs_reauth"],
    [answer(400, { error: "InvalidToken" }), "rejected", "connection_needs_reauth"],
    [answer(401, { error: "AuthenticationRequired" }), "rejected", "connection_needs_reauth"],
    [answer(200, { ...renewed, did: "did:plc:other" }), "rejected", "connection_needs_reauth"],
    [answer(401, { error: "AccountTakedown" }), "rejected", "account_restricted"],
    [answer(429, { error: "RateLimitExceeded" }), "try_later", "rate_limited"],
    [answer(500, { error: "InternalServerError" }), "try_later", "network_unavailable"],
    [htmlPage(502), "try_later", "network_unavailable"],
    [lost, "try_later", "network_unavailable"],
    [refusedToConnect, "try_later", "network_unavailable"],
  ])("tell what a refused renewal means (%#)", async (reply, kind, code) => {
    expect(await freshen(expiring(30), { http: { [REFRESH]: reply } })).toMatchObject({
      kind,
      failure: { code },
    });
  });

  it("outlive an outage of the log-in host", async () => {
    expect(await freshen(expiring(200), { http: { [REFRESH]: lost } })).toEqual({ kind: "usable" });
  });

  it("are renewed before their time once the server refused the token", async () => {
    const tools = scriptedTools({
      http: {
        [PUT]: answer(400, { error: "ExpiredToken", message: "Token has expired" }),
        [REFRESH]: [answer(200, renewed)],
      },
    });
    const ready = leg({}, { remote: { ...leg().remote, record: { text: "Hello" } } });
    expect(await bluesky.publish(ready, tools)).toMatchObject({
      kind: "try_later",
      failure: { code: "network_unavailable", networkCode: "ExpiredToken" },
      retryAfterSeconds: 0,
    });
    const outcome = await bluesky.freshen(credentials, PDS, tools);
    expect(outcome.kind).toBe("refreshed");
    if (outcome.kind !== "refreshed") return;
    expect(await bluesky.freshen(outcome.credentials, PDS, tools)).toEqual({ kind: "usable" });
  });

  it("ask for a reconnect when the session ended with the token", async () => {
    const tools = scriptedTools({
      http: {
        [UPLOAD]: answer(400, { error: "ExpiredToken" }),
        [REFRESH]: answer(400, { error: "ExpiredToken" }),
      },
      media: { "https://files.example/a.jpg": image() },
    });
    const withImage = leg({ media: [{ url: "https://files.example/a.jpg", altText: null }] });
    expect(await bluesky.prepare(withImage, tools)).toMatchObject({ kind: "try_later" });
    expect(await bluesky.freshen(credentials, PDS, tools)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });

  it("are given back to the network, which may be away", async () => {
    const END = xrpc("POST", "com.atproto.server.deleteSession");
    for (const reply of [answer(200), answer(400, { error: "ExpiredToken" }), lost]) {
      const tools = scriptedTools({ http: { [END]: reply } });
      await bluesky.revoke(credentials, PDS, tools);
      expect(tools.calls[0]?.headers?.["authorization"]).toBe("Bearer refresh");
    }
  });
});

describe("preparing a Bluesky post", () => {
  it("settles the whole record, and never again", async () => {
    const tools = scriptedTools({
      http: {
        [RESOLVE]: (request) =>
          request.url.includes("alice.test")
            ? answer(200, { did: DID })
            : answer(400, { error: "InvalidRequest", message: "Unable to resolve handle" }),
      },
    });
    const options = { langs: ["en"], labels: ["nudity"], linkCard: false };
    const draft = { text: "Hi @alice.test @nobody.test", options };
    const outcome = await bluesky.prepare(leg(draft), tools);
    expect(outcome).toMatchObject({
      kind: "ready",
      remote: {
        rkey,
        record: {
          $type: "app.bsky.feed.post",
          text: "Hi @alice.test @nobody.test",
          createdAt: NOW.toISOString(),
          langs: ["en"],
          labels: { $type: "com.atproto.label.defs#selfLabels", values: [{ val: "nudity" }] },
          facets: [{ index: { byteStart: 3, byteEnd: 14 } }],
        },
      },
    });
    if (outcome.kind !== "ready") return;
    const again = scriptedTools();
    expect(await bluesky.prepare(leg(draft, { remote: outcome.remote }), again)).toEqual(outcome);
    expect(again.calls).toEqual([]);
  });

  it("leaves a mention plain when the handle can't be resolved in time", async () => {
    const record = await preparedRecord({ text: "@alice.test" }, { http: { [RESOLVE]: lost } });
    expect(record["facets"]).toBeUndefined();
  });

  const names = (count: number) =>
    Array.from({ length: count }, (_, index) => `https://files.example/${index}.jpg`);
  const withFiles = (urls: readonly string[]): Script => ({
    http: { [UPLOAD]: (request) => blobOf(request) },
    media: Object.fromEntries(urls.map((url) => [url, image()])),
  });

  it.each([
    [1, "app.bsky.embed.images", "images"],
    [4, "app.bsky.embed.images", "images"],
    [5, "app.bsky.embed.gallery", "items"],
    [10, "app.bsky.embed.gallery", "items"],
  ])("shows %s images as %s", async (count, type, field) => {
    const urls = names(count);
    const media = urls.map((url, index) => ({ url, altText: index === 0 ? "A cat" : null }));
    const record = await preparedRecord({ media }, withFiles(urls));
    const embed = record["embed"] as Record<string, unknown>;
    expect(embed["$type"]).toBe(type);
    expect(embed[field]).toHaveLength(count);
    expect((embed[field] as unknown[])[0]).toMatchObject({
      alt: "A cat",
      aspectRatio: { width: 1200, height: 800 },
      image: { $type: "blob", mimeType: "image/jpeg", size: 7 },
    });
  });

  it("sends a video to the account's own server when that vouches for nobody", async () => {
    const url = "https://files.example/clip.mp4";
    const record = await preparedRecord(
      { media: [{ url, altText: "A clip" }] },
      {
        http: {
          [xrpc("GET", "com.atproto.server.getServiceAuth")]: answer(501, {
            error: "MethodNotImplemented",
          }),
          [UPLOAD]: (request) => blobOf(request),
        },
        media: { [url]: image({ contentType: "video/mp4", width: null, height: null }) },
      },
    );
    expect(record["embed"]).toEqual({
      $type: "app.bsky.embed.video",
      video: { $type: "blob", ref: { $link: "bafk7" }, mimeType: "video/mp4", size: 7 },
      alt: "A clip",
    });
  });

  const big = (bytes: number) => image({ bytes: Buffer.alloc(bytes) });

  it.each([
    ["an image over 2 MB", big(2_000_001), {}, "bluesky.media.size"],
    [
      "an image over the server's own limit",
      big(1001),
      { blobBytesMax: 1000 },
      "bluesky.media.size",
    ],
    ["a PDF", image({ contentType: "application/pdf" }), {}, "bluesky.media.type"],
    ["a QuickTime video", image({ contentType: "video/quicktime" }), {}, "bluesky.media.type"],
  ])("refuses %s by its content", async (_what, file, limits, rule) => {
    const url = "https://files.example/a";
    const outcome = await bluesky.prepare(
      leg({ media: [{ url, altText: null }] }, { limits }),
      scriptedTools({ media: { [url]: file } }),
    );
    expect(outcome).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected", rule, mediaIndex: 0 },
    });
  });

  it("refuses a video among images, whatever their names", async () => {
    const urls = names(2);
    const script = withFiles(urls);
    const outcome = await bluesky.prepare(
      leg({ media: urls.map((url) => ({ url, altText: null })) }),
      scriptedTools({
        ...script,
        media: { ...script.media, [urls[1] ?? ""]: image({ contentType: "video/mp4" }) },
      }),
    );
    expect(outcome).toMatchObject({ kind: "rejected", failure: { rule: "bluesky.media.mixed" } });
  });

  it.each([
    [answer(413, { error: "PayloadTooLarge" }), "rejected", "media_rejected"],
    [answer(401, { error: "AccountTakedown" }), "rejected", "account_restricted"],
    [answer(400, { error: "ExpiredToken" }), "try_later", "network_unavailable"],
    [answer(429, { error: "RateLimitExceeded" }), "try_later", "rate_limited"],
    [answer(500, { error: "InternalServerError" }), "try_later", "network_unavailable"],
    [htmlPage(502), "try_later", "network_unavailable"],
    [answer(200, "no blob"), "try_later", "network_unavailable"],
    [lost, "try_later", "network_unavailable"],
    [refusedToConnect, "try_later", "network_unavailable"],
  ])("publishes nothing when an upload fails (%#)", async (reply, kind, code) => {
    const [url = ""] = names(1);
    const outcome = await bluesky.prepare(
      leg({ media: [{ url, altText: null }] }),
      scriptedTools({ http: { [UPLOAD]: reply }, media: { [url]: image() } }),
    );
    expect(outcome).toMatchObject({ kind, failure: { code } });
  });

  it.each([
    [new MediaFailure("media_unreachable", "404"), "try_later", "media_unreachable"],
    [new MediaFailure("media_rejected", "too large"), "rejected", "media_rejected"],
  ])("says that a file was not to be had (%#)", async (failure, kind, code) => {
    const [url = ""] = names(1);
    const outcome = await bluesky.prepare(
      leg({ media: [{ url, altText: null }] }),
      scriptedTools({ media: { [url]: failure } }),
    );
    expect(outcome).toMatchObject({ kind, failure: { code, mediaIndex: 0 } });
  });
});

describe("a Bluesky link card", () => {
  const PAGE = "GET https://example.com/post";
  const THUMB = "https://example.com/a.jpg";
  const text = "see https://example.com/post";
  const html = `<meta property="og:title" content="A post"><meta property="og:image" content="/a.jpg">`;
  const page = answer(200, html, { "content-type": "text/html; charset=utf-8" });
  const external = (record: Record<string, unknown>) =>
    (record["embed"] as { external?: unknown } | undefined)?.external;
  const upload = { [UPLOAD]: (request: HttpRequest) => blobOf(request) };

  it("is made of the first link's page", async () => {
    const record = await preparedRecord(
      { text },
      { http: { [PAGE]: page, ...upload }, media: { [THUMB]: image() } },
    );
    expect(external(record)).toMatchObject({
      uri: "https://example.com/post",
      title: "A post",
      description: "",
      thumb: { size: 7 },
    });
  });

  it("follows the page where it moved", async () => {
    const record = await preparedRecord(
      { text },
      {
        http: {
          [PAGE]: answer(301, "", { location: "/moved" }),
          "GET https://example.com/moved": page,
          ...upload,
        },
        media: { [THUMB]: image() },
      },
    );
    expect(external(record)).toMatchObject({ uri: "https://example.com/post", title: "A post" });
  });

  it.each([
    ["is not there", answer(404, "")],
    ["does not answer", lost],
    ["may not be asked", new HttpFailure("not_sent", "blocked_address")],
    ["is too large", new HttpFailure("in_doubt", "too_large")],
    ["is no HTML", answer(200, "%PDF", { "content-type": "application/pdf" })],
    ["moves for ever", answer(302, "", { location: "/post" })],
    ["moves nowhere", answer(302, "", { location: "http://" })],
  ])("is left out when the page %s", async (_what, reply) => {
    expect(external(await preparedRecord({ text }, { http: { [PAGE]: reply } }))).toBeUndefined();
  });

  it.each([
    ["is not there", new MediaFailure("media_unreachable", "404"), upload],
    ["is too large", new MediaFailure("media_rejected", "too large"), upload],
    ["is no picture", image({ contentType: "video/mp4" }), upload],
    ["can't be uploaded", image(), { [UPLOAD]: lost }],
  ])("goes without its picture when that %s", async (_what, thumbnail, http) => {
    const record = await preparedRecord(
      { text },
      { http: { [PAGE]: page, ...http }, media: { [THUMB]: thumbnail } },
    );
    expect(external(record)).toEqual({
      uri: "https://example.com/post",
      title: "A post",
      description: "",
    });
  });

  it("can be turned off", async () => {
    expect(external(await preparedRecord({ text, options: { linkCard: false } }))).toBeUndefined();
  });

  it("can be given, and then no page is asked", async () => {
    const linkCard = { url: "https://other.example", title: "Mine", description: "D" };
    const record = await preparedRecord({ text, options: { linkCard } });
    expect(external(record)).toEqual({
      uri: "https://other.example",
      title: "Mine",
      description: "D",
    });
  });

  it.each([
    [new MediaFailure("media_unreachable", "404"), "try_later", "media_unreachable"],
    [image({ contentType: "text/html" }), "rejected", "media_rejected"],
  ])("that was given is not shown without its picture (%#)", async (thumbnail, kind, code) => {
    const linkCard = { url: "https://other.example", title: "Mine", thumbnailUrl: THUMB };
    const outcome = await bluesky.prepare(
      leg({ options: { linkCard } }),
      scriptedTools({ media: { [THUMB]: thumbnail } }),
    );
    expect(outcome).toMatchObject({ kind, failure: { code } });
  });
});

describe("publishing to Bluesky", () => {
  const record = { $type: "app.bsky.feed.post", text: "Hello", createdAt: NOW.toISOString() };
  const remote = { ...leg().remote, record };
  const publish = (reply: Parameters<typeof scriptedTools>[0]) =>
    bluesky.publish(leg({}, { remote, sentAt: NOW }), scriptedTools(reply));

  it("puts the record under its own key, the same bytes each time", async () => {
    const tools = scriptedTools({ http: { [PUT]: answer(200, { uri, cid: "bafy" }) } });
    const ready = leg({}, { remote, sentAt: NOW });
    expect(await bluesky.publish(ready, tools)).toEqual(published);
    expect(await bluesky.publish(ready, tools)).toEqual(published);
    expect(tools.calls[0]).toEqual(tools.calls[1]);
    expect(sentJson(tools.calls[0])).toEqual({
      repo: DID,
      collection: "app.bsky.feed.post",
      rkey,
      record,
      validate: true,
    });
  });

  it.each([
    ["a lost answer", lost],
    ["an oversized answer", new HttpFailure("in_doubt", "too_large")],
    ["a 500", answer(500, { error: "InternalServerError" })],
    ["a 502 of a proxy", htmlPage(502)],
    ["a 403 of a firewall", htmlPage(403)],
    ["an empty 504", answer(504)],
    ["a 200 that is none", answer(200, "ok")],
    ["a taken key", answer(400, { error: "InvalidSwap" })],
  ])("is in doubt after %s", async (_what, reply) => {
    expect(await publish({ http: { [PUT]: reply } })).toMatchObject({
      kind: "in_doubt",
      failure: { code: "outcome_unknown" },
    });
  });

  it.each([
    [refusedToConnect, "try_later", "network_unavailable"],
    [answer(429, { error: "RateLimitExceeded" }), "try_later", "rate_limited"],
    [answer(400, { error: "ExpiredToken" }), "try_later", "network_unavailable"],
    [answer(401, { error: "AuthenticationRequired" }), "rejected", "connection_needs_reauth"],
    [answer(400, { error: "RepoDeactivated" }), "rejected", "account_restricted"],
    [answer(403, { error: "ScopeMissingError" }), "rejected", "permission_missing"],
    [answer(400, { error: "InvalidRequest", message: "no" }), "rejected", "invalid_request"],
  ])("certainly did not happen (%#)", async (reply, kind, code) => {
    expect(await publish({ http: { [PUT]: reply } })).toMatchObject({ kind, failure: { code } });
  });

  it("uploads anew what the network lost, under the same key, once", async () => {
    const reply = { http: { [PUT]: answer(400, { error: "BlobNotFound" }) } };
    const outcome = await publish(reply);
    expect(outcome).toMatchObject({ kind: "prepare_again", pollAfterSeconds: 0 });
    if (outcome.kind !== "prepare_again") return;
    expect(outcome.remote).toEqual({
      rkey,
      createdAt: NOW.toISOString(),
      reuploadedAt: NOW.toISOString(),
    });
    const again = leg({}, { remote: { ...outcome.remote, record } });
    expect(await bluesky.publish(again, scriptedTools(reply))).toMatchObject({
      kind: "rejected",
      failure: { code: "media_processing_failed" },
    });
    const later = scriptedTools({ ...reply, now: new Date(NOW.getTime() + 3_600_000) });
    expect(await bluesky.publish(again, later)).toMatchObject({ kind: "prepare_again" });
  });

  it("is a defect without a record", async () => {
    await expect(bluesky.publish(leg(), scriptedTools())).rejects.toThrow("not prepared");
  });
});

describe("an unknown outcome at Bluesky", () => {
  const reconcile = (http: NonNullable<Script["http"]>) =>
    bluesky.reconcile(leg({}, { sentAt: NOW }), scriptedTools({ http }));

  it("is a published post when the record is there", async () => {
    const tools = scriptedTools({ http: { [GET]: answer(200, { uri, cid: "bafy", value: {} }) } });
    expect(await bluesky.reconcile(leg({}, { sentAt: NOW }), tools)).toEqual(published);
    expect(tools.calls[0]?.headers).toBeUndefined();
    expect(tools.calls[0]?.url).toContain(`rkey=${rkey}`);
  });

  it.each([
    answer(400, { error: "RecordNotFound", message: "Could not locate record" }),
    answer(400, { error: "InvalidRequest", message: "Could not locate record: at://x" }),
  ])("may be repeated when there is no record (%#)", async (reply) => {
    expect(await reconcile({ [GET]: reply })).toEqual({ kind: "may_publish", isAbsent: false });
  });

  it("is known not to be published only when no call can be on its way any more", async () => {
    const reply = answer(400, { error: "RecordNotFound", message: "Could not locate record" });
    const after = (seconds: number) => {
      const sentAt = new Date(NOW.getTime() - seconds * 1000);
      return bluesky.reconcile(leg({}, { sentAt }), scriptedTools({ http: { [GET]: reply } }));
    };
    expect(await after(29)).toEqual({ kind: "may_publish", isAbsent: false });
    expect(await after(30)).toEqual({ kind: "may_publish", isAbsent: true });
  });

  it.each([
    lost,
    refusedToConnect,
    htmlPage(502),
    htmlPage(404),
    answer(400, { error: "RepoDeactivated" }),
    answer(400, { error: "InvalidRequest", message: "something else" }),
    answer(200, "ok"),
    answer(429, { error: "RateLimitExceeded" }, { "ratelimit-reset": "7" }),
  ])("is asked again when the server does not say (%#)", async (reply) => {
    expect(await reconcile({ [GET]: reply })).toMatchObject({
      kind: "ask_again",
      failure: { code: "outcome_unknown" },
    });
  });
});
