import { text } from "./control-input.ts";
import { json } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import type {
  Control,
  LogIn,
  PublishedPost,
  Route,
  SandboxNetwork,
  Surroundings,
} from "./network.ts";
import { Blobs } from "./bluesky/blobs.ts";
import { PDS_HOST, identityRoutes } from "./bluesky/identity.ts";
import { Reading } from "./bluesky/reading.ts";
import { Repository } from "./bluesky/repository.ts";
import { Sessions } from "./bluesky/sessions.ts";
import {
  DEMO_APP_PASSWORD,
  DEMO_HANDLE,
  FRIEND_APP_PASSWORD,
  FRIEND_HANDLE,
  dumpState,
  findAccount,
  freshState,
  newAccount,
  restoreState,
} from "./bluesky/state.ts";
import type { Account, BlueskyShared, NewAccount } from "./bluesky/state.ts";
import { tooManyRequests } from "./bluesky/xrpc.ts";

const SHORT_WAIT_MS = 30_000;
const LONG_WAIT_MS = 6 * 3_600_000;
const RECORD = "Invalid app.bsky.feed.post record:";

/** An AT Protocol server with accounts, the public app view and the DID directory, as far as publishing needs them. */
export class Bluesky implements SandboxNetwork {
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
  readonly controls: Readonly<Record<string, Control>> = {
    addAccount: (input) =>
      this.addAccount({ handle: text(input, "handle"), appPassword: text(input, "appPassword") }),
    expireAccessTokens: () => this.expireAccessTokens(),
    revokeAppPasswords: (input) => this.revokeAppPasswords(text(input, "handle")),
    setStatus: (input) => this.setStatus(text(input, "handle"), statusOf(text(input, "status"))),
    collectTemporaryBlobs: () => this.collectTemporaryBlobs(),
  };
  readonly routes: readonly Route[];
  readonly #shared: BlueskyShared = { state: freshState() };
  readonly #surroundings: Surroundings;
  readonly #sessions: Sessions;
  readonly #blobs: Blobs;
  readonly #reading: Reading;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#sessions = new Sessions(this.#shared, surroundings);
    this.#blobs = new Blobs(this.#shared, surroundings, this.#sessions);
    this.#reading = new Reading(this.#shared, this.#blobs);
    const repository = new Repository(this.#shared, surroundings, this.#sessions, this.#blobs);
    this.routes = [
      ...this.#sessions.routes(),
      ...identityRoutes(this.#shared),
      ...repository.routes(),
      ...this.#blobs.routes(),
      ...this.#reading.routes(),
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
      ...handles,
    ];
  }

  /** Adds an account; the handle must be new. */
  addAccount(account: NewAccount): Readonly<Account> {
    const { state } = this.#shared;
    if (findAccount(state, account.handle) !== undefined)
      throw new Error(`the handle ${account.handle} is taken`);
    const added = newAccount(account);
    state.accounts.push(added);
    return added;
  }

  get accounts(): readonly Readonly<Account>[] {
    return this.#shared.state.accounts;
  }

  /** From now on every access token counts as expired; refresh tokens go on working. */
  expireAccessTokens(): void {
    this.#shared.state.accessEpoch += 1;
  }

  /** Access tokens go on working until they expire, as on the real server; refreshing is refused. */
  revokeAppPasswords(handle: string): void {
    const account = this.#account(handle);
    account.appPasswords = [];
    const { state } = this.#shared;
    state.sessions = state.sessions.filter(({ did }) => did !== account.did);
  }

  setStatus(handle: string, status: Account["status"]): void {
    this.#account(handle).status = status;
  }

  collectTemporaryBlobs(): void {
    this.#blobs.collectTemporary();
  }

  accountOf(exchange: Exchange): string {
    return this.#sessions.speaker(exchange);
  }

  failure(code: string, exchange: Exchange): Answer {
    const invalid = (message: string) => json(400, { error: "InvalidRequest", message });
    const wait = (milliseconds: number) =>
      tooManyRequests({
        limit: 5000,
        remaining: 0,
        resetAt: this.#surroundings.now() + milliseconds,
        windowMs: 3_600_000,
        allowed: false,
      });
    switch (code) {
      case "network_unavailable":
        return json(503, { error: "ServiceUnavailable", message: "Service Unavailable" });
      case "rate_limited":
        return wait(SHORT_WAIT_MS);
      case "quota_exceeded":
        return wait(LONG_WAIT_MS);
      case "connection_needs_reauth":
        return this.#unauthorized(exchange);
      case "permission_missing":
        return json(403, {
          error: "ScopeMissingError",
          message: 'Missing required scope "repo:app.bsky.feed.post?action=create"',
        });
      case "account_restricted":
        return json(401, { error: "AccountTakedown", message: "Account has been taken down" });
      case "text_too_long":
        return invalid(`${RECORD} grapheme too big (maximum 300, got 301) at $.text`);
      case "text_invalid":
        return invalid(
          `${RECORD} integer too small (minimum 0, got -1) at $.facets[0].index.byteStart`,
        );
      case "media_rejected":
        return exchange.path.endsWith("uploadBlob")
          ? this.tooLarge()
          : invalid(
              `${RECORD} blob too big (maximum 2000000, got 2000001) at $.embed.images[0].image`,
            );
      case "media_processing_failed":
        return json(400, { error: "BlobNotFound", message: "Could not find blob" });
      default:
        return invalid(`The sandbox refuses this record (${code})`);
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

  reset(): void {
    this.#shared.state = freshState();
  }

  dump(): unknown {
    return dumpState(this.#shared.state);
  }

  restore(dumped: unknown): void {
    this.#shared.state = restoreState(dumped);
  }

  #account(handle: string): Account {
    const account = findAccount(this.#shared.state, handle);
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

function statusOf(given: string): Account["status"] {
  if (given === "active" || given === "deactivated" || given === "takendown") return given;
  throw new Error("status is active, deactivated or takendown");
}
