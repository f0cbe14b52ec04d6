import { isOfShard, overItems, type Looked, type TakeStep } from "../runtime/walk-step.ts";
import type { BackgroundDeps } from "./deps.ts";

/** Of the index, of which one shard takes its part. */
const PAGE = 1_000;

/**
 * Makes the steps of a walk over all platforms. `look` does a bounded piece of work for one of them, and names where it
 * goes on when that was not all.
 */
export function overPlatforms(
  services: BackgroundDeps,
  what: string,
  look: (platformId: string, rest: string | undefined) => Promise<Looked>,
): TakeStep {
  return overItems({
    log: services.log,
    what,
    async page(at, after) {
      const { items, next } = await services.platforms.listIds(after, PAGE);
      return { items: items.filter(({ id }) => isOfShard(id, at)), next };
    },
    look: (id, _at, rest) => look(id, rest),
  });
}
