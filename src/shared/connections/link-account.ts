import { charge, creditWallet, type Charge } from "../billing/charge.ts";
import { priceOf } from "../billing/rate-card.ts";
import { AppError } from "../runtime/errors.ts";
import { newId } from "../runtime/ids.ts";
import type { LinkedAccount } from "../networks/contract/link.ts";
import type { NetworkName } from "../networks/lookup.ts";
import type { ConnectionsDeps } from "./deps.ts";
import {
  findLink,
  sessionStatus,
  visitorsOf,
  withLinked,
  withPlan,
  type ConnectSession,
} from "./connect-session.ts";
import { LinkRefused } from "./connection-change.ts";
import { grantIdOf, type Connection } from "./connection.ts";
import { hasOrigin, originIds } from "./session-state.ts";
import { revokeAtNetwork } from "./remove-connection.ts";

export type LinkResult =
  | { readonly kind: "linked"; readonly session: ConnectSession; readonly connection: Connection }
  /** Nothing is linked: the session is over, whoever started it is gone, or the profile was disabled. */
  | { readonly kind: "closed" }
  /** Nothing is linked: the wallet can't pay for it. */
  | { readonly kind: "unpaid" };

interface Linking {
  readonly session: ConnectSession;
  readonly network: NetworkName;
  readonly linked: LinkedAccount;
  readonly requestId: string;
}

/**
 * Links an account that signed in. From when it is planned in the session, a cancel comes too late. The id chosen there
 * names the charge, so that a repeat after a crash pays nothing more. Linking the same account again is free.
 */
export async function linkAccount(
  services: ConnectionsDeps,
  linking: Linking,
): Promise<LinkResult> {
  const result = await link(services, linking);
  if (result.kind !== "linked") await discard(services, linking, linking.linked);
  return result;
}

async function link(services: ConnectionsDeps, linking: Linking): Promise<LinkResult> {
  const { session, network, linked } = linking;
  if (!(await isAllowed(services, session))) return { kind: "closed" };
  const before = await services.connections.find({ ...session, network });
  const isKnown = before?.account.id === linked.account.id;
  const id = await plan(services, linking, isKnown ? before.id : undefined);
  if (id === undefined) return { kind: "closed" };
  if (!isKnown && !(await pay(services, linking, id))) return { kind: "unpaid" };
  const saved = await save(services, linking, id);
  if (saved === undefined) {
    if (!isKnown) await giveBack(services, linking, id);
    return { kind: "closed" };
  }
  return await conclude(services, linking, saved);
}

/** Does what follows once an account is linked for good. */
async function conclude(
  services: ConnectionsDeps,
  linking: Linking,
  saved: NonNullable<Awaited<ReturnType<typeof save>>>,
): Promise<LinkResult> {
  const { session, network, linked } = linking;
  const after = await services.connectSessions.change(session.id, (now) =>
    withLinked(now, network, linked.account.id),
  );
  if (saved.replaced?.credentials !== undefined) {
    const { connection, credentials } = saved.replaced;
    await discard(services, linking, { ...connection, credentials });
  }
  return { kind: "linked", session: after ?? session, connection: saved.connection };
}

/**
 * Stores the connection if the link is still allowed: the key or user that started the session may have lost its access
 * while the account signed in. Returns undefined, and links nothing, when it has.
 */
async function save(services: ConnectionsDeps, { session, network, linked }: Linking, id: string) {
  const { platformId, applicationId, profileId } = session;
  const guard = services.linkGuard(session, originIds(session));
  const owner = { id, platformId, applicationId, profileId };
  try {
    return await services.connections.saveLinked({ ...owner, network, linked }, guard);
  } catch (error) {
    if (error instanceof LinkRefused) return undefined;
    throw error;
  }
}

/** Returns the id that the connection will have; undefined when the session is no longer open. */
async function plan(
  services: ConnectionsDeps,
  { session, network, linked }: Linking,
  knownId: string | undefined,
): Promise<string | undefined> {
  const now = services.clock.now();
  const accountId = linked.account.id;
  const freshId = newId("connection", now);
  const planned = await services.connectSessions.change(session.id, (current) =>
    sessionStatus(current, now) === "open"
      ? withPlan(current, { network, accountId, knownId, freshId })
      : undefined,
  );
  return planned === undefined ? undefined : findLink(planned, network, accountId)?.connectionId;
}

/** Charges the link. Returns whether the wallet could pay. */
async function pay(
  services: ConnectionsDeps,
  linking: Linking,
  connectionId: string,
): Promise<boolean> {
  try {
    await charge(services, linking.session.platformId, chargeOf(linking, connectionId));
    return true;
  } catch (error) {
    const isShort =
      error instanceof AppError &&
      (error.code === "insufficient_tokens" || error.code === "daily_budget_reached");
    if (isShort) return false;
    throw error;
  }
}

/** Gives back what a link cost that was undone. Its session has ended, so that no other link has this id. */
async function giveBack(
  services: ConnectionsDeps,
  linking: Linking,
  connectionId: string,
): Promise<void> {
  await creditWallet(services, linking.session.platformId, {
    ...chargeOf(linking, connectionId),
    operationId: `unlinked|${connectionId}`,
  });
}

function chargeOf({ session, network, requestId }: Linking, connectionId: string): Charge {
  return {
    operationId: `link|${connectionId}`,
    operation: "connections.link",
    tokens: priceOf("connections.link"),
    applicationId: session.applicationId,
    profileId: session.profileId,
    postId: null,
    network,
    actor: { kind: "connect_session", id: session.id },
    requestId,
  };
}

/** Ends an authorisation at the network that is not stored. */
async function discard(
  services: ConnectionsDeps,
  { network, session }: Pick<Linking, "network" | "session">,
  linked: Pick<LinkedAccount, "account" | "grantId" | "instanceUrl" | "credentials">,
): Promise<void> {
  const { instanceUrl, credentials } = linked;
  const grantId = grantIdOf(linked);
  const owner = visitorsOf(session);
  await revokeAtNetwork(services, { network, owner, grantId, instanceUrl, credentials });
}

/** Returns whether accounts may be linked in the session now, apart from its own status. */
async function isAllowed(services: ConnectionsDeps, session: ConnectSession): Promise<boolean> {
  const checks = [isProfileActive(services, session), hasOrigin(services, session)];
  return (await Promise.all(checks)).every(Boolean);
}

/**
 * Returns whether accounts may be linked to the profile now. Checked at every link, because the platform may disable
 * the profile while the browser's session is open.
 */
export async function isProfileActive(
  services: ConnectionsDeps,
  owner: {
    readonly platformId: string;
    readonly applicationId: string;
    readonly profileId: string;
  },
): Promise<boolean> {
  const { platformId, applicationId, profileId } = owner;
  const [platform, application, profile] = await Promise.all([
    services.platforms.find(platformId),
    services.applications.find(platformId, applicationId),
    services.profiles.find(platformId, profileId),
  ]);
  return [platform, application, profile].every((part) => part?.status === "active");
}
