import { createHash } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { useSandbox } from "./client.ts";
import type { Reply } from "./client.ts";

const at = useSandbox();
const HOST = "mastodon.sandbox.test";
const CALLBACK = "http://localhost:7071/api/v1/connect/callback/mastodon";
const VERIFIER = "a-code-verifier-of-at-least-43-characters-0123456789";
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");
const SCOPES = "profile write:statuses write:media";

let app: { client_id: string; client_secret: string };

function register(json: Record<string, unknown> = {}, host = HOST): Promise<Reply> {
  return at.call(host, "/api/v1/apps", {
    json: { client_name: "Relay <b>", redirect_uris: [CALLBACK], scopes: SCOPES, ...json },
  });
}

function authorizePath(change: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: app.client_id,
    redirect_uri: CALLBACK,
    scope: SCOPES,
    state: "the-state",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
    ...change,
  });
  return `/oauth/authorize?${query.toString()}`;
}

/** Presses a button of the page as a browser does: at the sandbox's own address. */
async function decide(
  decision: string,
  change: Record<string, string> = {},
): Promise<URLSearchParams> {
  const reply = await at.call(null, authorizePath(change), { form: { decision } });
  expect(reply.status).toBe(303);
  const location = reply.headers.get("location") ?? "";
  expect(location.startsWith(CALLBACK)).toBe(true);
  return new URL(location).searchParams;
}

function exchange(form: Record<string, string>): Promise<Reply> {
  return at.call(HOST, "/oauth/token", {
    form: {
      grant_type: "authorization_code",
      redirect_uri: CALLBACK,
      code_verifier: VERIFIER,
      client_id: app.client_id,
      client_secret: app.client_secret,
      ...form,
    },
  });
}

async function freshCode(change: Record<string, string> = {}): Promise<string> {
  return (await decide("allow", change)).get("code") ?? "";
}

beforeEach(async () => {
  app = (await register()).json as typeof app;
});

test("an app is registered, its owner agrees in the browser, and the code becomes a working token", async () => {
  const page = await at.call(null, authorizePath());
  expect(page.text).toContain("Authorize Relay &lt;b&gt;?");
  expect(page.text).toContain("@demo@mastodon.sandbox.test");
  const answer = await decide("allow");
  expect(answer.get("state")).toBe("the-state");
  const reply = await exchange({ code: answer.get("code") ?? "" });
  expect(reply.json).toMatchObject({ token_type: "Bearer", scope: SCOPES });
  const token = String(reply.json["access_token"]);
  const me = await at.call(HOST, "/api/v1/accounts/verify_credentials", { token });
  expect(me.json).toMatchObject({ username: "demo" });
});

test("the owner may choose another account", async () => {
  const alice = at.sandbox.networks.mastodon.accounts.find(
    ({ host, username }) => host === HOST && username === "alice",
  );
  const reply = await at.call(null, authorizePath(), {
    form: { decision: "allow", account: alice?.id ?? "" },
  });
  const code = new URL(reply.headers.get("location") ?? "").searchParams.get("code") ?? "";
  const token = String((await exchange({ code })).json["access_token"]);
  const me = await at.call(HOST, "/api/v1/accounts/verify_credentials", { token });
  expect(me.json).toMatchObject({ username: "alice" });
});

test("an owner who denies is sent back with access_denied and the state", async () => {
  const answer = await decide("deny");
  expect(answer.get("error")).toBe("access_denied");
  expect(answer.get("state")).toBe("the-state");
  expect(answer.get("code")).toBeNull();
});

test.each([
  ["without its verifier", { code_verifier: "" }, 400, "invalid_grant"],
  ["with another verifier", { code_verifier: "x".repeat(43) }, 400, "invalid_grant"],
  ["for another redirect address", { redirect_uri: `${CALLBACK}/other` }, 400, "invalid_grant"],
  ["with a wrong secret", { client_secret: "wrong" }, 401, "invalid_client"],
  ["with another grant type", { grant_type: "password" }, 400, "unsupported_grant_type"],
])("a code %s is refused", async (_name, change, status, error) => {
  expect(await exchange({ code: await freshCode(), ...change })).toMatchObject({
    status,
    json: { error },
  });
});

test("a code works once and for ten minutes", async () => {
  const code = await freshCode();
  expect((await exchange({ code })).status).toBe(200);
  expect((await exchange({ code })).json["error"]).toBe("invalid_grant");
  const late = await freshCode();
  at.sandbox.advance(600_000);
  expect((await exchange({ code: late })).json["error"]).toBe("invalid_grant");
});

test("the token endpoint takes forms only", async () => {
  const code = await freshCode();
  const json = { grant_type: "authorization_code", code, ...app, redirect_uri: CALLBACK };
  expect(await at.call(HOST, "/oauth/token", { json })).toMatchObject({
    status: 400,
    json: { error: "invalid_request" },
  });
});

test.each([
  ["an unknown client", { client_id: "unknown" }],
  ["an address that was not registered", { redirect_uri: "https://evil.example/" }],
])("%s is shown an error and never redirected", async (_name, change) => {
  const reply = await at.call(HOST, authorizePath(change));
  expect(reply.status).toBeGreaterThanOrEqual(400);
  expect(reply.headers.get("location")).toBeNull();
});

test.each([
  ["scopes beyond the app's", { scope: "write" }, "invalid_scope"],
  ["a plain challenge", { code_challenge_method: "plain" }, "invalid_code_challenge_method"],
  ["another response type", { response_type: "token" }, "unsupported_response_type"],
])("%s end in an error at the app", async (_name, change, error) => {
  expect((await decide("allow", change)).get("error")).toBe(error);
});

test.each([
  ["no name", { client_name: "" }],
  ["no redirect address", { redirect_uris: [] }],
  ["a relative redirect address", { redirect_uris: "/callback" }],
  ["a scope nobody knows", { scopes: "everything" }],
])("an app with %s is not registered", async (_name, change) => {
  expect((await register(change)).status).toBe(422);
});

test("the same grant again gives the same token, so revoking one ends both", async () => {
  const first = (await exchange({ code: await freshCode() })).json["access_token"];
  const second = (await exchange({ code: await freshCode() })).json["access_token"];
  expect(second).toBe(first);
  const token = String(first);
  expect((await at.call(HOST, "/oauth/revoke", { form: { ...app, token } })).status).toBe(200);
  const me = await at.call(HOST, "/api/v1/accounts/verify_credentials", { token });
  expect(me.status).toBe(401);
  const anew = (await exchange({ code: await freshCode() })).json["access_token"];
  expect(anew).not.toBe(first);
});

test("an app can't revoke another app's token", async () => {
  const token = String((await exchange({ code: await freshCode() })).json["access_token"]);
  const other = (await register()).json as typeof app;
  expect(await at.call(HOST, "/oauth/revoke", { form: { ...other, token } })).toMatchObject({
    status: 403,
    json: { error: "unauthorized_client" },
  });
});

test("an app that the instance forgot is an invalid_client", async () => {
  const code = await freshCode();
  at.sandbox.networks.mastodon.forgetApps(HOST);
  expect((await exchange({ code })).json["error"]).toBe("invalid_client");
});

test("a lenient server takes one redirect address and knows no PKCE", async () => {
  const host = "gotosocial.sandbox.test";
  expect((await register({}, host)).status).toBe(422);
  app = (await register({ redirect_uris: CALLBACK }, host)).json as typeof app;
  const code = await freshCode();
  const form = {
    grant_type: "authorization_code",
    redirect_uri: CALLBACK,
    client_id: app.client_id,
    client_secret: app.client_secret,
    code,
  };
  expect((await at.call(host, "/oauth/token", { form })).status).toBe(200);
});
