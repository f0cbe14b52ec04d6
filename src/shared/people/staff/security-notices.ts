import type { UserRole } from "../../callers/caller.ts";
import { isMailOn, type Mail, type MailKind, type PostedMail } from "../../mail/mail.ts";
import type { Locale } from "../../runtime/locale.ts";
import type { Row } from "../../runtime/storage/row.ts";
import { erasedAt } from "../../tenants/platform.ts";
import type { TenantsDeps } from "../../tenants/deps.ts";
import type { User } from "./user.ts";

type NoticeReader = Pick<User, "id" | "email" | "locale">;

/** A notice, and who gets it in addition to the owners. */
interface OwnersNotice {
  readonly kind: MailKind;
  /** Values for a reader of this language. */
  readonly values: (locale: Locale) => Readonly<Record<string, string>>;
  readonly also?: NoticeReader | undefined;
}

/** Returns the user as a reader of notices about their account, if the e-mail is verified. */
const alsoOf = (user: User) => (user.emailVerified ? user : undefined);

/** Returns the notice of a user's new or changed role. */
export const roleNotice = (user: User, role: UserRole): OwnersNotice => ({
  kind: "roleChanged",
  values: () => ({ email: user.email, role }),
  also: alsoOf(user),
});

export const removalNotice = (user: User): OwnersNotice => ({
  kind: "ownerRemoved",
  values: () => ({ email: user.email }),
  also: alsoOf(user),
});

const DATE = { dateStyle: "long", timeStyle: "short", timeZone: "UTC" } as const;

/** Returns a notice of a closed platform, which says when it is erased. */
export const closingNotice = (kind: MailKind, closedAt: string): OwnersNotice => ({
  kind,
  values: (locale) => ({ date: erasedAt(closedAt).toLocaleString(locale, DATE) }),
});

/**
 * Admits a change that may be made any number of times and of which the owners are notified.
 * @throws AppError `rate_limited`
 */
export async function admitOwnersNotice(
  { config, limits, mail }: Pick<TenantsDeps, "config" | "limits" | "mail">,
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
