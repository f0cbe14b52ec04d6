import { ago } from "../runtime/process.ts";
import { overItems, type TakeStep } from "../runtime/walk-step.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { finishWithdrawal } from "./withdraw.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** A session that has ended is only kept to show how it ended. */
const SESSIONS_KEPT_MS = 30 * DAY_MS;
const STATES_KEPT_MS = DAY_MS;
/** Longer than most visits of one server are apart. */
const HOSTS_KEPT_MS = 90 * DAY_MS;
const WITHDRAWAL_MS_MAX = 10_000;

export function purgeStates(services: ConnectionsDeps, after: string | undefined) {
  return services.stores.oauthStates.removeEndedBefore(ago(services.clock, STATES_KEPT_MS), after);
}

/** Removes a page of what was kept of servers. Accounts have a copy of what they need, and others ask again. */
export function purgeHosts(services: ConnectionsDeps, after: string | undefined) {
  return services.stores.hosts.removeBefore(ago(services.clock, HOSTS_KEPT_MS), after);
}

export function purgeSessions(
  services: ConnectionsDeps,
  platformId: string,
  after: string | undefined,
) {
  const { connectSessions } = services.stores;
  return connectSessions.removeBefore(platformId, ago(services.clock, SESSIONS_KEPT_MS), after);
}

/** Seals a page of the data about servers with the first data key. Returns the key of each text afterwards. */
export function resealHosts({ stores }: ConnectionsDeps, after: string | undefined) {
  return stores.hosts.resealPage(after);
}

/** Makes the steps that end the connections which a withdrawal's own call left unfinished. */
export function finishWithdrawals(services: ConnectionsDeps): TakeStep {
  return overItems({
    log: services.log,
    what: "finish-withdrawals",
    async page(after = "") {
      const from = after === "" ? undefined : after;
      const { keys, next } = await services.stores.withdrawals.openKeys(from);
      return { items: keys.map((id) => ({ id, after })), next };
    },
    async look(key) {
      const isDone = await finishWithdrawal(services, key, WITHDRAWAL_MS_MAX);
      return { counts: { finished: isDone ? 1 : 0 } };
    },
  });
}
