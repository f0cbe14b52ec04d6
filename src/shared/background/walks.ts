import { hasMail, SEND_MAILS, sendMails } from "../mail/mail.ts";
import { hintDuePosts, sweepOpenWork } from "../publishing/publishing.ts";
import { expireFiles } from "../files/files.ts";
import { continueErasures, hasDueErasure } from "../erasure/erasure.ts";
import { hintDueDeliveries, lookAtEndpoint } from "../webhooks/webhooks.ts";
import { sweepMarked } from "../wake/wake.ts";
import { checkAccounts } from "./account-checks/check-accounts.ts";
import { findForgottenWork } from "./find-forgotten-work.ts";
import { clearPoisonQueues } from "./poison.ts";
import { PURGE_WALKS } from "./purge-expired.ts";
import { reconcileWallets } from "./reconcile-wallets.ts";
import type { Walk } from "./walk.ts";
import { networkOf } from "../networks/networks.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import type { BackgroundDeps } from "./deps.ts";
import { finishWithdrawals } from "../connections/connections.ts";

const AHEAD_MS = 60 * 24 * 60 * 60 * 1000;

/**
 * Logs a warning for every network whose configured API version may end within 60 days. If a network doesn't announce
 * the end of a version, there is only the alert on legs that fail with `app_misconfigured`.
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

/** All scheduled work. The names are used in rows, log lines and `docs/operate/observe.md`. */
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
    begin: ({ webhooks, publishing }) =>
      sweepMarked(webhooks, {
        kind: "platform",
        what: "sweep-stalled-work",
        look: (platformId) => sweepOpenWork(publishing, platformId),
      }),
  },
  {
    name: "sweep-endpoints",
    every: "tick",
    behindSecondsMax: 15 * MINUTE,
    begin: ({ webhooks }) =>
      sweepMarked(webhooks, {
        kind: "endpoint-check",
        what: "sweep-endpoints",
        look: (endpointId) => lookAtEndpoint(webhooks, endpointId),
      }),
  },
  {
    name: "erase-profiles",
    every: "tick",
    isSlow: true,
    hasWork: ({ erasure }) => hasDueErasure(erasure),
    behindSecondsMax: 6 * HOUR,
    begin: ({ erasure }, system) => continueErasures(erasure, system),
  },
  {
    name: SEND_MAILS,
    every: "tick",
    isSlow: true,
    runsAgain: true,
    hasWork: ({ mail }) => hasMail(mail),
    behindSecondsMax: 15 * MINUTE,
    begin: ({ mail }) => sendMails(mail),
  },
  {
    name: "expire-files",
    every: "hour",
    behindSecondsMax: 3 * HOUR,
    begin: ({ publishing: { files } }) => expireFiles(files),
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
    begin: ({ connections }) => finishWithdrawals(connections),
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
    begin: (deps) => checkAccounts(deps),
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
    begin: (deps) => async () => {
      await warnOfApiVersions(deps);
      return { next: undefined };
    },
  },
];
