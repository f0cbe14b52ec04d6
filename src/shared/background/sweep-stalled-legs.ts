import type { BackgroundDeps } from "./deps.ts";
import { sweepOpenWork } from "../publishing/publishing.ts";
import type { TakeStep } from "../runtime/walk-step.ts";
import { lookAtEndpoint } from "../webhooks/webhooks.ts";
import { sweepMarked } from "../wake/wake.ts";

/** Makes the steps that find open work whose hint was lost, and send the hint again. */
export function sweepStalledLegs(services: BackgroundDeps): TakeStep {
  return sweepMarked(services.webhooks, {
    kind: "platform",
    what: "sweep-stalled-work",
    look: (platformId) => sweepOpenWork(services.publishing, platformId),
  });
}

/** Makes the steps that find endpoints whose deliveries nobody would make, and send a hint. */
export function sweepEndpoints(services: BackgroundDeps): TakeStep {
  return sweepMarked(services.webhooks, {
    kind: "endpoint-check",
    what: "sweep-endpoints",
    look: (endpointId) => lookAtEndpoint(services.webhooks, endpointId),
  });
}
