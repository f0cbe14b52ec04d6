import { isHeld, Lease, type LeaseOf } from "../../runtime/lease.ts";
import { LOST, retryLostRaces } from "../../runtime/retry-lost-races.ts";
import type { WebhooksDeps } from "../deps.ts";
import type { EndpointState } from "../endpoints/endpoint-health-store.ts";
import { isArmed, type EndpointWork } from "./pending-store.ts";
import { hintEndpoint } from "./queue-delivery.ts";

/** Deliveries that are handled together. */
export const BATCH = 16;
/** One more than that shows whether there is more to do. */
const READ = BATCH + 1;
/** How much longer a lease lasts than the longest call. */
const BEYOND_CALL_MS = 20_000;
/** No call begins that could end with less than this left of the lease, because clocks differ by some seconds. */
const LEFT_AFTER_CALL_MS = 10_000;

/** The right of one process at a time to deliver to an endpoint, and the endpoint's state as its holder knows it. */
export type EndpointLease = Lease<EndpointState, EndpointWork>;

function endpointLease(
  { config, clock, log, stores: { pending } }: WebhooksDeps,
  endpointId: string,
  hint: () => Promise<void>,
): LeaseOf<EndpointState, EndpointWork> {
  return {
    what: "an endpoint",
    fields: { endpointId },
    log,
    clock,
    leaseMs: config.webhooks.timeoutMs + BEYOND_CALL_MS,
    read: () => pending.read(endpointId, READ),
    write: (part, etag) => pending.writeState(endpointId, part, etag),
    hint,
  };
}

/**
 * Takes the lease. Returns undefined when there is nothing to do before the existing due row, or when another process
 * has the lease, which is then asked to check again. `dueAt` is the time of the due row that caused this. Its hint is
 * used up, so if the holder's clock is behind, the holder has to send another one.
 */
export function takeEndpoint(
  deps: WebhooksDeps,
  endpointId: string,
  dueAt: string | undefined,
): Promise<{ readonly lease: EndpointLease; readonly work: EndpointWork } | undefined> {
  const { clock } = deps;
  const { pending } = deps.stores;
  const of = endpointLease(deps, endpointId, () => hintEndpoint(deps, endpointId));
  return retryLostRaces(async () => {
    const work = await pending.read(endpointId, READ);
    const now = clock.now();
    if (isHeld(work.state, now)) {
      const isUsedUp = dueAt !== undefined && work.state.nextAt === dueAt;
      const asked = await pending.writeState(
        endpointId,
        isUsedUp ? { nextAt: null } : {},
        work.etag,
      );
      return asked === undefined ? LOST : undefined;
    }
    if (dueAt === undefined && isArmed(work, now)) return undefined;
    const lease = new Lease(of, work);
    return (await lease.take()) ? { lease, work } : LOST;
  });
}

/** Keeps the lease for long enough that a call can begin. @throws LeaseLost */
export const prolongForCall = (lease: EndpointLease, { config }: WebhooksDeps): Promise<void> =>
  lease.prolong(config.webhooks.timeoutMs + LEFT_AFTER_CALL_MS);
