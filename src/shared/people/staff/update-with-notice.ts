import type { MailKind } from "../../mail/mail.ts";
import type { PeopleDeps } from "../deps.ts";
import type { UserChange } from "./user-store.ts";
import type { User } from "./user.ts";

/** What a user is notified of, and the address from which it was done. */
interface NoticeToUser {
  readonly kinds: readonly MailKind[];
  readonly ip: string;
}

/** Changes a user, and notifies them of it in the same transaction. */
export function updateWithNotice(
  deps: Pick<PeopleDeps, "stores" | "mail">,
  user: User,
  { kinds, ip }: NoticeToUser,
  change: (present: User) => UserChange | undefined,
): Promise<User | undefined> {
  const { platformId, email: to, locale } = user;
  const values = { address: ip };
  const mails = kinds.map((kind) => ({ kind, to, locale, values }));
  return deps.mail.writeWithMails(platformId, mails, (rows) =>
    deps.stores.users.update(user, change, rows),
  );
}
