import { bearerToken, htmlPage, json } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { keep } from "./kept-maps.ts";
import { KeptNetwork } from "./kept-network.ts";
import type { LogIn, PublishedPost, Route, SandboxNetwork, Surroundings } from "./network.ts";
import { findToken, tooManyRequests } from "./mastodon/access.ts";
import { instanceRoutes } from "./mastodon/instance.ts";
import { MediaRoutes } from "./mastodon/media.ts";
import { OAuth } from "./mastodon/oauth.ts";
import { errorAnswer, personalityOf } from "./mastodon/personality.ts";
import { BAD_GRANT } from "./mastodon/pleroma.ts";
import {
  LENIENT_HOST,
  MASTODON_HOSTS,
  STRICT_HOST,
  accountsOf,
  freshState,
  newAccount,
  randomSecret,
} from "./mastodon/state.ts";
import type { Account, MastodonShared } from "./mastodon/state.ts";
import { Statuses } from "./mastodon/statuses.ts";

const SHORT_WAIT_MS = 30_000;
const LONG_WAIT_MS = 3 * 3_600_000;

const REFUSALS: Readonly<Record<string, { readonly status: number; readonly message: string }>> = {
  network_unavailable: {
    status: 503,
    message: "There was a temporary problem serving your request, please try again",
  },
  permission_missing: { status: 403, message: "This action is outside the authorized scopes" },
  account_restricted: { status: 403, message: "Your login is currently disabled" },
  content_rejected: { status: 422, message: "[KeywordPolicy] Matches with rejected keyword" },
  text_too_long: {
    status: 422,
    message: "Validation failed: Text character limit of 500 exceeded",
  },
  text_invalid: { status: 422, message: "Validation failed: Text is invalid" },
  unproven: { status: 422, message: "Validation failed: The sandbox refuses this" },
  media_rejected: {
    status: 422,
    message: "Cannot attach a video to a post that already contains images",
  },
};

/** Every instance there may be: strict Mastodon everywhere, compatible servers of several kinds on hosts of their own. */
export class Mastodon extends KeptNetwork<MastodonShared> implements SandboxNetwork {
  readonly name = "mastodon";
  readonly title = "Mastodon";
  readonly hosts = MASTODON_HOSTS;
  readonly takesUnknownHosts = true;
  readonly logIns: readonly LogIn[] = [
    { label: "Mastodon", fields: { instance: STRICT_HOST } },
    { label: "A lenient compatible server", fields: { instance: LENIENT_HOST } },
  ];
  readonly routes: readonly Route[];
  readonly #oauth: OAuth;
  readonly #statuses: Statuses;

  constructor(surroundings: Surroundings) {
    super({ state: freshState(), now: () => surroundings.now() }, freshState);
    this.#oauth = new OAuth(this.shared);
    this.#statuses = new Statuses(this.shared, surroundings);
    this.routes = [
      ...instanceRoutes,
      ...this.#oauth.routes(),
      ...new MediaRoutes(this.shared, surroundings).routes(),
      ...this.#statuses.routes(),
    ];
  }

  /** Adds an account to an instance, which need not exist before. */
  addAccount(host: string, username: string, displayName?: string): Readonly<Account> {
    const taken = accountsOf(this.shared.state, host).some((known) => known.username === username);
    if (taken) throw new Error(`@${username}@${host} is taken`);
    const account = newAccount(host, username, displayName);
    this.shared.state.accounts.push(account);
    return account;
  }

  get accounts(): readonly Readonly<Account>[] {
    return this.shared.state.accounts;
  }

  /** Takes `<server>/<id>`, because each server has ids of its own. */
  usernameOf(accountId: string): string | undefined {
    const found = this.accounts.find(({ host, id }) => accountId === `${host}/${id}`);
    return found && `@${found.username}@${found.host}`;
  }

  /** A token without the walk through the authorization page, for tests that are about something else. */
  issueToken(grant: {
    readonly host: string;
    readonly username: string;
    readonly scopes?: readonly string[];
  }): { readonly accessToken: string; readonly accountId: string } {
    const { host, username } = grant;
    const account = accountsOf(this.shared.state, host).find(
      (known) => known.username === username,
    );
    if (account === undefined) throw new Error(`there is no account @${username}@${host}`);
    const accessToken = randomSecret();
    keep(this.shared.state.tokens, accessToken, {
      clientId: "sandbox",
      host,
      accountId: account.id,
      scopes: grant.scopes ?? ["profile", "write:statuses", "write:media", "read:search"],
      createdAt: this.shared.now(),
      revoked: false,
    });
    return { accessToken, accountId: account.id };
  }

  /** As if the account's owner had removed every app. */
  revokeTokens(host: string): void {
    for (const token of this.shared.state.tokens.values())
      if (token.host === host) token.revoked = true;
  }

  /** As old instances did with apps that were idle: `/oauth/token` answers `invalid_client`. */
  forgetApps(host: string): void {
    const { apps } = this.shared.state;
    for (const [clientId, app] of apps) if (app.host === host) apps.delete(clientId);
  }

  claimsBrowser(exchange: Exchange): boolean {
    return !exchange.path.startsWith("/oauth/") || this.#oauth.knowsClient(exchange);
  }

  accountOf(exchange: Exchange): string {
    return findToken(this.shared, exchange)?.accountId ?? "";
  }

  failure(code: string, exchange: Exchange): Answer {
    const { host } = exchange;
    const refused = REFUSALS[code];
    if (refused !== undefined) return errorAnswer(host, refused.status, refused.message);
    switch (code) {
      case "rate_limited":
        return this.#wait(host, SHORT_WAIT_MS);
      case "quota_exceeded":
        return this.#wait(host, LONG_WAIT_MS);
      case "connection_needs_reauth":
        return this.#unauthorized(exchange, "The access token was revoked");
      case "token_expired":
        return this.#unauthorized(exchange, "The access token expired");
      default:
        return errorAnswer(
          host,
          422,
          `Validation failed: Text is refused by the sandbox (${code})`,
        );
    }
  }

  /** From the web server in front, which knows no API. */
  tooLarge(): Answer {
    return htmlPage(
      413,
      "<html><head><title>413 Request Entity Too Large</title></head><body><h1>413 Request Entity Too Large</h1></body></html>",
    );
  }

  notFound({ host }: Exchange): Answer {
    return errorAnswer(host, 404, "Not Found");
  }

  posts(): readonly PublishedPost[] {
    return this.#statuses.posts();
  }

  removedPosts(): readonly PublishedPost[] {
    return [...this.shared.state.removed.values()];
  }

  #wait(host: string, milliseconds: number): Answer {
    const resetAt = this.shared.now() + milliseconds;
    const use = { limit: 300, remaining: 0, resetAt, windowMs: milliseconds };
    return tooManyRequests(host, use);
  }

  #unauthorized(exchange: Exchange, message: string): Answer {
    if (exchange.path === "/oauth/token" && personalityOf(exchange.host).errors === "pleroma")
      return BAD_GRANT;
    if (exchange.path === "/oauth/token")
      return json(400, {
        error: "invalid_grant",
        error_description: "The provided authorization grant is invalid",
      });
    const token = this.shared.state.tokens.get(bearerToken(exchange) ?? "");
    if (token !== undefined) token.revoked = true;
    return errorAnswer(exchange.host, 401, message);
  }
}
