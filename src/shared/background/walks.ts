import { hasMail, SEND_MAILS, sendMails } from "../mail/mail.ts";
import { hintDuePosts } from "../publishing/publishing.ts";
import { continueErasures } from "../tenants/tenants.ts";
import { hintDueDeliveries } from "../webhooks/webhooks.ts";
import { checkAccounts } from "./account-checks/check-accounts.ts";
import { findForgottenWork } from "./find-forgotten-work.ts";
import { clearPoisonQueues } from "./poison.ts";
import { PURGE_WALKS } from "./purge-expired.ts";
import { reconcileWallets } from "./reconcile-wallet.ts";
import { sweepEndpoints, sweepStalledLegs } from "./sweep-stalled-legs.ts";
import type { Walk } from "./walk.ts";
import { networkOf } from "../networks/lookup.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import type { BackgroundDeps } from "./deps.ts";
import { finishWithdrawal } from "../connections/connections.ts";
import { overItems, type TakeStep } from "../runtime/walk-step.ts";

const LOOK_MS_MAX = 10_000;

/** Makes the steps that end the connections of withdrawals which the network's own call left unfinished. */
function finishWithdrawals(services: BackgroundDeps): TakeStep {
  return overItems({
    log: services.log,
    what: "finish-withdrawals",
    async page(after = "") {
      const { keys, next } = await services.connections.stores.withdrawals.openKeys(
        after === "" ? undefined : after,
      );
      return { items: keys.map((id) => ({ id, after })), next };
    },
    async look(key) {
      const isDone = await finishWithdrawal(services.connections, key, LOOK_MS_MAX);
      return { counts: { finished: isDone ? 1 : 0 } };
    },
  });
}

const AHEAD_MS = 60 * 24 * 60 * 60 * 1000;

/**
 * Logs a warning for every network whose configured API version may end within 60 days. For a network that does not
 * announce the end of a version there is only the alert on legs that fail with `app_misconfigured`.
 */
export async function warnOfApiVersions({
  config,
  clock,
  log,
}: Pick<BackgroundDeps, "config" | "clock" | "log">): Promise<void> {
  for (const network of NETWORK_NAMES) {
    const version = config.networkApps[network]?.version;
    const endsAt = version === undefined ? undefined : networkOf(network).versionEnd?.(version);
    if (endsAt === undefined || endsAt.getTime() - clock.now().getTime() > AHEAD_MS) continue;
    log.warn("network API version ends soon", { network, version, endsAt: endsAt.toISOString() });
  }
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Everything that comes by a schedule. Names stand in rows, log lines and `docs/operate/observe.md`. */
export const WALKS: readonly Walk[] = [
  {
    name: "fire-due-posts",
    every: "tick",
    isFirst: true,
    behindSecondsMax: 5 * MINUTE,
    begin: ({ publishing }) => hintDuePosts(publishing),
  },
  {
    name: "hint-due-deliveries",
    every: "tick",
    isFirst: true,
    behindSecondsMax: 10 * MINUTE,
    begin: ({ webhooks }) => hintDueDeliveries(webhooks),
  },
  {
    name: "sweep-stalled-work",
    every: "tick",
    behindSecondsMax: 15 * MINUTE,
    begin: sweepStalledLegs,
  },
  {
    name: "sweep-endpoints",
    every: "tick",
    behindSecondsMax: 15 * MINUTE,
    begin: sweepEndpoints,
  },
  {
    name: "erase-profiles",
    every: "tick",
    isSlow: true,
    hasWork: ({ clock, erasure: { erasures } }) => erasures.hasDue(clock.now()),
    behindSecondsMax: 6 * HOUR,
    begin: ({ erasure }, system) => continueErasures(erasure, system),
  },
  {
    name: SEND_MAILS,
    every: "tick",
    isSlow: true,
    runsAgain: true,
    hasWork: ({ tenants: { mail } }) => hasMail(mail),
    behindSecondsMax: 15 * MINUTE,
    begin: ({ tenants: { mail } }) => sendMails(mail),
  },
  {
    name: "find-forgotten-work",
    every: "hour",
    behindSecondsMax: 3 * HOUR,
    begin: findForgottenWork,
  },
  {
    name: "finish-withdrawals",
    every: "hour",
    behindSecondsMax: 3 * HOUR,
    begin: finishWithdrawals,
  },
  {
    name: "reconcile-wallets",
    every: "hour",
    behindSecondsMax: 3 * HOUR,
    begin: reconcileWallets,
  },
  {
    name: "look-after-accounts",
    every: "day",
    resumesEvery: "hour",
    isSlow: true,
    behindSecondsMax: 36 * HOUR,
    begin: (services) => checkAccounts(services),
  },
  ...PURGE_WALKS,
  {
    name: "clear-poison-queues",
    every: "day",
    behindSecondsMax: 48 * HOUR,
    begin: clearPoisonQueues,
  },
  {
    name: "warn-of-api-versions",
    every: "day",
    behindSecondsMax: 48 * HOUR,
    begin: (services) => async () => {
      await warnOfApiVersions(services);
      return { next: undefined };
    },
  },
];
