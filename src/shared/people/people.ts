/* The part of people that other folders use: who logs in, how, and who is invited to. */

export { type AccessRows, accessRows, isMakerActive, storedRows } from "./access-rows.ts";
export type { PeopleDeps } from "./deps.ts";
export { type PeopleForErasure, peopleForErasure } from "./for-erasure.ts";
export { showLink, useLink, refuseLink } from "./link-pages/link-page.ts";
export { showNoticesPage, switchOffByPage } from "./link-pages/notices-page.ts";
export { askForReset, confirmReset } from "./staff/reset-password.ts";
export { askForEmailChange } from "./staff/change-email.ts";
export { makeResetLink } from "./staff/operator-reset.ts";
export { resendVerification } from "./links/send-verification.ts";
export { verifyEmail } from "./staff/verify-email.ts";
export { acceptInvitation } from "./invitations/accept-invitation.ts";
export { invite, listInvitations, withdrawInvitation } from "./invitations/manage-invitations.ts";
export {
  findUserByEmail,
  listPlatforms,
  listUsersOfPlatform,
  removeUser,
} from "./staff/operate-users.ts";
export { getMe } from "./me.ts";
export { me, meExample } from "./me-schema.ts";
export { getNotices, updateNotices } from "./notices/notice-settings.ts";
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
export { createPlatform } from "./staff/open-platform.ts";
export { createPasswords } from "./staff/password.ts";
export { logIn, logOut, signUp } from "./staff/sign-in.ts";
export { verifySession } from "./staff/verify-session.ts";
export { createPeopleQueries } from "./people-queries.ts";
export { createPeopleStores } from "./stores.ts";
export { purgeInvitations, purgeLinks } from "./upkeep.ts";
