import { Refusal, json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { keep } from "../kept-maps.ts";
import type { Route } from "../network.ts";
import { OAuthProvider, oauthRefusal, readForm, readQuery } from "../oauth-provider.ts";
import type { Asked, Code } from "../oauth-provider.ts";
import { SCOPE_WORDS } from "./access.ts";
import { readParameters, stringParameter } from "./parameters.ts";
import { personalityOf, refusal } from "./personality.ts";
import { BAD_GRANT } from "./pleroma.ts";
import { FRIENDICA_HOST, LENIENT_HOST, SMALL_HOST } from "./state.ts";
import { accountsOf, nextId, randomSecret } from "./state.ts";
import type { App, MastodonShared, Token } from "./state.ts";
import { route } from "../network.ts";

const CODE_MS = 10 * 60 * 1000;
const GRANT_MESSAGE =
  "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.";
const TITLE = "An error has occurred";

/** Beginning of a refresh token; the rest is the token that it came with. */
const REFRESH = "refresh.";
const COARSE_SCOPES = ["read", "write"];

/** Returns the scopes that the app may ask for. */
function scopesAt({ host, scopes }: App): readonly string[] {
  return personalityOf(host).hasCoarseScopes ? COARSE_SCOPES : scopes;
}

export class OAuth {
  readonly #shared: MastodonShared;
  readonly #provider: OAuthProvider;

  constructor(shared: MastodonShared) {
    this.#shared = shared;
    const hostOf = ({ clientId }: Asked) => shared.state.apps.get(clientId)?.host ?? "";
    this.#provider = new OAuthProvider({
      network: "mastodon",
      now: shared.now,
      codes: () => shared.state.codes,
      codeMs: CODE_MS,
      read: (exchange) => this.#read(exchange),
      page: (asked) => ({
        host: hostOf(asked),
        title: `Authorize ${shared.state.apps.get(asked.clientId)?.name}?`,
      }),
      accounts: (asked) =>
        accountsOf(shared.state, hostOf(asked)).map(({ id, displayName, username, host }) => {
          return { id, label: displayName, hint: `@${username}@${host}` };
        }),
      words: (scope) => SCOPE_WORDS[scope] ?? scope,
      buttons: { allow: "Authorize", deny: "Deny" },
      denied: () => ({
        error: "access_denied",
        error_description: "The resource owner or authorization server denied the request.",
      }),
    });
  }

  routes(): Route[] {
    return [
      ...this.#provider.routes({ path: "/oauth/authorize", name: "authorize" }),
      route("POST /api/v1/apps", "apps", (exchange) => this.#register(exchange)),
      route("POST /oauth/token", "token", (exchange) => this.#answer(exchange)),
      route("POST /oauth/revoke", "revoke", (exchange) => this.#revoke(exchange)),
    ];
  }

  knowsClient(exchange: Exchange): boolean {
    return this.#shared.state.apps.has(exchange.query.get("client_id") ?? "");
  }

  #register(exchange: Exchange): Answer {
    const { host } = exchange;
    const parameters = readParameters(exchange);
    const name = stringParameter(parameters, "client_name");
    if (name === undefined)
      throw refusal(host, 422, "Validation failed: Application name can't be blank");
    const redirectUris = this.#redirectUris(host, parameters["redirect_uris"]);
    const scopes = (stringParameter(parameters, "scopes") ?? "read").split(/[\s+]+/);
    if (scopes.some((scope) => !(scope in SCOPE_WORDS)))
      throw refusal(host, 422, "Validation failed: Scopes doesn't match configured on the server.");
    const app: App = {
      id: nextId(this.#shared),
      host,
      name,
      website: stringParameter(parameters, "website") ?? null,
      clientId: randomSecret(),
      clientSecret: randomSecret(),
      redirectUris,
      scopes,
    };
    keep(this.#shared.state.apps, app.clientId, app);
    return json(200, {
      id: app.id,
      name,
      website: app.website,
      scopes,
      redirect_uris: redirectUris,
      redirect_uri: redirectUris.join("\n"),
      client_id: app.clientId,
      client_secret: app.clientSecret,
      client_secret_expires_at: 0,
    });
  }

  #redirectUris(host: string, given: unknown): string[] {
    // Only Mastodon from 4.3 on accepts an array.
    const uris = Array.isArray(given) && personalityOf(host).strict ? given.map(String) : undefined;
    const list = uris ?? (typeof given === "string" ? given.split(/\s+/).filter(Boolean) : []);
    if (list.length === 0)
      throw refusal(host, 422, "Validation failed: Redirect URI can't be blank");
    if (list.some((uri) => !URL.canParse(uri)))
      throw refusal(host, 422, "Validation failed: Redirect URI must be an absolute URI.");
    return list;
  }

  #read(exchange: Exchange): Asked {
    const { query, direct, host } = exchange;
    const app = this.#shared.state.apps.get(query.get("client_id") ?? "");
    const isHere = app !== undefined && (direct || app.host === host);
    const asked = readQuery(this.#provider, exchange, {
      allowed: isHere ? scopesAt(app) : undefined,
      isRedirect: (address) => app?.redirectUris.includes(address) === true,
      fallback: ["read"],
      endings: {
        client: {
          status: 401,
          title: TITLE,
          page: "Client authentication failed due to unknown client.",
        },
        redirect: { title: TITLE, page: "The redirect uri included is not valid." },
        responseType: { back: { error: "unsupported_response_type" } },
        scope: () => ({ back: { error: "invalid_scope" } }),
      },
    });
    if ((query.get("code_challenge_method") ?? "S256") !== "S256")
      throw this.#provider.end(asked, { back: { error: "invalid_code_challenge_method" } });
    // Servers that don't know PKCE ignore its parameters.
    const isStrict = app !== undefined && personalityOf(app.host).strict;
    return { ...asked, challenge: isStrict ? query.get("code_challenge") : null };
  }

  /** Returns the fields of a form and the client that it proves to come from. */
  #client(exchange: Exchange): { form: URLSearchParams; app: App } {
    const form = readForm(exchange);
    if (form === undefined)
      throw oauthRefusal(400, "invalid_request", "The request must be form encoded.");
    const basic = /^Basic (\S+)$/i.exec(exchange.headers.authorization ?? "")?.[1];
    const [basicId, basicSecret] =
      basic === undefined ? [] : Buffer.from(basic, "base64").toString("utf8").split(":");
    const app = this.#shared.state.apps.get(basicId ?? form.get("client_id") ?? "");
    const secret = basicSecret ?? form.get("client_secret");
    if (app === undefined || app.host !== exchange.host || secret !== app.clientSecret)
      throw oauthRefusal(
        401,
        "invalid_client",
        "Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.",
      );
    return { form, app };
  }

  #answer(exchange: Exchange): Answer {
    try {
      return this.#token(exchange);
    } catch (error) {
      const isPleroma = personalityOf(exchange.host).errors === "pleroma";
      if (error instanceof Refusal && isPleroma) return BAD_GRANT;
      throw error;
    }
  }

  #token(exchange: Exchange): Answer {
    const { form, app } = this.#client(exchange);
    if (form.get("grant_type") === "refresh_token")
      return this.#renew(app, form.get("refresh_token") ?? "");
    if (form.get("grant_type") === "client_credentials") return appToken(exchange.host, form);
    if (form.get("grant_type") !== "authorization_code")
      throw oauthRefusal(
        400,
        "unsupported_grant_type",
        "The authorization grant type is not supported by the authorization server.",
      );
    const { state, now } = this.#shared;
    const code = this.#provider.redeem(
      {
        code: form.get("code") ?? "",
        clientId: app.clientId,
        redirectUri: form.get("redirect_uri") ?? "",
        verifier: form.get("code_verifier") ?? "",
      },
      () => oauthRefusal(400, "invalid_grant", GRANT_MESSAGE),
    );
    const token = this.#reusable(app, code) ?? randomSecret();
    const createdAt = state.tokens.get(token)?.createdAt ?? now();
    return this.#issue(app, { token, createdAt, accountId: code.accountId, scopes: code.scopes });
  }

  #issue(
    { clientId, host }: App,
    { token, ...issued }: Pick<Token, "accountId" | "scopes" | "createdAt"> & { token: string },
  ): Answer {
    keep(this.#shared.state.tokens, token, { clientId, host, ...issued, revoked: false });
    const { isSmall, tokenSeconds } = personalityOf(host);
    return json(200, {
      access_token: token,
      token_type: "Bearer",
      scope: isSmall ? "" : issued.scopes.join(" "),
      created_at: Math.floor(issued.createdAt / 1000),
      ...(tokenSeconds !== undefined && {
        expires_in: tokenSeconds,
        refresh_token: `${REFRESH}${token}`,
      }),
    });
  }

  /** Gives a new token for the one that the refresh token came with, which ends. */
  #renew(app: App, refreshToken: string): Answer {
    const { state, now } = this.#shared;
    const before = state.tokens.get(refreshToken.slice(REFRESH.length));
    const isGood = refreshToken.startsWith(REFRESH) && before?.revoked === false;
    if (before === undefined || !isGood || before.clientId !== app.clientId)
      throw oauthRefusal(400, "invalid_grant", GRANT_MESSAGE);
    before.revoked = true;
    const { accountId, scopes } = before;
    return this.#issue(app, { token: randomSecret(), accountId, scopes, createdAt: now() });
  }

  /** Mastodon gives the same token again to the same app, account and scopes: revoking it ends every link to it. */
  #reusable(app: App, code: Code): string | undefined {
    const scopes = code.scopes.join(" ");
    for (const [token, known] of this.#shared.state.tokens) {
      const same = known.clientId === app.clientId && known.accountId === code.accountId;
      if (same && !known.revoked && known.scopes.join(" ") === scopes) return token;
    }
    return undefined;
  }

  #revoke(exchange: Exchange): Answer {
    const { form, app } = this.#client(exchange);
    const token = this.#shared.state.tokens.get(form.get("token") ?? "");
    if (token !== undefined && token.clientId !== app.clientId)
      throw oauthRefusal(403, "unauthorized_client", "You are not authorized to revoke this token");
    if (token !== undefined) token.revoked = true;
    return json(200, {});
  }
}

/** GoToSocial (`internal/api/auth/token.go`), snac (`mastoapi.c`) and Friendica (`Module/OAuth/Token.php`). */
const ADDRESS_WANTED: ReadonlySet<string> = new Set([LENIENT_HOST, SMALL_HOST, FRIENDICA_HOST]);

/** A token of the app itself, which shows that the server knows it. */
function appToken(host: string, form: URLSearchParams): Answer {
  if (form.get("redirect_uri") !== null || !ADDRESS_WANTED.has(host))
    return json(200, { access_token: randomSecret(), token_type: "Bearer", scope: "read" });
  // Friendica looks for an app with this address.
  if (host === FRIENDICA_HOST) throw oauthRefusal(401, "invalid_client", "Unknown client");
  throw oauthRefusal(400, "invalid_request", "redirect_uri was not set in the token request form");
}
