import { continueWalk, runDueWalks } from "../shared/background/background.ts";
import { startPost, publishLegs } from "../shared/publishing/publishing.ts";
import { deliverWebhook, fanOutEvents } from "../shared/webhooks/webhooks.ts";

/**
 * The verbs of workers and timers. They have a part of the bundle of their own, because no answer to a request needs them and
 * every line makes a cold start slower. It is one chunk, because code that several chunks share would end up in many
 * small files.
 */
export const backgroundVerbs = {
  continueWalk,
  deliverWebhook,
  fanOutEvents,
  publishLegs,
  runDueWalks,
  startPost,
} as const;
