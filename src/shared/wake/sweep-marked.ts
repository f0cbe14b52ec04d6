import type { TakeStep } from "../runtime/walk-step.ts";
import type { WakeDeps } from "./deps.ts";
import { overWakes } from "./over-wakes.ts";
import { MARK_MS, type MarkKind, type Wake } from "./wake-store.ts";

/** A sweep over the owners that were marked. */
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
export function sweepMarked(deps: WakeDeps, { kind, what, look }: Marked): TakeStep {
  const { clock, wakes } = deps;
  const isOver = ({ at }: Wake) => at <= clock.now().toISOString();
  /** The last look at each owner. */
  const looks = new Map<string, { readonly startedAt: number; readonly looking: Promise<void> }>();
  return overWakes(deps, {
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
