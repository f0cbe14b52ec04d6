import { recordAudit } from "../audit/record.ts";
import { requireTokens } from "../billing/charge.ts";
import { priceOf } from "../billing/rate-card.ts";
import type { ProfileScope } from "../callers/scope.ts";
import { newId } from "../runtime/ids.ts";
import { randomToken, sha256Hex } from "../runtime/secrets.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { pageAddress } from "./hosted-page/addresses.ts";
import { toSessionView, type ConnectSession } from "./connect-session.ts";
import type { CreateConnectSession } from "./schema.ts";

/**
 * Starts a visit to the hosted page. The token in `connectUrl` is shown here alone.
 * @throws AppError 402 when the wallet could not pay for one link
 */
export async function startSession(
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
