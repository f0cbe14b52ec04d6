import type { Texts } from "../contract/draft.ts";
import { type ClassifiedAnswer, exchange } from "../contract/answers.ts";
import { type HttpRequest, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { type AsAccount, type Credentials, type OAuthCredentials, isOAuth } from "./state.ts";
import { type OAuthSessionData, accessTokenOf } from "./state.ts";
import { digestOf, endedTokens } from "../contract/ended-token.ts";
import { bearer } from "./request.ts";
import { isOwnServer, LOGIN_HOST, resolveServer } from "./identity.ts";
import { randomUUID } from "node:crypto";
import { SignJWT, importJWK } from "jose";
import { classify } from "./errors.ts";

/** Makes a call to the account's own server as the account, with an app password or OAuth. */
export function callAsAccount(
  request: HttpRequest,
  { credentials, tools }: AsAccount,
): Promise<HttpResponse | HttpFailure> {
  return isOAuth(credentials)
    ? callWithProof(credentials, request, tools)
    : exchange(tools, withHeaders(request, bearer(credentials.accessJwt)));
}

/**
 * Makes a call with a proof, and repeats it with the server's nonce if the server demands one, which it does before
 * anything else.
 */
async function callWithProof(
  { session }: OAuthCredentials,
  request: HttpRequest,
  tools: NetworkTools,
): Promise<HttpResponse | HttpFailure> {
  const { origin } = new URL(request.url);
  const send = async (): Promise<HttpResponse | HttpFailure> => {
    const headers = await proofHeaders(session, request, tools.now());
    const answer = await exchange(tools, withHeaders(request, headers));
    const nonce = answer instanceof HttpFailure ? undefined : answer.headers["dpop-nonce"];
    if (nonce !== undefined) dpopNonces.set(origin, nonce);
    return answer;
  };
  const first = await send();
  return wantsNonce(first) ? await send() : first;
}

function wantsNonce(answer: HttpResponse | HttpFailure): boolean {
  if (answer instanceof HttpFailure || answer.status !== 401) return false;
  return (
    answer.headers["dpop-nonce"] !== undefined &&
    /error="use_dpop_nonce"/.test(answer.headers["www-authenticate"] ?? "")
  );
}

function withHeaders(request: HttpRequest, headers: Texts): HttpRequest {
  return { ...request, headers: { ...request.headers, ...headers } };
}

const ORIGINS_MAX = 200;
/** Servers choose the nonce, and each call to them carries it. */
const NONCE_CHARACTERS_MAX = 1_000;

/** The nonce that each server last issued. Servers accept any recent one, so all accounts can share it. */
const nonces = new Map<string, string>();

export const dpopNonces = {
  get: (origin: string): string | undefined => nonces.get(origin),
  set(origin: string, nonce: string): void {
    nonces.delete(origin);
    if (nonce.length > NONCE_CHARACTERS_MAX) return;
    nonces.set(origin, nonce);
    const [oldest] = nonces.keys();
    if (oldest !== undefined && nonces.size > ORIGINS_MAX) nonces.delete(oldest);
  },
  del: (origin: string): void => void nonces.delete(origin),
};

/** Returns the headers of one call under the session (RFC 9449, sections 4.2 and 7). */
async function proofHeaders(
  { dpopJwk, tokenSet }: OAuthSessionData,
  call: { readonly method: string; readonly url: string },
  now: Date,
): Promise<Record<string, string>> {
  const { kty, crv, x, y } = dpopJwk as Readonly<Record<string, unknown>>;
  const url = new URL(call.url);
  const nonce = dpopNonces.get(url.origin);
  const key = await importJWK(dpopJwk, "ES256");
  const proof = await new SignJWT({
    jti: randomUUID(),
    htm: call.method,
    htu: url.origin + url.pathname,
    ath: digestOf(tokenSet.access_token),
    ...(nonce === undefined ? {} : { nonce }),
  })
    .setProtectedHeader({
      alg: "ES256",
      typ: "dpop+jwt",
      jwk: { kty: String(kty), crv: String(crv), x: String(x), y: String(y) },
    })
    .setIssuedAt(Math.floor(now.getTime() / 1000))
    .sign(key);
  return { authorization: `DPoP ${tokenSet.access_token}`, dpop: proof };
}

export const ended = endedTokens<Credentials>({ nameOf: ({ did }) => did, tokenOf: accessTokenOf });

/** Errors of a server for an account that it no longer has, or that is not available to anybody. */
const ABOUT_ACCOUNT =
  /^(?:Account(?:Deactivated|Takedown|Suspended|NotFound)|Repo(?:Deactivated|Takendown|Suspended|NotFound))$/;
const SENTENCES = /account is deactivated|could not find repo\b/i;

/** Returns the server that the account's document now names, or undefined when it is the one that was linked. */
export async function movedTo({ credentials, tools }: AsAccount): Promise<string | undefined> {
  const server = await resolveServer(credentials.did, tools);
  return typeof server === "string" && server !== credentials.pds ? server : undefined;
}

/** Reports whether the session continues at another server, because the login host that made it serves both. */
export function staysBehind(credentials: Credentials, server: string): boolean {
  return !isOAuth(credentials) && credentials.service === LOGIN_HOST && isOwnServer(server);
}

/**
 * Interprets an unexpected answer for the account. A token that ended early is renewed, and one that took the place of
 * such a token is not refused for its age. A server that an account has left calls it deactivated, or doesn't
 * know it (https://atproto.com/guides/account-migration). Linking it again finds the new server, and so does renewing a
 * session that continues there.
 */
export async function classifyFor(answer: HttpResponse, as: AsAccount): Promise<ClassifiedAnswer> {
  const classified = classify(answer, as.tools.now());
  if (classified.effect === "at_once") {
    const isRenewed = await ended.note(as);
    return isRenewed
      ? { ...classified, code: "connection_needs_reauth", effect: "refuse" }
      : classified;
  }
  const { networkCode, note } = classified;
  const isSaid = networkCode === "InvalidRequest" && SENTENCES.test(note);
  if (!isSaid && !ABOUT_ACCOUNT.test(networkCode ?? "")) return classified;
  const server = await movedTo(as);
  if (server === undefined) return classified;
  const { rule: _deactivated, ...said } = classified;
  if (!staysBehind(as.credentials, server))
    return { ...said, code: "connection_needs_reauth", effect: "refuse", isProof: true };
  await ended.note(as);
  return { ...said, code: "network_unavailable", effect: "at_once", isProof: true };
}
