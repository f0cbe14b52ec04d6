import type { Connection } from "../connections/connections.ts";
import type { TenantsDeps } from "./deps.ts";
import type { Application } from "./applications/application.ts";
import type { KeyWithHash } from "./keys/key-store.ts";
import type { PlatformAccess } from "./platform.ts";
import type { Profile } from "./profiles/profile.ts";

export interface TenantRows {
  /**
   * Whether they are cached from earlier requests. Cached rows may only allow. A refusal based on them is neither
   * answered nor recorded. Instead, the request is checked again on stored rows.
   */
  readonly areCached: boolean;
  /** The platform that the credential names, if this process knows it without a read. Not checked. */
  readonly platformId?: string;
  /** The platform's access version, read before all rows, or "" when it isn't needed. */
  readonly accessVersion: string;
  key(keyId: string): Promise<KeyWithHash | undefined>;
  platform(platformId: string): Promise<PlatformAccess | undefined>;
  application(platformId: string, applicationId: string): Promise<Application | undefined>;
  profile(platformId: string, profileId: string): Promise<Profile | undefined>;
  connections(platformId: string, profileId: string): Promise<readonly Connection[]>;
}

/** Returns a row by its name, from a cache or by reading it. */
export type RowSource = <Wanted>(name: string, read: () => Promise<Wanted>) => Promise<Wanted>;

export function tenantRows(
  deps: Pick<TenantsDeps, "stores" | "connectionsOf">,
  source: RowSource,
  about: Pick<TenantRows, "areCached" | "accessVersion" | "platformId">,
): TenantRows {
  const { keys, platforms, applications, profiles } = deps.stores;
  return {
    ...about,
    key: (id) => source(`K|${id}`, () => keys.findWithHash(id)),
    platform: (platformId) => source("P", () => platforms.findAccess(platformId)),
    application: (platformId, id) => source(`A|${id}`, () => applications.find(platformId, id)),
    profile: (platformId, id) => source(`F|${id}`, () => profiles.find(platformId, id)),
    connections: (platformId, profileId) =>
      source(`C|${profileId}`, () => deps.connectionsOf({ platformId, profileId })),
  };
}
