import { isRecord } from "../runtime/is-record.ts";
import { actorOf, makerOf, type Maker } from "../callers/caller.ts";
import type { ProfileScope } from "../callers/scope.ts";
import { newId } from "../runtime/ids.ts";
import { toPage, type Page } from "../runtime/page.ts";
import { SingleFlight } from "../runtime/promises.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import type { ConnectSessionStore } from "./connect-session-store.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { pageAddress } from "./hosted-page/browser.ts";
import {
  newPageToken,
  shownStatus,
  toSessionView,
  type ConnectSession,
  type SessionView,
} from "./connect-session.ts";
import {
  CONNECT_SESSION_SECONDS_MAX,
  type CreateConnectSession,
  type ListSessions,
} from "./schema.ts";
import { isUnpaid, priceOfLink } from "./link-account.ts";
import { sessionState } from "./session-state.ts";
import { AppError, notFound, refuseIssues, type Issue } from "../runtime/errors.ts";
import { linkUrl, publicUrl } from "../networks/options.ts";
import { refusedPublicUrl } from "../runtime/outbound.ts";
import { listConnections } from "./view-connection.ts";

/** Addresses of the branding, which browsers of end users load or follow. */
const BRANDING_URLS = ["logoUrl", "faviconUrl", "privacyUrl", "termsUrl", "supportUrl"] as const;

/** A policy can't name an IPv6 address, so a page could not lead to it. */
const NAMED_HOST = /^[a-z0-9.-]+$/;

const propertyOf = (value: unknown, name: string): unknown =>
  isRecord(value) ? value[name] : undefined;

/**
 * Returns the problems of a new session's addresses that depend on the settings. The schema reports those of any other
 * kind.
 */
export function sessionAddressIssues(
  { config }: Pick<ConnectionsDeps, "config">,
  body: Readonly<Record<string, unknown>>,
): readonly Issue[] {
  const given = [
    ["returnUrl", body["returnUrl"], linkUrl()] as const,
    ...BRANDING_URLS.map((field) => {
      const path = `branding.${field}`;
      return [path, propertyOf(body["branding"], field), publicUrl()] as const;
    }),
  ];
  return given.flatMap(([path, value, schema]) => {
    const { success, data: text } = schema.safeParse(value);
    if (!success) return [];
    const isNamed = NAMED_HOST.test(new URL(text).hostname);
    const message = isNamed
      ? refusedPublicUrl(text, config.outbound)
      : "must have a host name of letters, digits, hyphens and dots";
    return message === undefined ? [] : [{ path, code: "refused_url", message }];
  });
}

/**
 * Starts a session of the hosted page. Only this answer has the token, in `connectUrl`.
 * @throws AppError `validation_failed` on an address, 402 when the wallet can't pay for one link and none can be free
 */
export async function startConnectSession(
  services: ConnectionsDeps,
  scope: ProfileScope,
  input: CreateConnectSession,
) {
  const { platformId, applicationId, profileId } = scope;
  refuseIssues(sessionAddressIssues(services, input));
  const now = services.clock.now();
  const id = newId("connectSession", now);
  const token = newPageToken(services.linking.linkTokens, { platformId, id });
  const session: ConnectSession = {
    id,
    platformId,
    applicationId,
    profileId,
    createdBy: actorOf(scope.caller),
    makers: [makerOf(scope.caller), ...(scope.grantedBy === undefined ? [] : [scope.grantedBy])],
    status: "open",
    networks: input.platforms,
    returnUrl: input.returnUrl ?? null,
    state: input.state ?? null,
    branding: input.branding ?? {},
    allowDisconnect: input.allowDisconnect,
    tokenHash: sha256Hex(token),
    links: [],
    disconnected: [],
    attempts: 0,
    expiresAt: new Date(now.getTime() + input.expiresIn * 1000).toISOString(),
    createdAt: now.toISOString(),
  };
  const { connectSessions, connections } = services.stores;
  try {
    await connectSessions.insert(session, priceOfLink(session, scope.requestId));
  } catch (error) {
    if (!isUnpaid(error)) throw error;
    // An account that the profile had before is linked again for nothing.
    const known = await connections.listOfProfile(session);
    if (!known.some(({ network }) => session.networks.includes(network))) throw error;
    await connectSessions.insert(session, null);
  }
  const target = { type: "connect_session", id };
  services.audit.record(scope, { action: "connect_session.created", target });
  const connectUrl = pageAddress(services.config, id, token);
  return { ...toSessionView(session, [], "open"), connectUrl };
}

/**
 * Finds the session if it belongs to the scope's profile.
 * @throws AppError `not_found`, also for a session of another tenant
 */
async function ownSession(
  connectSessions: ConnectSessionStore,
  scope: ProfileScope,
  id: string,
): Promise<ConnectSession> {
  const { platformId, profileId } = scope;
  const session = await connectSessions.find({ platformId, id });
  if (session?.profileId !== profileId) throw notFound();
  return session;
}

/** Returns a session of the profile. @throws AppError `not_found` */
export async function getSession(
  services: ConnectionsDeps,
  scope: ProfileScope,
  sessionId: string,
) {
  const session = await ownSession(services.stores.connectSessions, scope, sessionId);
  const [{ items }, state] = await Promise.all([
    listConnections(services, scope),
    sessionState(services, session),
  ]);
  return toSessionView(session, items, state);
}

/**
 * Lists the profile's open sessions, newest first, without the addresses of their pages.
 * @throws AppError `invalid_cursor`
 */
export async function listSessions(
  services: ConnectionsDeps,
  scope: ProfileScope,
  { limit, cursor }: ListSessions,
): Promise<Page<SessionView>> {
  const { platformId, profileId } = scope;
  const bound = { list: "connect sessions", platformId, profileId };
  const after = services.cursors.read(cursor, bound);
  const now = services.clock.now();
  const since = new Date(now.getTime() - CONNECT_SESSION_SECONDS_MAX * 1000);
  const [listed, connections] = await Promise.all([
    services.stores.connectSessions.listOfProfile(scope, { after, limit, since, now }),
    listConnections(services, scope),
  ]);
  // Filters the sessions that are open. Each key or session that started some of them is read once.
  const asked = new SingleFlight<boolean>(Infinity);
  const { clock } = services;
  const tenants = {
    isMakerActive: (_platformId: string, maker: Maker) =>
      asked.run(JSON.stringify(maker), () =>
        services.tenants.isMakerActive(scope.platformId, maker),
      ),
  };
  const states = await Promise.all(
    listed.items.map((session) => sessionState({ clock, tenants }, session)),
  );
  const items = listed.items.filter((_session, at) => states[at] === "open");
  const makeCursor = (next: string) => services.cursors.make(next, bound);
  const open = { items, next: listed.next };
  return toPage(open, limit, makeCursor, (session) =>
    toSessionView(session, connections.items, "open"),
  );
}

/**
 * Ends an open session. A sign-in that is in progress then links nothing.
 * @throws AppError `not_found`, or `invalid_state` when it is not open
 */
export async function cancelSession(
  services: ConnectionsDeps,
  scope: ProfileScope,
  sessionId: string,
) {
  const session = await ownSession(services.stores.connectSessions, scope, sessionId);
  const before = shownStatus(await sessionState(services, session));
  if (before !== "open") throw notOpen(before);
  const canceled = await services.stores.connectSessions.cancel(session);
  if (canceled === undefined) throw notOpen("no longer open");
  const target = { type: "connect_session", id: session.id };
  services.audit.record(scope, { action: "connect_session.canceled", target });
  const { items } = await listConnections(services, scope);
  return toSessionView(canceled, items, "canceled");
}

function notOpen(state: string): AppError {
  return new AppError("invalid_state", `The connect session is ${state}.`);
}
