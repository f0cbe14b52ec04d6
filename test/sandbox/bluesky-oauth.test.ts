import { createHash, randomUUID } from "node:crypto";
import { SignJWT, exportJWK, generateKeyPair } from "jose";
import type { CryptoKey, JWK } from "jose";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { useSandbox } from "./client.ts";
import type { Reply } from "./client.ts";

const at = useSandbox();
const ISSUER_HOST = "bsky.social";
const PDS = "pds.sandbox.test";
const REDIRECT = "http://127.0.0.1:7071/api/v1/connect/callback/bluesky";
const SCOPE = "atproto repo:app.bsky.feed.post?action=create blob:*/*";
const CLIENT = `http://localhost?${new URLSearchParams({ redirect_uri: REDIRECT, scope: SCOPE }).toString()}`;
const VERIFIER = "verifier".repeat(6);
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");

let key: CryptoKey;
let jwk: JWK;
let nonce: string;

beforeAll(async () => {
  const pair = await generateKeyPair("ES256");
  key = pair.privateKey;
  jwk = await exportJWK(pair.publicKey);
});
beforeEach(async () => {
  const first = await form("/oauth/par", {}, { nonce: "none" });
  expect(first.status).toBe(400);
  expect(first.json["error"]).toBe("use_dpop_nonce");
  nonce = first.headers.get("dpop-nonce") ?? "";
});

interface ProofClaims {
  readonly nonce?: string;
  readonly ath?: string;
  readonly htu?: string;
  readonly jti?: string;
}

function proof(method: string, url: string, claims: ProofClaims = {}): Promise<string> {
  return new SignJWT({ jti: randomUUID(), htm: method, htu: url, nonce, ...claims })
    .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk })
    .setIssuedAt()
    .sign(key);
}

async function form(
  path: string,
  fields: Readonly<Record<string, string>>,
  claims?: ProofClaims,
): Promise<Reply> {
  const dpop = await proof("POST", `https://${ISSUER_HOST}${path}`, claims);
  return at.call(ISSUER_HOST, path, { form: { client_id: CLIENT, ...fields }, headers: { dpop } });
}

const asked = {
  response_type: "code",
  redirect_uri: REDIRECT,
  scope: SCOPE,
  state: "state-1",
  code_challenge: CHALLENGE,
  code_challenge_method: "S256",
};

async function push(changes: Readonly<Record<string, string>> = {}): Promise<Reply> {
  return form("/oauth/par", { ...asked, ...changes });
}

/** The browser's part: its address at the sandbox, and where the decision leads. */
async function authorize(decision = "allow"): Promise<{ page: Reply; back: URLSearchParams }> {
  const { json } = await push();
  const query = new URLSearchParams({
    client_id: CLIENT,
    request_uri: String(json["request_uri"]),
  });
  const path = `/oauth/authorize?${query.toString()}`;
  const page = await at.call(null, path);
  const decided = await at.call(null, path, { form: { decision } });
  expect(decided.status).toBe(303);
  const location = new URL(decided.headers.get("location") ?? "");
  expect(location.origin + location.pathname).toBe(REDIRECT);
  expect((await at.call(null, path)).status).toBe(400);
  return { page, back: location.searchParams };
}

const redeem = (code: string, changes: Readonly<Record<string, string>> = {}) =>
  form("/oauth/token", {
    grant_type: "authorization_code",
    code,
    redirect_uri: REDIRECT,
    code_verifier: VERIFIER,
    ...changes,
  });

async function tokens(): Promise<Readonly<Record<string, string>>> {
  const { back } = await authorize();
  const answer = await redeem(back.get("code") ?? "");
  expect(answer.status).toBe(200);
  return answer.json as Readonly<Record<string, string>>;
}

async function getSession(accessToken: string, claims: ProofClaims = {}): Promise<Reply> {
  const path = "/xrpc/com.atproto.server.getSession";
  const ath = createHash("sha256").update(accessToken).digest("base64url");
  const dpop = await proof("GET", `https://${PDS}${path}`, { ath, ...claims });
  return at.call(PDS, path, { headers: { authorization: `DPoP ${accessToken}`, dpop } });
}

describe("the authorisation server", () => {
  test("is found from the account's server, and says how it wants to be used", async () => {
    const resource = await at.call(PDS, "/.well-known/oauth-protected-resource");
    expect(resource.json).toMatchObject({
      resource: `https://${PDS}`,
      authorization_servers: [`https://${ISSUER_HOST}`],
    });
    const server = await at.call(ISSUER_HOST, "/.well-known/oauth-authorization-server");
    expect(server.json).toMatchObject({
      issuer: `https://${ISSUER_HOST}`,
      require_pushed_authorization_requests: true,
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
  });

  test.each([
    ["another redirect address", { redirect_uri: "http://127.0.0.1:1/x" }, "invalid_request"],
    [
      "a scope that the client does not name",
      { scope: "atproto transition:generic" },
      "invalid_scope",
    ],
    ["no atproto scope", { scope: "blob:*/*" }, "invalid_scope"],
    ["a plain code challenge", { code_challenge_method: "plain" }, "invalid_request"],
    ["an unknown client", { client_id: "https://relay.example/c.json" }, "invalid_client_metadata"],
  ])("refuses a request with %s", async (_what, changes, error) => {
    const { status, json } = await push(changes);
    expect([status, json["error"]]).toEqual([400, error]);
  });

  test.each<[string, ProofClaims]>([
    ["for another address", { htu: "https://evil.example/oauth/par" }],
    ["for a token", { ath: "x" }],
  ])("refuses a proof %s", async (_what, claims) => {
    const { status, json } = await form("/oauth/par", asked, claims);
    expect([status, json["error"]]).toEqual([400, "invalid_dpop_proof"]);
  });

  test("takes a proof once", async () => {
    const claims = { jti: "the-same" };
    expect((await form("/oauth/par", asked, claims)).status).toBe(201);
    expect((await form("/oauth/par", asked, claims)).json["error"]).toBe("invalid_dpop_proof");
  });

  test("asks the owner, needs no script for it, and leads back in its own name", async () => {
    const { page, back } = await authorize();
    expect(page.text).not.toContain("<script");
    expect(page.text).toMatch(/<form method="post"/);
    expect(Object.fromEntries(back)).toMatchObject({
      iss: `https://${ISSUER_HOST}`,
      state: "state-1",
    });
    const { back: denied } = await authorize("deny");
    expect(denied.get("error")).toBe("access_denied");
    expect(denied.get("code")).toBeNull();
  });

  test("gives tokens for a code once; a second time ends what the first gave", async () => {
    const { back } = await authorize();
    const code = back.get("code") ?? "";
    expect((await redeem(code, { code_verifier: "w".repeat(48) })).json["error"]).toBe(
      "invalid_grant",
    );
    const first = await redeem(code);
    expect(first.json).toMatchObject({ token_type: "DPoP", scope: SCOPE });
    expect((await redeem(code)).status).toBe(400);
    expect((await getSession(String(first.json["access_token"]))).status).toBe(401);
  });

  test("a renewal ends both tokens before, and an old refresh token the whole session", async () => {
    const first = await tokens();
    const refresh = (token: string | undefined) =>
      form("/oauth/token", { grant_type: "refresh_token", refresh_token: token ?? "" });
    const second = await refresh(first["refresh_token"]);
    expect(second.status).toBe(200);
    const accessToken = String(second.json["access_token"]);
    expect((await getSession(first["access_token"] ?? "")).status).toBe(401);
    expect((await getSession(accessToken)).status).toBe(200);
    expect((await refresh(first["refresh_token"])).json).toMatchObject({
      error: "invalid_grant",
      error_description: "Refresh token replayed",
    });
    expect((await getSession(accessToken)).status).toBe(401);
    expect((await refresh(String(second.json["refresh_token"]))).json["error"]).toBe(
      "invalid_grant",
    );
  });

  test("revoking either token ends the session", async () => {
    for (const name of ["access_token", "refresh_token"] as const) {
      const given = await tokens();
      expect((await form("/oauth/revoke", { token: given[name] ?? "" })).status).toBe(200);
      expect((await getSession(given["access_token"] ?? "")).status).toBe(401);
    }
  });
});

describe("the accounts' server", () => {
  test("takes a token only with a proof made for it, and tells the nonce it wants", async () => {
    const given = await tokens();
    const token = given["access_token"] ?? "";
    const stale = await getSession(token, { nonce: "old" });
    expect(stale.status).toBe(401);
    expect(stale.headers.get("www-authenticate")).toContain('error="use_dpop_nonce"');
    expect(stale.headers.get("dpop-nonce")).toBe(nonce);
    expect((await getSession(token, { ath: "other" })).json["error"]).toBe("invalid_dpop_proof");
    const bearer = await at.call(PDS, "/xrpc/com.atproto.server.getSession", { token });
    expect(bearer.status).toBe(400);
    expect((await getSession(token)).status).toBe(200);
  });

  test("refuses what the scope does not name", async () => {
    const token = (await tokens())["access_token"] ?? "";
    const path = "/xrpc/com.atproto.server.getServiceAuth";
    const ath = createHash("sha256").update(token).digest("base64url");
    const dpop = await proof("GET", `https://${PDS}${path}`, { ath });
    const query = "?aud=did:web:video.bsky.app&lxm=app.bsky.video.getUploadLimits";
    const headers = { authorization: `DPoP ${token}`, dpop };
    const { status, json } = await at.call(PDS, path + query, { headers });
    expect([status, json["error"]]).toEqual([403, "ScopeMissingError"]);
  });
});
