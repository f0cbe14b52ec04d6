import { describe, expect, test } from "vitest";
import { digestOf } from "../../src/shared/networks/contract/ended-token.ts";
import { bluesky } from "../../src/shared/networks/bluesky/index.ts";
import type { LinkOutcome } from "../../src/shared/networks/contract/link.ts";
import type { NetworkData } from "../../src/shared/networks/contract/draft.ts";
import type { HttpFailure, HttpResponse } from "../../src/shared/runtime/http-call.ts";
import {
  type Script,
  NOW,
  answer,
  htmlPage,
  image,
  lost,
  refusedToConnect,
  scriptedTools,
} from "./scripted-tools.ts";
import {
  DID,
  PDS,
  PLC,
  PUT,
  UPLOAD,
  credentials,
  documentAt,
  leg,
  xrpc,
} from "./bluesky-script.ts";

const SOCIAL = "https://bsky.social";
const PASSWORD = "abcd-efgh-ijkl-mnop";
const REFRESH = xrpc("POST", "com.atproto.server.refreshSession");
const VIEW = "https://public.api.bsky.app";
const PUBLIC_RESOLVE = xrpc("GET", "com.atproto.identity.resolveHandle", VIEW);
const PROFILE = xrpc("GET", "app.bsky.actor.getProfile", VIEW);
const OWN_DOMAIN = "GET https://alice.test/.well-known/atproto-did";
const DIRECTORY = `GET https://plc.directory/${DID}`;

function jwt(secondsLeft: number): string {
  const claims = { exp: Math.floor(NOW.getTime() / 1000) + secondsLeft };
  return `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;
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
    alsoKnownAs: ["at://alice.test"],
    service: [{ id: "#atproto_pds", type: "AtprotoPersonalDataServer", serviceEndpoint: PDS }],
  };
  const script = (overrides: Script["http"] = {}, origin = PDS): Script => ({
    http: {
      [PUBLIC_RESOLVE]: answer(200, { did: DID }),
      [OWN_DOMAIN]: answer(404, ""),
      [DIRECTORY]: answer(200, didDocument),
      [xrpc("POST", "com.atproto.server.createSession", origin)]: answer(200, session),
      [PROFILE]: answer(200, {
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

  test("signs in by the DID where the account's server does not know the handle", async () => {
    const LOG_IN = xrpc("POST", "com.atproto.server.createSession", PDS);
    const unknown = answer(401, { error: "AuthenticationRequired", message: "Invalid identifier" });
    const given = script({ [LOG_IN]: [unknown, answer(200, session)] as never });
    const { outcome, tools } = await signIn({ identifier: "alice.test" }, given);
    expect(outcome).toMatchObject({ kind: "linked", linked: { account: { id: DID } } });
    const sent = tools.calls
      .filter(({ url }) => url.includes("createSession"))
      .map(({ body }) => (JSON.parse(body as string) as { identifier: string }).identifier);
    expect(sent).toEqual(["alice.test", DID]);
  });

  test("finds the server by the handle and keeps tokens, never the password", async () => {
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

  test("works when neither profile nor limits are told", async () => {
    const { outcome } = await signIn(
      { identifier: DID },
      script({
        [PROFILE]: answer(400, { error: "InvalidRequest", message: "Profile not found" }),
        [xrpc("GET", "com.atproto.server.describeServer")]: lost,
      }),
    );
    expect(outcome).toMatchObject({
      kind: "linked",
      linked: { account: { displayName: "alice.test", avatarUrl: null }, limits: {} },
    });
  });

  test("completes a bare name as the network's own app does", async () => {
    const { tools } = await signIn({ identifier: "alice" });
    expect(tools.calls[0]?.url).toContain("handle=alice.bsky.social");
  });

  test("logs an email address in at the network's own host and publishes at the account's server", async () => {
    const { outcome, tools } = await signIn({ identifier: "a@example.com" }, script({}, SOCIAL));
    expect(outcome).toMatchObject({
      linked: { credentials: { pds: PDS, service: SOCIAL }, instanceUrl: PDS },
    });
    expect(tools.asked[0]).toBe(xrpc("POST", "com.atproto.server.createSession", SOCIAL));
  });

  test("logs accounts of the network's own servers in at its login host", async () => {
    const own = "https://morel.us-east.host.bsky.network";
    const service = [{ id: `${DID}#atproto_pds`, serviceEndpoint: own }];
    const { outcome } = await signIn(
      { identifier: "alice.test" },
      script(
        {
          [DIRECTORY]: answer(200, { id: DID, service }),
          [xrpc("GET", "com.atproto.server.describeServer", own)]: answer(200, {}),
        },
        SOCIAL,
      ),
    );
    expect(outcome).toMatchObject({ linked: { credentials: { pds: own, service: SOCIAL } } });
  });

  test("takes a server's address for accounts that no public directory of handles knows", async () => {
    const unknown = script({ [PUBLIC_RESOLVE]: answer(400, { error: "InvalidRequest" }) });
    const form = { identifier: "alice.test", server: "pds.example" };
    const { outcome } = await signIn(form, unknown);
    expect(outcome).toMatchObject({ kind: "linked", linked: { account: { username: DID } } });
  });

  describe("the name that people see", () => {
    const named = (alsoKnownAs: unknown) => answer(200, { ...didDocument, alsoKnownAs });
    const calls = (handle: string) => ({
      [xrpc("POST", "com.atproto.server.createSession")]: answer(200, { ...session, handle }),
    });
    const host = new URL(PDS).hostname;

    test.each<[string, string, Script["http"], string]>([
      ["a handle that both sides confirm", "alice.test", {}, "alice.test"],
      ["its capitals aside", "Alice.TEST", {}, "alice.test"],
      [
        "a handle that leads to another account",
        "alice.test",
        { [PUBLIC_RESOLVE]: answer(200, { did: `did:plc:${"b".repeat(24)}` }) },
        DID,
      ],
      ["a handle that leads nowhere", "alice.test", { [PUBLIC_RESOLVE]: answer(400, {}) }, DID],
      ["a handle that can't be checked", "alice.test", { [PUBLIC_RESOLVE]: lost }, DID],
      [
        "a handle that the account's document does not name",
        "alice.test",
        { [DIRECTORY]: named(["at://someone.else"]) },
        DID,
      ],
      ["a document that names none", "alice.test", { [DIRECTORY]: named(undefined) }, DID],
      [
        "a name below the server's own",
        `alice.${host}`,
        { [PUBLIC_RESOLVE]: lost },
        `alice.${host}`,
      ],
      ["text that is no handle", "<b>alice</b>", {}, DID],
    ])("the name is %s only if that can be vouched for", async (_what, handle, more, expected) => {
      const form = { identifier: DID };
      const { outcome } = await signIn(form, script({ ...calls(handle), ...more }));
      expect(outcome).toMatchObject({ linked: { account: { id: DID, username: expected } } });
    });
  });

  test("linking a Bluesky account does not believe a server about an account that is on another one", async () => {
    const rogue = "https://rogue.example";
    const { outcome } = await signIn(
      { identifier: "alice.test", server: rogue },
      script({}, rogue),
    );
    expect(failure(outcome)).toBe("instance_unsupported");
  });

  test("linking a Bluesky account does not believe a server that answers for another account", async () => {
    const other = { ...session, did: `did:plc:${"b".repeat(24)}` };
    const { outcome } = await signIn(
      { identifier: "alice.test" },
      script({ [xrpc("POST", "com.atproto.server.createSession")]: answer(200, other) }),
    );
    expect(failure(outcome)).toBe("account_not_found");
  });

  test.each([
    ["hunter2", "app_password_needed"],
    ["abcd-efgh-ijkl", "app_password_needed"],
    ["", "input_invalid"],
  ])("sends nothing anywhere for the password %j", async (appPassword, code) => {
    const { outcome, tools } = await signIn({ identifier: "alice.test", appPassword });
    expect(failure(outcome)).toBe(code);
    expect(tools.calls).toEqual([]);
  });

  test.each([
    "",
    "not a handle",
    "https://bsky.app/@alice.test",
    "did:key:abc",
    "a@b",
    "alice..test",
  ])("asks again for the identifier %j", async (identifier) => {
    const { outcome, tools } = await signIn({ identifier });
    expect(failure(outcome)).toBe("input_invalid");
    expect(tools.calls).toEqual([]);
  });

  test.each([
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
      script({ [PUBLIC_RESOLVE]: reply, [OWN_DOMAIN]: htmlPage(404) }),
    );
    expect(failure(outcome)).toBe(code);
  });

  const unknown = answer(400, { error: "InvalidRequest", message: "Unable to resolve handle" });
  const named = (text: string) => ({ "_atproto.alice.test": [text] });
  test.each<[string, HttpResponse | HttpFailure, Script["http"], Script["dns"]]>([
    ["its address", unknown, { [OWN_DOMAIN]: answer(200, `${DID}\n`) }, {}],
    ["its address, while the directory is down", lost, { [OWN_DOMAIN]: answer(200, DID) }, {}],
    [
      "its address, after a redirect",
      answer(502, ""),
      {
        [OWN_DOMAIN]: answer(302, "", { location: "/did" }),
        "GET https://alice.test/did": answer(200, DID),
      },
      {},
    ],
    ["name servers", unknown, { [OWN_DOMAIN]: refusedToConnect }, named(`did=${DID}`)],
  ])("finds a handle that only its own domain resolves: by %s", async (_by, reply, http, dns) => {
    const { outcome } = await signIn(
      { identifier: "alice.test" },
      { ...script({ [PUBLIC_RESOLVE]: reply, ...http }), ...(dns && { dns }) },
    );
    expect(outcome).toMatchObject({ kind: "linked", linked: { account: { id: DID } } });
  });

  test.each<[string, Script["http"], readonly string[]]>([
    ["a page", { [OWN_DOMAIN]: htmlPage(200) }, []],
    ["two names", { [OWN_DOMAIN]: htmlPage(404) }, [`did=${DID}`, "did=did:web:other.example"]],
    ["something else", { [OWN_DOMAIN]: answer(200, "did:key:abc") }, ["v=spf1 -all", "did=none"]],
    ["a circle", { [OWN_DOMAIN]: answer(302, "", { location: "/.well-known/atproto-did" }) }, []],
  ])("finds no account for a domain that has %s", async (_what, http, texts) => {
    const { outcome } = await signIn(
      { identifier: "alice.test" },
      { ...script({ [PUBLIC_RESOLVE]: unknown, ...http }), dns: { "_atproto.alice.test": texts } },
    );
    expect(failure(outcome)).toBe("account_not_found");
  });

  test.each([
    "https://bsky.app/profile/alice.test",
    "bsky.app/profile/alice.test",
    "https://bsky.app/profile/alice.test/",
    "https://bsky.app/profile/alice.test/post/3kabc?ref=x#y",
    "HTTPS://BSKY.APP/profile/Alice.Test",
    "https://deer.social/profile/alice.test",
    "at://alice.test",
    "at://alice.test/app.bsky.feed.post/3kabc",
    "@@alice.test",
    "＠alice．test",
    "\u2068@alice.test\u2069",
    "\u202aalice.test\u202c\u200e",
    "\u00a0alice.\u200btest\ufeff",
    "alice.test.",
    "alice.test,",
    "“alice.test”",
    "<@alice.test>",
    "alice.test/",
    "@alice.test/",
    "https://alice.test",
    "https://alice.test/",
    "https://alice.test/?ref=x#y",
    "https:/alice.test/",
    "Alice (@alice.test)",
    "Alice Liddell @alice.test",
    "[@alice.test](https://bsky.app/profile/alice.test)",
  ])("takes %j for the handle in it", async (identifier) => {
    const { outcome, tools } = await signIn({ identifier });
    expect(outcome.kind).toBe("linked");
    expect(tools.calls[0]?.url).toMatch(/handle=alice\.test$/);
  });

  test.each([
    `https://bsky.app/profile/${DID}`,
    `bsky.app/profile/${encodeURIComponent(DID)}`,
    `at://${DID}/app.bsky.feed.post/3kabc`,
    DID.toUpperCase(),
  ])("takes %j for the DID in it", async (identifier) => {
    const { outcome, tools } = await signIn({ identifier });
    expect(outcome.kind).toBe("linked");
    expect(tools.asked[0]).toBe(DIRECTORY);
  });

  test.each([
    ["https://alice.bsky.social/", "alice.bsky.social"],
    ["https://bücher.example/profile/münchen.example", "xn--mnchen-3ya.example"],
  ])("reads %j as %s", async (identifier, handle) => {
    const { tools } = await signIn({ identifier });
    expect(tools.calls[0]?.url).toContain(`handle=${handle}`);
  });

  test("takes mailto: for an email address", async () => {
    const { outcome } = await signIn({ identifier: "mailto:a@example.com" }, script({}, SOCIAL));
    expect(outcome.kind).toBe("linked");
  });

  test("says of an account that has moved, signed in by email where it was, to use its handle", async () => {
    const left = answer(200, { ...session, active: false, status: "deactivated" });
    const at = (server: string) => ({
      [xrpc("POST", "com.atproto.server.createSession", SOCIAL)]: left,
      [DIRECTORY]: documentAt(server),
    });
    const by = async (server: string) =>
      failure((await signIn({ identifier: "a@example.com" }, script(at(server), SOCIAL))).outcome);
    expect(await by("https://new.example")).toBe("account_moved");
    expect(await by("https://porcini.us-east.host.bsky.network")).toBe("account_restricted");
  });

  test.each([
    [answer(404, { message: "DID not registered" }), "account_not_found"],
    [answer(200, { id: "did:plc:other" }), "account_not_found"],
    [answer(200, { id: DID, service: [] }), "account_not_found"],
    [answer(503, ""), "network_unavailable"],
    [lost, "network_unavailable"],
  ])("tells why a server was not found (%#)", async (reply, code) => {
    const { outcome } = await signIn({ identifier: "alice.test" }, script({ [DIRECTORY]: reply }));
    expect(failure(outcome)).toBe(code);
  });

  test.each([
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
  ])("tells why a login failed (%#)", async (reply, code) => {
    const { outcome } = await signIn(
      { identifier: "alice.test" },
      script({ [xrpc("POST", "com.atproto.server.createSession")]: reply }),
    );
    expect(failure(outcome)).toBe(code);
  });

  test("resolves a did:web at its own host", async () => {
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
  const freshen = (data: NetworkData, { http, ...rest }: Script, server = PDS) => {
    const tools = scriptedTools({ ...rest, http: { [PLC]: documentAt(server), ...http } });
    return bluesky.freshen(data, PDS, tools);
  };

  test("Bluesky credentials of an account that has moved are not renewed at the server that it left", async () => {
    const left = answer(200, { ...renewed, active: false, status: "deactivated" });
    const http = { [REFRESH]: left };
    expect(await freshen(expiring(30), { http })).toMatchObject({ kind: "refreshed" });
    for (const reply of [left, answer(400, { error: "AccountDeactivated" })])
      expect(
        await freshen(expiring(30), { http: { [REFRESH]: reply } }, "https://new.example"),
      ).toMatchObject({ kind: "rejected", failure: { code: "connection_needs_reauth" } });
  });

  const shard = (name: string) => {
    const serviceEndpoint = `https://${name}.us-east.host.bsky.network`;
    return { id: "#atproto_pds", serviceEndpoint };
  };

  // The login host renews sessions of all servers behind it.
  test.each([
    ["its document says so", { didDoc: { id: DID, service: [shard("new")] } }, false],
    ["the server that it left said so", {}, true],
  ])("find the account behind the login host, where %s", async (_what, more, hasEnded) => {
    const own = { ...expiring(30), pds: shard("old").serviceEndpoint, service: SOCIAL };
    const endedToken = digestOf(credentials.accessJwt);
    const hosts = hasEnded ? { [digestOf(DID)]: { endedToken, at: NOW.toISOString() } } : {};
    const http = {
      [xrpc("POST", "com.atproto.server.refreshSession", SOCIAL)]: answer(200, {
        ...renewed,
        ...more,
      }),
    };
    const pds = shard("new").serviceEndpoint;
    expect(await freshen(own, { http, hosts }, pds)).toMatchObject({
      kind: "refreshed",
      credentials: { pds, service: SOCIAL, accessJwt: renewed.accessJwt },
    });
    // Only the public directory is believed.
    const still = await freshen(own, { http, hosts }, own.pds);
    expect(still).toMatchObject({ kind: "refreshed", credentials: { pds: own.pds } });
  });

  test("Bluesky credentials are left alone while the token lasts", async () => {
    expect(await freshen(expiring(301), {})).toEqual({ kind: "usable" });
  });

  test("Bluesky credentials are renewed with the refresh token, never by a login", async () => {
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

  test("Bluesky credentials of opaque tokens are renewed soon", async () => {
    const opaque = { ...renewed, accessJwt: "opaque", refreshJwt: "opaque" };
    const outcome = await freshen(expiring(0), { http: { [REFRESH]: answer(200, opaque) } });
    expect(outcome).toMatchObject({
      credentials: { accessExpiresAt: new Date(NOW.getTime() + 1_800_000).toISOString() },
      expiresAt: null,
    });
  });

  test.each([
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

  test("outlive an outage of the login host", async () => {
    expect(await freshen(expiring(200), { http: { [REFRESH]: lost } })).toEqual({ kind: "usable" });
  });

  test("Bluesky credentials are renewed before their time once the server refused the token", async () => {
    const tools = scriptedTools({
      http: {
        [PUT]: answer(400, { error: "ExpiredToken", message: "Token has expired" }),
        [REFRESH]: [answer(200, renewed)],
      },
    });
    const ready = leg({}, { remote: { ...leg().remote, record: { text: "Hello" } } });
    expect(await bluesky.calls.publish.perform(ready, tools)).toMatchObject({
      kind: "try_later",
      failure: { code: "network_unavailable", networkCode: "ExpiredToken" },
      retryAfterSeconds: 0,
    });
    const outcome = await bluesky.freshen(credentials, PDS, tools);
    expect(outcome.kind).toBe("refreshed");
    if (outcome.kind !== "refreshed") return;
    expect(await bluesky.freshen(outcome.credentials, PDS, tools)).toEqual({ kind: "usable" });
  });

  test("a token that is refused as the one before it was is not renewed again", async () => {
    const tools = scriptedTools({
      http: {
        [PUT]: answer(400, { error: "InvalidToken", message: "Token could not be verified" }),
        [REFRESH]: [answer(200, renewed)],
      },
    });
    const ready = leg({}, { remote: { ...leg().remote, record: { text: "Hello" } } });
    expect(await bluesky.calls.publish.perform(ready, tools)).toMatchObject({ kind: "try_later" });
    const outcome = await bluesky.freshen(credentials, PDS, tools);
    if (outcome.kind !== "refreshed") throw new Error("not renewed");
    const again = { ...ready, credentials: outcome.credentials };
    expect(await bluesky.calls.publish.perform(again, tools)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth", networkCode: "InvalidToken" },
    });
  });

  test("ask for a reconnect when the session ended with the token", async () => {
    const tools = scriptedTools({
      http: {
        [UPLOAD]: answer(400, { error: "ExpiredToken" }),
        [REFRESH]: answer(400, { error: "ExpiredToken" }),
      },
      media: { "https://files.example/a.jpg": image() },
    });
    const withImage = leg({ media: [{ url: "https://files.example/a.jpg", altText: null }] });
    expect(await bluesky.calls.publish.prepare(withImage, tools)).toMatchObject({
      kind: "try_later",
    });
    expect(await bluesky.freshen(credentials, PDS, tools)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });

  test("Bluesky credentials are given back to the network, which may be away", async () => {
    const END = xrpc("POST", "com.atproto.server.deleteSession");
    for (const reply of [answer(200), answer(400, { error: "ExpiredToken" }), lost]) {
      const tools = scriptedTools({ http: { [END]: reply } });
      await bluesky.revoke(credentials, PDS, tools);
      expect(tools.calls[0]?.headers?.["authorization"]).toBe("Bearer refresh");
    }
  });
});
