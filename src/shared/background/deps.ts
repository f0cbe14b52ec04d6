import type { TenantsDeps } from "../tenants/deps.ts";
import type { HousekeepingStore } from "./housekeeping-store.ts";
import type { WalkStore } from "./walk-store.ts";

/** What runs on a timer takes of the process. */
export interface BackgroundDeps extends TenantsDeps {
  readonly housekeeping: HousekeepingStore;
  /** How far every walk is. */
  readonly walks: WalkStore;
}
