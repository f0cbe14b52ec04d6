import { eraseProfiles } from "../shared/erasure/erase-profiles.ts";
import { purgeExpired } from "../shared/housekeeping/purge-expired.ts";
import { recordPoison } from "../shared/housekeeping/record-poison.ts";
import { warnOfApiVersions } from "../shared/networks/warn-of-api-versions.ts";
import { enqueueDuePosts } from "../shared/posts/enqueue-due-posts.ts";
import { findForgottenWork } from "../shared/posts/find-forgotten-work.ts";
import { firePost } from "../shared/posts/fire-post.ts";
import { publishLegs } from "../shared/posts/publish-legs.ts";
import { reconcileWallets } from "../shared/posts/reconcile-wallet.ts";
import { repairStalledLegs } from "../shared/posts/repair-stalled-legs.ts";
import { keepAccounts } from "../shared/upkeep/keep-accounts.ts";
import { deliverWebhook } from "../shared/webhooks/deliver-webhook.ts";
import { enqueueDueDeliveries } from "../shared/webhooks/due-delivery.ts";
import { fanOutEvents } from "../shared/webhooks/fan-out-events.ts";

/**
 * The verbs of workers and timers, in a part of the bundle of their own: no answer to a request needs them, and a cold
 * start waits for every line. One part, because code that several parts share ends up in as many small files.
 */
export const background = {
  deliverWebhook,
  enqueueDueDeliveries,
  enqueueDuePosts,
  eraseProfiles,
  fanOutEvents,
  findForgottenWork,
  firePost,
  keepAccounts,
  publishLegs,
  purgeExpired,
  reconcileWallets,
  recordPoison,
  repairStalledLegs,
  warnOfApiVersions,
} as const;
