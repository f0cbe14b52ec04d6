import type { Actor, Maker } from "../callers/caller.ts";
import type { CheckedTokens } from "../runtime/checked-tokens.ts";
import type { CallLimits } from "../runtime/limited-calls.ts";
import { equalSecrets, sha256Hex } from "../runtime/secrets.ts";
import type { NetworkName } from "../networks/networks.ts";
import type { ConnectionView } from "./connection.ts";
import type { Branding } from "./schema.ts";

export type SessionStatus = "open" | "completed" | "canceled" | "expired";

/** The state of a session at a time. `ended`: the key or the user's session that started it was ended. Customers see `canceled`. */
export type SessionState = SessionStatus | "ended";

export const shownStatus = (state: SessionState): SessionStatus =>
  state === "ended" ? "canceled" : state;

export interface SessionLink {
  readonly network: NetworkName;
  readonly connectionId: string;
}

export interface DisconnectedAccount {
  readonly network: NetworkName;
  readonly accountId: string;
}

/** An end user's visit to the hosted page, started by a platform for one of its profiles. */
export interface ConnectSession {
  readonly id: string;
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  readonly createdBy: Actor;
  /** Who started it, and who minted the grant used for that. The session ends with each of them. */
  readonly makers: readonly Maker[];
  /** As stored, without the effect of time that `sessionStatus` adds. */
  readonly status: Exclude<SessionStatus, "expired">;
  readonly networks: readonly NetworkName[];
  readonly returnUrl: string | null;
  readonly state: string | null;
  readonly branding: Branding;
  /** Whether the end user may disconnect accounts. */
  readonly allowDisconnect: boolean;
  readonly tokenHash: string;
  readonly links: readonly SessionLink[];
  /** Accounts that the end user has disconnected. Linking one of them again in the session is free. */
  readonly disconnected: readonly DisconnectedAccount[];
  /** Number of sign-ins tried on the page. */
  readonly attempts: number;
  readonly expiresAt: string;
  readonly createdAt: string;
}

export function sessionStatus(session: ConnectSession, now: Date): SessionStatus {
  const isOver = Date.parse(session.expiresAt) <= now.getTime();
  return session.status === "open" && isOver ? "expired" : session.status;
}

/** Makes the token of a session's page. It also names the platform, whose partition has the session. */
export const newPageToken = (
  tokens: CheckedTokens,
  { platformId, id }: Pick<ConnectSession, "platformId" | "id">,
): string => `${tokens.make(`${platformId}|${id}`)}.${platformId}`;

/** Returns the platform that a page's token names, if the token was made here for the session. */
export function platformOfToken(
  tokens: CheckedTokens,
  token: string,
  id: string,
): string | undefined {
  const [secret = "", platformId = ""] = token.split(".");
  return tokens.isOurs(secret, `${platformId}|${id}`) ? platformId : undefined;
}

/** Compares the token with the session's, in constant time. */
export function isTokenOf(session: ConnectSession, token: string): boolean {
  return equalSecrets(Buffer.from(sha256Hex(token)), Buffer.from(session.tokenHash));
}

/**
 * Returns the owner of calls that a platform's visitors cause. Visitors have no key, so they have limits of their own.
 */
export const visitorsOf = ({ platformId }: Pick<ConnectSession, "platformId">) =>
  `visitors of ${platformId}`;

/** Returns the limits of a visitor's calls. They are short, because a person waits for the page. */
export const visitLimits = (session: Pick<ConnectSession, "platformId">): CallLimits => ({
  callMs: 15_000,
  totalMs: 40_000,
  owner: visitorsOf(session),
});

export const linkedIds = ({ links }: ConnectSession): string[] =>
  links.map(({ connectionId }) => connectionId);

/**
 * Returns the session with the account linked, instead of any other one of its network. The session is complete once
 * every requested network has an account.
 */
export function withLinked(session: ConnectSession, link: SessionLink): ConnectSession {
  const others = session.links.filter(({ network }) => network !== link.network);
  const links = [...others, link];
  const isComplete = session.networks.every((wanted) =>
    links.some(({ network }) => network === wanted),
  );
  const status = session.status === "open" && isComplete ? "completed" : session.status;
  return { ...session, links, status };
}

/** Returns the session without the account, which the end user is about to disconnect. */
export function withDisconnected(
  session: ConnectSession,
  { network, accountId }: DisconnectedAccount,
): ConnectSession {
  const others = session.disconnected.filter(
    (one) => one.network !== network || one.accountId !== accountId,
  );
  return {
    ...session,
    links: session.links.filter((link) => link.network !== network),
    disconnected: [...others, { network, accountId }],
  };
}

/** Returns the address to which the end user returns. It is stored with the session, so no browser can choose it. */
export function returnAddress(session: ConnectSession, state: SessionState): string | undefined {
  if (session.returnUrl === null) return undefined;
  const url = new URL(session.returnUrl);
  url.searchParams.set("session", session.id);
  url.searchParams.set("status", shownStatus(state));
  url.searchParams.set("connections", linkedIds(session).join(","));
  if (session.state !== null) url.searchParams.set("state", session.state);
  return url.href;
}

/** Returns a session as the platform sees it. Only the answer that creates it has the page's address. */
export function toSessionView(
  session: ConnectSession,
  connections: readonly ConnectionView[],
  stateNow: SessionState,
) {
  const { id, applicationId, profileId, networks, returnUrl, state } = session;
  const { branding, allowDisconnect } = session;
  const ids = linkedIds(session);
  return {
    id,
    applicationId,
    profileId,
    status: shownStatus(stateNow),
    createdBy: session.createdBy,
    platforms: networks,
    returnUrl,
    state,
    branding,
    allowDisconnect,
    connections: connections.filter((made) => ids.includes(made.id)),
    expiresAt: session.expiresAt,
    createdAt: session.createdAt,
  };
}

export type SessionView = ReturnType<typeof toSessionView>;
