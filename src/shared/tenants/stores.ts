import type { Commit } from "../partition/partition.ts";
import type { Tables } from "../runtime/storage/tables.ts";
import { ApplicationStore } from "./applications/application-store.ts";
import { KeyStore } from "./keys/key-store.ts";
import { ClosingStore } from "./platforms/closing-store.ts";
import { PlatformStore } from "./platforms/platform-store.ts";
import { ProfileStore } from "./profiles/profile-store.ts";

export type TenantStores = ReturnType<typeof createTenantStores>;

/** Creates the stores of the rows that requests are checked against. A change of these raises the access version. */
export function createTenantStores({ core, keys }: Tables, commit: Commit) {
  return {
    platforms: new PlatformStore(core, commit),
    closings: new ClosingStore(core, commit),
    applications: new ApplicationStore(core, commit),
    keys: new KeyStore(keys, core, commit),
    profiles: new ProfileStore(core, commit),
  };
}
