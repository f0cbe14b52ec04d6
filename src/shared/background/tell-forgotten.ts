import type { BackgroundDeps } from "./deps.ts";
import { emitPendingEvents } from "../connections/emit-pending-events.ts";

const RUN_MS_MAX = 45_000;
const CONNECTIONS_AT_ONCE = 8;

/**
 * Tells what became of connections where whoever changed them died, or found storage away, before anybody was told.
 * Idempotent; goes on where the last run stopped.
 */
export async function tellForgotten(services: BackgroundDeps): Promise<void> {
  const startedAt = performance.now();
  const isTimeUp = () => performance.now() - startedAt > RUN_MS_MAX;
  let after = await services.housekeeping.position("untold_events");
  let [found, told] = [0, 0];
  do {
    const { refs, next } = await services.pendingEvents.findRefs(after);
    for (let index = 0; index < refs.length && !isTimeUp(); index += CONNECTIONS_AT_ONCE) {
      const batch = refs.slice(index, index + CONNECTIONS_AT_ONCE);
      const results = await Promise.all(batch.map((ref) => emitPendingEvents(services, ref)));
      found += batch.length;
      told += results.filter(Boolean).length;
    }
    // A page that was not finished comes again: what was told of it is not found any more.
    if (isTimeUp()) break;
    after = next;
    await services.housekeeping.keepPosition("untold_events", after);
  } while (after !== undefined);
  services.log.info("connections searched for untold events", { found, told });
}
