import type { TakeStep } from "../runtime/walk-step.ts";
import type { WakeDeps } from "./deps.ts";
import { walkWakes } from "./walk-wakes.ts";
import { MARK_MS, type MarkKind, type Wake } from "./wake-store.ts";

interface MarkSweep {
  readonly kind: MarkKind;
  /** The walk's name in the log when the check of an owner fails. */
  readonly what: string;
  readonly look: (owner: string) => Promise<void>;
}

/**
 * Makes the steps of a sweep that checks each marked owner once per run. A mark whose time has come is removed once its
 * owner was checked after the mark was read. When a check fails, its mark stays for the next sweep, and the sweep
 * continues with the other owners.
 */
export function sweepMarked(deps: WakeDeps, { kind, what, look }: MarkSweep): TakeStep {
  const { clock, wakes } = deps;
  const isOver = ({ at }: Wake) => at <= clock.now().toISOString();
  /** The last check of each owner. */
  const looks = new Map<string, { readonly startedAt: number; readonly looking: Promise<void> }>();
  return walkWakes(deps, {
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
