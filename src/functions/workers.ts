import * as z from "zod";
import { resendWalkHint, WalkHint } from "../shared/background/background.ts";
import { systemScope, worker, type Worker } from "../shared/host/worker.ts";
import {
  PUBLISHING_QUEUE,
  PublishingHint,
  resendPublishingHint,
} from "../shared/publishing/publishing.ts";
import { shape, type ShapeOf } from "../shared/runtime/shape.ts";
import { resendWebhookHint, WEBHOOK_QUEUE, WebhookHint } from "../shared/webhooks/webhooks.ts";

/** Hints of walks come by the queue of webhooks, since each queue costs something while it is idle. */
export const WebhookMessage = shape(() =>
  z.discriminatedUnion("kind", [WebhookHint(), WalkHint()]),
);
export type WebhookMessage = ShapeOf<typeof WebhookMessage>;

const loadWorkers = async () => (await import("./background-verbs.ts")).backgroundVerbs;

export const workers: readonly Worker[] = [
  worker(PUBLISHING_QUEUE, {
    message: PublishingHint,
    resend: ({ publishing }, hint) => resendPublishingHint(publishing, hint),
    run: async (services, hint) => {
      const { publishLegs, startPost } = await loadWorkers();
      switch (hint.kind) {
        case "legs":
          return publishLegs(services.publishing, hint);
        case "start":
          return startPost(services.publishing, hint);
      }
    },
  }),
  worker(WEBHOOK_QUEUE, {
    message: WebhookMessage,
    resend: ({ webhooks, background }, hint) =>
      hint.kind === "walk" ? resendWalkHint(background, hint) : resendWebhookHint(webhooks, hint),
    run: async (services, hint) => {
      const { continueWalk, deliverWebhook, fanOutEvents } = await loadWorkers();
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
