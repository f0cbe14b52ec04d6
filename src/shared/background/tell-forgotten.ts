import type { BackgroundDeps } from "./deps.ts";
import { emitPendingEvents } from "../connections/emit-pending-events.ts";
import { overItems, type TakeStep } from "../runtime/walk-step.ts";
import type { NetworkName } from "../networks/lookup.ts";

/**
 * Makes the steps that tell what became of connections where whoever changed them died, or found storage away, before
 * anybody was told.
 */
export function tellForgotten(services: BackgroundDeps): TakeStep {
  return overItems({
    log: services.log,
    what: "tell-forgotten-connections",
    async page(_at, after) {
      const { refs, next } = await services.pendingEvents.findRefs(
        after === "" ? undefined : after,
      );
      // A page that was not finished comes again: what was told of it is not found any more.
      const again = after ?? "";
      const items = refs.map(({ profileId, network }) => ({
        id: `${profileId}|${network}`,
        after: again,
      }));
      return { items, next };
    },
    async look(id) {
      const [profileId = "", network = ""] = id.split("|");
      // Safe: made of a reference above.
      const told = await emitPendingEvents(services, {
        profileId,
        network: network as NetworkName,
      });
      return { counts: { told: told ? 1 : 0 } };
    },
  });
}
