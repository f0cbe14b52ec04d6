import type { TenantsDeps } from "../tenants/deps.ts";
import type { HousekeepingStore } from "./housekeeping-store.ts";
import type { WalkStore } from "./account-checks/walk-store.ts";

/** What runs on a timer takes of the process. */
export interface BackgroundDeps extends TenantsDeps {
  readonly housekeeping: HousekeepingStore;
  /** How far the daily look after all accounts is. */
  readonly walks: WalkStore;
}
