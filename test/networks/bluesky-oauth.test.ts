import { exportJWK, generateKeyPair } from "jose";
import { describe, expect, test } from "vitest";
import { DEMO_HANDLE, FRIEND_HANDLE } from "../../sandbox/bluesky/state.ts";
import type { Sandbox } from "../../sandbox/server.ts";
import { clientMetadata, publicKeys } from "../../src/shared/networks/bluesky/client-documents.ts";
import { accessEnd } from "../../src/shared/networks/bluesky/session.ts";
import {
  credentialsOf,
  isOAuth,
  type OAuthSessionData,
} from "../../src/shared/networks/bluesky/state.ts";
import { bluesky } from "../../src/shared/networks/bluesky/index.ts";
import type { CredentialsOutcome } from "../../src/shared/networks/contract/outcome.ts";
import type { LinkedAccount, LinkOutcome } from "../../src/shared/networks/contract/link.ts";
import type { NetworkApp } from "../../src/shared/networks/contract/settings.ts";
import type { NetworkData } from "../../src/shared/networks/contract/draft.ts";
import { publishedBy, sandboxTools, walkLeg, type SandboxTools } from "./sandbox-leg.ts";
import { answer } from "./scripted-tools.ts";
import { useSandboxTools } from "./use-sandbox-tools.ts";

test("a server's word for how long a token lasts is believed for a day at most", () => {
  const now = new Date();
  const end = (expires_at: string) =>
    Date.parse(accessEnd({ tokenSet: { expires_at } } as OAuthSessionData, now)) - now.getTime();
  expect(end("+033714-01-01T00:00:00.000Z")).toBe(24 * 3_600_000);
  expect(end("soon")).toBe(0);
  expect(end("2020-01-01T00:00:00.000Z")).toBe(0);
});

const LOCAL: NetworkApp = { id: "http://localhost:7071/api", secret: "", version: "" };
const CALLBACK = "/v1/connect/callback/bluesky";
const HOUR_SECONDS = 3600;

let sandbox: Sandbox;
let tools: SandboxTools;

useSandboxTools((fresh) => {
  ({ sandbox, tools } = fresh);
}, LOCAL);

const oauthStart = (app: NetworkApp) => ({
  redirectUri: app.id + CALLBACK,
  state: "a state of ours",
  codeChallenge: "unused",
});

async function start(identifier: string, app = LOCAL, by = tools) {
  const started = await bluesky.link.start({ identifier }, oauthStart(app), by);
  if (started.kind === "failed") throw new Error(`not started: ${JSON.stringify(started)}`);
  return started;
}

/** What the owner decides on the server's page, and where the browser is led then. */
async function decide(url: string, form: Readonly<Record<string, string>>, by = tools) {
  const answer = await by.http({
    method: "POST",
    url,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form).toString(),
  });
  expect(answer.status).toBe(303);
  const back = new URL(answer.headers["location"] ?? "");
  return { address: back.origin + back.pathname, params: Object.fromEntries(back.searchParams) };
}

function finish(params: Readonly<Record<string, string>>, flow: NetworkData, by = tools) {
  // Through JSON, as it is stored until the browser comes back.
  const stored = JSON.parse(JSON.stringify(flow)) as NetworkData;
  const redirectUri = LOCAL.id + CALLBACK;
  const callback = { params, codeVerifier: "unused", redirectUri, flow: stored };
  return bluesky.link.finish(callback, by);
}

function linkedBy(outcome: LinkOutcome): LinkedAccount {
  if (outcome.kind === "failed") throw new Error(`not linked: ${JSON.stringify(outcome)}`);
  const credentials = JSON.parse(JSON.stringify(outcome.linked.credentials)) as NetworkData;
  return { ...outcome.linked, credentials };
}

async function link(identifier = DEMO_HANDLE, app = LOCAL, by = tools): Promise<LinkedAccount> {
  const { url, flow } = await start(identifier, app, by);
  const { params } = await decide(url, { decision: "allow" }, by);
  return linkedBy(await finish(params, flow, by));
}

const without = (name: string, params: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(params).filter(([given]) => given !== name));

const failure = (outcome: LinkOutcome) => (outcome.kind === "failed" ? outcome.code : outcome.kind);

function sessionOf(data: NetworkData) {
  const credentials = credentialsOf(data);
  if (!isOAuth(credentials)) throw new Error("not an OAuth session");
  return credentials.session;
}

const callsTo = (route: string) =>
  sandbox.requests().filter((request) => request.route === route && request.status !== 400).length;

function refreshed(outcome: CredentialsOutcome): NetworkData {
  if (outcome.kind !== "refreshed") throw new Error(`not refreshed: ${JSON.stringify(outcome)}`);
  return JSON.parse(JSON.stringify(outcome.credentials)) as NetworkData;
}

describe("authorizing at Bluesky's own page", () => {
  test("links a handle that only its own domain resolves", async () => {
    const { account } = await link();
    const http: typeof tools.http = (request) => {
      if (request.url.includes("com.atproto.identity.resolveHandle"))
        return Promise.resolve(answer(400, { error: "InvalidRequest" }));
      return request.url === `https://${DEMO_HANDLE}/.well-known/atproto-did`
        ? Promise.resolve(answer(200, account.id))
        : tools.http(request);
    };
    const again = await link(DEMO_HANDLE, LOCAL, { ...tools, http });
    expect(again.account.id).toBe(account.id);
  });

  test.each([
    ["a handle", DEMO_HANDLE],
    ["a handle as people write it", ` @${DEMO_HANDLE.toUpperCase()} `],
    ["a bare name", "demo"],
    ["a profile's address", `https://bsky.app/profile/${DEMO_HANDLE}`],
    ["a profile's address without a scheme", `bsky.app/profile/${DEMO_HANDLE}?x=1`],
    ["a handle as an address", `https://${DEMO_HANDLE}/`],
    ["a name and a handle in brackets", `Demo Bakery (@${DEMO_HANDLE})`],
    ["a handle between direction marks", `\u2068＠${DEMO_HANDLE}\u2069,`],
    ["a server's address", "https://pds.sandbox.test"],
    ["nothing at all", ""],
    ["an email address, which no directory knows", "demo@sandbox.test"],
  ])("links by %s", async (_what, identifier) => {
    const { account, instanceUrl, scopes, credentials } = await link(identifier);
    expect(account).toMatchObject({ username: DEMO_HANDLE, displayName: "Demo Bakery" });
    expect(instanceUrl).toBe("https://pds.sandbox.test");
    expect(scopes).toContain("atproto");
    expect(sessionOf(credentials).tokenSet.sub).toBe(account.id);
  });

  test("asks under a state that the callback brings back, at the number behind localhost", async () => {
    const { url, state, flow } = await start(DEMO_HANDLE);
    expect(new URL(url).origin + new URL(url).pathname).toBe("https://bsky.social/oauth/authorize");
    expect(url).not.toContain(DEMO_HANDLE);
    const { address, params } = await decide(url, { decision: "allow" });
    expect(address).toBe(`http://127.0.0.1:7071/api${CALLBACK}`);
    expect(params).toMatchObject({ state, iss: "https://bsky.social" });
    expect(state.length).toBeGreaterThanOrEqual(22);
    expect(failure(await finish(params, flow))).toBe("linked");
  });

  test("takes a site that is no server for a handle", async () => {
    const asked: string[] = [];
    const http: typeof tools.http = (request) => {
      asked.push(request.url);
      return tools.http(request);
    };
    const identifier = "https://media.sandbox.test/";
    await bluesky.link.start({ identifier }, oauthStart(LOCAL), { ...tools, http });
    const server = asked.findIndex((url) => url.includes("/oauth-protected-resource"));
    const handle = asked.findIndex((url) => url.endsWith("handle=media.sandbox.test"));
    expect(server).toBeGreaterThanOrEqual(0);
    expect(handle).toBeGreaterThan(server);
  });

  test("an account that does not exist is told so, and so is a server that is none", async () => {
    const code = async (identifier: string) => {
      const started = await bluesky.link.start({ identifier }, oauthStart(LOCAL), tools);
      return started.kind === "failed" ? started.code : started.kind;
    };
    expect(await code("nobody.bsky.social")).toBe("account_not_found");
    expect(await code(`did:plc:${"z".repeat(24)}`)).toBe("account_not_found");
    expect(await code("https://media.sandbox.test")).toBe("instance_unsupported");
    expect(await code("not a handle")).toBe("input_invalid");
    sandbox.fault("bluesky", "par", "drop-before", 3);
    expect(await code(DEMO_HANDLE)).toBe("instance_unreachable");
    sandbox.clearFaults();
    sandbox.fault("bluesky", "par", "html-502", 3);
    expect(await code(DEMO_HANDLE)).toBe("network_unavailable");
  });

  test("a server that knows no fine permissions is asked for the one that it knows", async () => {
    sandbox.fault("bluesky", "par", "fail:permission_missing");
    const { scopes } = await link();
    expect(scopes).toEqual(["atproto", "transition:generic"]);
  });

  test("a refusal on the page links nothing", async () => {
    const { url, flow } = await start(DEMO_HANDLE);
    const { params } = await decide(url, { decision: "deny" });
    expect(params["error"]).toBe("access_denied");
    expect(failure(await finish(params, flow))).toBe("access_denied");
  });

  test.each<[string, (params: Record<string, string>) => Record<string, string>]>([
    [
      "an answer in another server's name",
      (params) => ({ ...params, iss: "https://evil.example" }),
    ],
    ["an answer in nobody's name", (params) => without("iss", params)],
    ["a code that was made up", (params) => ({ ...params, code: "cod-0" })],
    ["no code", (params) => without("code", params)],
  ])("%s is not taken", async (_what, change) => {
    const { url, flow } = await start(DEMO_HANDLE);
    const { params } = await decide(url, { decision: "allow" });
    expect(failure(await finish(change(params), flow))).toBe("instance_unsupported");
  });

  test("an answer without an issuer is not taken from a server that announces none", async () => {
    const quiet: SandboxTools = {
      ...tools,
      async http(request) {
        const answer = await tools.http(request);
        if (!request.url.endsWith("/.well-known/oauth-authorization-server")) return answer;
        const { authorization_response_iss_parameter_supported: _announced, ...metadata } =
          answer.json() as Record<string, unknown>;
        return { ...answer, body: Buffer.from(JSON.stringify(metadata)) };
      },
    };
    const { url, flow } = await start(DEMO_HANDLE, LOCAL, quiet);
    const { params } = await decide(url, { decision: "allow" }, quiet);
    const before = callsTo("oauthToken");
    const finished = await finish(without("iss", params), flow, quiet);
    expect(failure(finished)).toBe("instance_unsupported");
    expect(callsTo("oauthToken")).toBe(before);
  });

  test("a permission that another account gave is ended, not kept", async () => {
    const friend = sandbox.networks.bluesky.accounts.find(({ handle }) => handle === FRIEND_HANDLE);
    const { url, flow } = await start(DEMO_HANDLE);
    const { params } = await decide(url, { decision: "allow", account: friend?.did ?? "" });
    expect(failure(await finish(params, flow))).toBe("other_account");
    expect(callsTo("oauthRevoke")).toBe(1);
  });

  test("each link is an authorization of its own, and ends none but its own", async () => {
    const [one, other] = [await link(), await link()];
    expect(one.account.id).toBe(other.account.id);
    expect(one.grantId).toMatch(/^[0-9a-f]{64}$/);
    expect(other.grantId).not.toBe(one.grantId);
    await bluesky.revoke(one.credentials, one.instanceUrl, tools);
    tools.advance(HOUR_SECONDS);
    expect(await bluesky.freshen(one.credentials, null, tools)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
    expect((await bluesky.freshen(other.credentials, null, tools)).kind).toBe("refreshed");
  });

  test("a deployment with a key proves itself by it, and publishes nothing of its private half", async () => {
    const { privateKey } = await generateKeyPair("ES256", { extractable: true });
    const secret = JSON.stringify({ ...(await exportJWK(privateKey)), kid: "key-1" });
    const app: NetworkApp = { id: "https://relay.example/api", secret, version: "" };
    const metadata = clientMetadata(app, tools.service);
    const keys = publicKeys(app);
    expect(JSON.stringify(keys)).not.toContain('"d"');
    expect(metadata.client_id).toBe(
      "https://relay.example/api/v1/connect/bluesky/client-metadata.json",
    );
    const by = sandboxTools(sandbox, app);
    expect(
      await bluesky.link.start({ identifier: DEMO_HANDLE }, oauthStart(app), by),
    ).toMatchObject({ kind: "failed", code: "service_refused" });
    sandbox.networks.bluesky.oauthClients.add(metadata, keys);
    const { account, credentials } = await link(DEMO_HANDLE, app, by);
    expect(account.username).toBe(DEMO_HANDLE);
    expect(sessionOf(credentials).authMethod).toMatchObject({ method: "private_key_jwt" });
    by.advance(HOUR_SECONDS);
    const renewed = refreshed(await bluesky.freshen(credentials, null, by));
    expect(sessionOf(renewed).tokenSet.access_token).not.toBe(
      sessionOf(credentials).tokenSet.access_token,
    );
  });

  test("authorizing at Bluesky's own page is not offered without any client of ours", async () => {
    const by = sandboxTools(sandbox);
    expect(
      await bluesky.link.start({ identifier: DEMO_HANDLE }, oauthStart(LOCAL), by),
    ).toMatchObject({ kind: "failed" });
    expect(bluesky.link.needsApp).toBe(true);
  });
});

describe("publishing with an OAuth session", () => {
  test("a token that the server ends before its time is renewed, and the post is published once", async () => {
    const linked = await link();
    sandbox.networks.bluesky.expireAccessTokens();
    const walk = await walkLeg(bluesky, linked, { text: "After the end" }, tools);
    expect(walk.steps).toEqual(["prepare ready", "perform try_later", "perform done"]);
    expect(sandbox.posts("bluesky")).toHaveLength(1);
  });

  test("a call with the token before a renewal is tried again, and costs the next one nothing", async () => {
    const linked = await link();
    tools.advance(HOUR_SECONDS - 240);
    const credentials = refreshed(await bluesky.freshen(linked.credentials, null, tools));
    const leg = {
      key: "leg",
      draft: { text: "Under way", media: [], options: {} },
      ...linked,
      remote: bluesky.begin({ key: "leg", now: tools.now() }),
      sentAt: null,
      isUnpublished: true,
    };
    const prepared = await bluesky.calls.publish.prepare(leg, tools);
    if (prepared.kind !== "ready") throw new Error(prepared.kind);
    expect(
      await bluesky.calls.publish.perform({ ...leg, remote: prepared.remote }, tools),
    ).toMatchObject({
      kind: "try_later",
      failure: { networkCode: "invalid_token" },
      retryAfterSeconds: 0,
    });
    expect(await bluesky.freshen(credentials, null, tools)).toEqual({ kind: "usable" });
    const walk = await walkLeg(bluesky, { ...linked, credentials }, { text: "In time" }, tools);
    publishedBy(walk);
  });

  test("nothing is renewed while the token is good", async () => {
    const { credentials } = await link();
    const before = sandbox.requests().length;
    expect(await bluesky.freshen(credentials, null, tools)).toEqual({ kind: "usable" });
    expect(sandbox.requests()).toHaveLength(before);
  });

  test("each renewal brings the next refresh token; an old one ends the session", async () => {
    const { credentials } = await link();
    tools.advance(HOUR_SECONDS);
    const first = refreshed(await bluesky.freshen(credentials, null, tools));
    tools.advance(HOUR_SECONDS);
    const second = refreshed(await bluesky.freshen(first, null, tools));
    expect(sessionOf(second).tokenSet.refresh_token).not.toBe(
      sessionOf(first).tokenSet.refresh_token,
    );
    expect(await bluesky.freshen(credentials, null, tools)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth", networkCode: "invalid_grant" },
    });
    tools.advance(HOUR_SECONDS);
    expect(await bluesky.freshen(second, null, tools)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });

  /** The tools in a world where some answers read otherwise. */
  const rewording = (
    words: (text: string, url: string) => string,
    ask = (url: string) => url,
  ): SandboxTools => ({
    ...tools,
    async http(request) {
      const given = await tools.http({ ...request, url: ask(request.url) });
      return { ...given, ...answer(given.status, words(given.text(), request.url), given.headers) };
    },
  });
  const NEW_PDS = "https://new.sandbox.test";
  const afterMove = (issuer = "https://bsky.social") =>
    rewording(
      (text, url) => {
        const isPublic = url.includes("/.well-known/") || url.startsWith("https://plc.directory/");
        const moved = isPublic ? text.replaceAll("https://pds.sandbox.test", NEW_PDS) : text;
        const isNew = url.startsWith(NEW_PDS) || url.startsWith(issuer);
        return isNew ? moved.replaceAll("https://bsky.social", issuer) : moved;
      },
      (url) =>
        url.replace(NEW_PDS, "https://pds.sandbox.test").replace(issuer, "https://bsky.social"),
    );

  test("a renewal finds the server that the account has moved to", async () => {
    const { credentials } = await link();
    tools.advance(HOUR_SECONDS);
    const renewed = refreshed(await bluesky.freshen(credentials, null, afterMove()));
    expect(renewed).toMatchObject({ pds: NEW_PDS });
  });

  test("an account whose new server has other login pages has to be linked again", async () => {
    const { credentials } = await link();
    tools.advance(HOUR_SECONDS);
    const by = afterMove("https://elsewhere.example");
    expect(await bluesky.freshen(credentials, null, by)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth", note: "Issuer mismatch" },
    });
    expect(callsTo("oauthToken")).toBe(1);
  });

  test("a renewal that brings too small a scope says that a permission is missing", async () => {
    const { credentials } = await link();
    tools.advance(HOUR_SECONDS);
    const by = rewording((text, url) =>
      url.endsWith("/oauth/token") ? text.replace(/"scope":"[^"]*"/, '"scope":"atproto"') : text,
    );
    expect(await bluesky.freshen(credentials, null, by)).toMatchObject({
      kind: "rejected",
      failure: { code: "permission_missing", networkCode: "atproto" },
    });
  });

  test.each(["drop-before", "html-502"])("an outage (%s) costs no session", async (fault) => {
    const { credentials } = await link();
    tools.advance(HOUR_SECONDS);
    sandbox.fault("bluesky", "oauthToken", fault, 4);
    expect(await bluesky.freshen(credentials, null, tools)).toMatchObject({
      kind: "try_later",
      failure: { code: "network_unavailable" },
    });
    sandbox.clearFaults();
    refreshed(await bluesky.freshen(credentials, null, tools));
  });

  test("a session that its owner ended has to be linked again", async () => {
    const { credentials } = await link();
    sandbox.networks.bluesky.endOAuthSessions(DEMO_HANDLE);
    tools.advance(HOUR_SECONDS);
    expect(await bluesky.freshen(credentials, null, tools)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });

  test("disconnecting ends the session at the server", async () => {
    const linked = await link();
    await bluesky.revoke(linked.credentials, null, tools);
    const walk = await walkLeg(bluesky, linked, { text: "Too late" }, tools);
    expect(walk.outcome).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
    expect(sandbox.posts("bluesky")).toEqual([]);
  });
});
