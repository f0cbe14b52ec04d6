import * as z from "zod";
import { worker, type Worker } from "../shared/http/worker.ts";
import { firePost } from "../shared/posts/fire-post.ts";
import { FIRE_QUEUE, FireHint } from "../shared/posts/fire-queue.ts";
import { PUBLISH_QUEUE, PublishHint } from "../shared/posts/publish-queue.ts";
import { deliverWebhook } from "../shared/webhooks/deliver-webhook.ts";
import { DELIVERY_QUEUE, DeliveryHint } from "../shared/webhooks/delivery-queue.ts";
import { fanOutEvents } from "../shared/webhooks/fan-out-events.ts";
import { FAN_OUT_QUEUE, FanOutHint } from "../shared/webhooks/fan-out-queue.ts";
import { publishLegs } from "../shared/posts/publish-legs.ts";

/** Work that no worker could do five times. The rows still tell what is open, so that nothing is lost with it. */
const poison = (queue: string) =>
  worker(`${queue}-poison`, `${queue}-poison`, {
    message: z.unknown(),
    run: async (services, message) => services.log.error("poison message", { queue, message }),
  });

export const workers: readonly Worker[] = [
  worker("publish-legs", PUBLISH_QUEUE, { message: PublishHint, run: publishLegs }),
  worker("fire-posts", FIRE_QUEUE, { message: FireHint, run: firePost }),
  worker("fan-out-events", FAN_OUT_QUEUE, { message: FanOutHint, run: fanOutEvents }),
  worker("deliver-webhooks", DELIVERY_QUEUE, { message: DeliveryHint, run: deliverWebhook }),
  poison(PUBLISH_QUEUE),
  poison(FIRE_QUEUE),
  poison(FAN_OUT_QUEUE),
  poison(DELIVERY_QUEUE),
];
