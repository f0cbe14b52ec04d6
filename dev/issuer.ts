import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { SignJWT, exportJWK, generateKeyPair, importJWK } from "jose";
import type { JWK, JWTPayload } from "jose";

const DEFAULT_PORT = 7073;
const DEFAULT_AUDIENCE = "api://publishing-relay";
const DEFAULT_SUBJECT = "sandbox-operator";
const TENANT = "5a2db0c5-0000-4000-8000-5a2db0c50000";
const LIFETIME_SECONDS = 3600;
const LIFETIME_SECONDS_MAX = 365 * 24 * 3600;
const FORM_BYTES_MAX = 16 * 1024;

export interface IssuerOptions {
  /** 0 is any free port. */
  readonly port?: number;
  /** A folder keeps the keys, so that tokens survive a restart. */
  readonly keys?: string;
  /** What the issuer calls itself when it is reached through a mapped host, e.g. `https://login.sandbox.test`. */
  readonly publicOrigin?: string;
}

interface TokenRequest {
  /** None makes a token without a role, as Entra does: the claim is absent. */
  readonly roles?: readonly string[];
  readonly audience?: string;
  readonly subject?: string;
  /** Seconds; negative makes a token that has expired. */
  readonly expiresIn?: number;
  /** Added last: they may replace any claim. */
  readonly claims?: JWTPayload;
}

export interface Issuer {
  /** Where it listens. */
  readonly url: string;
  readonly issuer: string;
  readonly jwksUrl: string;
  token(request?: TokenRequest): Promise<string>;
  stop(): Promise<void>;
}

/** A private key with its `kid`; never leaves the process but for the folder of keys. */
async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const key = await exportJWK(privateKey);
  const kid = createHash("sha256").update(String(key.n)).digest("base64url");
  return { ...key, kid, use: "sig", alg: "RS256" };
}

function publicPart({ kty, use, kid, n, e, alg }: JWK): JWK {
  return JSON.parse(JSON.stringify({ kty, use, kid, n, e, alg })) as JWK;
}

/** Returns the signing key, which a folder keeps over restarts. */
async function keyOf(folder: string | undefined): Promise<JWK> {
  if (folder === undefined) return newKey();
  const file = join(folder, "issuer-key.json");
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as JWK;
  const key = await newKey();
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${file}.new`, JSON.stringify(key), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return key;
}

async function sign(issuer: string, key: JWK, request: TokenRequest): Promise<string> {
  const subject = request.subject ?? DEFAULT_SUBJECT;
  const roles = request.roles ?? [];
  const now = Math.floor(Date.now() / 1000);
  const expiresIn = request.expiresIn ?? LIFETIME_SECONDS;
  const claims: JWTPayload = {
    iss: issuer,
    aud: request.audience ?? DEFAULT_AUDIENCE,
    sub: subject,
    oid: subject,
    azp: subject,
    azpacr: "1",
    tid: TENANT,
    uti: randomUUID(),
    ver: "2.0",
    iat: Math.min(now, now + expiresIn),
    nbf: Math.min(now, now + expiresIn),
    exp: now + expiresIn,
    ...(roles.length === 0 ? {} : { roles: [...roles] }),
    ...request.claims,
  };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: "RS256", typ: "JWT", kid: String(key.kid) })
    .sign(await importJWK(key, "RS256"));
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
  });
  response.end(JSON.stringify(body));
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const type = request.headers["content-type"] ?? "";
  let body = "";
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (body.length <= FORM_BYTES_MAX) body += chunk.toString("utf8");
  }
  const isForm = type.toLowerCase().startsWith("application/x-www-form-urlencoded");
  return isForm && body.length <= FORM_BYTES_MAX ? new URLSearchParams(body) : undefined;
}

/** Client credentials without a secret: any caller of this loopback port may have any role. */
async function answerToken(
  request: IncomingMessage,
  response: ServerResponse,
  token: Issuer["token"],
): Promise<void> {
  const form = await readForm(request);
  if (form?.get("grant_type") !== "client_credentials") {
    const error_description = "A form with grant_type=client_credentials is expected.";
    answer(response, 400, { error: "unsupported_grant_type", error_description });
    return;
  }
  const expiresIn = Number(form.get("expires_in") ?? LIFETIME_SECONDS);
  if (!Number.isInteger(expiresIn) || Math.abs(expiresIn) > LIFETIME_SECONDS_MAX) {
    const error_description = "expires_in must be a whole number of seconds.";
    answer(response, 400, { error: "invalid_request", error_description });
    return;
  }
  const roles = form.getAll("roles").flatMap((role) => role.split(/[\s,]+/).filter(Boolean));
  const access_token = await token({
    roles,
    expiresIn,
    audience: form.get("scope")?.replace(/\/\.default$/, "") ?? DEFAULT_AUDIENCE,
    subject: form.get("client_id") ?? DEFAULT_SUBJECT,
  });
  answer(response, 200, { token_type: "Bearer", expires_in: expiresIn, access_token });
}

interface Addresses {
  readonly url: string;
  readonly issuer: string;
  readonly jwksUrl: string;
}

function addresses(port: number, publicOrigin: string | undefined): Addresses {
  const url = `http://127.0.0.1:${port}`;
  const tenant = `${publicOrigin ?? url}/${TENANT}`;
  return { url, issuer: `${tenant}/v2.0`, jwksUrl: `${tenant}/discovery/v2.0/keys` };
}

function metadata({ issuer, jwksUrl }: Addresses): unknown {
  return {
    issuer,
    jwks_uri: jwksUrl,
    token_endpoint: issuer.replace(/\/v2\.0$/, "/oauth2/v2.0/token"),
    authorization_endpoint: issuer.replace(/\/v2\.0$/, "/oauth2/v2.0/authorize"),
    response_types_supported: ["code"],
    subject_types_supported: ["pairwise"],
    id_token_signing_alg_values_supported: ["RS256"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
    claims_supported: ["sub", "iss", "aud", "exp", "iat", "nbf", "oid", "tid", "roles"],
  };
}

/** Answers at Entra's own paths below the tenant and at the short ones below the root. */
async function route(
  request: IncomingMessage,
  response: ServerResponse,
  given: { where: Addresses; key: JWK; token: Issuer["token"] },
): Promise<void> {
  const path = (request.url ?? "/").split("?")[0] ?? "/";
  const call = `${request.method} ${path}`;
  if (/^GET \S*\/\.well-known\/openid-configuration$/.test(call))
    answer(response, 200, metadata(given.where));
  else if (/^GET \S*\/discovery\/v2\.0\/keys$/.test(call))
    answer(response, 200, { keys: [publicPart(given.key)] });
  else if (/^POST \S*\/token$/.test(call)) await answerToken(request, response, given.token);
  else answer(response, 404, { error: "not_found" });
}

/** Starts an OpenID issuer on loopback whose access tokens are shaped like those of Microsoft Entra ID. */
export async function startIssuer(options: IssuerOptions = {}): Promise<Issuer> {
  const key = await keyOf(options.keys);
  const server = createServer();
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const where = addresses((server.address() as AddressInfo).port, options.publicOrigin);
  const token = (request: TokenRequest = {}) => sign(where.issuer, key, request);
  server.on("request", (request, response) => {
    route(request, response, { where, key, token }).catch((error: unknown) => {
      console.error("issuer:", error);
      response.destroy();
    });
  });
  return {
    ...where,
    token,
    stop: async () => {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

if (import.meta.main) {
  const port = Number(process.env["ISSUER_PORT"] ?? DEFAULT_PORT);
  const keys = process.env["ISSUER_KEYS"];
  const issuer = await startIssuer({ port, ...(keys === undefined ? {} : { keys }) });
  console.log(`sandbox issuer on ${issuer.url}, keys at ${issuer.jwksUrl}`);
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void issuer.stop().then(() => process.exit(0)));
}
