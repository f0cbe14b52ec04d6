import type { Actor } from "../callers/caller.ts";
import type { CheckedTokens } from "../runtime/checked-tokens.ts";
import type { CallLimits } from "../runtime/limited-calls.ts";
import { equalSecrets, sha256Hex } from "../runtime/secrets.ts";
import type { NetworkName } from "../networks/lookup.ts";
import type { ConnectionView } from "./connection.ts";
import type { Branding } from "./schema.ts";

export type SessionStatus = "open" | "completed" | "canceled" | "expired";

/** A session's state at a moment. `ended`: the key or user that started it is gone. Customers see `canceled` for it. */
export type SessionState = SessionStatus | "ended";

/** Returns a state as customers see it. */
export const shownStatus = (state: SessionState): SessionStatus =>
  state === "ended" ? "canceled" : state;

/** An account that was linked in a session. */
export interface SessionLink {
  readonly network: NetworkName;
  readonly connectionId: string;
}

/** An end user's visit to the hosted page, started by a platform for one of its profiles. */
export interface ConnectSession {
  readonly id: string;
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  /** The key or user that started it. It ends with them. */
  readonly createdBy: Actor;
  /** The key or user that minted the grant under which it was started; it ends with them, too. Null without a grant. */
  readonly grantedBy: string | null;
  /** As stored; `sessionStatus` adds the clock. */
  readonly status: Exclude<SessionStatus, "expired">;
  readonly networks: readonly NetworkName[];
  readonly returnUrl: string | null;
  readonly state: string | null;
  readonly branding: Branding;
  readonly tokenHash: string;
  readonly links: readonly SessionLink[];
  /** Sign-ins that were tried on the page. */
  readonly attempts: number;
  readonly expiresAt: string;
  readonly createdAt: string;
}

export function sessionStatus(session: ConnectSession, now: Date): SessionStatus {
  const isOver = Date.parse(session.expiresAt) <= now.getTime();
  return session.status === "open" && isOver ? "expired" : session.status;
}

/** Makes the token of a session's page. It names the platform, too, whose partition has the session. */
export const newPageToken = (
  tokens: CheckedTokens,
  { platformId, id }: Pick<ConnectSession, "platformId" | "id">,
): string => `${tokens.make(`${platformId}|${id}`)}.${platformId}`;

/** Returns the platform that a page's token names; undefined when it was not made here for the session. */
export function platformOfToken(
  tokens: CheckedTokens,
  token: string,
  id: string,
): string | undefined {
  const [secret = "", platformId = ""] = token.split(".");
  return tokens.isOurs(secret, `${platformId}|${id}`) ? platformId : undefined;
}

/** Returns whether the token is the session's, in constant time. */
export function isTokenOf(session: ConnectSession, token: string): boolean {
  return equalSecrets(Buffer.from(sha256Hex(token)), Buffer.from(session.tokenHash));
}

/**
 * Returns the owner of the calls that a platform's visitors cause. They have no key, so they get none of what the
 * platform's own calls use.
 */
export const visitorsOf = ({ platformId }: Pick<ConnectSession, "platformId">) =>
  `visitors of ${platformId}`;

/** Returns the limits of a visitor's calls: short, because a person waits for the page. */
export const visitLimits = (session: Pick<ConnectSession, "platformId">): CallLimits => ({
  callMs: 15_000,
  totalMs: 40_000,
  owner: visitorsOf(session),
});

export const linkedIds = ({ links }: ConnectSession): string[] =>
  links.map(({ connectionId }) => connectionId);

/**
 * Returns the session with an account linked instead of another one of the network. It is completed once every
 * requested network has an account.
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

/** Returns the address that the end user returns to. It is fixed with the session, so that no browser can choose it. */
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
  const { id, applicationId, profileId, networks, returnUrl, state, branding } = session;
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
    connections: connections.filter((made) => ids.includes(made.id)),
    expiresAt: session.expiresAt,
    createdAt: session.createdAt,
  };
}

/** A session as customers see it. */
export type SessionView = ReturnType<typeof toSessionView>;
