import { systemScope, worker, type Worker } from "../shared/http/worker.ts";
import { PUBLISHING_QUEUE, PublishingHint } from "../shared/publishing/publishing.ts";
import { WEBHOOK_QUEUE, WebhookHint } from "../shared/webhooks/webhooks.ts";

const load = async () => (await import("./background.ts")).background;

export const workers: readonly Worker[] = [
  worker(PUBLISHING_QUEUE, {
    message: PublishingHint,
    hints: ({
      publishing: {
        stores: { publishQueue },
      },
    }) => publishQueue,
    run: async (services, hint) => {
      const { publishLegs, startPost } = await load();
      switch (hint.kind) {
        case "legs":
          return publishLegs(services.publishing, hint);
        case "start":
          return startPost(services.publishing, hint);
      }
    },
  }),
  worker(WEBHOOK_QUEUE, {
    message: WebhookHint,
    hints: ({
      webhooks: {
        stores: { webhookQueue },
      },
    }) => webhookQueue,
    run: async (services, hint) => {
      const { continueWalk, deliverWebhook, fanOutEvents } = await load();
      switch (hint.kind) {
        case "events":
          return fanOutEvents(services.webhooks, hint);
        case "deliveries":
          return deliverWebhook(services.webhooks, hint);
        case "walk":
          return continueWalk(services.background, hint, systemScope(services, WEBHOOK_QUEUE));
      }
    },
  }),
];
