import type { BackgroundDeps } from "./deps.ts";
import { sweepOpenWork } from "../publishing/publishing.ts";
import type { TakeStep } from "../runtime/walk-step.ts";
import { lookAtEndpoint } from "../webhooks/webhooks.ts";
import { MARK_MS, type MarkKind, overWakes, type Wake } from "../wake/wake.ts";

interface Marked {
  readonly kind: MarkKind;
  /** The walk's name in the log when a look at an owner fails. */
  readonly what: string;
  readonly look: (owner: string) => Promise<void>;
}

/**
 * Makes the steps of a sweep over the owners that were marked: it looks at each of them once in a run. A mark whose time
 * has come is removed once its owner was looked at after the mark was read. If the look fails, the mark stays for the
 * next sweep, and the sweep goes on with the others.
 */
function sweepMarked(services: BackgroundDeps, { kind, what, look }: Marked): TakeStep {
  const { clock } = services;
  const { wakes } = services.webhooks;
  const isOver = ({ at }: Wake) => at <= clock.now().toISOString();
  /** The last look at each owner. */
  const looks = new Map<string, { readonly startedAt: number; readonly looking: Promise<void> }>();
  return overWakes(services.webhooks, {
    kind,
    what,
    aheadMs: MARK_MS,
    isWanted: (mark) => isOver(mark) || !looks.has(mark.id),
    async visit(mark, listedAt) {
      const isLast = isOver(mark);
      let latest = looks.get(mark.id);
      if (latest === undefined || (isLast && latest.startedAt < listedAt)) {
        latest = { startedAt: performance.now(), looking: look(mark.id) };
        looks.set(mark.id, latest);
      }
      await latest.looking;
      if (isLast) await wakes.removeIfUnchanged(mark);
    },
  });
}

/** Makes the steps that find open work whose hint was lost, and send the hint again. */
export function sweepStalledLegs(services: BackgroundDeps): TakeStep {
  return sweepMarked(services, {
    kind: "platform",
    what: "sweep-stalled-work",
    look: (platformId) => sweepOpenWork(services.publishing, platformId),
  });
}

/** Makes the steps that find endpoints whose deliveries nobody would make, and send a hint. */
export function sweepEndpoints(services: BackgroundDeps): TakeStep {
  return sweepMarked(services, {
    kind: "endpoint-check",
    what: "sweep-endpoints",
    look: (endpointId) => lookAtEndpoint(services.webhooks, endpointId),
  });
}
