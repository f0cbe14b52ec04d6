import { continueWalk, runDueWalks } from "../shared/background/run-due-walks.ts";
import { startPost } from "../shared/publishing/schedule/start-post.ts";
import { publishLegs } from "../shared/publishing/publish/publish-leg.ts";
import { deliverWebhook } from "../shared/webhooks/deliveries/deliver-webhook.ts";
import { fanOutEvents } from "../shared/webhooks/events/fan-out-events.ts";

/**
 * The verbs of workers and timers. They are in a part of the bundle of their own, because no answer to a request needs
 * them and every line makes a cold start slower. It is one part, because code that several parts share would end up in
 * many small files.
 */
export const background = {
  continueWalk,
  deliverWebhook,
  fanOutEvents,
  publishLegs,
  runDueWalks,
  startPost,
} as const;
