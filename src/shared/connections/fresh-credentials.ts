import { setTimeout as wait } from "node:timers/promises";
import type { LegErrorCode } from "../networks/contract/errors.ts";
import { giveBack } from "../runtime/give-back.ts";
import { HttpFailure } from "../runtime/http-call.ts";
import type {
  CredentialsOutcome,
  LegFailure,
  Rejected,
  TryLater,
} from "../networks/contract/outcome.ts";
import type { NetworkData } from "../networks/contract/draft.ts";
import type { NetworkTools } from "../networks/contract/tools.ts";
import { findAvailable, type RegisteredNetwork } from "../networks/lookup.ts";
import type { ConnectionsDeps } from "./deps.ts";
import type { Connection, FreshCredentials, OpenedConnection } from "./connection.ts";
import { createNetworkTools } from "./network-tools.ts";

/** Longer than a renewal may take, so that no two processes renew at the same time. */
const LEASE_MS = 30_000;
const RENEWAL_LIMITS = { callMs: 15_000, totalMs: 20_000 };
const LEASE_POLL_MS = 150;
/** Together with the wait above, 6 seconds. Then the leg is tried again later. */
const ROUNDS_MAX = 40;
const BUSY_RETRY_SECONDS = 5;
const needsReauth: Rejected = {
  kind: "rejected",
  failure: { code: "connection_needs_reauth", networkCode: null },
};

/**
 * Returns the connection's credentials, renewed if they are about to end. However many calls and processes ask at once,
 * the network is asked once, because a renewal may end the old ones. Renewed ones are stored before they are used. If
 * the network refuses for good, marks the connection as one to be linked again. `opened`: the connection with its
 * secrets, if it was just read.
 */
export function freshCredentials(
  services: ConnectionsDeps,
  connection: Connection,
  opened?: OpenedConnection,
): Promise<FreshCredentials> {
  const { profileId, network, id } = connection;
  return services.credentialFlights.run(`${profileId}|${network}|${id}`, () =>
    obtain(services, connection, opened),
  );
}

async function obtain(
  services: ConnectionsDeps,
  wanted: Connection,
  first: OpenedConnection | undefined,
): Promise<FreshCredentials> {
  const network = findAvailable(wanted.network, services.config.networkApps);
  if (network === undefined) return rejected("app_misconfigured");
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const read = () => services.connections.open(wanted);
    const opened = round === 1 && first !== undefined ? first : await read();
    if (opened === undefined) return rejected("connection_missing");
    const refusal = refusalOf(opened.connection, wanted);
    if (refusal !== undefined) return refusal;
    const answer = await look(services, network, opened);
    if (answer !== "read_again") return answer;
    await wait(LEASE_POLL_MS);
  }
  return tryLater("somebody else is renewing the credentials", BUSY_RETRY_SECONDS);
}

function refusalOf(found: Connection, wanted: Connection): TryLater | Rejected | undefined {
  if (found.status === "revoked") return rejected("connection_missing");
  // The caller read an older row. Another account is linked now.
  if (found.id !== wanted.id) return tryLater("another account was linked", 1);
  return found.status === "needs_reauth" ? rejected("connection_needs_reauth") : undefined;
}

/** Asks the network without HTTP first, because most of the time nothing must be renewed and no lease is needed. */
async function look(
  services: ConnectionsDeps,
  network: RegisteredNetwork,
  opened: OpenedConnection,
): Promise<FreshCredentials | "read_again"> {
  const { connection, credentials } = opened;
  if (credentials === undefined) {
    const { id, profileId } = connection;
    const ids = { network: network.name, connection: id, profileId };
    services.log.error("credentials do not open: their data key is gone", ids);
    return await mark(services, opened, needsReauth);
  }
  let isOnline = false;
  const offline: NetworkTools = {
    ...createNetworkTools(services, network.name, RENEWAL_LIMITS),
    http: () => {
      isOnline = true;
      return Promise.reject(new HttpFailure("not_sent", "connect_failed"));
    },
  };
  const outcome = await network.freshen(credentials, connection.instanceUrl, offline);
  if (isOnline || outcome.kind === "refreshed") return await renew(services, network, opened);
  if (outcome.kind === "usable") return { kind: "usable", credentials, connection };
  // The network said nothing: the credentials have come to their end.
  return outcome.kind === "rejected" ? await mark(services, opened, outcome) : outcome;
}

/** Gives back the lease of a renewal, repeatedly if need be. Never throws. */
function release({ connections, log }: ConnectionsDeps, leased: OpenedConnection): Promise<void> {
  const { id, network } = leased.connection;
  const given = { log, what: "a renewal", fields: { connection: id, network } };
  return giveBack(given, () => connections.releaseLease(leased));
}

async function renew(
  services: ConnectionsDeps,
  network: RegisteredNetwork,
  seen: OpenedConnection,
): Promise<FreshCredentials | "read_again"> {
  const until = new Date(services.clock.now().getTime() + LEASE_MS);
  try {
    const lease = await services.connections.takeLease(seen.connection, until);
    return lease === undefined ? "read_again" : await renewUnder(services, network, seen, lease);
  } catch (error) {
    // It may have been taken although there was no answer.
    await release(services, { ...seen, leaseUntil: until.toISOString() });
    throw error;
  }
}

async function renewUnder(
  services: ConnectionsDeps,
  network: RegisteredNetwork,
  seen: OpenedConnection,
  lease: OpenedConnection,
): Promise<FreshCredentials | "read_again"> {
  const { connection, credentials } = lease;
  if (credentials === undefined || connection.generation !== seen.connection.generation) {
    await release(services, lease);
    return "read_again";
  }
  const limits = { ...RENEWAL_LIMITS, owner: connection.platformId };
  const tools = createNetworkTools(services, network.name, limits);
  const outcome = await network.freshen(credentials, connection.instanceUrl, tools);
  return await afterRenewal(services, { ...lease, credentials }, outcome);
}

async function afterRenewal(
  services: ConnectionsDeps,
  lease: OpenedConnection & { readonly credentials: NetworkData },
  outcome: CredentialsOutcome,
): Promise<FreshCredentials | "read_again"> {
  const { connection, credentials } = lease;
  if (outcome.kind === "rejected") return await refuse(services, lease, outcome);
  if (outcome.kind === "refreshed") {
    services.appFaults.accepted(connection);
    const saved = await services.connections.saveRefreshed(connection, outcome);
    if (saved === undefined) return "read_again";
    return { kind: "usable", credentials: outcome.credentials, connection: saved };
  }
  await release(services, lease);
  return outcome.kind === "usable" ? { kind: "usable", credentials, connection } : outcome;
}

/** Marks the connection if the refusal is the account's. */
async function refuse(
  services: ConnectionsDeps,
  opened: OpenedConnection,
  outcome: Rejected,
): Promise<Rejected | "read_again"> {
  const { failure } = outcome;
  if (services.appFaults.refused(opened.connection, failure) === "account")
    return await mark(services, opened, outcome);
  await release(services, opened);
  return { ...outcome, failure: { ...failure, code: "app_misconfigured" } };
}

/** Marks the connection, unless newer credentials than the refused ones were stored: these are tried instead. */
async function mark(
  services: ConnectionsDeps,
  { connection }: OpenedConnection,
  outcome: Rejected,
): Promise<Rejected | "read_again"> {
  return (await services.connections.mark(connection, outcome.failure)) ? outcome : "read_again";
}

function rejected(code: LegErrorCode): Rejected {
  return { kind: "rejected", failure: { code, networkCode: null } };
}

function tryLater(note: string, retryAfterSeconds: number): TryLater {
  const failure = { code: "network_unavailable", networkCode: null, note } as const;
  return { kind: "try_later", failure, retryAfterSeconds };
}

/**
 * Returns a refusal of an account as it is to be reported. Marks the connection when it is the account's. Of a refusal
 * that is our app's nothing is marked. A refusal of credentials that have been replaced changes nothing.
 */
export async function blamed(
  services: ConnectionsDeps,
  connection: Connection,
  failure: LegFailure,
): Promise<LegFailure> {
  const blame = services.appFaults.refused(connection, failure);
  if (blame === "app") return { ...failure, code: "app_misconfigured" };
  if (blame === "content") return failure;
  await services.connections.mark(connection, failure);
  return failure;
}

/**
 * Renews the credentials of an account that the network refused, in case it was not the account's fault. Returns
 * undefined when they are still refused, or nobody can tell now.
 */
export async function tryRefusedCredentials(
  services: ConnectionsDeps,
  connection: Connection,
): Promise<(FreshCredentials & { readonly kind: "usable" }) | undefined> {
  const network = findAvailable(connection.network, services.config.networkApps);
  const until = new Date(services.clock.now().getTime() + LEASE_MS);
  const lease = await services.connections.takeLease(connection, until);
  if (lease === undefined) return undefined;
  const { credentials, connection: current } = lease;
  if (network === undefined || credentials === undefined || current.id !== connection.id) {
    await release(services, lease);
    return undefined;
  }
  const limits = { ...RENEWAL_LIMITS, owner: connection.platformId };
  const tools = createNetworkTools(services, network.name, limits);
  const outcome = await network.freshen(credentials, current.instanceUrl, tools);
  if (outcome.kind === "rejected") {
    await release(services, lease);
    return undefined;
  }
  const fresh = await afterRenewal(services, { ...lease, credentials }, outcome);
  return fresh !== "read_again" && fresh.kind === "usable" ? fresh : undefined;
}
