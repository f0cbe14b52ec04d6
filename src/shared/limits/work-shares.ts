import { FairLimit } from "../runtime/fair-limit.ts";
import { RecentMap } from "../runtime/recent-map.ts";

/**
 * How many messages of one owner a process works on at a time. The host gives it up to 63 of a queue (`host.json`), so
 * an owner whose servers are slow leaves some for others. A burst of 50 legs is hardly slowed down.
 */
const PER_OWNER = 48;
/** Minimum delay of work that finds no slot. Also sets how much of an owner's work comes back per second. */
const WAIT_MS = 2_000;
const GAP_MS = 100;
/** Work that would wait longer gets no message, so that messages don't pile up. The sweep of each minute finds it. */
const WAIT_MS_MAX = 20_000;
const OWNERS_MAX = 1_000;

/** Shares the messages that a process works on among owners, so that none of them takes all slots. */
export class WorkShares {
  readonly #limit = new FairLimit({ capacity: Infinity, perOwner: PER_OWNER, waitingMax: 0 });
  /** When an owner's next work comes back, in milliseconds since the epoch. */
  readonly #nextAt = new RecentMap<number>(OWNERS_MAX);

  /** Runs the work, or calls `again` to send its hint later. `again` isn't called when too many wait already. */
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
