import { createHash, timingSafeEqual } from "node:crypto";
import { callbackUrl, grantedOf } from "../consent-request.ts";
import { Refusal, htmlPage, json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { keep } from "../kept-maps.ts";
import type { Route } from "../network.ts";
import { SCOPES } from "./access.ts";
import { authorizePage, codePage, errorPage } from "./authorize-page.ts";
import { isForm, readParameters, stringParameter } from "./parameters.ts";
import { personalityOf, refusal } from "./personality.ts";
import { accountsOf, findAccount, nextId, randomSecret } from "./state.ts";
import type { App, Code, MastodonShared } from "./state.ts";

const CODE_MS = 10 * 60 * 1000;
const OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob";
const GRANT_MESSAGE =
  "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.";

function oauthError(status: number, error: string, description: string): Refusal {
  return new Refusal(json(status, { error, error_description: description }));
}

export class OAuth {
  readonly #shared: MastodonShared;

  constructor(shared: MastodonShared) {
    this.#shared = shared;
  }

  routes(): Route[] {
    const route = (
      method: Route["method"],
      path: string,
      name: string,
      run: Route["run"],
    ): Route => ({
      method,
      path,
      name,
      run,
    });
    return [
      route("POST", "/api/v1/apps", "apps", (exchange) => this.#register(exchange)),
      route("GET", "/oauth/authorize", "authorize", (exchange) => this.#ask(exchange)),
      route("POST", "/oauth/authorize", "authorize", (exchange) => this.#decide(exchange)),
      route("POST", "/oauth/token", "token", (exchange) => this.#token(exchange)),
      route("POST", "/oauth/revoke", "revoke", (exchange) => this.#revoke(exchange)),
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
    if (scopes.some((scope) => !SCOPES.some((known) => known === scope)))
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
    // Only Mastodon from 4.3 on takes an array.
    const uris = Array.isArray(given) && personalityOf(host).strict ? given.map(String) : undefined;
    const list = uris ?? (typeof given === "string" ? given.split(/\s+/).filter(Boolean) : []);
    if (list.length === 0)
      throw refusal(host, 422, "Validation failed: Redirect URI can't be blank");
    if (list.some((uri) => uri !== OUT_OF_BAND && !URL.canParse(uri)))
      throw refusal(host, 422, "Validation failed: Redirect URI must be an absolute URI.");
    return list;
  }

  /** The registered client of an authorisation request; an error page when it must not be redirected back. */
  #request(exchange: Exchange): { app: App; redirectUri: string; scopes: string[] } {
    const { query } = exchange;
    const app = this.#shared.state.apps.get(query.get("client_id") ?? "");
    if (app === undefined || (!exchange.direct && app.host !== exchange.host))
      throw new Refusal(
        htmlPage(401, errorPage("Client authentication failed due to unknown client.")),
      );
    const redirectUri = query.get("redirect_uri") ?? "";
    if (!app.redirectUris.includes(redirectUri))
      throw new Refusal(htmlPage(400, errorPage("The redirect uri included is not valid.")));
    const scopes = (query.get("scope") ?? "read").split(/[\s+]+/);
    const problem = requestProblem(app, scopes, query);
    if (problem !== undefined)
      throw new Refusal(this.#back(exchange, redirectUri, { error: problem }));
    return { app, redirectUri, scopes };
  }

  #back(exchange: Exchange, redirectUri: string, parameters: Record<string, string>): Answer {
    return {
      status: 303,
      headers: { location: callbackUrl(exchange, redirectUri, parameters) },
    };
  }

  #ask(exchange: Exchange): Answer {
    const { app, scopes } = this.#request(exchange);
    const accounts = accountsOf(this.#shared.state, app.host);
    const action = `${exchange.path}?${exchange.query.toString()}`;
    return htmlPage(200, authorizePage({ app, scopes, accounts, action }));
  }

  #decide(exchange: Exchange): Answer {
    const { app, redirectUri, scopes } = this.#request(exchange);
    const form = readParameters(exchange);
    if (form["decision"] !== "allow")
      return this.#back(exchange, redirectUri, {
        error: "access_denied",
        error_description: "The resource owner or authorization server denied the request.",
      });
    const accountId =
      stringParameter(form, "account") ?? accountsOf(this.#shared.state, app.host)[0]?.id;
    const account = findAccount(this.#shared.state, app.host, accountId ?? "");
    if (account === undefined)
      return htmlPage(400, errorPage("This instance has no such account."));
    const code = randomSecret();
    const granted = stringParameter(form, "granted")?.split(" ");
    // Servers that don't know PKCE ignore its parameters.
    const challenge = personalityOf(app.host).strict ? exchange.query.get("code_challenge") : null;
    keep(this.#shared.state.codes, code, {
      clientId: app.clientId,
      accountId: account.id,
      redirectUri,
      scopes: grantedOf(scopes, granted),
      challenge,
      expiresAt: this.#shared.now() + CODE_MS,
    });
    if (redirectUri === OUT_OF_BAND) return htmlPage(200, codePage(code));
    return this.#back(exchange, redirectUri, { code });
  }

  #client(exchange: Exchange, form: Readonly<Record<string, unknown>>): App {
    const basic = /^Basic (\S+)$/i.exec(exchange.headers.authorization ?? "")?.[1];
    const [basicId, basicSecret] =
      basic === undefined ? [] : Buffer.from(basic, "base64").toString("utf8").split(":");
    const app = this.#shared.state.apps.get(basicId ?? stringParameter(form, "client_id") ?? "");
    const secret = basicSecret ?? stringParameter(form, "client_secret") ?? "";
    if (app === undefined || app.host !== exchange.host || !sameText(secret, app.clientSecret))
      throw oauthError(
        401,
        "invalid_client",
        "Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.",
      );
    return app;
  }

  #form(exchange: Exchange): Record<string, unknown> {
    if (!isForm(exchange))
      throw oauthError(400, "invalid_request", "The request must be form encoded.");
    return readParameters(exchange);
  }

  #token(exchange: Exchange): Answer {
    const form = this.#form(exchange);
    const app = this.#client(exchange, form);
    if (form["grant_type"] !== "authorization_code")
      throw oauthError(
        400,
        "unsupported_grant_type",
        "The authorization grant type is not supported by the authorization server.",
      );
    const { state } = this.#shared;
    const sent = stringParameter(form, "code") ?? "";
    const code = state.codes.get(sent);
    if (code === undefined || !this.#isGood(code, app, form))
      throw oauthError(400, "invalid_grant", GRANT_MESSAGE);
    state.codes.delete(sent);
    const token = this.#reusable(app, code) ?? randomSecret();
    const createdAt = state.tokens.get(token)?.createdAt ?? this.#shared.now();
    keep(state.tokens, token, {
      clientId: app.clientId,
      host: app.host,
      accountId: code.accountId,
      scopes: code.scopes,
      createdAt,
      revoked: false,
    });
    return json(200, {
      access_token: token,
      token_type: "Bearer",
      scope: code.scopes.join(" "),
      created_at: Math.floor(createdAt / 1000),
    });
  }

  #isGood(code: Code, app: App, form: Readonly<Record<string, unknown>>): boolean {
    const verifier = stringParameter(form, "code_verifier") ?? "";
    const proven =
      code.challenge === null ||
      sameText(createHash("sha256").update(verifier).digest("base64url"), code.challenge);
    return (
      proven &&
      code.clientId === app.clientId &&
      code.redirectUri === form["redirect_uri"] &&
      code.expiresAt > this.#shared.now()
    );
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
    const form = this.#form(exchange);
    const app = this.#client(exchange, form);
    const token = this.#shared.state.tokens.get(stringParameter(form, "token") ?? "");
    if (token !== undefined && token.clientId !== app.clientId)
      throw oauthError(403, "unauthorized_client", "You are not authorized to revoke this token");
    if (token !== undefined) token.revoked = true;
    return json(200, {});
  }
}

function requestProblem(
  app: App,
  scopes: readonly string[],
  query: URLSearchParams,
): string | undefined {
  if (query.get("response_type") !== "code") return "unsupported_response_type";
  if (scopes.some((scope) => !app.scopes.includes(scope))) return "invalid_scope";
  const method = query.get("code_challenge_method") ?? "S256";
  return method === "S256" ? undefined : "invalid_code_challenge_method";
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
