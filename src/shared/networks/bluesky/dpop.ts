import { createHash, randomUUID } from "node:crypto";
import { SignJWT, importJWK } from "jose";
import type { OAuthSessionData } from "./credentials.ts";

const ORIGINS_MAX = 200;

/** The nonce that each server last gave out. Servers take any recent one, so one for all accounts does. */
const nonces = new Map<string, string>();

export const dpopNonces = {
  get: (origin: string): string | undefined => nonces.get(origin),
  set(origin: string, nonce: string): void {
    nonces.delete(origin);
    nonces.set(origin, nonce);
    const [oldest] = nonces.keys();
    if (oldest !== undefined && nonces.size > ORIGINS_MAX) nonces.delete(oldest);
  },
  del: (origin: string): void => void nonces.delete(origin),
};

/** Headers with which one call is made under the session (RFC 9449, sections 4.2 and 7). */
export async function proofHeaders(
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
    ath: createHash("sha256").update(tokenSet.access_token).digest("base64url"),
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
