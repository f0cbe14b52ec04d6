import type { Row } from "../runtime/storage/row.ts";
import type { TenantsDeps } from "./deps.ts";
import type { Platform } from "./platform.ts";
import { readAccount, summarizePlatform } from "./platforms/platform-account.ts";

export type TenantsOfPeople = ReturnType<typeof tenantsOfPeople>;

/** Makes what those who log in need of their platform. */
export function tenantsOfPeople(deps: TenantsDeps) {
  const { platforms, closings } = deps.stores;
  return {
    findPlatform: (id: string) => platforms.find(id),
    readAccount: (platformId: string, applicationId: string | null) =>
      readAccount(deps, platformId, applicationId),
    summarizePlatform: (platform: Platform) => summarizePlatform(deps.readWallet, platform),
    /** Stores a platform with the row of its owner and others. */
    create: (platform: Platform, rows: readonly Row[]) => platforms.createWithOwner(platform, rows),
    /** Removes the platform from the list of all. */
    unlist: (id: string) => closings.unlist(id),
  };
}
