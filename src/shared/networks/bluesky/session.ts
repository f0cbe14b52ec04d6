import { decodeJwt } from "jose";
import * as z from "zod";
import type { ShapeOf } from "../../runtime/shape.ts";
import { exchange, noteOf } from "../contract/answers.ts";
import { inForm } from "../contract/ask.ts";
import { objectShape, lenient } from "../contract/fields.ts";
import { CLIENT_ERRORS, renewalRejected, renewing } from "../contract/oauth.ts";
import { unanswered, unpublished, type CredentialsOutcome } from "../contract/outcome.ts";
import { originOf } from "../contract/text.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { isOAuth, type OAuthCredentials } from "./state.ts";
import type { AsAccount, OAuthSessionData, PasswordCredentials } from "./state.ts";
import { bearer, procedure } from "./request.ts";
import { ended, classifyFor, movedTo, staysBehind } from "./account-call.ts";
import { xrpcError } from "./errors.ts";
import { DOCUMENT, LOGIN_HOST, serverIn } from "./identity.ts";
import { openClient, problemOf, sessionIn } from "./oauth-client.ts";
import type { Client, OAuthProblem } from "./oauth-client.ts";
import { allowsPosting, hasDocuments } from "./client-documents.ts";

/** Renewed when less than this is left, so that no token ends during an upload. */
const FRESH_MS = 5 * 60_000;
/** A token without a readable end is assumed to last this long, which is shorter than on any server. */
const UNKNOWN_LIFE_MS = 30 * 60_000;

const sessionShape = objectShape(() => ({
  did: z.string().startsWith("did:"),
  // The protocol's own word for a handle that can't be confirmed.
  handle: lenient(z.string(), "handle.invalid"),
  accessJwt: z.string().min(1),
  refreshJwt: z.string().min(1),
  active: lenient(z.boolean()),
  status: lenient(z.string()),
  didDoc: lenient(DOCUMENT()),
}));
export type Session = ShapeOf<typeof sessionShape>;

export const readSession = inForm(sessionShape);

export function accessExpiry(accessJwt: string, now: Date): string {
  return (expiryOf(accessJwt) ?? new Date(now.getTime() + UNKNOWN_LIFE_MS)).toISOString();
}

export function sessionExpiry(refreshJwt: string): string | null {
  return expiryOf(refreshJwt)?.toISOString() ?? null;
}

function expiryOf(jwt: string): Date | undefined {
  try {
    return new Date(z.number().positive().max(8_000_000_000).parse(decodeJwt(jwt).exp) * 1000);
  } catch {
    // Tokens are opaque to a client, so one that is no JWT is valid too.
    return undefined;
  }
}

/**
 * Renews the session when its token is about to end. Never logs in, because the network allows few logins a day and
 * the password is not stored.
 */
export async function freshen(as: AsAccount): Promise<CredentialsOutcome> {
  const { credentials, tools } = as;
  const hasEnded = await ended.has(as);
  const leftMs = hasEnded ? 0 : Date.parse(credentials.accessExpiresAt) - tools.now().getTime();
  // The old token still works, so a short outage of the login host need not delay anything.
  return renewing({ isDue: leftMs < FRESH_MS, isUsable: leftMs > FRESH_MS / 5 }, () =>
    isOAuth(credentials)
      ? renewOAuth(credentials, tools)
      : renewPassword(credentials, hasEnded, tools),
  );
}

/**
 * Renews a session. The login host renews the sessions of all servers behind it, so its answer may be for another
 * server than before. The account's document tells.
 */
async function renewPassword(
  credentials: PasswordCredentials,
  hasEnded: boolean,
  tools: NetworkTools,
): Promise<CredentialsOutcome> {
  const request = procedure(credentials.service, "com.atproto.server.refreshSession");
  const headers = bearer(credentials.refreshJwt);
  const answer = await exchange(tools, { ...request, headers });
  if (answer instanceof HttpFailure) return unanswered(answer);
  const session = readSession(answer);
  if (session === undefined) {
    const as = { credentials, tools };
    const networkCode = xrpcError(answer)?.error ?? null;
    // The error concerns the refresh token itself, so the session can't be renewed.
    return networkCode === "ExpiredToken" || networkCode === "InvalidToken"
      ? needsReauth(networkCode)
      : unpublished(await classifyFor(answer, as));
  }
  if (session.did !== credentials.did) return needsReauth(null, "another account answered");
  const { accessJwt, refreshJwt, active, didDoc } = session;
  const named = didDoc === undefined ? credentials.pds : serverIn(didDoc);
  const isBehind = credentials.service === LOGIN_HOST;
  const mayHaveMoved = active === false || named !== credentials.pds || (isBehind && hasEnded);
  const server = mayHaveMoved ? await movedTo({ credentials, tools }) : undefined;
  if (server !== undefined && !staysBehind(credentials, server))
    return needsReauth(null, "the account is on another server");
  const pds = server ?? credentials.pds;
  const accessExpiresAt = accessExpiry(accessJwt, tools.now());
  return {
    kind: "refreshed",
    credentials: { ...credentials, pds, accessJwt, refreshJwt, accessExpiresAt },
    expiresAt: sessionExpiry(refreshJwt),
  };
}

const needsReauth = (networkCode: string | null, note?: string) =>
  renewalRejected("connection_needs_reauth", networkCode, note);

export async function revoke({ credentials, tools }: AsAccount): Promise<void> {
  if (isOAuth(credentials)) return await endOAuth(credentials, tools);
  const { service, refreshJwt } = credentials;
  const request = procedure(service, "com.atproto.server.deleteSession");
  await exchange(tools, { ...request, headers: bearer(refreshJwt) });
}

const DAY_MS = 24 * 3_600_000;
/** How long a session lives without renewal: for a client that proves itself with a key, and for one without. */
const IDLE_DAYS = { known: 90, loopback: 14 };
/** A token whose end the server doesn't state is assumed to last this long, which is shorter than on any server. */
const OAUTH_UNKNOWN_LIFE_MS = 10 * 60_000;
/** A longer promise of a server is not trusted. This is later than any renewal, and a time that can be formatted. */
const OAUTH_LIFE_MS_MAX = DAY_MS;

/** Returns the end of the access token by our clock. The library computes it with the machine's. */
export function accessEnd({ tokenSet }: OAuthSessionData, now: Date): string {
  const lifeMs =
    tokenSet.expires_at === undefined
      ? OAUTH_UNKNOWN_LIFE_MS
      : Date.parse(tokenSet.expires_at) - Date.now();
  const believedMs = Math.min(Math.max(lifeMs || 0, 0), OAUTH_LIFE_MS_MAX);
  return new Date(now.getTime() + believedMs).toISOString();
}

/** Returns when the account must be linked again if nothing renews the session. */
export function idleEnd(tools: NetworkTools): string {
  const isKnown = tools.app !== undefined && hasDocuments(tools.app);
  const days = isKnown ? IDLE_DAYS.known : IDLE_DAYS.loopback;
  return new Date(tools.now().getTime() + days * DAY_MS).toISOString();
}

/**
 * Exchanges the refresh token for the next one, which works only once. The caller holds the connection's lease, and
 * stores the outcome before using it. A server that sees an old token again ends the whole session.
 */
async function renewOAuth(
  credentials: OAuthCredentials,
  tools: NetworkTools,
): Promise<CredentialsOutcome> {
  const { did, session } = credentials;
  const client = await openWith(credentials, tools);
  if (client === undefined)
    return renewalRejected(
      "app_misconfigured",
      null,
      "the deployment has no OAuth client for Bluesky",
    );
  let problem: OAuthProblem | undefined;
  try {
    await client.library.restore(did, true);
  } catch (error) {
    problem = problemOf(error, client.trace);
  }
  const after = sessionIn(client, did);
  // The new tokens count even if something failed after them, because the old ones are used up.
  if (after !== undefined && after.tokenSet.access_token !== session.tokenSet.access_token) {
    // The renewed session. The library has read the account's document before renewing, so `aud` names the
    // account's present server. A server with other login pages has ended the session.
    const { scope, aud } = after.tokenSet;
    // A permission has been withdrawn since.
    if (!allowsPosting(scope.split(" "))) return renewalRejected("permission_missing", scope);
    const pds = originOf(aud) ?? credentials.pds;
    const accessExpiresAt = accessEnd(after, tools.now());
    const renewed: OAuthCredentials = { ...credentials, pds, accessExpiresAt, session: after };
    return { kind: "refreshed", credentials: renewed, expiresAt: idleEnd(tools) };
  }
  return refusedRenewal(problem, after === undefined);
}

function refusedRenewal(problem: OAuthProblem | undefined, isGone: boolean): CredentialsOutcome {
  const networkCode = problem?.networkCode ?? null;
  const note = noteOf(problem?.note ?? "the server gave no new token");
  if (CLIENT_ERRORS.includes(networkCode ?? ""))
    return renewalRejected("app_misconfigured", networkCode, note);
  // The library drops a session only when nothing can be done with it any more.
  const isOutage =
    problem?.code === "instance_unreachable" || problem?.code === "network_unavailable";
  if (isGone && !isOutage) return needsReauth(networkCode, note);
  return { kind: "try_later", failure: { code: "network_unavailable", networkCode, note } };
}

/** Tries to end the session at the authorization server. */
export async function endOAuth(credentials: OAuthCredentials, tools: NetworkTools): Promise<void> {
  const client = await openWith(credentials, tools);
  await client?.library.revoke(credentials.did);
}

async function openWith(
  { did, session, redirectUri }: OAuthCredentials,
  tools: NetworkTools,
): Promise<Client | undefined> {
  if (tools.app === undefined) return undefined;
  const client = await openClient(tools.app, redirectUri, tools);
  // Safe: it came from the library, and its shape was checked when it was read.
  client.sessions.set(did, session as never);
  return client;
}
