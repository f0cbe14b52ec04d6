import { isHeld, Lease, type LeaseOf } from "../../runtime/lease.ts";
import { LOST, untilWon } from "../../runtime/until-won.ts";
import type { WebhooksDeps } from "../deps.ts";
import type { EndpointState } from "../endpoints/endpoint-health-store.ts";
import { isArmed, type EndpointWork } from "./pending-store.ts";
import { hintEndpoint } from "./queue-delivery.ts";

/** Deliveries that are handled together. */
export const BATCH = 16;
/** One more than that shows when there will be more to do. */
const READ = BATCH + 1;
/** A lease outlasts the longest call by this much. */
const BEYOND_CALL_MS = 20_000;
/** No call begins that could end with less than this left of the lease: clocks differ by some seconds. */
const LEFT_AFTER_CALL_MS = 10_000;

/** The right to deliver to an endpoint, which one process has at a time, and the endpoint's state as it is known to it. */
export type EndpointLease = Lease<EndpointState, EndpointWork>;

function leaseOf(
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
 * Takes the lease; returns undefined where there is nothing to do before the due row that is there. Where another
 * process has it, asks that one to look once more, and returns undefined. `dueAt` is the time of the due row that asked:
 * its hint is used up, and where the other's clock is behind, that one has to send another when it looks.
 */
export function takeEndpoint(
  services: WebhooksDeps,
  endpointId: string,
  dueAt: string | undefined,
): Promise<{ readonly lease: EndpointLease; readonly work: EndpointWork } | undefined> {
  const { clock } = services;
  const { pending } = services.stores;
  const of = leaseOf(services, endpointId, () => hintEndpoint(services, endpointId));
  return untilWon(async () => {
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
