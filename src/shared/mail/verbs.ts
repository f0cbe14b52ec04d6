import { bound } from "../runtime/bound.ts";
import { admitMail } from "./admit-mail.ts";
import type { MailDeps } from "./deps.ts";
import {
  insertMails,
  isMailOn,
  postMail,
  type PostedMail,
  writeWithMails,
  type Writing,
} from "./post-mail.ts";
import { readNotices, switchNotices } from "./switch-notices.ts";
import { isMailFailing } from "./send-mails.ts";
import { writeAndTell } from "./tell-owners.ts";

/** Returns what modules call that have something to mail. */
export const mailVerbs = (deps: MailDeps) => ({
  /** Lists the owners who are told what happened: nobody where no mail is sent. */
  owners: async (platformId: string) =>
    isMailOn(deps.config) ? await deps.owners(platformId) : [],
  /** Reports whether mails are sent at all, and whether the mail server refuses every mail. */
  serverState: async () =>
    isMailOn(deps.config) ? ((await isMailFailing(deps)) ? "failing" : "ok") : undefined,
  admitMail: bound(deps, admitMail),
  insertMails: bound(deps, insertMails),
  postMail: bound(deps, postMail),
  writeWithMails: <T>(platformId: string, mails: readonly PostedMail[], write: Writing<T>) =>
    writeWithMails(deps, platformId, mails, write),
  writeAndTell: bound(deps, writeAndTell),
  readNotices: bound(deps, readNotices),
  switchNotices: bound(deps, switchNotices),
});

export type Mail = ReturnType<typeof mailVerbs>;
