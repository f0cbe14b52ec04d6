import { createHash, randomBytes } from "node:crypto";
import { consentErrorPage, consentPage } from "../consent-page.ts";
import type { Choice } from "../consent-page.ts";
import { grantedOf } from "../consent-request.ts";
import { Refusal, htmlPage } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { keep } from "../kept-maps.ts";
import type { Route, Surroundings } from "../network.ts";
import type { Proofs } from "./dpop.ts";
import { ProofProblem } from "./dpop.ts";
import {
  AUTHORIZATION_HOST,
  ISSUER,
  SCOPE_WORDS,
  oauthAnswer,
  oauthRefusal,
  resourceMetadata,
  serverMetadata,
} from "./oauth-answers.ts";
import type { OAuthClients } from "./oauth-clients.ts";
import type { Grants } from "./oauth-grants.ts";
import { findAccount } from "./state.ts";
import type { AuthorizationCode, BlueskyShared, PushedRequest } from "./state.ts";

const REQUEST_SECONDS = 300;
const CODE_MS = 60_000;
const REQUEST_URI = "urn:ietf:params:oauth:request_uri:";

/** The authorisation server: pushed requests, the owner's consent, tokens that are bound to a key. */
export class OAuth {
  readonly #shared: BlueskyShared;
  readonly #surroundings: Surroundings;
  readonly #proofs: Proofs;
  readonly #clients: OAuthClients;
  readonly #grants: Grants;

  constructor(
    shared: BlueskyShared,
    surroundings: Surroundings,
    parts: { readonly proofs: Proofs; readonly clients: OAuthClients; readonly grants: Grants },
  ) {
    this.#shared = shared;
    this.#surroundings = surroundings;
    this.#proofs = parts.proofs;
    this.#clients = parts.clients;
    this.#grants = parts.grants;
  }

  routes(): Route[] {
    const route = (
      method: Route["method"],
      path: string,
      name: string,
      run: Route["run"],
    ): Route => ({ method, path, name, run });
    const called = [
      route("GET", "/.well-known/oauth-authorization-server", "serverMetadata", serverMetadata),
      route("POST", "/oauth/par", "par", (exchange) => this.#push(exchange)),
      route("POST", "/oauth/token", "oauthToken", (exchange) => this.#token(exchange)),
      route("POST", "/oauth/revoke", "oauthRevoke", (exchange) => this.#revoke(exchange)),
    ];
    return [
      ...called.map((one) => ({ ...one, hosts: [AUTHORIZATION_HOST] })),
      route("GET", "/.well-known/oauth-protected-resource", "resourceMetadata", ({ host }) =>
        resourceMetadata(host),
      ),
      // A browser comes to the sandbox's own address, where every host is as good.
      route("GET", "/oauth/authorize", "authorize", (exchange) => this.#ask(exchange)),
      route("POST", "/oauth/authorize", "authorize", (exchange) => this.#decide(exchange)),
    ];
  }

  /** Whether a browser's request to `/oauth/authorize` is about one of the requests that were pushed here. */
  knowsRequest({ query }: Exchange): boolean {
    return query.get("request_uri")?.startsWith(REQUEST_URI) === true;
  }

  #refuse(error: string, description: string, status = 400): Refusal {
    return oauthRefusal(error, description, { nonce: this.#proofs.nonce(), status });
  }

  /** The client's form, once its key and its name are proven. */
  async #form(exchange: Exchange): Promise<{ form: URLSearchParams; thumbprint: string }> {
    const type = exchange.headers["content-type"] ?? "";
    if (!type.startsWith("application/x-www-form-urlencoded"))
      throw this.#refuse("invalid_request", "Unsupported content-type");
    const thumbprint = await this.#proven(exchange);
    const form = new URLSearchParams(exchange.body.toString("utf8"));
    if (this.#clients.find(form.get("client_id") ?? "") === undefined)
      throw this.#refuse("invalid_client_metadata", "Unable to obtain client metadata");
    const doubt = await this.#clients.doubt(form);
    if (doubt !== undefined) throw this.#refuse("invalid_client", doubt);
    return { form, thumbprint };
  }

  async #proven(exchange: Exchange): Promise<string> {
    try {
      return await this.#proofs.check(exchange);
    } catch (error) {
      if (error instanceof ProofProblem) throw this.#refuse(error.code, error.message);
      throw error;
    }
  }

  async #push(exchange: Exchange): Promise<Answer> {
    const { form, thumbprint } = await this.#form(exchange);
    const clientId = form.get("client_id") ?? "";
    const client = this.#clients.find(clientId);
    const redirectUri = form.get("redirect_uri") ?? "";
    const scope = form.get("scope") ?? "";
    if (client?.redirect_uris.includes(redirectUri) !== true)
      throw this.#refuse("invalid_request", `Invalid redirect_uri ${redirectUri}`);
    if (form.get("response_type") !== "code")
      throw this.#refuse("unsupported_response_type", "Only the code response type is supported");
    const challenge = form.get("code_challenge");
    if (challenge === null || form.get("code_challenge_method") !== "S256")
      throw this.#refuse("invalid_request", "A code_challenge of method S256 is required");
    const asked = scope.split(" ");
    const registered = client.scope.split(" ");
    if (!asked.includes("atproto") || asked.some((one) => !registered.includes(one)))
      throw this.#refuse(
        "invalid_scope",
        `Scope "${scope}" is not declared in the client metadata`,
      );
    const requestUri = `${REQUEST_URI}req-${randomBytes(16).toString("hex")}`;
    const request: PushedRequest = {
      clientId,
      redirectUri,
      scope,
      thumbprint,
      challenge,
      state: form.get("state"),
      loginHint: form.get("login_hint"),
      expiresAt: this.#surroundings.now() + REQUEST_SECONDS * 1000,
    };
    keep(this.#shared.state.pushed, requestUri, request);
    const body = { request_uri: requestUri, expires_in: REQUEST_SECONDS };
    return oauthAnswer(201, body, this.#proofs.nonce());
  }

  /** The pushed request of a browser; an error page when it must not be led back. */
  #pushed({ query }: Exchange): PushedRequest {
    const request = this.#shared.state.pushed.get(query.get("request_uri") ?? "");
    const isGood =
      request !== undefined &&
      request.clientId === query.get("client_id") &&
      request.expiresAt > this.#surroundings.now();
    if (isGood) return request;
    const message = "This request has expired or was used already. Start again.";
    throw new Refusal(htmlPage(400, consentErrorPage("bluesky", "Invalid request", message)));
  }

  #ask(exchange: Exchange): Answer {
    const { scope, clientId, loginHint } = this.#pushed(exchange);
    const { state } = this.#shared;
    const hinted = loginHint === null ? undefined : findAccount(state, loginHint);
    const accounts = state.accounts.map(({ did, handle, displayName }, index): Choice => ({
      kind: "radio",
      name: "account",
      value: did,
      label: displayName,
      hint: `@${handle}`,
      checked: hinted === undefined ? index === 0 : hinted.did === did,
    }));
    const kinds = new Set(scope.split(" ").map(kindOf));
    return htmlPage(
      200,
      consentPage({
        network: "bluesky",
        host: AUTHORIZATION_HOST,
        title: `Authorize ${this.#clients.find(clientId)?.client_name ?? "an app on this machine"}?`,
        wishes: [...kinds].map((kind) => SCOPE_WORDS[kind] ?? kind),
        groups: [{ legend: "As", choices: accounts }],
        action: `${exchange.path}?${exchange.query.toString()}`,
        buttons: [
          { value: "allow", label: "Authorize" },
          { value: "deny", label: "Deny access" },
        ],
      }),
    );
  }

  #decide(exchange: Exchange): Answer {
    const request = this.#pushed(exchange);
    const form = new URLSearchParams(exchange.body.toString("utf8"));
    const { state } = this.#shared;
    state.pushed.delete(exchange.query.get("request_uri") ?? "");
    if (form.get("decision") !== "allow")
      return back(request, {
        error: "access_denied",
        error_description: "The user denied the request",
      });
    const chosen = form.get("account") ?? request.loginHint ?? state.accounts[0]?.did ?? "";
    const account = findAccount(state, chosen);
    if (account === undefined) {
      const message = "There is no such account.";
      return htmlPage(400, consentErrorPage("bluesky", "Unknown account", message));
    }
    const code = `cod-${randomBytes(32).toString("hex")}`;
    const expiresAt = this.#surroundings.now() + CODE_MS;
    const granted = form.get("granted")?.split(" ");
    const scope = grantedOf(request.scope.split(" "), granted).join(" ");
    const allowed = { ...request, scope };
    keep(state.codes, code, { request: allowed, did: account.did, expiresAt, grantId: null });
    return back(request, { code });
  }

  async #token(exchange: Exchange): Promise<Answer> {
    const { form, thumbprint } = await this.#form(exchange);
    const body =
      form.get("grant_type") === "refresh_token"
        ? await this.#refresh(form, thumbprint)
        : await this.#redeem(form, thumbprint);
    return oauthAnswer(200, body, this.#proofs.nonce());
  }

  async #redeem(form: URLSearchParams, thumbprint: string): Promise<Record<string, unknown>> {
    if (form.get("grant_type") !== "authorization_code")
      throw this.#refuse("unsupported_grant_type", "Grant type not supported");
    const { state } = this.#shared;
    const code = state.codes.get(form.get("code") ?? "");
    const used = code?.grantId == null ? undefined : state.grants.get(code.grantId);
    // A code that comes twice was overheard: what it gave before is taken back.
    if (used !== undefined) this.#grants.end(used);
    if (code === undefined || code.grantId !== null)
      throw this.#refuse("invalid_grant", "Invalid code");
    if (!this.#isGood(code, form, thumbprint)) throw this.#refuse("invalid_grant", "Invalid code");
    const { request } = code;
    const { clientId, scope } = request;
    const grant = this.#grants.open({ did: code.did, clientId, scope, thumbprint });
    code.grantId = grant.id;
    return await this.#grants.issue(grant);
  }

  #isGood(
    { request, expiresAt }: AuthorizationCode,
    form: URLSearchParams,
    thumbprint: string,
  ): boolean {
    const verifier = form.get("code_verifier") ?? "";
    return (
      createHash("sha256").update(verifier).digest("base64url") === request.challenge &&
      request.clientId === form.get("client_id") &&
      request.redirectUri === form.get("redirect_uri") &&
      request.thumbprint === thumbprint &&
      expiresAt > this.#surroundings.now()
    );
  }

  async #refresh(form: URLSearchParams, thumbprint: string): Promise<Record<string, unknown>> {
    const found = this.#grants.ofRefresh(form.get("refresh_token") ?? "");
    if (found === undefined) throw this.#refuse("invalid_grant", "Session not found");
    const { grant, isReplay } = found;
    if (isReplay) {
      this.#grants.end(grant);
      throw this.#refuse("invalid_grant", "Refresh token replayed");
    }
    if (grant.clientId !== form.get("client_id") || grant.thumbprint !== thumbprint)
      throw this.#refuse("invalid_grant", "The token was issued to another client or key");
    return await this.#grants.issue(grant);
  }

  async #revoke(exchange: Exchange): Promise<Answer> {
    const { form } = await this.#form(exchange);
    const grant = this.#grants.ofToken(form.get("token") ?? "");
    if (grant !== undefined && grant.clientId === form.get("client_id")) this.#grants.end(grant);
    return oauthAnswer(200, {}, this.#proofs.nonce());
  }
}

function kindOf(scope: string): string {
  return scope in SCOPE_WORDS ? scope : (scope.split(/[:?]/, 1)[0] ?? scope);
}

function back({ redirectUri, state }: PushedRequest, parameters: Record<string, string>): Answer {
  const url = new URL(redirectUri);
  const all = { iss: ISSUER, ...(state === null ? {} : { state }), ...parameters };
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
  return { status: 303, headers: { location: url.href } };
}
