import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { startIssuer } from "../../dev/issuer.ts";
import type { Issuer } from "../../dev/issuer.ts";
import { forFile } from "../setup/for-file.ts";

const AUDIENCE = "api://publishing-relay";

const issuer = forFile(() => startIssuer());

function verify(token: string, from: Issuer = issuer) {
  const keys = createRemoteJWKSet(new URL(from.jwksUrl));
  return jwtVerify(token, keys, { issuer: from.issuer, audience: AUDIENCE, algorithms: ["RS256"] });
}

async function askForToken(form: Record<string, string>): Promise<Response> {
  return fetch(`${issuer.url}/token`, { method: "POST", body: new URLSearchParams(form) });
}

test("a token verifies with the published keys and is shaped like Entra's", async () => {
  const { payload, protectedHeader } = await verify(
    await issuer.token({ roles: ["Admin", "Operator"], subject: "someone" }),
  );
  expect(protectedHeader).toMatchObject({ alg: "RS256", typ: "JWT" });
  expect(payload).toMatchObject({ ver: "2.0", sub: "someone", roles: ["Admin", "Operator"] });
  expect(payload["tid"]).toBe(issuer.issuer.split("/").at(-2));
});

test("a token without roles has no such claim", async () => {
  expect(decodeJwt(await issuer.token())).not.toHaveProperty("roles");
});

test.each([
  ["for another audience", { audience: "api://other" }, "ERR_JWT_CLAIM_VALIDATION_FAILED"],
  ["that has expired", { expiresIn: -60 }, "ERR_JWT_EXPIRED"],
  [
    "of another issuer",
    { claims: { iss: "https://evil.example" } },
    "ERR_JWT_CLAIM_VALIDATION_FAILED",
  ],
])("a token %s does not verify", async (_name, request, code) => {
  await expect(verify(await issuer.token(request))).rejects.toMatchObject({ code });
});

test("discovery leads to the keys, which are public parts only", async () => {
  const path = "/.well-known/openid-configuration";
  for (const base of [issuer.url, issuer.issuer]) {
    const document = (await (await fetch(base + path)).json()) as Record<string, string>;
    expect(document).toMatchObject({ issuer: issuer.issuer, jwks_uri: issuer.jwksUrl });
  }
  const { keys } = (await (await fetch(`${issuer.url}/discovery/v2.0/keys`)).json()) as {
    keys: Record<string, string>[];
  };
  for (const key of keys)
    expect(Object.keys(key).toSorted()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
});

test("a form with client credentials is given a token with the roles it asks for", async () => {
  const reply = await askForToken({
    grant_type: "client_credentials",
    roles: "Admin",
    client_id: "me",
  });
  const { access_token } = (await reply.json()) as { access_token: string };
  expect((await verify(access_token)).payload).toMatchObject({ roles: ["Admin"], sub: "me" });
});

test.each([
  [{ grant_type: "password" }, "unsupported_grant_type"],
  [{ grant_type: "client_credentials", expires_in: "soon" }, "invalid_request"],
])("a token request with %o is a 400", async (form, error) => {
  const reply = await askForToken(form);
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ error });
});

test("a token survives a restart when the keys are kept in a folder", async () => {
  const keys = await mkdtemp(join(tmpdir(), "issuer-"));
  onTestFinished(() => rm(keys, { recursive: true }));
  const publicOrigin = "https://login.sandbox.test";
  const first = await startIssuer({ keys, publicOrigin });
  const token = await first.token();
  await first.stop();
  const second = await startIssuer({ keys, publicOrigin });
  onTestFinished(() => second.stop());
  const jwksUrl = `${second.url}/discovery/v2.0/keys`;
  const { payload } = await verify(token, { ...second, jwksUrl });
  expect(payload.iss).toBe(second.issuer);
  expect(second.issuer.startsWith(publicOrigin)).toBe(true);
});
