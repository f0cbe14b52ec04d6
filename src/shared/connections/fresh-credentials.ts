import { type BoundedCredentials, boundedCredentials } from "../networks/contract/bounded.ts";
import { setTimeout as wait } from "node:timers/promises";
import type { LegErrorCode } from "../networks/contract/errors.ts";
import { isHeld, Lease, type LeaseColumns } from "../runtime/lease.ts";
import { HttpFailure } from "../runtime/http-call.ts";
import type { LegFailure, Rejection, TryLater } from "../networks/contract/outcome.ts";
import type { NetworkData } from "../networks/contract/draft.ts";
import type { NetworkTools } from "../networks/contract/tools.ts";
import { findAvailable, networkOf, type RegisteredNetwork } from "../networks/networks.ts";
import { ofAccount, recordAccepted } from "./accepted-account.ts";
import type { ConnectionsDeps } from "./deps.ts";
import type { Connection, FreshCredentials, OpenedConnection } from "./connection.ts";
import type { LeasedConnection, ConnectionStore } from "./connection-store.ts";
import { createNetworkTools, type ToolsDeps } from "./network-tools.ts";

/** Longer than a renewal may take, so that two processes never renew at the same time. */
const LEASE_MS = 30_000;
const RENEWAL_LIMITS = { callMs: 15_000, totalMs: 20_000 };
const LEASE_POLL_MS = 150;
/** Together with the wait above, this is 6 seconds. After that, the leg is tried again later. */
const ROUNDS_MAX = 40;
const BUSY_RETRY_SECONDS = 5;
const needsReauth: Rejection = {
  kind: "rejected",
  failure: { code: "connection_needs_reauth", networkCode: null },
};

/**
 * Returns the connection's credentials, renewed if they end soon. Concurrent calls and processes share one renewal,
 * because a renewal may end the old credentials. Renewed credentials are stored before they are used. If the network
 * refuses for good, the connection is marked as one to link again. `opened` is the connection with its secrets, if it
 * was just read.
 */
export function freshCredentials(
  services: ConnectionsDeps,
  connection: Connection,
  opened?: OpenedConnection,
): Promise<FreshCredentials> {
  const { profileId, network, id } = connection;
  return services.linking.credentialFlights.run(`${profileId}|${network}|${id}`, () =>
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
    const read = () => services.stores.connections.open(wanted);
    const opened = round === 1 && first !== undefined ? first : await read();
    if (opened === undefined) return rejected("connection_missing");
    const refusal = credentialsRefusal(opened.connection, wanted);
    if (refusal !== undefined) return refusal;
    const answer = await checkFreshness(services, network, opened);
    if (answer !== "read_again") return answer;
    await wait(LEASE_POLL_MS);
  }
  return tryRenewalLater("somebody else is renewing the credentials", BUSY_RETRY_SECONDS);
}

function credentialsRefusal(
  found: Connection,
  wanted: Connection,
): TryLater | Rejection | undefined {
  if (found.status === "revoked") return rejected("connection_missing");
  // The caller has read an older row, and another account is linked now.
  if (found.id !== wanted.id) return tryRenewalLater("another account was linked", 1);
  return found.status === "needs_reauth" ? rejected("connection_needs_reauth") : undefined;
}

/** Asks the network module without HTTP first, because usually nothing must be renewed and no lease is needed. */
async function checkFreshness(
  services: ConnectionsDeps,
  network: RegisteredNetwork,
  opened: OpenedConnection,
): Promise<FreshCredentials | "read_again"> {
  const { connection, credentials } = opened;
  if (credentials === undefined) {
    const { id, profileId } = connection;
    const ids = { network: network.name, connection: id, profileId };
    services.log.error("credentials do not open: their data key is gone", ids);
    return await markRefused(services.stores.connections, connection, needsReauth);
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
  // The network has not answered: the credentials have simply expired.
  return outcome.kind === "rejected"
    ? await markRefused(services.stores.connections, connection, outcome)
    : outcome;
}

/** The only renewal of a connection's credentials at a time. It ends with the lease. */
interface Renewal extends OpenedConnection {
  readonly lease: Lease<LeaseColumns, LeasedConnection>;
}

/** Renews under the lease and gives it back. Returns undefined, without any call, while another process has it. */
async function underLease<Result>(
  { clock, log, stores: { connections } }: Pick<ConnectionsDeps, "clock" | "log" | "stores">,
  wanted: Connection,
  renewing: (renewal: Renewal) => Promise<Result>,
): Promise<Result | undefined> {
  const { id, network } = wanted;
  const found = await connections.readLease(wanted);
  if (found === undefined || isHeld(found.state, clock.now())) return undefined;
  const lease = new Lease<LeaseColumns, LeasedConnection>(
    {
      what: "a renewal",
      fields: { connection: id, network },
      log,
      clock,
      leaseMs: LEASE_MS,
      read: () => connections.readLease(wanted),
      write: (part, etag) => connections.writeLease(wanted, part, etag),
    },
    found,
  );
  if (!(await lease.take())) return undefined;
  const { connection, credentials } = found;
  try {
    return await renewing({ connection, credentials, lease });
  } finally {
    await lease.giveBack();
  }
}

async function askNetwork(
  services: ToolsDeps,
  network: RegisteredNetwork,
  { platformId, instanceUrl }: Connection,
  credentials: NetworkData,
): Promise<BoundedCredentials> {
  const limits = { ...RENEWAL_LIMITS, owner: platformId };
  const tools = createNetworkTools(services, network.name, limits);
  return boundedCredentials(await network.freshen(credentials, instanceUrl, tools));
}

async function renew(
  services: ConnectionsDeps,
  network: RegisteredNetwork,
  seen: OpenedConnection,
): Promise<FreshCredentials | "read_again"> {
  const renewed = await underLease(services, seen.connection, async (renewal) => {
    const { connection, credentials } = renewal;
    if (credentials === undefined || connection.generation !== seen.connection.generation)
      return "read_again";
    const outcome = await askNetwork(services, network, connection, credentials);
    return await afterRenewal(services, { ...renewal, credentials }, outcome);
  });
  return renewed ?? "read_again";
}

async function afterRenewal(
  services: Pick<ConnectionsDeps, "stores" | "linking">,
  { connection, credentials, lease }: Renewal & { readonly credentials: NetworkData },
  outcome: BoundedCredentials,
): Promise<FreshCredentials | "read_again"> {
  if (outcome.kind === "rejected") {
    // Marks the connection if the account is the cause of the refusal.
    const { failure } = outcome;
    if (
      services.linking.appFaults.refused(connection, failure, accountCheckOf(connection)) ===
      "account"
    ) {
      const rejected = { ...outcome, failure: ofAccount(connection.network, failure) };
      const marked = await markRefused(services.stores.connections, connection, rejected);
      if (marked !== "read_again") lease.ended();
      return marked;
    }
    return { ...outcome, failure: { ...failure, code: "app_misconfigured" } };
  }
  if (outcome.kind === "refreshed") {
    await recordAccepted(services, connection);
    const saved = await services.stores.connections.saveRefreshed(connection, outcome);
    if (saved === undefined) return "read_again";
    lease.ended();
    return { kind: "usable", credentials: outcome.credentials, connection: saved };
  }
  return outcome.kind === "usable" ? { kind: "usable", credentials, connection } : outcome;
}

/** Marks the connection, unless newer credentials than the refused ones were stored. These are then tried instead. */
async function markRefused(
  connections: ConnectionStore,
  connection: Connection,
  outcome: Rejection,
): Promise<Rejection | "read_again"> {
  return (await connections.mark(connection, outcome.failure)) ? outcome : "read_again";
}

const accountCheckOf = ({ network }: Connection) => networkOf(network).accountCheck;

function rejected(code: LegErrorCode): Rejection {
  return { kind: "rejected", failure: { code, networkCode: null } };
}

function tryRenewalLater(note: string, retryAfterSeconds: number): TryLater {
  const failure = { code: "network_unavailable", networkCode: null, note } as const;
  return { kind: "try_later", failure, retryAfterSeconds };
}

/**
 * Returns a refusal as it is to be reported, and marks the connection if the account is the cause. Nothing is marked
 * when our app is the cause, or when the refused credentials were replaced meanwhile.
 */
export async function blamed(
  services: Pick<ConnectionsDeps, "stores" | "linking">,
  connection: Connection,
  failure: LegFailure,
): Promise<LegFailure> {
  const blame = services.linking.appFaults.refused(connection, failure, accountCheckOf(connection));
  if (blame === "app") return { ...failure, code: "app_misconfigured" };
  if (blame === "call") return failure;
  const reported = ofAccount(connection.network, failure);
  await services.stores.connections.mark(connection, reported);
  return reported;
}

/**
 * Renews the credentials of an account that the network refused, in case the account was not the cause. Returns
 * undefined when they are still refused, or when that can't be found out now.
 */
export async function tryRefusedCredentials(
  services: ConnectionsDeps,
  connection: Connection,
): Promise<(FreshCredentials & { readonly kind: "usable" }) | undefined> {
  const network = findAvailable(connection.network, services.config.networkApps);
  const fresh = await underLease(services, connection, async (renewal) => {
    const { credentials, connection: current } = renewal;
    if (network === undefined || credentials === undefined || current.id !== connection.id)
      return undefined;
    const outcome = await askNetwork(services, network, current, credentials);
    if (outcome.kind === "rejected") return undefined;
    return await afterRenewal(services, { ...renewal, credentials }, outcome);
  });
  return fresh !== "read_again" && fresh?.kind === "usable" ? fresh : undefined;
}
