import type { Services } from "../../src/shared/compose.ts";
import type { Table } from "../../src/shared/runtime/storage/table.ts";
import { hintEvents } from "../../src/shared/webhooks/webhooks.ts";
import { type Event, PENDING_ROWS, toEventRow } from "../../src/shared/events/events.ts";

/** Adds an event without a change that it is about, and announces it as changes do. */
export async function emitEvent(
  { clock, webhooks }: Services,
  core: Table,
  platformId: string,
  event: Event,
): Promise<void> {
  await webhooks.wakes.mark("platform", platformId, clock.now());
  await addPending(core, platformId, event);
  await hintEvents(webhooks, platformId);
}

/** Adds an event that no message announces. */
export async function addPending(core: Table, platformId: string, event: Event): Promise<void> {
  await core.insertIfAbsent(platformId, toEventRow(PENDING_ROWS + event.id, event));
}
