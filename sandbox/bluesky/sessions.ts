import { randomUUID } from "node:crypto";
import { SignJWT, decodeJwt, errors, jwtVerify } from "jose";
import type { JWTPayload } from "jose";
import { Refusal, bearerToken, empty, json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Route, Surroundings } from "../network.ts";
import { didDocument } from "./identity.ts";
import type { Grants, Need } from "./oauth-grants.ts";
import { findAccount } from "./state.ts";
import type { Account, BlueskyShared, Session } from "./state.ts";
import { requiredString, xrpcError, xrpcInput } from "./xrpc.ts";
import { route } from "../network.ts";

const ACCESS_SECONDS = 2 * 60 * 60;
const REFRESH_SECONDS = 90 * 24 * 60 * 60;
/** How long a refresh token that was used keeps answering with the same successor. */
const GRACE_MS = 2 * 60 * 60 * 1000;
const SESSIONS_MAX = 5000;

interface Issued {
  readonly accessJwt: string;
  readonly refreshJwt: string;
}

export class Sessions {
  readonly #shared: BlueskyShared;
  readonly #surroundings: Surroundings;
  readonly #grants: Grants;

  constructor(shared: BlueskyShared, surroundings: Surroundings, grants: Grants) {
    this.#shared = shared;
    this.#surroundings = surroundings;
    this.#grants = grants;
  }

  /**
   * The account whose access token the request carries. Refuses as the reference server does: 400 for an expired one.
   * `need` is asked of OAuth tokens alone: an app password may do all of it.
   */
  async authorize(exchange: Exchange, need?: Need): Promise<Account> {
    const bound = boundToken(exchange);
    if (bound !== undefined) return await this.#grants.authorize(exchange, bound, need);
    const payload = await this.#verify(exchange, "com.atproto.appPass");
    const { state } = this.#shared;
    if (
      payload["epoch"] !== state.accessEpoch ||
      state.killedSessions.includes(String(payload["sid"]))
    )
      throw xrpcError(400, "ExpiredToken", "Token has expired");
    return this.#usable(payload);
  }

  /** Ends the session behind the request's token at once, access token included. */
  kill(exchange: Exchange): void {
    const payload = this.#peek(exchange);
    if (payload === undefined) return;
    const { state } = this.#shared;
    state.grants.delete(String(payload["gid"]));
    state.killedSessions.push(String(payload["sid"]));
    state.sessions = state.sessions.filter(({ id }) => id !== payload["sid"]);
  }

  /** The DID that the request's token speaks of, unchecked: only for counting. */
  speaker(exchange: Exchange): string {
    return this.#peek(exchange)?.sub ?? "";
  }

  routes(): Route[] {
    const path = (method: string) => `/xrpc/com.atproto.server.${method}`;
    return [
      route(`POST ${path("createSession")}`, "createSession", (exchange) => this.#create(exchange)),
      route(`POST ${path("refreshSession")}`, "refreshSession", (exchange) =>
        this.#refresh(exchange),
      ),
      route(`GET ${path("getSession")}`, "getSession", async (exchange) =>
        json(200, this.#view(await this.authorize(exchange))),
      ),
      route(`POST ${path("deleteSession")}`, "deleteSession", async (exchange) => {
        const payload = await this.#verify(exchange, "com.atproto.refresh");
        const { state } = this.#shared;
        state.sessions = state.sessions.filter(({ id }) => id !== payload["sid"]);
        return empty(200);
      }),
    ];
  }

  async #create(exchange: Exchange): Promise<Answer> {
    const input = xrpcInput(exchange);
    const identifier = requiredString(input, "identifier");
    const password = requiredString(input, "password");
    const account = findAccount(this.#shared.state, identifier);
    if (account === undefined || !account.appPasswords.includes(password))
      throw xrpcError(401, "AuthenticationRequired", "Invalid identifier or password");
    const session: Session = {
      id: randomUUID(),
      did: account.did,
      refreshId: randomUUID(),
      previous: null,
    };
    const { state } = this.#shared;
    state.sessions = [...state.sessions.slice(-SESSIONS_MAX + 1), session];
    return json(200, { ...this.#view(account), ...(await this.#issue(session)) });
  }

  async #refresh(exchange: Exchange): Promise<Answer> {
    const payload = await this.#verify(exchange, "com.atproto.refresh");
    const session = this.#shared.state.sessions.find(({ id }) => id === payload["sid"]);
    const now = this.#surroundings.now();
    if (session === undefined) throw xrpcError(400, "ExpiredToken", "Token has been revoked");
    const { previous } = session;
    if (session.refreshId === payload.jti) {
      session.previous = { refreshId: session.refreshId, graceUntil: now + GRACE_MS };
      session.refreshId = randomUUID();
    } else if (previous?.refreshId !== payload.jti || now >= (previous?.graceUntil ?? 0)) {
      throw xrpcError(400, "ExpiredToken", "Token has been revoked");
    }
    const account = this.#usable(payload);
    return json(200, { ...this.#view(account), ...(await this.#issue(session)) });
  }

  #view(account: Account): Record<string, unknown> {
    return {
      did: account.did,
      handle: account.handle,
      email: account.email,
      emailConfirmed: true,
      emailAuthFactor: false,
      didDoc: didDocument(account),
      active: true,
    };
  }

  #usable(payload: JWTPayload): Account {
    const account = findAccount(this.#shared.state, String(payload.sub));
    if (account === undefined) throw xrpcError(400, "InvalidToken", "Token could not be verified");
    return account;
  }

  async #issue(session: Session): Promise<Issued> {
    const { state } = this.#shared;
    const issuedAt = Math.floor(this.#surroundings.now() / 1000);
    const sign = (scope: string, type: string, seconds: number) =>
      new SignJWT({ scope, sid: session.id, epoch: state.accessEpoch })
        .setProtectedHeader({ alg: "HS256", typ: type })
        .setSubject(session.did)
        .setAudience("did:web:pds.sandbox.test")
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + seconds);
    const secret = Buffer.from(state.secret, "hex");
    return {
      accessJwt: await sign("com.atproto.appPass", "at+jwt", ACCESS_SECONDS)
        .setJti(randomUUID())
        .sign(secret),
      refreshJwt: await sign("com.atproto.refresh", "refresh+jwt", REFRESH_SECONDS)
        .setJti(session.refreshId)
        .sign(secret),
    };
  }

  async #verify(exchange: Exchange, scope: string): Promise<JWTPayload> {
    const token = bearerToken(exchange);
    if (token === undefined) throw xrpcError(401, "AuthMissing", "Authentication Required");
    try {
      const { payload } = await jwtVerify(token, Buffer.from(this.#shared.state.secret, "hex"), {
        algorithms: ["HS256"],
        currentDate: new Date(this.#surroundings.now()),
      });
      if (payload["scope"] !== scope) throw xrpcError(400, "InvalidToken", "Bad token scope");
      return payload;
    } catch (error) {
      if (error instanceof Refusal) throw error;
      if (error instanceof errors.JWTExpired)
        throw xrpcError(400, "ExpiredToken", "Token has expired");
      throw xrpcError(400, "InvalidToken", "Token could not be verified");
    }
  }

  #peek(exchange: Exchange): JWTPayload | undefined {
    try {
      return decodeJwt(boundToken(exchange) ?? bearerToken(exchange) ?? "");
    } catch {
      return undefined;
    }
  }
}

/** A token that is worth something only together with a proof (RFC 9449, section 7.1). */
function boundToken({ headers }: Exchange): string | undefined {
  return /^DPoP (\S+)$/i.exec(headers.authorization ?? "")?.[1];
}
