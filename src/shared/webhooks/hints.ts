import type { WebhooksDeps } from "./deps.ts";
import type { WebhookHint } from "./hint-queue.ts";

/** Returns whether events of the platform wait to be fanned out. */
export async function hasPendingEvents(
  { stores }: WebhooksDeps,
  platformId: string,
): Promise<boolean> {
  return (await stores.events.listPending(platformId, 1)).length > 0;
}

/** Sends the hint that events of the platform wait. Never throws: the sweep finds them. */
export async function hintEvents({ stores, log }: WebhooksDeps, platformId: string): Promise<void> {
  try {
    await stores.webhookQueue.hint({ kind: "events", platformId });
  } catch (error) {
    log.warn("hint not sent, the sweep will", { platformId, error });
  }
}

/** Marks the platform in the wake index, then sends the hint. Never throws. */
export async function markAndHintEvents(services: WebhooksDeps, platformId: string): Promise<void> {
  try {
    await services.wakes.mark("platform", platformId, services.clock.now());
  } catch (error) {
    const message = "platform not marked as having open work, its next post marks it";
    services.log.warn(message, { platformId, error });
  }
  await hintEvents(services, platformId);
}

/** The hints of walks come by the queue of webhooks, since each queue costs something while it is idle. */
interface AskedWalk {
  readonly name: string;
  /** Begins a round even if it is not due. */
  readonly isAsked?: boolean | undefined;
}

/** Eight walks take all that one owner of the queue's messages may have. */
const WALKS_OWNER = "walks";
const WALK_WEIGHT = 6;

/** Sends a hint to continue a walk. Never throws: the timer finds a walk that stopped. */
export async function queueWalk(
  { stores, log }: WebhooksDeps,
  { name, isAsked = false }: AskedWalk,
  delaySeconds = 0,
): Promise<void> {
  try {
    const hint = { v: 1, kind: "walk", name, ...(isAsked && { isAsked }) } as const;
    await stores.webhookQueue.sendAlone(hint, delaySeconds);
  } catch (error) {
    log.warn("walk not handed over, the timer will", { walk: name, error });
  }
}

/** Runs a walk that a hint names. Has the hint come back later if the process has enough walks under way. */
export async function runHintedWalk(
  { work, stores, clock }: WebhooksDeps,
  { name, isAsked = false }: AskedWalk,
  run: () => Promise<void>,
): Promise<void> {
  await work.drainShares.run(
    { owner: WALKS_OWNER, weight: WALK_WEIGHT, now: clock.now() },
    run,
    (seconds) => stores.webhookQueue.hint({ kind: "walk", name, isAsked }, seconds),
  );
}

/** Sends a hint again, in a message of its own. */
export function resendWebhookHint({ stores }: WebhooksDeps, hint: WebhookHint): Promise<void> {
  return stores.webhookQueue.sendAlone(hint);
}
