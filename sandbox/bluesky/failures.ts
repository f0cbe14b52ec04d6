import { json } from "../exchange.ts";
import type { Answer } from "../exchange.ts";

const RECORD = "Invalid app.bsky.feed.post record:";

const invalid = (message: string) => json(400, { error: "InvalidRequest", message });

/** How the accounts' server says what does not depend on who asks; by leg error code. */
const REFUSALS: Readonly<Record<string, Answer>> = {
  network_unavailable: json(503, { error: "ServiceUnavailable", message: "Service Unavailable" }),
  permission_missing: json(403, {
    error: "ScopeMissingError",
    message: 'Missing required scope "repo:app.bsky.feed.post?action=create"',
  }),
  account_restricted: json(401, {
    error: "AccountTakedown",
    message: "Account has been taken down",
  }),
  text_too_long: invalid(`${RECORD} grapheme too big (maximum 300, got 301) at $.text`),
  text_invalid: invalid(
    `${RECORD} integer too small (minimum 0, got -1) at $.facets[0].index.byteStart`,
  ),
  media_rejected: invalid(
    `${RECORD} blob too big (maximum 2000000, got 2000001) at $.embed.images[0].image`,
  ),
  link_rejected: invalid(`${RECORD} uri must be a uri at $.embed.external.uri`),
  unproven: invalid("The sandbox refuses this record"),
  media_processing_failed: json(400, { error: "BlobNotFound", message: "Could not find blob" }),
};

export function recordRefusal(code: string): Answer {
  return REFUSALS[code] ?? invalid(`${RECORD} The sandbox refuses this (${code})`);
}

/** The same of the authorization server, in the words of OAuth. */
export function oauthFailure(code: string): Answer {
  const said = (status: number, error: string, description: string) =>
    json(status, { error, error_description: description });
  switch (code) {
    case "network_unavailable":
      return said(503, "server_error", "Service Unavailable");
    case "rate_limited":
      return said(429, "slow_down", "Rate Limit Exceeded");
    // Of servers that know no scopes finer than what an app password may do.
    case "permission_missing":
      return said(400, "invalid_scope", "Unsupported scope");
    case "connection_needs_reauth":
      return said(400, "invalid_grant", "Token has been revoked");
    default:
      return said(400, "invalid_request", code);
  }
}
