import { eraseProfiles } from "../shared/tenants/erasure/erase-profiles.ts";
import { purgeExpired } from "../shared/background/purge-expired.ts";
import { recordPoison } from "../shared/background/record-poison.ts";
import { warnOfApiVersions } from "../shared/background/warn-of-api-versions.ts";
import { enqueueDuePosts, startPost } from "../shared/publishing/schedule/start-post.ts";
import { findForgottenWork } from "../shared/background/find-forgotten-work.ts";
import { publishLegs } from "../shared/publishing/publish/publish-leg.ts";
import { reconcileWallets } from "../shared/background/reconcile-wallet.ts";
import { repairStalledLegs } from "../shared/background/repair-stalled-legs.ts";
import { checkAccounts } from "../shared/background/account-checks/check-accounts.ts";
import { deliverWebhook } from "../shared/webhooks/deliveries/deliver-webhook.ts";
import { enqueueDueDeliveries } from "../shared/webhooks/deliveries/queue-delivery.ts";
import { fanOutEvents } from "../shared/webhooks/events/fan-out-events.ts";

/**
 * The verbs of workers and timers. They are in a part of the bundle of their own, because no answer to a request needs
 * them and every line makes a cold start slower. It is one part, because code that several parts share would end up in
 * many small files.
 */
export const background = {
  deliverWebhook,
  enqueueDueDeliveries,
  enqueueDuePosts,
  eraseProfiles,
  fanOutEvents,
  findForgottenWork,
  startPost,
  checkAccounts,
  publishLegs,
  purgeExpired,
  reconcileWallets,
  recordPoison,
  repairStalledLegs,
  warnOfApiVersions,
} as const;
