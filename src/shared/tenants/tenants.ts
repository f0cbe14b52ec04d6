/* The part of tenants that other folders use: platforms, and what they own. */

export { type RowSource, type TenantRows, tenantRows } from "./access-rows.ts";
export type { Application } from "./applications/application.ts";
export {
  createApplication,
  updateApplication,
  getApplication,
  listApplications,
} from "./applications/manage-applications.ts";
export type { TenantsDeps } from "./deps.ts";
export { createKey, expiryIssues } from "./keys/create-key.ts";
export { deleteKey, renameKey, revokeKey, listKeys } from "./keys/manage-keys.ts";
export { mintGrant } from "./keys/profile-grants.ts";
export { isKeyActive, platformOfKey, verifyKey } from "./keys/verify-key.ts";
export { type TenantsForErasure, tenantsForErasure } from "./for-erasure.ts";
export { type TenantsOfPeople, tenantsOfPeople } from "./for-people.ts";
export {
  closedPlatform,
  closedPlatformExample,
  ClosePlatformBody,
  ListPlatformsQuery,
  platformAccount,
  platformAccountExample,
  platformSummary,
  platformSummaryExample,
  UpdatePlatformBody,
} from "./platform-schema.ts";
export { announcedAt, erasedAt, type Platform } from "./platform.ts";
export {
  isLastOwner,
  isLastUser,
  ownerCountWrite,
  PLATFORM_ROW_KEY,
  platformStatusOf,
  userCountWrite,
} from "./platform-row.ts";
export {
  type ApplicationSummary,
  type PlatformAccount,
  type PlatformSummary,
  readAccount,
} from "./platforms/platform-account.ts";
export { createGrants, invalidGrant, type Grant } from "./profiles/grant.ts";
export type { Profile, ProfileView } from "./profiles/profile.ts";
export { getProfile, listProfiles } from "./profiles/read-profiles.ts";
export { createProfile, updateProfile } from "./profiles/write-profiles.ts";
export { requireConfirmed, requireOwner } from "./session-rules.ts";
export { createTenantStores } from "./stores.ts";
export { createTenantQueries, type TenantQueries } from "./tenant-queries.ts";
export {
  checkListedPlatform,
  listPlatformIds,
  POINTERS_YOUNG_MS,
  purgeKeyPointers,
} from "./upkeep.ts";
export type { ClosePlatform, ListPlatforms, UpdatePlatform } from "./platform-schema.ts";
