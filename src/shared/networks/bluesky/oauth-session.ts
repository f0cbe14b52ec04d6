import { noteOf } from "../contract/classified.ts";
import type { CredentialsOutcome, NetworkTools } from "../contract/network.ts";
import type { OAuthCredentials, OAuthSessionData } from "./credentials.ts";
import {
  openClient,
  problemOf,
  sessionIn,
  type Client,
  type OAuthProblem,
} from "./oauth-client.ts";
import { hasDocuments } from "./client-documents.ts";

const DAY_MS = 24 * 3_600_000;
/** How long a session that nobody renews lives: with a client that proves itself by a key, and without one. */
const IDLE_DAYS = { known: 90, loopback: 14 };
/** A token whose end the server does not tell is taken to last this long: shorter than any server's. */
const UNKNOWN_LIFE_MS = 10 * 60_000;

/** When the access token ends, by our clock: the library reckons with the machine's. */
export function accessEnd({ tokenSet }: OAuthSessionData, now: Date): string {
  const lifeMs =
    tokenSet.expires_at === undefined
      ? UNKNOWN_LIFE_MS
      : Date.parse(tokenSet.expires_at) - Date.now();
  return new Date(now.getTime() + Math.max(lifeMs, 0)).toISOString();
}

/** When the account must be linked again at the latest, if nothing renews the session before. */
export function idleEnd(tools: NetworkTools): string {
  const isKnown = tools.app !== undefined && hasDocuments(tools.app);
  const days = isKnown ? IDLE_DAYS.known : IDLE_DAYS.loopback;
  return new Date(tools.now().getTime() + days * DAY_MS).toISOString();
}

/**
 * Exchanges the refresh token for the next one. It works once: whoever calls holds the connection's lease, and stores
 * the outcome before he uses it. A server that sees an old one again ends the whole session.
 */
export async function renewOAuth(
  credentials: OAuthCredentials,
  tools: NetworkTools,
): Promise<CredentialsOutcome> {
  const { did, session } = credentials;
  const client = await openWith(credentials, tools);
  if (client === undefined) return notConfigured();
  let problem: OAuthProblem | undefined;
  try {
    await client.library.restore(did, true);
  } catch (error) {
    problem = problemOf(error, client.trace);
  }
  const after = sessionIn(client, did);
  // The new tokens count even when something failed behind them: the old ones are used up.
  if (after !== undefined && after.tokenSet.access_token !== session.tokenSet.access_token) {
    const accessExpiresAt = accessEnd(after, tools.now());
    const renewed: OAuthCredentials = { ...credentials, accessExpiresAt, session: after };
    return { kind: "refreshed", credentials: renewed, expiresAt: idleEnd(tools) };
  }
  return refusedRenewal(problem, after === undefined);
}

function refusedRenewal(problem: OAuthProblem | undefined, isGone: boolean): CredentialsOutcome {
  const networkCode = problem?.networkCode ?? null;
  const note = noteOf(problem?.note ?? "the server gave no new token");
  if (networkCode === "invalid_client" || networkCode === "unauthorized_client") {
    return { kind: "rejected", failure: { code: "app_misconfigured", networkCode, note } };
  }
  // The library drops a session only when nothing can be done with it any more.
  const isOutage = problem?.kind === "unreachable" || problem?.kind === "down";
  if (isGone && !isOutage) {
    return { kind: "rejected", failure: { code: "connection_needs_reauth", networkCode, note } };
  }
  return { kind: "try_later", failure: { code: "network_unavailable", networkCode, note } };
}

/** Ends the session at the authorisation server; best effort. */
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

function notConfigured(): CredentialsOutcome {
  const note = "the deployment has no OAuth client for Bluesky";
  return { kind: "rejected", failure: { code: "app_misconfigured", networkCode: null, note } };
}
