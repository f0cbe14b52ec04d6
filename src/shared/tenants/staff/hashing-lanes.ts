/** Who waits for a hash: somebody who signs in, or anybody else. */
export type Urgency = "log_in" | "other";

/** Two threads work off six a second: what waits behind more than this gets its answer after the caller has gone. */
const WAITING_MAX: Readonly<Record<Urgency, number>> = { log_in: 256, other: 128 };
/** Log-ins may overtake the others for ever; nobody is to wait for that. */
const WAIT_MS_MAX = 60_000;

interface Waiting<Job> {
  readonly job: Job;
  readonly since: number;
}

/** What waits to be hashed: log-ins before everything else, and each in the order in which it came. */
export class HashingLanes<Job> {
  readonly #lanes: Readonly<Record<Urgency, Waiting<Job>[]>> = { log_in: [], other: [] };

  /** False when there are too many already, of which each kind has a number of its own. */
  add(job: Job, urgency: Urgency, now: number): boolean {
    const lane = this.#lanes[urgency];
    if (lane.length >= WAITING_MAX[urgency]) return false;
    lane.push({ job, since: now });
    return true;
  }

  /** What is next. */
  take(): Job | undefined {
    return (this.#lanes.log_in.shift() ?? this.#lanes.other.shift())?.job;
  }

  /** Takes out what has waited too long; the oldest are in front. */
  takeOverdue(now: number): Job[] {
    const overdue: Job[] = [];
    for (const lane of Object.values(this.#lanes)) {
      const kept = lane.findIndex(({ since }) => now - since < WAIT_MS_MAX);
      const gone = lane.splice(0, kept === -1 ? lane.length : kept);
      overdue.push(...gone.map(({ job }) => job));
    }
    return overdue;
  }
}
