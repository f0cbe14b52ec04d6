import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose";
import type { JSONWebKeySet } from "jose";
import { ISSUER } from "./oauth-answers.ts";

const ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** As much of a client's metadata document as is looked at. */
export interface ClientMetadata {
  readonly client_id: string;
  readonly client_name?: string;
  readonly redirect_uris: readonly string[];
  readonly scope: string;
  readonly token_endpoint_auth_method: string;
}

interface KnownClient {
  readonly metadata: ClientMetadata;
  readonly keys: JSONWebKeySet;
}

/** The clients of the authorization server. A public one is told to it, as the sandbox downloads no documents. */
export class OAuthClients {
  readonly #known = new Map<string, KnownClient>();

  add(metadata: ClientMetadata, keys: JSONWebKeySet): void {
    this.#known.set(metadata.client_id, { metadata, keys });
  }

  /** Undefined when there is no such client, or a loopback one that breaks its rules. */
  find(clientId: string): ClientMetadata | undefined {
    return clientId.startsWith("http://localhost")
      ? loopbackClient(clientId)
      : this.#known.get(clientId)?.metadata;
  }

  /** Why the client is not who it says; undefined when it is. */
  async doubt(form: URLSearchParams): Promise<string | undefined> {
    const clientId = form.get("client_id") ?? "";
    const known = this.#known.get(clientId);
    if (known === undefined) return undefined;
    const assertion = form.get("client_assertion");
    if (form.get("client_assertion_type") !== ASSERTION || assertion === null)
      return 'client authentication method "private_key_jwt" required a "client_assertion"';
    try {
      await jwtVerify(assertion, createLocalJWKSet(known.keys), {
        audience: ISSUER,
        issuer: clientId,
        subject: clientId,
        algorithms: ["ES256"],
        requiredClaims: ["jti"],
        // The client's clock is the machine's; ours may have been put forward.
        currentDate: new Date(((decodeJwt(assertion).iat ?? 0) + 1) * 1000),
      });
      return undefined;
    } catch (error) {
      return `Validation of "client_assertion" failed: ${(error as Error).message}`;
    }
  }
}

/** https://atproto.com/specs/oauth#localhost-client-development */
function loopbackClient(clientId: string): ClientMetadata | undefined {
  if (!/^http:\/\/localhost\/?(\?|$)/.test(clientId)) return undefined;
  const { searchParams } = new URL(clientId);
  const redirects = searchParams.getAll("redirect_uri");
  const isLoopback = (uri: string) =>
    /^http:\/\/(?:127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/|$)/.test(uri);
  if (!redirects.every(isLoopback)) return undefined;
  return {
    client_id: clientId,
    redirect_uris: redirects.length === 0 ? ["http://127.0.0.1/", "http://[::1]/"] : redirects,
    scope: searchParams.get("scope") ?? "atproto",
    token_endpoint_auth_method: "none",
  };
}
