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
export { showLink, useLink, refuseLink } from "../people/link-pages/link-page.ts";
export { showNoticesPage, switchOffByPage } from "../people/link-pages/notices-page.ts";
export { askForReset, confirmReset } from "../people/staff/reset-password.ts";
export { askForEmailChange } from "../people/staff/change-email.ts";
export { makeResetLink } from "../people/staff/operator-reset.ts";
export { resendVerification } from "../people/links/send-verification.ts";
export { verifyEmail } from "../people/staff/verify-email.ts";
export { acceptInvitation } from "../people/invitations/accept-invitation.ts";
export {
  invite,
  listInvitations,
  withdrawInvitation,
} from "../people/invitations/manage-invitations.ts";
export { findUserByEmail, listUsersOfPlatform, removeUser } from "../people/staff/operate-users.ts";
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
export { me, meExample } from "../people/me-schema.ts";
export { getNotices, updateNotices } from "../people/notices/notice-settings.ts";
export { readAccount, getMe } from "./platforms/platform-account.ts";
export { createGrants, invalidGrant, type Grant } from "./profiles/grant.ts";
export type { Profile, ProfileView } from "./profiles/profile.ts";
export { getProfile, listProfiles } from "./profiles/read-profiles.ts";
export { createProfile, updateProfile } from "./profiles/write-profiles.ts";
export { resealSecondFactors } from "../people/staff/check-second-factor.ts";
export { confirmSession } from "../people/staff/confirm-session.ts";
export {
  createUser,
  deleteUser,
  listUsers,
  removeStrayClaims,
  updateUser,
} from "../people/staff/manage-users.ts";
export { changePassword, confirmTotp, removeTotp, startTotp } from "../people/staff/own-account.ts";
export { createPasswords } from "../people/staff/password.ts";
export { logIn, logOut, signUp } from "../people/staff/sign-in.ts";
export { verifySession } from "../people/staff/verify-session.ts";
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
