/* The part of tenants that other folders use: platforms, their staff, and what they own. */

export { storedRows, type AccessRows, accessRows } from "./access-rows.ts";
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
export { mintGrant, isMakerActive } from "./keys/profile-grants.ts";
export { platformOfKey, verifyKey } from "./keys/verify-key.ts";
export { showLink, useLink, refuseLink } from "./link-pages/link-page.ts";
export { showNoticesPage, switchOffByPage } from "./link-pages/notices-page.ts";
export { askForReset, confirmReset } from "./staff/reset-password.ts";
export { askForEmailChange } from "./staff/change-email.ts";
export { makeResetLink } from "./staff/operator-reset.ts";
export { resendVerification } from "./links/send-verification.ts";
export { verifyEmail } from "./staff/verify-email.ts";
export { acceptInvitation } from "./invitations/accept-invitation.ts";
export { invite, listInvitations, withdrawInvitation } from "./invitations/manage-invitations.ts";
export { findUserByEmail, listUsersOfPlatform, removeUser } from "./staff/operate-users.ts";
export { type TenantsForErasure, tenantsForErasure } from "./for-erasure.ts";
export { tenantsForBelow } from "./for-modules-below.ts";
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
export { announcedAt, erasedAt, type PlatformAccess } from "./platform.ts";
export {
  checkReadiness,
  health,
  readiness,
  readinessExample,
  readinessChecks,
} from "./platforms/check-readiness.ts";
export { createPlatform, listPlatforms } from "./platforms/operate-platforms.ts";
export { me, meExample } from "./platforms/me-schema.ts";
export { getNotices, updateNotices } from "./platforms/notice-settings.ts";
export { readAccount, getMe } from "./platforms/platform-account.ts";
export { createGrants, invalidGrant, type Grant } from "./profiles/grant.ts";
export type { Profile, ProfileView } from "./profiles/profile.ts";
export { getProfile, listProfiles } from "./profiles/read-profiles.ts";
export { createProfile, updateProfile } from "./profiles/write-profiles.ts";
export { resealSecondFactors } from "./staff/check-second-factor.ts";
export { confirmSession } from "./staff/confirm-session.ts";
export {
  createUser,
  deleteUser,
  listUsers,
  removeStrayClaims,
  updateUser,
} from "./staff/manage-users.ts";
export { changePassword, confirmTotp, removeTotp, startTotp } from "./staff/own-account.ts";
export { createPasswords } from "./staff/password.ts";
export { logIn, logOut, signUp } from "./staff/sign-in.ts";
export { verifySession } from "./staff/verify-session.ts";
export { createTenantStores } from "./stores.ts";
export {
  isPlatformDamaged,
  listPlatformIds,
  purgeInvitations,
  purgeKeyPointers,
  purgeLinks,
} from "./upkeep.ts";
export type { Readiness } from "./platforms/readiness.ts";
export type { PlatformSummary } from "./platforms/platform-account.ts";
export type { ClosePlatform, UpdatePlatform } from "./platform-schema.ts";
