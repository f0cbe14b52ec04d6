/* What other folders use of mail. */

export type { MailDeps } from "./deps.ts";
export type { MailKind } from "./mail-content.ts";
export { admitMail, removeOldCounts } from "./admit-mail.ts";
export { isMailOn, postMail, writeWithMail, writeWithMails } from "./post-mail.ts";
export { hasMail, markIfWaiting, SEND_MAILS, sendMails } from "./send-mails.ts";
export { quotedPlatform } from "./render-mail.ts";
export { createMail } from "./stores.ts";
