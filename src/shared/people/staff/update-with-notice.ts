import type { MailKind } from "../../mail/mail.ts";
import type { PeopleDeps } from "../deps.ts";
import type { UserChange } from "./user-store.ts";
import type { User } from "./user.ts";

/** Changes a user, and notifies them of it in the same transaction. */
export function updateWithNotice(
  deps: Pick<PeopleDeps, "stores" | "mail">,
  user: User,
  kinds: MailKind | readonly MailKind[],
  change: (present: User) => UserChange | undefined,
): Promise<User | undefined> {
  const { platformId, email: to, locale } = user;
  const mails = [kinds].flat().map((kind) => ({ kind, to, locale }));
  return deps.mail.writeWithMails(platformId, mails, (rows) =>
    deps.stores.users.update(user, change, rows),
  );
}
