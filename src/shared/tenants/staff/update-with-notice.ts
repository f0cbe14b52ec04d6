import { writeWithMail, type MailKind } from "../../mail/mail.ts";
import type { TenantsDeps } from "../deps.ts";
import type { UserChange } from "./user-store.ts";
import type { User } from "./user.ts";

/** Changes a user, and writes a notice of it to them in the same transaction. */
export function updateWithNotice(
  services: TenantsDeps,
  user: User,
  kind: MailKind,
  change: (present: User) => UserChange | undefined,
): Promise<User | undefined> {
  const { platformId, email: to, locale } = user;
  return writeWithMail(services.mail, platformId, { kind, to, locale }, (rows) =>
    services.stores.users.update(user, change, rows),
  );
}
