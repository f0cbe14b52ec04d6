import { recordAudit } from "../audit/record.ts";
import { requireTokens } from "../billing/charge.ts";
import { priceOf } from "../billing/rate-card.ts";
import type { ProfileScope } from "../callers/scope.ts";
import { newId } from "../runtime/ids.ts";
import { randomToken, sha256Hex } from "../runtime/secrets.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { pageAddress } from "./hosted-page/browser.ts";
import { sessionStatus, toSessionView, type ConnectSession } from "./connect-session.ts";
import type { CreateConnectSession } from "./schema.ts";
import { AppError, notFound } from "../runtime/errors.ts";
import { listConnections } from "./view-connection.ts";

/**
 * Starts a visit to the hosted page. Only this answer has the token, in `connectUrl`.
 * @throws AppError 402 when the wallet can't pay for one link
 */
export async function startConnectSession(
  services: ConnectionsDeps,
  scope: ProfileScope,
  input: CreateConnectSession,
) {
  const { platformId, applicationId, profileId } = scope;
  await requireTokens(services, platformId, priceOf("connections.link"));
  const now = services.clock.now();
  const token = randomToken();
  const session: ConnectSession = {
    id: newId("connectSession", now),
    platformId,
    applicationId,
    profileId,
    status: "open",
    networks: input.platforms,
    returnUrl: input.returnUrl ?? null,
    state: input.state ?? null,
    branding: input.branding ?? {},
    tokenHash: sha256Hex(token),
    links: [],
    attempts: 0,
    expiresAt: new Date(now.getTime() + input.expiresIn * 1000).toISOString(),
    createdAt: now.toISOString(),
  };
  await services.connectSessions.insert(session);
  const target = { type: "connect_session", id: session.id };
  recordAudit(services, scope, { action: "connect_session.created", target });
  const connectUrl = pageAddress(services.config, session.id, token);
  return { ...toSessionView(session, [], now), connectUrl };
}

/**
 * Returns the session if it belongs to the scope's profile.
 * @throws AppError `not_found`, the same for another tenant's
 */
async function ownSession(
  services: ConnectionsDeps,
  scope: ProfileScope,
  sessionId: string,
): Promise<ConnectSession> {
  const session = await services.connectSessions.find(sessionId);
  const isOwn = session?.platformId === scope.platformId && session.profileId === scope.profileId;
  if (!isOwn) throw notFound();
  return session;
}

/** Returns a session of the profile. @throws AppError `not_found` */
export async function getSession(
  services: ConnectionsDeps,
  scope: ProfileScope,
  sessionId: string,
) {
  const session = await ownSession(services, scope, sessionId);
  const { items } = await listConnections(services, scope);
  return toSessionView(session, items, services.clock.now());
}

/**
 * Ends an open session. A sign-in that is under way links nothing after that.
 * @throws AppError `not_found`, or `invalid_state` when it is not open
 */
export async function cancelSession(
  services: ConnectionsDeps,
  scope: ProfileScope,
  sessionId: string,
) {
  const session = await ownSession(services, scope, sessionId);
  const now = services.clock.now();
  const canceled = await services.connectSessions.change(session.id, (current) =>
    sessionStatus(current, now) === "open" ? { ...current, status: "canceled" } : undefined,
  );
  if (canceled === undefined) {
    const status = sessionStatus(session, now);
    const is = status === "open" ? "no longer open" : status;
    throw new AppError("invalid_state", `The connect session is ${is}.`);
  }
  const target = { type: "connect_session", id: session.id };
  recordAudit(services, scope, { action: "connect_session.canceled", target });
  const { items } = await listConnections(services, scope);
  return toSessionView(canceled, items, now);
}
