/** A Wednesday, far from any change of the year or of daylight saving time. */
const START = Date.parse("2026-03-04T10:00:00.000Z");

export interface TestClock {
  readonly now: () => Date;
  readonly advance: (ms: number) => void;
}

/** The latest reading of any clock: ids never go back in time, so no relay may start before another one is. */
let latest = START;

/** Has the next clock start as the first one did. */
export function startClocksAnew(): void {
  latest = START;
}

/** Every reading is a millisecond later than the one before, so that what happens in order is dated in order. */
export function createClock(): TestClock {
  let time = latest;
  const move = (ms: number) => {
    time += ms;
    latest = Math.max(latest, time);
  };
  return {
    now() {
      move(1);
      return new Date(time);
    },
    advance: move,
  };
}
