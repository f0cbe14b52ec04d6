import type { Mail, MailKind } from "../../mail/mail.ts";
import type { Locale } from "../../runtime/locale.ts";
import type { Row } from "../../runtime/storage/row.ts";
import { erasedAt } from "../platform.ts";
import { writeWithOwnersNotice } from "./security-notices.ts";

function dateIn(locale: Locale, time: Date): string {
  const form = { dateStyle: "long", timeStyle: "short", timeZone: "UTC" } as const;
  return time.toLocaleString(locale, form);
}

/** Calls `write` with the rows of mails to the owners of a closed platform. The mails say when it is erased. */
export function tellOwners<T>(
  mail: Mail,
  { platformId, closedAt }: { readonly platformId: string; readonly closedAt: string },
  kind: MailKind,
  write: (rows: readonly Row[]) => Promise<T>,
): Promise<T> {
  const values = (locale: Locale) => ({ date: dateIn(locale, erasedAt(closedAt)) });
  return writeWithOwnersNotice(mail, platformId, { kind, values }, write);
}
