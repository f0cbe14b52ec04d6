/* The part of mail that other folders use. */

export type { MailDeps } from "./deps.ts";
export type { MailKind } from "./mail-content.ts";
export { admitMail, removeOldCounts } from "./admit-mail.ts";
export { happeningOf, shownTime } from "./notice.ts";
export { readOffToken } from "./off-link.ts";
export {
  insertMails,
  isMailOn,
  postMail,
  writeWithMail,
  writeWithMails,
  type PostedMail,
} from "./post-mail.ts";
export { quotable } from "./quotable.ts";
export { hasMail, markIfWaiting, SEND_MAILS, sendMails } from "./send-mails.ts";
export { quotedPlatform } from "./render-mail.ts";
export { createMail } from "./stores.ts";
export { readNotices, switchNotices, type NoticeSettings } from "./switch-notices.ts";
export { writeAndTell } from "./tell-owners.ts";
