import * as z from "zod";
import { shape } from "../runtime/shape.ts";

/** A product backend with a key. Its requests act only for the key's own application. */
export interface ApiKeyCaller {
  readonly kind: "api_key";
  readonly keyId: string;
  readonly platformId: string;
  readonly applicationId: string;
  readonly keyScope: "app_admin" | "restricted";
  readonly allowedProfileIds: readonly string[];
}

export const USER_ROLES = ["owner", "member"] as const;
/** What a member of staff may do. An owner may do everything, a member only what doesn't change others' access. */
export type UserRole = (typeof USER_ROLES)[number];

/** Platform staff, logged in to the dashboard. */
export interface SessionCaller {
  readonly kind: "session";
  readonly userId: string;
  readonly platformId: string;
  /** The token's own id, or null while the user is still logging in. */
  readonly sessionId: string | null;
  /** The version of the user's sessions in the token. Sessions of earlier versions have ended. */
  readonly sessionVersion: number;
  readonly expiresAt: string;
  /** Until when actions that a stolen session must not do need no password, or null for never. */
  readonly confirmedUntil: string | null;
  readonly role: UserRole;
}

/** A service operator with a token of the external identity provider. */
export interface OperatorCaller {
  readonly kind: "operator";
  readonly subject: string;
  readonly roles: readonly string[];
}

/** An end user's browser on the hosted connect page. */
interface ConnectCaller {
  readonly kind: "connect_session";
  readonly sessionId: string;
}

/** The product itself: queue and timer functions. */
export interface SystemCaller {
  readonly kind: "system";
  readonly worker: string;
}

export type Caller = ApiKeyCaller | SessionCaller | OperatorCaller | ConnectCaller | SystemCaller;

/** What a restricted key sees in lists. A profile grant gives access to its profile, but not to lists. */
export interface ListView {
  readonly keyId: string;
  readonly profileIds: ReadonlySet<string>;
}

/** Returns the caller's view of lists, or undefined for callers who see all of their application or platform. */
export function listViewOf(caller: Caller): ListView | undefined {
  if (caller.kind !== "api_key" || caller.keyScope === "app_admin") return undefined;
  return { keyId: caller.keyId, profileIds: new Set(caller.allowedProfileIds) };
}

/** Returns what binds a cursor to a restricted key's view of the list. */
export function boundToView(view: ListView | undefined): { readonly restrictedKeyId?: string } {
  return view === undefined ? {} : { restrictedKeyId: view.keyId };
}

export interface Actor {
  readonly kind: Caller["kind"];
  readonly id: string;
}

export function actorOf(caller: Caller): Actor {
  switch (caller.kind) {
    case "api_key":
      return { kind: caller.kind, id: caller.keyId };
    case "session":
      return { kind: caller.kind, id: caller.userId };
    case "operator":
      return { kind: caller.kind, id: caller.subject };
    case "connect_session":
      return { kind: caller.kind, id: caller.sessionId };
    case "system":
      return { kind: caller.kind, id: caller.worker };
  }
}

/**
 * The key, or the session of a user, that made a connect session or a profile grant. What it made ends when the key is
 * revoked or the session is ended. A session that only expires ends nothing.
 */
export interface Maker {
  readonly id: string;
  /** Null for a key. */
  readonly session: { readonly sessionId: string | null; readonly version: number } | null;
}

export function makerOf(caller: Caller): Maker {
  const { id } = actorOf(caller);
  if (caller.kind !== "session") return { id, session: null };
  const { sessionId, sessionVersion: version } = caller;
  return { id, session: { sessionId, version } };
}

export const actor = shape(
  () =>
    z
      .strictObject({
        kind: z.enum(["api_key", "session", "operator", "connect_session", "system"]),
        id: z.string(),
      })
      .meta({ id: "Actor", description: "Who did it." }) satisfies z.ZodType<Actor>,
);
