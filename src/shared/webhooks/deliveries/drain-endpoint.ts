import { FREE, LeaseLost } from "../../runtime/lease.ts";
import type { WebhooksDeps } from "../deps.ts";
import { circuitOf, type EndpointState } from "../endpoints/endpoint-health-store.ts";
import { deliverBatch } from "./deliver-batch.ts";
import { type Drain, RowWriter } from "./drain.ts";
import { BATCH, takeEndpoint } from "./endpoint-lease.ts";
import { nextAttemptOf, type EndpointWork, type PendingDelivery } from "./pending-store.ts";
import { addDueDelivery, hintDueDelivery, hintEndpoint } from "./queue-delivery.ts";
import { wakeOf } from "../../wake/wake.ts";

/*
 * How deliveries get to an endpoint
 *
 * A delivery that is pending has a second row, beside its own, whose key says when it is to be attempted:
 * `W|<time>|<id>`, or `W|new|<id>` until it was attempted. The two change in one transaction:
 *
 *   queued ─ W, new ────┬─ attempted: 2xx ───────────────── succeeded, no row
 *                       ├─ attempted: anything else ─────── W at the next time of the schedule, after the last one dead
 *                       └─ endpoint disabled or deleted, event expired ── dead, no row
 *   test, redrive ─ W at once ── as what was attempted
 *
 * The endpoint's circuit opens after five failures in a row. As long as it is open no new delivery is read, but for the
 * oldest one when a probe is due. Any success closes it, and the drain goes on with all that are there.
 *
 * One process at a time delivers to an endpoint: the one that has the lease in the endpoint's state (row `S`). A drain
 * takes the lease, reads what is due, and makes calls, four at a time, as long as it keeps the lease. Before a call the
 * attempt is counted; after it, the outcome is written. When nothing is due, it writes a due row for the earliest time
 * at which something will be, notes that time as `nextAt`, and gives the lease back. All that it changes is conditional
 * on the version that it read, so a process that was suspended for longer than its lease changes nothing.
 *
 * Who starts a drain: a hint from the code that queued deliveries, the due row at `nextAt`, or the sweep. Who finds the lease
 * taken writes to the state; that makes the holder's attempt to give the lease back fail, and it looks again.
 *
 * What a crash leaves, and what repairs it:
 *
 *   before the deliveries are written        the event is still pending; the sweep has it fanned out again
 *   after them, or the hint was lost         the mark in the wake index, made before and after the write: the sweep
 *                                            looks at marked endpoints (`lookAtEndpoint`) and sends a hint
 *   with the lease, anywhere                 the lease runs out; a mark of who queued, or the due row, is still there:
 *                                            marks go only when the sweep finds nothing due, due rows only with the lease
 *   after the count, before the outcome      the delivery is attempted again, under the same id
 *   between outcome and due row              as with the lease: the sweep keeps the mark until `nextAt` covers the row
 *   between due row and `nextAt`             a due row more; the drain that it starts finds nothing
 *   handing over to another run              the endpoint is marked before the lease is given back
 */

/** Then another message continues, so that other endpoints get their turns. */
const RUN_MS_MAX = 30_000;

/** Returns the number of new deliveries that may be attempted: one as a probe, and none while no probe is due. */
function newAllowed({ lease, opened }: Drain, now: string): number {
  const circuit = circuitOf(lease.state);
  // An endpoint that is disabled or deleted isn't called. Its deliveries end.
  const isCalled = opened === undefined || opened.endpoint?.endpoint.status === "active";
  if (circuit === null || !isCalled) return BATCH;
  return circuit.probeAt <= now ? 1 : 0;
}

/** Returns the time of the next drain after these were handled, or undefined when nothing is left. */
function nextDrainAt(
  { lease, postponed, deps }: Drain,
  work: EndpointWork,
  handled: ReadonlySet<PendingDelivery>,
): string | undefined {
  const isLeft = (pending: PendingDelivery) => !handled.has(pending);
  const [timed, untried] = [work.timed.filter(isLeft), work.untried.filter(isLeft)];
  const left = nextAttemptOf({ state: lease.state, timed, untried }, deps.clock.now());
  return [...postponed, left].filter((at) => at !== undefined).toSorted()[0];
}

const lastSuccess = ({ succeededAt }: Drain): Partial<EndpointState> =>
  succeededAt === undefined ? {} : { lastSuccessAt: succeededAt };

/** Gives the lease back, with a due row for what is left. Returns false when there may be more to do now. */
async function releaseEndpoint(
  drain: Drain,
  wakeAt: string | undefined,
  dueAt: string | undefined,
): Promise<boolean> {
  const { deps, lease, endpointId } = drain;
  const now = deps.clock.now().toISOString();
  const before = lease.state.nextAt;
  // The due row that starts the next drain, unless it exists, and the time that the state then has.
  const armed = before !== null && before > now ? before : null;
  const isArmed = wakeAt === undefined || (armed !== null && armed <= wakeAt);
  const { nextAt, due } = isArmed
    ? { nextAt: armed }
    : { nextAt: wakeAt, due: wakeOf("endpoint", drain.endpointId, wakeAt) };
  if (due !== undefined) await addDueDelivery(deps, due);
  if (!(await lease.release({ nextAt, ...lastSuccess(drain) }))) return false;
  if (due !== undefined) await hintDueDelivery(deps, due);
  const over = new Set([before ?? "", dueAt ?? ""].filter((at) => at !== "" && at <= now));
  for (const at of over) await deps.wakes.remove(wakeOf("endpoint", endpointId, at));
  return true;
}

async function handOverEndpoint(drain: Drain): Promise<void> {
  const { deps, lease, endpointId } = drain;
  await deps.wakes.mark("endpoint-check", endpointId, deps.clock.now());
  await lease.save(() => ({ ...FREE, ...lastSuccess(drain) }));
  await hintEndpoint(deps, endpointId);
}

async function run(drain: Drain, first: EndpointWork, dueAt: string | undefined): Promise<void> {
  const { lease, postponed, deps } = drain;
  let work = first;
  for (;;) {
    postponed.length = 0;
    // Chooses the oldest of those that can be attempted. An id begins with its event's time.
    const now = drain.deps.clock.now().toISOString();
    const due = work.timed.filter(({ at }) => at <= now);
    const handled = await deliverBatch(
      drain,
      [...due, ...work.untried.slice(0, newAllowed(drain, now))]
        .toSorted((left, right) => (left.deliveryId < right.deliveryId ? -1 : 1))
        .slice(0, BATCH),
    );
    const wakeAt = nextDrainAt(drain, work, handled);
    const isMoreDue = wakeAt !== undefined && wakeAt <= deps.clock.now().toISOString();
    if (isMoreDue && drain.isOver()) return handOverEndpoint(drain);
    if (!isMoreDue && (await releaseEndpoint(drain, wakeAt, dueAt))) return;
    work = await lease.readAgain();
  }
}

/**
 * Makes an endpoint's due deliveries, unless another process is doing so, which then checks again. `dueAt` is the time
 * of the due row that caused this. Delivers at least once: after a crash between a call and its record, the receiver is
 * called again with the same `webhook-id`.
 * @throws AppError `service_unavailable` when storage doesn't answer; the message must then be handled again
 */
export async function drainEndpoint(
  deps: WebhooksDeps,
  endpointId: string,
  dueAt: string | undefined,
): Promise<void> {
  const taken = await takeEndpoint(deps, endpointId, dueAt);
  if (taken === undefined) return;
  const { lease, work } = taken;
  const startedAt = performance.now();
  const drain: Drain = {
    deps,
    endpointId,
    lease,
    writer: new RowWriter(deps.stores.pending, endpointId),
    isOver: () => performance.now() - startedAt > RUN_MS_MAX || deps.work.stop.endsAt !== undefined,
    opened: undefined,
    postponed: [],
    succeededAt: undefined,
    steps: new Map(),
  };
  try {
    await run(drain, work, dueAt);
  } catch (error) {
    // Another process continues.
    if (error instanceof LeaseLost) return;
    await lease.giveBack();
    throw error;
  }
}
