import { isStorable } from "../networks/contract/bounded.ts";
import { findAvailable, type RegisteredNetwork } from "../networks/networks.ts";
import { isVerdict, subjectOf } from "../networks/contract/blame.ts";
import type { CheckedAccount } from "../networks/contract/network.ts";
import type { NetworkTools } from "../networks/contract/tools.ts";
import type { Rejection, TryLater } from "../networks/contract/outcome.ts";
import type { ConnectionsDeps } from "./deps.ts";
import type { Connection, FreshCredentials } from "./connection.ts";
import { blamed, freshCredentials, tryRefusedCredentials } from "./fresh-credentials.ts";
import { recordAccepted } from "./accepted-account.ts";
import { isEndingSoon } from "./connection-change.ts";
import { createNetworkTools } from "./network-tools.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const IDLE_DAYS_MAX = 7;
/** How long a refused account is still tried, because the refusal may not be the account's fault. */
const REFUSED_MS = 7 * DAY_MS;
const LIMITS = { callMs: 10_000, totalMs: 20_000 };

/** The result of a check. `unreachable`: nothing was found out or changed. */
export type CheckResult = "ok" | "refused" | "unreachable" | "skipped";

/**
 * Checks an account that may not have been published to for a long time: renews credentials in time, finds out whether
 * the account is still authorized, reads its limits, and warns before the authorization ends. May be repeated.
 */
export async function checkAccount(
  services: ConnectionsDeps,
  connection: Connection,
): Promise<CheckResult> {
  const network = findAvailable(connection.network, services.config.networkApps);
  if (network === undefined) return "skipped";
  if (services.linking.appFaults.areRefused(connection)) return "unreachable";
  if (connection.status === "needs_reauth") return checkRefused(services, network, connection);
  if (connection.status !== "active") return "skipped";
  const now = services.clock.now();
  const known = [connection.checkedAt, connection.lastUsedAt].filter((at) => at !== null);
  const isIdle =
    now.getTime() - Date.parse(known.sort().at(-1) ?? connection.updatedAt) >=
    (network.accountCheck?.idleDaysMax ?? IDLE_DAYS_MAX) * DAY_MS;
  const { checked, connection: after } =
    isIdle || network.accountCheck?.readLimits !== undefined
      ? await touch(services, network, connection, isIdle)
      : ({ checked: "ok", connection } as const);
  if (checked !== "refused") await warn(services, after);
  return checked;
}

interface CheckRun {
  readonly services: ConnectionsDeps;
  readonly network: RegisteredNetwork;
  readonly connection: Connection;
  readonly kept: CheckedAccount;
  readonly tools: NetworkTools;
}

interface CheckedConnection {
  readonly checked: CheckResult;
  /** The connection after its credentials were renewed. */
  readonly connection: Connection;
}

async function touch(
  services: ConnectionsDeps,
  network: RegisteredNetwork,
  connection: Connection,
  isIdle: boolean,
): Promise<CheckedConnection> {
  const fresh = await freshCredentials(services, connection);
  if (fresh.kind === "try_later") return { checked: "unreachable", connection };
  // The result is already stored, and its event emitted.
  if (fresh.kind === "rejected") {
    const isOfApp = fresh.failure.code === "app_misconfigured";
    return { checked: isOfApp ? "unreachable" : "refused", connection };
  }
  const on = checkRunOf(services, network, fresh);
  const { connection: current } = fresh;
  const checked =
    (isIdle ? await askAboutAccount(on) : undefined) ?? (await readLimits(on, isIdle)) ?? "ok";
  return { checked, connection: current };
}

function checkRunOf(
  services: ConnectionsDeps,
  network: RegisteredNetwork,
  { connection, credentials }: FreshCredentials & { readonly kind: "usable" },
): CheckRun {
  const { account, instanceUrl, platformId } = connection;
  const tools = createNetworkTools(services, network.name, { ...LIMITS, owner: platformId });
  return { services, network, connection, kept: { account, credentials, instanceUrl }, tools };
}

/**
 * Checks an account that the network recently refused, and makes it usable again if the network accepts it: the account
 * was not the cause. Only a refused authorization is tried, because a check says nothing about other refusals.
 */
async function checkRefused(
  services: ConnectionsDeps,
  network: RegisteredNetwork,
  connection: Connection,
): Promise<CheckResult> {
  const { code, at } = connection.lastError ?? { code: undefined, at: "" };
  const ageMs = services.clock.now().getTime() - Date.parse(at);
  if (code !== "connection_needs_reauth" || !(ageMs < REFUSED_MS)) return "skipped";
  const fresh = await tryRefusedCredentials(services, connection);
  if (fresh === undefined) return "refused";
  const isRenewed = fresh.connection.generation > connection.generation;
  if (!isRenewed && !(await isAccepted(checkRunOf(services, network, fresh)))) return "refused";
  await recordAccepted(services, connection);
  await services.stores.connections.mark(fresh.connection, null);
  return "ok";
}

/** Reports whether a call in the account's name succeeds. */
async function isAccepted({ network, kept, tools }: CheckRun): Promise<boolean> {
  const check = network.accountCheck;
  if (check?.probe !== undefined) return (await check.probe(kept, tools)).kind === "usable";
  return (await check?.readLimits?.(kept, tools))?.kind === "read";
}

/** Asks the network whether the account is still authorized. Returns undefined if nothing is wrong. */
async function askAboutAccount(on: CheckRun): Promise<CheckResult | undefined> {
  const { services, network, connection, kept, tools } = on;
  if (network.accountCheck?.probe === undefined) return undefined;
  const outcome = await network.accountCheck.probe(kept, tools);
  if (outcome.kind !== "usable") return applyRefusal(services, connection, outcome, true);
  await confirm(services, connection);
  return undefined;
}

/** Records that the network still accepts the account. */
async function confirm(
  services: Pick<ConnectionsDeps, "clock" | "stores" | "linking">,
  connection: Connection,
): Promise<void> {
  await recordAccepted(services, connection);
  await services.stores.accountChecks.recordChecked(connection, services.clock.now());
}

/** Reads the account's limits. Without a probe, reading them shows that the account is still authorized. */
async function readLimits(on: CheckRun, isIdle: boolean): Promise<CheckResult | undefined> {
  const { services, network, connection, kept, tools } = on;
  if (network.accountCheck?.readLimits === undefined) return undefined;
  const outcome = await network.accountCheck.readLimits(kept, tools);
  if (outcome.kind === "read" && isIdle && network.accountCheck.probe === undefined)
    await confirm(services, connection);
  if (outcome.kind !== "read") return applyRefusal(services, connection, outcome);
  const { limits } = outcome;
  if (!isStorable(limits)) return "unreachable";
  for (const fact of outcome.doubts ?? [])
    services.log.warn("network.fact_doubtful", { network: network.name, fact });
  const isNew = JSON.stringify(limits) !== JSON.stringify(connection.limits);
  if (isNew)
    await services.stores.accountChecks.saveLimits(connection, limits, services.clock.now());
  return undefined;
}

/** Changes the connection only if the network has certainly refused the account itself, and not only a read. */
async function applyRefusal(
  services: Pick<ConnectionsDeps, "log" | "stores" | "linking">,
  connection: Connection,
  outcome: TryLater | Rejection,
  isProbe = false,
): Promise<CheckResult> {
  if (outcome.kind === "try_later") return "unreachable";
  if (isVerdict(outcome, isProbe)) {
    const failure = await blamed(services, connection, outcome.failure);
    return subjectOf(failure) === "account" ? "refused" : "unreachable";
  }
  const { failure } = outcome;
  const { id, network } = connection;
  services.log.warn("a check of a connection was refused", { connection: id, network, failure });
  return "unreachable";
}

/** Warns of an authorization that ends soon, once per end. */
async function warn(
  services: Pick<ConnectionsDeps, "clock" | "stores">,
  connection: Connection,
): Promise<void> {
  const { expiresAt, warnedExpiresAt } = connection;
  if (expiresAt === warnedExpiresAt || !isEndingSoon(expiresAt, services.clock.now())) return;
  await services.stores.accountChecks.recordWarned(connection);
}
