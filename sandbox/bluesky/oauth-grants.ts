import { randomUUID } from "node:crypto";
import { SignJWT, decodeJwt, errors, jwtVerify } from "jose";
import type { Exchange } from "../exchange.ts";
import { keep } from "../kept-maps.ts";
import type { Surroundings } from "../network.ts";
import type { Proofs } from "./dpop.ts";
import { ProofProblem } from "./dpop.ts";
import { resourceRefusal } from "./oauth-answers.ts";
import { findAccount } from "./state.ts";
import type { Account, BlueskyShared, Grant } from "./state.ts";
import { xrpcError } from "./xrpc.ts";

const ACCESS_SECONDS = 60 * 60;

/** What a call needs of the scope: `repo`, `blob`, or `rpc` with the name of a method. */
export type Need = "repo" | "blob" | `rpc:${string}` | `repo:${string}?action=delete`;

/** The authorizations that were given, and their tokens. */
export class Grants {
  readonly #shared: BlueskyShared;
  readonly #surroundings: Surroundings;
  readonly #proofs: Proofs;

  constructor(shared: BlueskyShared, surroundings: Surroundings, proofs: Proofs) {
    this.#shared = shared;
    this.#surroundings = surroundings;
    this.#proofs = proofs;
  }

  open(grant: Omit<Grant, "id" | "refreshId" | "tokenId">): Grant {
    const made: Grant = { id: randomUUID(), refreshId: "", tokenId: "", ...grant };
    keep(this.#shared.state.grants, made.id, made);
    return made;
  }

  end({ id }: Grant): void {
    this.#shared.state.grants.delete(id);
  }

  endOfCode(code: string): void {
    for (const grant of this.#shared.state.grants.values())
      if (grant.code === code) this.end(grant);
  }

  endAllOf(did: string): void {
    for (const grant of this.#shared.state.grants.values()) if (grant.did === did) this.end(grant);
  }

  /** The grant behind a refresh token. One that was used before ends it: somebody has stolen the token. */
  ofRefresh(token: string): { grant: Grant; isReplay: boolean } | undefined {
    const [, id = "", refreshId] = /^ref-([\w-]+)\.([\w-]+)$/.exec(token) ?? [];
    const grant = this.#shared.state.grants.get(id);
    return grant === undefined ? undefined : { grant, isReplay: grant.refreshId !== refreshId };
  }

  /** The grant behind either of its tokens, unchecked: the holder of one may end it. */
  ofToken(token: string): Grant | undefined {
    return this.ofRefresh(token)?.grant ?? this.#shared.state.grants.get(grantIdIn(token));
  }

  /** New tokens; both of those before stop working at once, as on the reference server. */
  async issue(grant: Grant): Promise<Record<string, unknown>> {
    grant.refreshId = randomUUID();
    grant.tokenId = randomUUID();
    const { state } = this.#shared;
    const issuedAt = Math.floor(this.#surroundings.now() / 1000);
    const accessToken = await new SignJWT({
      scope: grant.scope,
      gid: grant.id,
      epoch: state.accessEpoch,
      cnf: { jkt: grant.thumbprint },
    })
      .setProtectedHeader({ alg: "HS256", typ: "at+jwt" })
      .setSubject(grant.did)
      .setAudience("did:web:pds.sandbox.test")
      .setJti(grant.tokenId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ACCESS_SECONDS)
      .sign(Buffer.from(state.secret, "hex"));
    return {
      access_token: accessToken,
      token_type: "DPoP",
      refresh_token: `ref-${grant.id}.${grant.refreshId}`,
      scope: grant.scope,
      expires_in: ACCESS_SECONDS,
      sub: grant.did,
    };
  }

  /** The account of a request with a token that is bound to a key. */
  async authorize(exchange: Exchange, token: string, need?: Need): Promise<Account> {
    const nonce = this.#proofs.nonce();
    const grant = await this.#grantOf(token);
    try {
      const thumbprint = await this.#proofs.check(exchange, token);
      if (thumbprint !== grant.thumbprint)
        throw new ProofProblem("invalid_dpop_proof", "DPoP key mismatch");
    } catch (error) {
      if (error instanceof ProofProblem) throw resourceRefusal(error.code, error.message, nonce);
      throw error;
    }
    if (need !== undefined && !allows(grant.scope, need))
      throw xrpcError(403, "ScopeMissingError", `Missing required scope "${need}"`);
    const account = findAccount(this.#shared.state, grant.did);
    if (account === undefined) throw resourceRefusal("invalid_token", "Unknown account", nonce);
    return account;
  }

  async #grantOf(token: string): Promise<Grant> {
    const { state } = this.#shared;
    const nonce = this.#proofs.nonce();
    try {
      const { payload } = await jwtVerify(token, Buffer.from(state.secret, "hex"), {
        algorithms: ["HS256"],
        currentDate: new Date(this.#surroundings.now()),
      });
      const grant = state.grants.get(String(payload["gid"]));
      const isCurrent = payload["epoch"] === state.accessEpoch && payload.jti === grant?.tokenId;
      if (grant !== undefined && isCurrent) return grant;
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
    }
    throw resourceRefusal("invalid_token", "Invalid token", nonce);
  }
}

function grantIdIn(token: string): string {
  try {
    return String(decodeJwt(token)["gid"]);
  } catch {
    return "";
  }
}

function allows(scope: string, need: Need): boolean {
  const granted = scope.split(" ");
  if (granted.includes("transition:generic")) return true;
  const [what = "", action] = need.split("?", 2);
  if (action !== undefined)
    return granted.some(
      (one) => one === what || (one.startsWith(`${what}?`) && one.includes(action)),
    );
  return granted.some((one) => one.split("?", 1)[0] === need || one.startsWith(`${need}:`));
}
