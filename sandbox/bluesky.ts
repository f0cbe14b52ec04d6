import { json } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import type { LogIn, PublishedPost, Route, SandboxNetwork, Surroundings } from "./network.ts";
import { Blobs } from "./bluesky/blobs.ts";
import { Proofs } from "./bluesky/dpop.ts";
import { oauthFailure, recordRefusal } from "./bluesky/failures.ts";
import { PDS_HOST, identityRoutes } from "./bluesky/identity.ts";
import { OAuth } from "./bluesky/oauth.ts";
import { OAuthClients } from "./bluesky/oauth-clients.ts";
import { Grants } from "./bluesky/oauth-grants.ts";
import { Reading } from "./bluesky/reading.ts";
import { Repository } from "./bluesky/repository.ts";
import { Sessions } from "./bluesky/sessions.ts";
import {
  DEMO_APP_PASSWORD,
  DEMO_HANDLE,
  FRIEND_APP_PASSWORD,
  FRIEND_HANDLE,
  findAccount,
  freshState,
  newAccount,
} from "./bluesky/state.ts";
import type { Account, BlueskyShared, NewAccount } from "./bluesky/state.ts";
import { VIDEO_HOST, VideoService } from "./bluesky/video-service.ts";
import { tooManyRequests } from "./bluesky/xrpc.ts";
import { noteRemoval } from "./follow-ups.ts";
import { KeptNetwork } from "./kept-network.ts";

const SHORT_WAIT_MS = 30_000;
const LONG_WAIT_MS = 6 * 3_600_000;

/** An AT Protocol server with accounts, the public app view and the DID directory, as far as publishing needs them. */
export class Bluesky extends KeptNetwork<BlueskyShared> implements SandboxNetwork {
  readonly name = "bluesky";
  readonly title = "Bluesky";
  readonly logIns: readonly LogIn[] = [
    {
      label: "Bluesky",
      fields: { handle: DEMO_HANDLE, "app password": DEMO_APP_PASSWORD },
    },
    {
      label: "Bluesky, a second account",
      fields: { handle: FRIEND_HANDLE, "app password": FRIEND_APP_PASSWORD },
    },
  ];
  readonly routes: readonly Route[];
  readonly #surroundings: Surroundings;
  /** OAuth clients with a public address: the sandbox has to know them. */
  readonly oauthClients = new OAuthClients();
  readonly #grants: Grants;
  readonly #oauth: OAuth;
  readonly #sessions: Sessions;
  readonly #blobs: Blobs;
  readonly #reading: Reading;

  constructor(surroundings: Surroundings) {
    super({ state: freshState() }, freshState);
    this.#surroundings = surroundings;
    const proofs = new Proofs(this.shared, surroundings);
    this.#grants = new Grants(this.shared, surroundings, proofs);
    const parts = { proofs, clients: this.oauthClients, grants: this.#grants };
    this.#oauth = new OAuth(this.shared, surroundings, parts);
    this.#sessions = new Sessions(this.shared, surroundings, this.#grants);
    this.#blobs = new Blobs(this.shared, surroundings, this.#sessions);
    this.#reading = new Reading(this.shared, this.#blobs);
    const repository = new Repository(this.shared, surroundings, this.#sessions, this.#blobs);
    repository.onDelete = (uri) => {
      const seen = this.posts().find(({ id }) => id === uri);
      noteRemoval(this.shared.state, seen, surroundings.now());
    };
    this.routes = [
      ...this.#sessions.routes(),
      ...identityRoutes(this.shared),
      ...repository.routes(),
      ...this.#blobs.routes(),
      ...this.#oauth.routes(),
      ...new VideoService(this.shared, surroundings, this.#sessions).routes(),
    ];
  }

  /** A handle is a host too: the proof of who owns it is asked for there. */
  get hosts(): readonly string[] {
    const handles = this.accounts.map(({ handle }) => handle);
    return [
      PDS_HOST,
      "bsky.social",
      "public.api.bsky.app",
      "plc.directory",
      "bsky.app",
      VIDEO_HOST,
      ...handles,
    ];
  }

  /** Adds an account; the handle must be new. */
  addAccount(account: NewAccount): Readonly<Account> {
    const { state } = this.shared;
    if (findAccount(state, account.handle) !== undefined)
      throw new Error(`the handle ${account.handle} is taken`);
    const added = newAccount(account);
    state.accounts.push(added);
    return added;
  }

  get accounts(): readonly Readonly<Account>[] {
    return this.shared.state.accounts;
  }

  usernameOf(did: string): string | undefined {
    return findAccount(this.shared.state, did)?.handle;
  }

  /** From now on every access token counts as expired; refresh tokens go on working. */
  expireAccessTokens(): void {
    this.shared.state.accessEpoch += 1;
  }

  /** As an owner does it on the server's own pages: neither token works any more. */
  endOAuthSessions(handle: string): void {
    this.#grants.endAllOf(this.#account(handle).did);
  }

  /** Access tokens go on working until they expire, as on the real server; refreshing is refused. */
  revokeAppPasswords(handle: string): void {
    const account = this.#account(handle);
    account.appPasswords = [];
    const { state } = this.shared;
    state.sessions = state.sessions.filter(({ did }) => did !== account.did);
  }

  collectTemporaryBlobs(): void {
    this.#blobs.collectTemporary();
  }

  claimsBrowser(exchange: Exchange): boolean {
    return !exchange.path.startsWith("/oauth/") || this.#oauth.knowsRequest(exchange);
  }

  accountOf(exchange: Exchange): string {
    return this.#sessions.speaker(exchange);
  }

  failure(code: string, exchange: Exchange): Answer {
    const wait = (milliseconds: number) =>
      tooManyRequests({
        limit: 5000,
        remaining: 0,
        resetAt: this.#surroundings.now() + milliseconds,
        windowMs: 3_600_000,
      });
    if (exchange.path.startsWith("/oauth/")) return oauthFailure(code);
    switch (code) {
      case "rate_limited":
        return wait(SHORT_WAIT_MS);
      case "quota_exceeded":
        return wait(LONG_WAIT_MS);
      case "connection_needs_reauth":
        return this.#unauthorized(exchange);
      case "token_expired":
        this.expireAccessTokens();
        return exchange.headers.authorization?.startsWith("DPoP ")
          ? json(401, { error: "invalid_token", message: "Token has expired" })
          : json(400, { error: "ExpiredToken", message: "Token has expired" });
      case "media_rejected":
        return exchange.path.endsWith("uploadBlob") ? this.tooLarge() : recordRefusal(code);
      default:
        return recordRefusal(code);
    }
  }

  tooLarge(): Answer {
    return json(413, { error: "PayloadTooLarge", message: "request entity too large" });
  }

  notFound(exchange: Exchange): Answer {
    return exchange.path.startsWith("/xrpc/")
      ? json(501, { error: "MethodNotImplemented", message: "Method Not Implemented" })
      : json(404, { error: "NotFound", message: "Not Found" });
  }

  posts(): readonly PublishedPost[] {
    return this.#reading.posts();
  }

  removedPosts(): readonly PublishedPost[] {
    return [...this.shared.state.removed.values()];
  }

  #account(handle: string): Account {
    const account = findAccount(this.shared.state, handle);
    if (account === undefined) throw new Error(`there is no account ${handle}`);
    return account;
  }

  #unauthorized(exchange: Exchange): Answer {
    if (exchange.path.endsWith("createSession")) {
      const message = "Invalid identifier or password";
      return json(401, { error: "AuthenticationRequired", message });
    }
    this.#sessions.kill(exchange);
    const isRefresh = exchange.path.endsWith("refreshSession");
    const message = isRefresh ? "Token has been revoked" : "Token has expired";
    return json(400, { error: "ExpiredToken", message });
  }
}
