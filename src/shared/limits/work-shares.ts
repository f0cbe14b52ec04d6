import { FairLimit } from "../runtime/fair-limit.ts";
import { RecentMap } from "../runtime/recent-map.ts";

/**
 * How many messages for one owner a process works on at a time. The host gives it up to 63 of a queue (`host.json`), so
 * that an owner whose servers are slow leaves some to others. A burst of legs, 50 at once, hardly notices.
 */
const PER_OWNER = 48;
/** How long work that finds no slot waits at least, and how much of an owner's comes back in a second. */
const WAIT_MS = 2_000;
const GAP_MS = 100;
/** What would wait for longer gets no message: the sweep of each minute finds it, and messages don't pile up. */
const WAIT_MS_MAX = 20_000;
const OWNERS_MAX = 1_000;

/** Shares the messages that a process works on among owners, so that none of them has all. */
export class WorkShares {
  readonly #limit = new FairLimit({ capacity: Infinity, perOwner: PER_OWNER, waitingMax: 0 });
  /** When an owner's next work comes back, in milliseconds since the epoch. */
  readonly #nextAt = new RecentMap<number>(OWNERS_MAX);

  /** Runs the work, or has its hint sent again later. `again` sends it; it is not called when too many wait already. */
  async run(
    {
      owner,
      weight = 1,
      now,
    }: { readonly owner: string; readonly weight?: number; readonly now: Date },
    work: () => Promise<unknown>,
    again: (seconds: number) => Promise<void>,
  ): Promise<void> {
    if ((await this.#limit.run(owner, weight, work)) !== undefined) return;
    const at = Math.max(this.#nextAt.get(owner) ?? 0, now.getTime() + WAIT_MS);
    const waitMs = at - now.getTime();
    if (waitMs > WAIT_MS_MAX) return;
    this.#nextAt.set(owner, at + GAP_MS);
    await again(waitMs / 1000);
  }
}
