import { createHash, createHmac } from "node:crypto";
import { calculateJwkThumbprint, decodeProtectedHeader, importJWK, jwtVerify } from "jose";
import type { JWTPayload } from "jose";
import type { Exchange } from "../exchange.ts";
import type { Surroundings } from "../network.ts";
import type { BlueskyShared } from "./state.ts";

const NONCE_MS = 3 * 60_000;
const PROOFS_KEPT = 20_000;

/** Why a proof is not accepted, in the words of RFC 9449. */
export class ProofProblem extends Error {
  readonly code: "use_dpop_nonce" | "invalid_dpop_proof";

  constructor(code: ProofProblem["code"], message: string) {
    super(message);
    this.name = "ProofProblem";
    this.code = code;
  }
}

interface Proof {
  readonly payload: JWTPayload;
  /** Thumbprint of the key that signed. */
  readonly thumbprint: string;
}

/** Judges the proofs of possession that come with requests. A nonce of ours stands in for a look at the time. */
export class Proofs {
  readonly #shared: BlueskyShared;
  readonly #surroundings: Surroundings;
  readonly #seen = new Set<string>();

  constructor(shared: BlueskyShared, surroundings: Surroundings) {
    this.#shared = shared;
    this.#surroundings = surroundings;
  }

  /** The nonce that proofs should carry now. */
  nonce(): string {
    return this.#nonceOf(Math.floor(this.#surroundings.now() / NONCE_MS));
  }

  /** Thumbprint of the key that signed the request's proof; with a token, the proof must be made for it. */
  async check(exchange: Exchange, accessToken?: string): Promise<string> {
    const { payload, thumbprint } = await read(exchange.headers["dpop"]);
    const wanted = `https://${exchange.host}${exchange.path}`;
    if (payload["htm"] !== exchange.method) throw invalid("DPoP htm mismatch");
    if (payload["htu"] !== wanted) throw invalid("DPoP htu mismatch");
    const { nonce } = payload;
    if (typeof nonce !== "string" || !this.#isCurrent(nonce))
      throw new ProofProblem("use_dpop_nonce", "Authorization server requires nonce in DPoP proof");
    const ath =
      accessToken === undefined
        ? undefined
        : createHash("sha256").update(accessToken).digest("base64url");
    if (payload["ath"] !== ath) throw invalid("DPoP ath mismatch");
    if (payload.jti === undefined || this.#seen.has(payload.jti))
      throw invalid("DPoP proof replayed");
    if (this.#seen.size >= PROOFS_KEPT) this.#seen.clear();
    this.#seen.add(payload.jti);
    return thumbprint;
  }

  #isCurrent(nonce: string): boolean {
    const window = Math.floor(this.#surroundings.now() / NONCE_MS);
    return [window, window - 1].some((one) => this.#nonceOf(one) === nonce);
  }

  #nonceOf(window: number): string {
    const key = Buffer.from(this.#shared.state.secret, "hex");
    return createHmac("sha256", key).update(`nonce ${window}`).digest("base64url");
  }
}

function invalid(message: string): ProofProblem {
  return new ProofProblem("invalid_dpop_proof", message);
}

async function read(header: string | readonly string[] | undefined): Promise<Proof> {
  if (typeof header !== "string") throw invalid("DPoP proof required");
  try {
    const { jwk } = decodeProtectedHeader(header);
    if (jwk === undefined || "d" in jwk) throw invalid("DPoP header must carry a public key");
    const key = await importJWK(jwk, "ES256");
    const options = { typ: "dpop+jwt", algorithms: ["ES256"], requiredClaims: ["iat", "jti"] };
    const { payload } = await jwtVerify(header, key, options);
    return { payload, thumbprint: await calculateJwkThumbprint(jwk) };
  } catch (error) {
    if (error instanceof ProofProblem) throw error;
    throw invalid(`Failed to verify DPoP proof: ${(error as Error).message}`);
  }
}
