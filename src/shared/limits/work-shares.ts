import { FairLimit } from "../runtime/fair-limit.ts";
import { RecentMap } from "../runtime/recent-map.ts";

/**
 * How many messages of one owner a process works on at a time. The host asks a queue for more while the process has at
 * most 63 of its messages (`newBatchThreshold` of `host.json`), so an owner whose servers are slow leaves 16 for others.
 */
const PER_OWNER = 48;
/**
 * How long work waits for a slot of its owner, with its message in hand. Quick work gets one meanwhile, so a burst isn't
 * sent back. Messages in hand can keep the host from asking for those of others, so this is short.
 */
const SLOT_MS_MAX = 2_000;
/** Minimum delay of work that finds no slot. Also sets how much of an owner's work comes back per second. */
const WAIT_MS = 2_000;
const GAP_MS = 100;
/** Work that would wait longer gets no message, so that messages don't pile up. The sweep of each minute finds it. */
const WAIT_MS_MAX = 20_000;
const OWNERS_MAX = 1_000;

interface OwnersWork {
  weight: number;
  /** Whether work found no slot in time. Until half of the slots are free, more of it doesn't wait. */
  isSlow: boolean;
}

/** Shares the messages that a process works on among owners, so that none of them takes all slots. */
export class WorkShares {
  readonly #limit = new FairLimit({
    capacity: Infinity,
    perOwner: PER_OWNER,
    waitingMax: Infinity,
    waitMsMax: SLOT_MS_MAX,
  });
  /** The work that is running. */
  readonly #running = new Map<string, OwnersWork>();
  /** When an owner's next work comes back, in milliseconds since the epoch. */
  readonly #nextAt = new RecentMap<number>(OWNERS_MAX);

  /**
   * Waits for a slot and returns what gives it back. Without one, calls `again` to send the work's hint later, and
   * returns undefined. `again` isn't called when too many wait already.
   */
  async acquire(
    {
      owner,
      weight = 1,
      now,
    }: { readonly owner: string; readonly weight?: number; readonly now: Date },
    again: (seconds: number) => Promise<void>,
  ): Promise<(() => void) | undefined> {
    const before = this.#running.get(owner);
    const isSentBack = before?.isSlow === true && before.weight + weight > PER_OWNER;
    if (!isSentBack && (await this.#limit.acquire(owner, weight))) {
      const running = this.#running.get(owner) ?? { weight: 0, isSlow: false };
      this.#running.set(owner, running);
      running.weight += weight;
      return () => {
        running.weight -= weight;
        if (running.weight <= PER_OWNER / 2) running.isSlow = false;
        if (running.weight === 0) this.#running.delete(owner);
        this.#limit.giveBack(owner, weight);
      };
    }
    const others = this.#running.get(owner);
    if (others !== undefined) others.isSlow = true;
    const at = Math.max(this.#nextAt.get(owner) ?? 0, now.getTime() + WAIT_MS);
    const waitMs = at - now.getTime();
    if (waitMs > WAIT_MS_MAX) return undefined;
    this.#nextAt.set(owner, at + GAP_MS);
    await again(waitMs / 1000);
    return undefined;
  }
}
