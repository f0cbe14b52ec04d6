import type { Row } from "../runtime/storage/row.ts";
import type { TenantsDeps } from "./deps.ts";
import type { Platform } from "./platform.ts";
import type { ListPlatforms } from "./platform-schema.ts";
import { pageOfPlatforms } from "./platforms/operate-platforms.ts";
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
    /** Lists platforms, or those that a query names. `found` is the one that it names in another way than by itself. */
    listPlatforms: (query: ListPlatforms, found: string | undefined) =>
      pageOfPlatforms(deps, query, found),
    /** Stores a platform with the row of its owner and others. */
    create: (platform: Platform, rows: readonly Row[]) => platforms.createWithOwner(platform, rows),
    /** Removes the platform from the lists of all and of names. */
    unlist: (id: string) => closings.unlist(id),
  };
}
