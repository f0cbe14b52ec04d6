import * as z from "zod";
import type { HttpRequest, HttpResponse } from "../../runtime/http-call.ts";
import { ask, inForm } from "../contract/ask.ts";
import { objectShape, scopesShape, secondsShape, lenient } from "../contract/fields.ts";
import { formRequest, refusedRenewal, renewalRejected, renewing } from "../contract/oauth.ts";
import type { CredentialsOutcome } from "../contract/outcome.ts";
import { classify } from "./errors.ts";
import type { AsAccount, Credentials } from "./state.ts";

/** A token is renewed when a third of its life is left. */
const RENEWED_SHARE = 2 / 3;
/** With less left than this, a token could end during an upload. */
const USABLE_MS = 10 * 60_000;

const tokenShape = objectShape(() => ({
  access_token: z.string().min(1),
  scope: scopesShape(),
  expires_in: lenient(secondsShape()),
  refresh_token: lenient(z.string().min(1).max(10_000)),
}));

export type IssuedToken = Pick<
  Credentials,
  "accessToken" | "refreshToken" | "renewAt" | "accessExpiresAt"
> & {
  readonly scopes: readonly string[];
  /** Null when it lasts until it is revoked, as Mastodon's do. */
  readonly endsAt: string | null;
};

/**
 * Reads the token of an answer. A token without scopes has the requested ones (RFC 6749, section 5.1), and so has one
 * with an empty text, which snac sends since 2.96.
 */
export function readToken(
  answer: HttpResponse,
  askedScope: string,
  now: Date,
): IssuedToken | undefined {
  const data = inForm(tokenShape)(answer);
  if (data === undefined) return undefined;
  const { access_token: accessToken, expires_in: seconds, refresh_token: refreshToken } = data;
  const named = data.scope ?? [];
  const scopes = named.length > 0 ? named : askedScope.split(" ");
  if (seconds === undefined) return { accessToken, scopes, endsAt: null };
  const at = (share: number) => new Date(now.getTime() + seconds * share * 1000).toISOString();
  const endsAt = at(1);
  const token = { accessToken, scopes, endsAt };
  return refreshToken === undefined
    ? token
    : { ...token, refreshToken, renewAt: at(RENEWED_SHARE), accessExpiresAt: endsAt };
}

export function canPublish(scopes: readonly string[]): boolean {
  const isGranted = (scope: string): boolean => scopes.includes("write") || scopes.includes(scope);
  return isGranted("write:statuses") && isGranted("write:media");
}

/** Makes the request for a token on behalf of the registration. */
export function tokenRequest(
  { origin, clientId, clientSecret }: Pick<Credentials, "origin" | "clientId" | "clientSecret">,
  grant: Readonly<Record<string, string | undefined>>,
): HttpRequest {
  const client = { client_id: clientId, client_secret: clientSecret };
  return formRequest(`${origin}/oauth/token`, { ...grant, ...client });
}

/** Renews a token that ends (RFC 6749, section 6). Mastodon's own last until they are revoked. */
export async function freshen({ credentials, tools }: AsAccount): Promise<CredentialsOutcome> {
  const { refreshToken, renewAt, accessExpiresAt } = credentials;
  if (refreshToken === undefined || renewAt === undefined) return { kind: "usable" };
  const nowMs = tools.now().getTime();
  const isDue = nowMs >= Date.parse(renewAt);
  const isUsable = Date.parse(accessExpiresAt ?? renewAt) - nowMs > USABLE_MS;
  return renewing({ isDue, isUsable }, async () => {
    const grant = { grant_type: "refresh_token", refresh_token: refreshToken };
    const read = (answer: HttpResponse) => readToken(answer, "write", tools.now());
    const asked = { read, classify: refusedRenewal(classify) };
    const token = await ask(tokenRequest(credentials, grant), asked, tools);
    return "failure" in token ? token : renewed({ ...credentials, refreshToken }, token);
  });
}

function renewed(
  credentials: Credentials,
  { scopes, endsAt, ...issued }: IssuedToken,
): CredentialsOutcome {
  // A permission has been withdrawn since.
  if (!canPublish(scopes)) return renewalRejected("permission_missing", scopes.join(" "));
  const fresh = { ...credentials, ...issued };
  const isLast = issued.refreshToken === undefined && endsAt === null;
  const { renewAt: _at, accessExpiresAt: _end, ...endless } = fresh;
  return { kind: "refreshed", credentials: isLast ? endless : fresh, expiresAt: null };
}
