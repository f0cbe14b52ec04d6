import type { WebhooksDeps } from "../deps.ts";
import type { DeliveryHint } from "../hint-queue.ts";
import { drainEndpoint } from "./drain-endpoint.ts";

/** Owner of all endpoints that this process hasn't delivered to yet. */
const UNKNOWN = "";

/** Makes an endpoint's due deliveries, in one process at a time. A hint that comes too early is sent again. */
export async function deliverWebhook(deps: WebhooksDeps, hint: DeliveryHint): Promise<void> {
  const { endpointId, dueAt } = hint;
  const now = deps.clock.now();
  if (dueAt !== undefined && Date.parse(dueAt) > now.getTime()) {
    const seconds = (Date.parse(dueAt) - now.getTime()) / 1000;
    return deps.stores.webhookQueue.hint({ kind: "deliveries", endpointId, dueAt }, seconds);
  }
  const owner = deps.work.endpointOwners.get(endpointId) ?? UNKNOWN;
  const { drains, drainShares } = deps.work;
  const giveBack = await drainShares.acquire({ owner, now }, (seconds) =>
    deps.stores.webhookQueue.hint(
      { kind: "deliveries", endpointId, ...(dueAt === undefined ? {} : { dueAt }) },
      seconds,
    ),
  );
  if (giveBack === undefined) return;
  try {
    await drains.run(endpointId, () => drainEndpoint(deps, endpointId, dueAt));
  } finally {
    giveBack();
  }
}
