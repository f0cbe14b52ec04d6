import { systemScope, worker, type Worker } from "../shared/http/worker.ts";
import {
  START_QUEUE,
  StartHint,
  PUBLISH_QUEUE,
  PublishHint,
} from "../shared/publishing/post-queue.ts";
import {
  DELIVERY_QUEUE,
  DeliveryHint,
  FAN_OUT_QUEUE,
  FanOutHint,
} from "../shared/webhooks/hint-queue.ts";

const load = async () => (await import("./background.ts")).background;

export const workers: readonly Worker[] = [
  worker("publish-legs", PUBLISH_QUEUE, {
    message: PublishHint,
    hints: ({ publishQueue }) => publishQueue,
    run: async (services, hint) => (await load()).publishLegs(services, hint),
  }),
  worker("fire-posts", START_QUEUE, {
    message: StartHint,
    hints: ({ startQueue }) => startQueue,
    run: async (services, hint) => (await load()).startPost(services, hint),
  }),
  worker("fan-out-events", FAN_OUT_QUEUE, {
    message: FanOutHint,
    hints: ({ fanOutQueue }) => fanOutQueue,
    run: async (services, hint) => {
      const { continueWalk, fanOutEvents } = await load();
      if (hint.walk === undefined) return fanOutEvents(services, hint);
      return continueWalk(services, hint.walk, systemScope(services, FAN_OUT_QUEUE));
    },
  }),
  worker("deliver-webhooks", DELIVERY_QUEUE, {
    message: DeliveryHint,
    hints: ({ deliveryQueue }) => deliveryQueue,
    run: async (services, hint) => (await load()).deliverWebhook(services, hint),
  }),
];
