import { systemScope, worker, type Worker } from "../shared/http/worker.ts";
import { PUBLISHING_QUEUE, PublishingHint } from "../shared/publishing/publishing.ts";
import { WEBHOOK_QUEUE, WebhookHint } from "../shared/webhooks/webhooks.ts";

const load = async () => (await import("./background.ts")).background;

export const workers: readonly Worker[] = [
  worker(PUBLISHING_QUEUE, {
    message: PublishingHint,
    hints: ({ publishQueue }) => publishQueue,
    run: async (services, hint) => {
      const { publishLegs, startPost } = await load();
      switch (hint.kind) {
        case "legs":
          return publishLegs(services, hint);
        case "start":
          return startPost(services, hint);
      }
    },
  }),
  worker(WEBHOOK_QUEUE, {
    message: WebhookHint,
    hints: ({ webhookQueue }) => webhookQueue,
    run: async (services, hint) => {
      const { continueWalk, deliverWebhook, fanOutEvents } = await load();
      switch (hint.kind) {
        case "events":
          return fanOutEvents(services, hint);
        case "deliveries":
          return deliverWebhook(services, hint);
        case "walk":
          return continueWalk(services, hint, systemScope(services, WEBHOOK_QUEUE));
      }
    },
  }),
];
