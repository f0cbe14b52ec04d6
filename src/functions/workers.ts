import { systemScope, worker, type Worker } from "../shared/http/worker.ts";
import {
  PUBLISHING_QUEUE,
  PublishingHint,
  resendPublishingHint,
} from "../shared/publishing/publishing.ts";
import { resendWebhookHint, WEBHOOK_QUEUE, WebhookHint } from "../shared/webhooks/webhooks.ts";

const load = async () => (await import("./background.ts")).background;

export const workers: readonly Worker[] = [
  worker(PUBLISHING_QUEUE, {
    message: PublishingHint,
    resend: ({ publishing }, hint) => resendPublishingHint(publishing, hint),
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
    resend: ({ webhooks }, hint) => resendWebhookHint(webhooks, hint),
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
