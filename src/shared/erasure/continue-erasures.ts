import type { SystemScope } from "../callers/scope.ts";
import { isId } from "../runtime/ids.ts";
import { overItems, type TakeStep } from "../runtime/walk-step.ts";
import type { ErasureDeps } from "./deps.ts";
import { PLATFORMS } from "./erase-platforms.ts";
import { PROFILES } from "./erase-profiles.ts";
import { QUIET_MS } from "./erasure-stages.ts";
import type { StoredErasure } from "./erasure-store.ts";
import type { Erasing } from "./erasing.ts";

/** How many parts of one erasure are done before the next erasure. */
const PIECES_MAX = 10;

const erasingOf = (id: string): Erasing => (isId("platform", id) ? PLATFORMS : PROFILES);

/**
 * Reports whether an erasure is decided. Drops one whose request was refused, has died or was undone: no request takes
 * as long as `QUIET_MS`.
 */
async function isDecided(deps: ErasureDeps, stored: StoredErasure): Promise<boolean> {
  const { id, requestedAt } = stored.erasure;
  if (await erasingOf(id).isDecided(deps, stored.erasure)) return true;
  if (deps.clock.now().getTime() - Date.parse(requestedAt) > QUIET_MS)
    await deps.erasures.drop(stored);
  return false;
}

/** Does some parts of an erasure. Returns true when more can be done now. */
async function advance(
  deps: ErasureDeps,
  system: SystemScope,
  stored: StoredErasure,
  isTimeUp: () => boolean,
): Promise<boolean> {
  const erasing = erasingOf(stored.erasure.id);
  let current: StoredErasure | undefined = stored;
  for (let piece = 0; current !== undefined; piece += 1) {
    const { erasure, etag }: StoredErasure = current;
    const now = deps.clock.now();
    if (erasure.notBefore > now.toISOString()) return false;
    if (piece >= PIECES_MAX || (piece > 0 && isTimeUp())) return true;
    if (piece > 0 && !(await erasing.isDecided(deps, erasure))) return false;
    const next = await erasing.take(deps, system, erasure);
    if (next === undefined) {
      // Before the row is removed. After a crash it is recorded twice, but never left out.
      erasing.finish(deps, system, erasure);
      await deps.erasures.remove(erasure);
      return false;
    }
    // Two concurrent runs do the same to the same rows. The one that loses here leaves the rest to the other.
    current = await deps.erasures.save({ ...next, lookedAt: now.toISOString() }, etag);
  }
  return false;
}

export function hasDueErasure({ erasures, clock }: ErasureDeps): Promise<boolean> {
  return erasures.hasDue(clock.now());
}

/**
 * Returns the steps that continue every erasure that is due, in limited parts, and that store the progress after each.
 * A step may be missed, repeated or late, because what was removed isn't found again. Rows that can't be found by key
 * are searched for in whole tables, a page at a time, so that no search has to finish within one run.
 */
export function continueErasures(deps: ErasureDeps, system: SystemScope): TakeStep {
  const { erasures, log, clock } = deps;
  return overItems({
    log,
    what: "erase-profiles",
    async page(after) {
      const { items, next } = await erasures.list(after === "" ? undefined : after);
      const now = clock.now().toISOString();
      const due = items.filter((one) => one.notBefore <= now);
      // A page that was not finished is listed again.
      return { items: due.map(({ id }) => ({ id, after: after ?? "" })), next };
    },
    async look(id, at) {
      const stored = await erasures.find(id);
      if (stored === undefined) return {};
      try {
        if (!(await isDecided(deps, stored))) return {};
        const isMore = await advance(deps, system, stored, () => at.isTimeUp());
        return isMore ? { rest: "" } : {};
      } catch (error) {
        const { stage } = stored.erasure;
        log.error("an erasure failed, the next run goes on", { erasedId: id, stage, error });
        return { counts: { failed: 1 } };
      }
    },
  });
}
