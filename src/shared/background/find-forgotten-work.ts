import { tellForgotten } from "./tell-forgotten.ts";
import type { BackgroundDeps } from "./deps.ts";

const RUN_MS_MAX = 45_000;
const PLATFORMS_OF_PAGE = 100;
const PLATFORMS_AT_ONCE = 8;

async function markIfOpen(services: BackgroundDeps, platformId: string): Promise<boolean> {
  const [{ works, next }, events] = await Promise.all([
    services.posts.listOpenWork(platformId, "", 1),
    services.events.listPending(platformId, 1),
  ]);
  if (works.length + events.length === 0 && next === undefined) return false;
  await services.openWork.mark(platformId, services.clock.now());
  return true;
}

/** Not to be kept from its own work by an error of the other one. */
async function tellOfConnections(services: BackgroundDeps): Promise<void> {
  try {
    await tellForgotten(services);
  } catch (error) {
    services.log.error("connections not searched for untold events", { error });
  }
}

/**
 * Marks every platform with open work for the sweeper, whatever was marked before. A platform is marked before
 * its work is written; a process that stands still in between for longer than a mark lasts, and dies right
 * after it wrote, leaves work that only this finds. What became of connections is told in the same way. Goes on where
 * the last run stopped.
 */
export async function findForgottenWork(services: BackgroundDeps): Promise<void> {
  await tellOfConnections(services);
  const startedAt = performance.now();
  let after = await services.housekeeping.position("forgotten_work");
  let [looked, open, damagedPlatforms] = [0, 0, 0];
  do {
    const { ids, damaged, next } = await services.platforms.walk(after, PLATFORMS_OF_PAGE);
    damagedPlatforms += damaged;
    for (let index = 0; index < ids.length; index += PLATFORMS_AT_ONCE) {
      const batch = ids.slice(index, index + PLATFORMS_AT_ONCE);
      const found = await Promise.all(batch.map((id) => markIfOpen(services, id)));
      looked += batch.length;
      open += found.filter(Boolean).length;
    }
    after = next;
    await services.housekeeping.keepPosition("forgotten_work", after);
  } while (after !== undefined && performance.now() - startedAt < RUN_MS_MAX);
  services.log.info("platforms searched for open work", { looked, open, damagedPlatforms });
}
