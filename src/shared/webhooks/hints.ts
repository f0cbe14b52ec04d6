import type { WebhooksDeps } from "./deps.ts";
import type { WebhookHint } from "./hint-queue.ts";
import type { WebhookStores } from "./stores.ts";

export async function hasPendingEvents(
  { stores }: WebhooksDeps,
  platformId: string,
): Promise<boolean> {
  return (await stores.events.listPending(platformId, 1)).length > 0;
}

/** What a hint needs. It is there before what changes a platform's partition. */
interface HintSender extends Pick<WebhooksDeps, "log"> {
  readonly stores: Pick<WebhookStores, "webhookQueue">;
}

/** Sends the hint that the platform has pending events. Never throws, because the sweep finds them. */
export async function hintEvents({ stores, log }: HintSender, platformId: string): Promise<void> {
  try {
    await stores.webhookQueue.hint({ kind: "events", platformId });
  } catch (error) {
    log.warn("hint not sent, the sweep will", { platformId, error });
  }
}

export async function markAndHintEvents(
  deps: HintSender & Pick<WebhooksDeps, "clock" | "wakes">,
  platformId: string,
): Promise<void> {
  try {
    await deps.wakes.mark("platform", platformId, deps.clock.now());
  } catch (error) {
    const message = "platform not marked as having open work, its next post marks it";
    deps.log.warn(message, { platformId, error });
  }
  await hintEvents(deps, platformId);
}

export function resendWebhookHint({ stores }: WebhooksDeps, hint: WebhookHint): Promise<void> {
  return stores.webhookQueue.sendAlone(hint);
}
