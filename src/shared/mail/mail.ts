/* The part of mail that other folders use. */

export type { MailDeps } from "./deps.ts";
export type { MailKind } from "./mail-content.ts";
export { removeOldCounts } from "./admit-mail.ts";
export { happeningOf, shownTime } from "./notice.ts";
export { readOffToken } from "./off-link.ts";
export { isMailOn } from "./post-mail.ts";
export { admitOwnersNotice, type OwnersNotice, writeWithOwnersNotice } from "./owners-notice.ts";
export { quotable } from "./quotable.ts";
export { hasMail, markIfWaiting, SEND_MAILS, sendMails } from "./send-mails.ts";
export type { MailLimits } from "./transport.ts";
export { quotedPlatform } from "./render-mail.ts";
export { createMail } from "./stores.ts";
export type { NoticeSettings } from "./switch-notices.ts";
export { mailVerbs, type Mail } from "./verbs.ts";
