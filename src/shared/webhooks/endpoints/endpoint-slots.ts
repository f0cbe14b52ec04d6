const SLOTS = 4;
/** A receiver that takes this long gets one delivery at a time: slow receivers must not use up the process. */
const SLOW_MS = 5_000;
const WAIT_SECONDS_MAX = 60;
const EXPECTED_MS = 500;
const LANES_MAX = 10_000;

interface Lane {
  running: number;
  /** How long a delivery is expected to take, by the last ones. */
  expectedMs: number;
  /** When the next delivery that found no slot may come. */
  turnAt: number;
}

export interface Slot {
  release(): void;
}

/**
 * Limits the deliveries to one endpoint that this process makes at once. A delivery beyond the limit does not wait for
 * a slot, which would delay the deliveries behind it: it returns to the queue with a delay.
 */
export class EndpointSlots {
  readonly #lanes = new Map<string, Lane>();
  readonly #now: () => number;

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes a slot of the endpoint; undefined while all are in use. */
  take(endpointId: string): Slot | undefined {
    const lane = this.#lane(endpointId);
    if (lane.running >= slotsOf(lane)) return undefined;
    lane.running += 1;
    const startedAt = this.#now();
    return {
      release: () => {
        lane.running -= 1;
        lane.expectedMs = (lane.expectedMs + this.#now() - startedAt) / 2;
      },
    };
  }

  /** Returns the seconds after which a delivery without a slot should come back: one after the other, at most 60. */
  secondsToWait(endpointId: string): number {
    const lane = this.#lane(endpointId);
    const now = this.#now();
    const latest = now + WAIT_SECONDS_MAX * 1000;
    lane.turnAt = Math.min(Math.max(now, lane.turnAt) + lane.expectedMs / slotsOf(lane), latest);
    return (lane.turnAt - now) / 1000;
  }

  /** Forgets how long the endpoint's deliveries took. */
  forgetPace(endpointId: string): void {
    const lane = this.#lane(endpointId);
    lane.expectedMs = EXPECTED_MS;
    lane.turnAt = 0;
  }

  #lane(endpointId: string): Lane {
    const known = this.#lanes.get(endpointId);
    if (known !== undefined) return known;
    if (this.#lanes.size >= LANES_MAX) this.#dropIdle();
    const lane = { running: 0, expectedMs: EXPECTED_MS, turnAt: 0 };
    this.#lanes.set(endpointId, lane);
    return lane;
  }

  #dropIdle(): void {
    for (const [endpointId, { running }] of this.#lanes)
      if (running === 0) this.#lanes.delete(endpointId);
  }
}

function slotsOf({ expectedMs }: Lane): number {
  return expectedMs >= SLOW_MS ? 1 : SLOTS;
}
