import { randomBytes } from "node:crypto";
import type { Refusal, Answer, Exchange } from "../exchange.ts";
import { keep } from "../kept-maps.ts";
import type { Route, Surroundings } from "../network.ts";
import { OAuthProvider, oauthRefusal, readForm } from "../oauth-provider.ts";
import type { Proofs } from "./dpop.ts";
import { ProofProblem } from "./dpop.ts";
import {
  AUTHORIZATION_HOST,
  ISSUER,
  SCOPE_WORDS,
  nonceHeaders,
  oauthAnswer,
  resourceMetadata,
  serverMetadata,
} from "./oauth-answers.ts";
import type { OAuthClients } from "./oauth-clients.ts";
import type { Grants } from "./oauth-grants.ts";
import { findAccount } from "./state.ts";
import type { BlueskyShared, PushedRequest } from "./state.ts";
import { route } from "../network.ts";

const REQUEST_SECONDS = 300;
const CODE_MS = 60_000;
const REQUEST_URI = "urn:ietf:params:oauth:request_uri:";

/** The authorization server: pushed requests, the owner's consent, tokens that are bound to a key. */
export class OAuth {
  readonly #shared: BlueskyShared;
  readonly #surroundings: Surroundings;
  readonly #proofs: Proofs;
  readonly #clients: OAuthClients;
  readonly #grants: Grants;
  readonly #provider: OAuthProvider;

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
    this.#provider = new OAuthProvider({
      network: "bluesky",
      now: () => surroundings.now(),
      codes: () => shared.state.codes,
      codeMs: CODE_MS,
      read: (exchange) => this.#pushed(exchange),
      page: ({ clientId }) => ({
        host: AUTHORIZATION_HOST,
        title: `Authorize ${parts.clients.find(clientId)?.client_name ?? "an app on this machine"}?`,
      }),
      accounts: () =>
        shared.state.accounts.map(({ did, handle, displayName }) => {
          return { id: did, label: displayName, hint: `@${handle}` };
        }),
      words: (scope) => {
        const kind = scope in SCOPE_WORDS ? scope : (scope.split(/[:?]/, 1)[0] ?? scope);
        return SCOPE_WORDS[kind] ?? kind;
      },
      buttons: { allow: "Authorize", deny: "Deny access" },
      denied: () => ({
        error: "access_denied",
        error_description: "The user denied the request",
      }),
      back: { iss: ISSUER },
    });
  }

  routes(): Route[] {
    const called = [
      route("GET /.well-known/oauth-authorization-server", "serverMetadata", serverMetadata),
      route("POST /oauth/par", "par", (exchange) => this.#push(exchange)),
      route("POST /oauth/token", "oauthToken", (exchange) => this.#token(exchange)),
      route("POST /oauth/revoke", "oauthRevoke", (exchange) => this.#revoke(exchange)),
    ];
    return [
      ...called.map((one) => ({ ...one, hosts: [AUTHORIZATION_HOST] })),
      route("GET /.well-known/oauth-protected-resource", "resourceMetadata", ({ host }) =>
        resourceMetadata(host),
      ),
      // A browser comes to the sandbox's own address, where every host is as good.
      ...this.#provider
        .routes({ path: "/oauth/authorize", name: "authorize" })
        .map((one): Route => ({
          ...one,
          run: async (exchange, plan) => {
            const answer = await one.run(exchange, plan);
            // A decision ends the request.
            if (one.method === "POST")
              this.#shared.state.pushed.delete(exchange.query.get("request_uri") ?? "");
            return answer;
          },
        })),
    ];
  }

  /** Whether a browser's request to `/oauth/authorize` is about one of the requests that were pushed here. */
  knowsRequest({ query }: Exchange): boolean {
    return query.get("request_uri")?.startsWith(REQUEST_URI) === true;
  }

  #refuse(error: string, description: string, status = 400): Refusal {
    return oauthRefusal(status, error, description, nonceHeaders(this.#proofs.nonce()));
  }

  /** The client's form, once its key and its name are proven. */
  async #form(exchange: Exchange): Promise<{ form: URLSearchParams; thumbprint: string }> {
    const form = readForm(exchange);
    if (form === undefined) throw this.#refuse("invalid_request", "Unsupported content-type");
    const thumbprint = await this.#proven(exchange);
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
    const value = (name: string) => form.get(name) ?? "";
    const [clientId, redirectUri, scope] = [
      value("client_id"),
      value("redirect_uri"),
      value("scope"),
    ];
    const client = this.#clients.find(clientId);
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
    const hinted = findAccount(this.#shared.state, value("login_hint"))?.did;
    const request: PushedRequest = {
      clientId,
      redirectUri,
      scopes: asked,
      thumbprint,
      challenge,
      state: form.get("state"),
      ...(hinted === undefined ? {} : { hint: hinted }),
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
    throw this.#provider.end(
      { redirectUri: "", state: null },
      {
        title: "Invalid request",
        page: "This request has expired or was used already. Start again.",
      },
    );
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
    const text = form.get("code") ?? "";
    const code = this.#provider.redeem(
      {
        code: text,
        clientId: form.get("client_id") ?? "",
        redirectUri: form.get("redirect_uri") ?? "",
        verifier: form.get("code_verifier") ?? "",
        thumbprint,
      },
      (problem) => {
        // A code that comes twice was overheard: what it gave before is revoked.
        if (problem === "used") this.#grants.endOfCode(text);
        return this.#refuse("invalid_grant", "Invalid code");
      },
    );
    const { accountId: did, clientId } = code;
    const scope = code.scopes.join(" ");
    return this.#grants.issue(this.#grants.open({ did, clientId, scope, thumbprint, code: text }));
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
