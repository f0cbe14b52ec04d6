const SLOTS = 4;
/** A receiver that takes this long gets one at a time: many slow ones must not use up the process. */
const SLOW_MS = 5_000;
const WAIT_SECONDS_MAX = 60;
const EXPECTED_MS = 500;
const LANES_MAX = 10_000;

interface Lane {
  running: number;
  /** How long deliveries take of late. */
  expectedMs: number;
  /** When the next one that had to wait may come. */
  turnAt: number;
}

export interface Slot {
  release(): void;
}

/**
 * How many deliveries to one endpoint are under way in this process. One too many does not wait for its turn, which
 * would hold up the deliveries behind it: it is told when to come back.
 */
export class EndpointSlots {
  readonly #lanes = new Map<string, Lane>();
  readonly #now: () => number;

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Undefined while the endpoint has as many as it may have. */
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

  /** When one that found no slot should come back: each a turn after the one before, at most a minute. */
  secondsToWait(endpointId: string): number {
    const lane = this.#lane(endpointId);
    const now = this.#now();
    const latest = now + WAIT_SECONDS_MAX * 1000;
    lane.turnAt = Math.min(Math.max(now, lane.turnAt) + lane.expectedMs / slotsOf(lane), latest);
    return (lane.turnAt - now) / 1000;
  }

  /** The endpoint is another one than it was: what is expected of it begins anew. */
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
