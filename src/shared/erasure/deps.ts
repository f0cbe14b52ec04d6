import type { Audit } from "../audit/audit.ts";
import type { ConnectionsDeps } from "../connections/connections.ts";
import type { PublishingDeps } from "../publishing/publishing.ts";
import type { Log } from "../runtime/log.ts";
import type { Clock } from "../runtime/process.ts";
import type { WebhooksDeps } from "../webhooks/webhooks.ts";
import type { PeopleForErasure } from "../people/people.ts";
import type { TenantsForErasure } from "../tenants/tenants.ts";
import type { ErasureStore } from "./erasure-store.ts";

/** What erasing a profile needs: every module that stores something of it. */
export interface ErasureDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  readonly erasures: ErasureStore;
  readonly tenants: TenantsForErasure;
  readonly people: PeopleForErasure;
  readonly publishing: PublishingDeps;
  readonly connections: ConnectionsDeps;
  readonly webhooks: WebhooksDeps;
}
