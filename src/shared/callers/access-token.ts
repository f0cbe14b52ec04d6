import type { JWTHeaderParameters, JWTPayload } from "jose";
import { boundedText } from "../runtime/errors.ts";
import { invalidCredentials } from "./credential.ts";

/**
 * Types of tokens that may be access tokens: RFC 9068 has `at+jwt`, most issuers write `JWT`, and some, such as Okta and
 * Amazon Cognito, write none.
 */
const TYPES: ReadonlySet<string> = new Set(["", "jwt", "at+jwt"]);

/** Claims that only ID tokens (OpenID Connect Core 2, 3.3.2.11) and logout tokens have, and issuers' own words for them. */
function foreignClaimOf(payload: JWTPayload): string | undefined {
  const has = (name: string) => payload[name] !== undefined;
  const only = ["nonce", "at_hash", "c_hash", "s_hash", "events"].find(has);
  if (only !== undefined) return only;
  // Keycloak writes what a token is into the claim `typ`, and Amazon Cognito into `token_use`.
  if (has("typ") && !/^(?:Bearer|at\+jwt|JWT)$/i.test(String(payload["typ"]))) return "typ";
  if (has("token_use") && payload["token_use"] !== "access") return "token_use";
  return undefined;
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "";

/**
 * Reports whether a token was issued to a program, which needs no scope. RFC 9068 requires `client_id`. Entra ID says
 * how the client proved itself (`azpacr`, `appidacr`; 0 is a public client, for which there are delegated tokens alone)
 * and, on request, `idtyp`. Auth0 names the grant.
 */
function isOfClient(payload: JWTPayload): boolean {
  const { client_id, idtyp, azpacr, appidacr, gty } = payload;
  const proof = [azpacr, appidacr].some((one) => one === "1" || one === "2");
  return isText(client_id) || idtyp === "app" || proof || gty === "client-credentials";
}

const TENANT = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;

/**
 * Throws unless a verified token is an access token (RFC 8725 3.11, RFC 9068 4). An ID token has the same issuer and
 * signature and, where the API's audience is a client's id, the same audience too; but front ends pass it around and
 * write it into logs.
 * @throws AppError `invalid_credentials`, with the check that failed
 */
export function checkAccessToken(header: JWTHeaderParameters, payload: JWTPayload): void {
  const type = (header.typ ?? "").toLowerCase().replace(/^application\//, "");
  if (!TYPES.has(type))
    throw invalidCredentials({
      check: "type",
      expected: "JWT or at+jwt",
      found: boundedText(header.typ),
    });
  const foreign = foreignClaimOf(payload);
  if (foreign !== undefined)
    throw invalidCredentials({
      check: "kind of token",
      expected: "an access token",
      found: `${foreign}: ${boundedText(payload[foreign])}`,
    });
  // Whether a token names what a client may do: a text (`scope` of RFC 9068, `scp` of Entra ID) or a list (Okta).
  if (
    ![payload.scp, payload.scope].some(
      (one) => isText(one) || (Array.isArray(one) && one.some(isText)),
    ) &&
    !isOfClient(payload)
  )
    throw invalidCredentials({
      check: "kind of token",
      expected: "an access token, with scp, scope, client_id, or what an app's token has",
      found: `claims ${boundedText(Object.keys(payload).join(", "))}`,
    });
  const tenant = TENANT.exec(payload.iss ?? "")?.[0];
  const { tid } = payload;
  if (
    tenant !== undefined &&
    tid !== undefined &&
    (typeof tid !== "string" || tid.toLowerCase() !== tenant.toLowerCase())
  )
    throw invalidCredentials({
      check: "tenant",
      expected: `${tenant}, as in the issuer`,
      found: boundedText(tid),
    });
}
