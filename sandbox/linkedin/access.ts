import { bearerToken } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { route } from "../network.ts";
import type { Route } from "../network.ts";
import { EXPIRED, REVOKED, denied, linkedInRefusal } from "./errors.ts";
import { findOrganization, personUrn } from "./state.ts";
import type { LinkedInShared, Token } from "./state.ts";

/** Versions that answer; each lives for a year at least. */
const VERSIONS = [
  "202511",
  "202512",
  "202601",
  "202602",
  "202603",
  "202604",
  "202605",
  "202606",
  "202607",
  "202608",
  "202609",
  "202610",
];
const PUBLISHING_ROLES = ["ADMINISTRATOR", "CONTENT_ADMIN", "CONTENT_ADMINISTRATOR"];

export function findToken(shared: LinkedInShared, exchange: Exchange): Token | undefined {
  return shared.state.tokens.get(bearerToken(exchange) ?? "");
}

/** Who speaks, when the token is good. */
export function authorize(shared: LinkedInShared, exchange: Exchange): Token {
  const refuse = (serviceErrorCode: number, code: string, message: string) =>
    linkedInRefusal({ status: 401, serviceErrorCode, code, message });
  if (bearerToken(exchange) === undefined)
    throw refuse(65604, "EMPTY_ACCESS_TOKEN", "Empty oauth2 access token");
  const token = findToken(shared, exchange);
  if (token === undefined) throw refuse(65600, "INVALID_ACCESS_TOKEN", "Invalid access token");
  if (token.isRevoked) throw linkedInRefusal(REVOKED);
  if (token.expiresAt <= shared.now()) throw linkedInRefusal(EXPIRED);
  return token;
}

export function needScope(token: Token, scope: string, what: string): void {
  if (!token.scopes.includes(scope)) throw linkedInRefusal(denied(what));
}

/** Whether the token's member may do it for the organization. */
export function administers(shared: LinkedInShared, token: Token, urn: string): boolean {
  const role = findOrganization(shared.state, urn)?.roles[token.memberId];
  return role !== undefined && PUBLISHING_ROLES.includes(role);
}

/** Refuses an author or owner that is not the token's member, nor an organization that this member publishes for. */
export function checkAuthor(
  shared: LinkedInShared,
  token: Token,
  author: string,
  what: string,
): void {
  if (author === personUrn(token.memberId)) {
    needScope(token, "w_member_social", what);
    return;
  }
  needScope(token, "w_organization_social", what);
  if (!administers(shared, token, author)) throw linkedInRefusal(denied(what));
}

function checkVersion(exchange: Exchange): void {
  const version = exchange.headers["linkedin-version"];
  if (typeof version !== "string" || version === "")
    throw linkedInRefusal({
      status: 400,
      code: "VERSION_MISSING",
      message:
        "A version must be present. Please specify a version by adding the LinkedIn-Version header.",
    });
  if (!VERSIONS.includes(version))
    throw linkedInRefusal({
      status: 426,
      code: "NONEXISTENT_VERSION",
      message: `Requested version ${version.padEnd(8, "01")} is not active`,
    });
}

function checkProtocol(exchange: Exchange): void {
  const refuse = (message: string) =>
    linkedInRefusal({ status: 400, code: "ILLEGAL_ARGUMENT", message });
  if (exchange.headers["x-restli-protocol-version"] !== "2.0.0")
    throw refuse("X-Restli-Protocol-Version must be 2.0.0");
  if (exchange.path.includes(":")) throw refuse("Syntax exception in path variables");
}

type Run = (
  shared: LinkedInShared,
  token: Token,
  exchange: Exchange,
  plan: Plan,
) => Answer | Promise<Answer>;

/** Makes a route of the versioned API: token, version and protocol are checked before anything else. */
export function versioned(
  shared: LinkedInShared,
  call: `${"GET" | "POST" | "DELETE"} ${string}`,
  name: string,
  run: Run,
): Route {
  const [method, path] = call.split(" ");
  return route(
    // Safe: `call` begins with one of the three.
    `${method as "GET" | "POST" | "DELETE"} /rest${path}`,
    name,
    (exchange, plan) => {
      const token = authorize(shared, exchange);
      checkVersion(exchange);
      checkProtocol(exchange);
      return run(shared, token, exchange, plan);
    },
    { hosts: ["api.linkedin.com"] },
  );
}
