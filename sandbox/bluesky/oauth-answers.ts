import { Refusal, json } from "../exchange.ts";
import type { Answer } from "../exchange.ts";
import { PDS_HOST } from "./identity.ts";

/** The login host in front of the servers is their authorization server, as on the real network. */
export const AUTHORIZATION_HOST = "bsky.social";
export const ISSUER = `https://${AUTHORIZATION_HOST}`;

/** Kinds of permission that are granted one by one; the real server does not list them all. */
export const SCOPE_WORDS: Readonly<Record<string, string>> = {
  atproto: "Know who you are",
  repo: "Create and change your posts",
  blob: "Upload images and videos",
  rpc: "Hand videos to the video service for you",
  "transition:generic": "Do what an app password may do",
};

export function serverMetadata(): Answer {
  return json(200, {
    issuer: ISSUER,
    scopes_supported: ["atproto", "transition:generic"],
    subject_types_supported: ["public"],
    response_types_supported: ["code"],
    response_modes_supported: ["query", "fragment", "form_post"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    authorization_endpoint: `${ISSUER}/oauth/authorize`,
    token_endpoint: `${ISSUER}/oauth/token`,
    token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
    token_endpoint_auth_signing_alg_values_supported: ["ES256"],
    revocation_endpoint: `${ISSUER}/oauth/revoke`,
    pushed_authorization_request_endpoint: `${ISSUER}/oauth/par`,
    require_pushed_authorization_requests: true,
    dpop_signing_alg_values_supported: ["ES256"],
    client_id_metadata_document_supported: true,
    protected_resources: [`https://${PDS_HOST}`],
  });
}

export function resourceMetadata(host: string): Answer {
  return json(200, {
    resource: `https://${host}`,
    authorization_servers: [ISSUER],
    scopes_supported: [],
    bearer_methods_supported: ["header"],
    resource_documentation: "https://atproto.com",
  });
}

export function oauthAnswer(status: number, body: unknown, nonce: string): Answer {
  return json(status, body, nonceHeaders(nonce));
}

/** Headers of every answer, which brings the nonce for the next proof. */
export function nonceHeaders(nonce: string): Record<string, string> {
  return { "cache-control": "no-store", "dpop-nonce": nonce };
}

/** What a server of accounts says to a token or a proof that it does not accept. */
export function resourceRefusal(error: string, message: string, nonce: string): Refusal {
  return new Refusal(
    json(
      401,
      { error, message },
      {
        "www-authenticate": `DPoP error="${error}", error_description="${message.replaceAll('"', "'")}"`,
        "dpop-nonce": nonce,
      },
    ),
  );
}
