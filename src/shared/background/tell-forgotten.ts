import type { BackgroundDeps } from "./deps.ts";
import { tellUntold } from "../connections/tell-connection.ts";

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
    const { places, next } = await services.untold.findPlaces(after);
    for (let index = 0; index < places.length && !isTimeUp(); index += CONNECTIONS_AT_ONCE) {
      const batch = places.slice(index, index + CONNECTIONS_AT_ONCE);
      const results = await Promise.all(batch.map((place) => tellUntold(services, place)));
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
