import type { TenantsDeps } from "../tenants/tenants.ts";
import type { Poisoned } from "./poison-queue.ts";
import type { WalkStore } from "./walk-store.ts";

/** What runs on a timer takes of the process. */
export interface BackgroundDeps extends TenantsDeps {
  readonly poisonQueues: readonly Poisoned[];
  /** How far every walk is. */
  readonly walks: WalkStore;
}
