import type { Config } from "../config/config.ts";
import type { Limits } from "../limits/limits.ts";
import type { Locale } from "../runtime/locale.ts";
import type { Row } from "../runtime/storage/row.ts";
import type { MailKind } from "./mail-content.ts";
import { isMailOn, type PostedMail } from "./post-mail.ts";
import type { Mail } from "./verbs.ts";

/** A notice, and who gets it in addition to the owners. */
export interface OwnersNotice {
  readonly kind: MailKind;
  /** Values for a reader of this language. */
  readonly values: (locale: Locale) => Readonly<Record<string, string>>;
  readonly also?: NoticeReader | undefined;
}

interface NoticeReader {
  readonly id: string;
  readonly email: string;
  readonly locale: Locale;
}

interface NoticeDeps {
  readonly config: Config;
  readonly limits: Limits;
  readonly mail: Mail;
}

/**
 * Admits a change that may be made any number of times and of which the owners are notified.
 * @throws AppError `rate_limited`
 */
export async function admitOwnersNotice(
  { config, limits, mail }: NoticeDeps,
  platformId: string,
): Promise<void> {
  if (!isMailOn(config)) return;
  const owners = await mail.owners(platformId);
  // The user whom it is about may get one, too.
  await limits.admitNotices(platformId, owners.length + 1);
}

/**
 * Calls `write`, which stores a change, with the rows of the mails that notify the owners and the user concerned. No
 * setting or limit holds back these mails.
 */
export async function writeWithOwnersNotice<T>(
  mail: Mail,
  platformId: string,
  { kind, values, also }: OwnersNotice,
  write: (rows: readonly Row[]) => Promise<T>,
): Promise<T> {
  const owners = await mail.owners(platformId);
  const others = owners.filter(({ id }) => id !== also?.id);
  const readers = also === undefined ? others : [also, ...others];
  const mails = readers.map(({ email: to, locale }): PostedMail => {
    return { kind, to, locale, values: values(locale) };
  });
  return await mail.writeWithMails(platformId, mails, write);
}
