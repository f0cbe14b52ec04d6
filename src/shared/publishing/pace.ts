import type { PartitionView } from "../partition/partition.ts";
import { paced, walletOf } from "../ledger/ledger.ts";
import { invariant } from "../runtime/errors.ts";
import { calledLegs, startedLegs } from "./hints.ts";
import { startingAt, type Leg } from "./leg.ts";

/** How many legs of a platform begin per second, and how soon the sweep checks them. */
export interface Pace {
  readonly legsPerSecond: number;
  readonly workCheckSeconds: number;
}

interface PacedLegs {
  readonly legs: readonly Leg[];
  readonly paceUntil?: string;
  /** When the sweep first checks what begins. Absent when nothing does. */
  readonly nextCheckAt?: string;
}

/** Returns the legs. Those that this change starts get a start time at the platform's pace. */
export function withPace(
  before: readonly Leg[],
  after: readonly Leg[],
  view: PartitionView,
  pace: Pace | undefined,
): PacedLegs {
  const { now } = view;
  const begun = startedLegs(before, after);
  const checkAfter = (ms: number, { workCheckSeconds }: Pace) =>
    new Date(ms + workCheckSeconds * 1000).toISOString();
  if (begun.length === 0) {
    const isCalled = pace !== undefined && calledLegs(before, after).length > 0;
    return { legs: after, ...(isCalled && { nextCheckAt: checkAfter(now.getTime(), pace) }) };
  }
  invariant(pace !== undefined, "legs begin at no pace");
  const { paceUntil, startAt } = paced(walletOf(view), begun.length, now, pace.legsPerSecond);
  const legs = after.map((leg) => (begun.includes(leg) ? startingAt(leg, startAt) : leg));
  const startMs = startAt === null ? now.getTime() : Date.parse(startAt);
  return { legs, paceUntil, nextCheckAt: checkAfter(startMs, pace) };
}
