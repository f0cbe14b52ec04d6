import { writeWithMails, type MailKind } from "../../mail/mail.ts";
import type { Locale } from "../../runtime/locale.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { TenantsDeps } from "../deps.ts";
import { erasedAt } from "../platform.ts";
import { listOwners } from "./owners.ts";

/** As many owners as get a mail in one transaction. */
const OWNERS_MAX = 50;

function dateIn(locale: Locale, time: Date): string {
  const form = { dateStyle: "long", timeStyle: "short", timeZone: "UTC" } as const;
  return time.toLocaleString(locale, form);
}

/** Calls `write` with the rows of mails to the owners of a platform that was closed then, which say when it is erased. */
export async function tellOwners<T>(
  services: TenantsDeps,
  { platformId, closedAt }: { readonly platformId: string; readonly closedAt: string },
  kind: MailKind,
  write: (rows: readonly Row[]) => Promise<T>,
): Promise<T> {
  const owners = (await listOwners(services, platformId)).slice(0, OWNERS_MAX);
  const mails = owners.map(({ email: to, locale }) => {
    const values = { date: dateIn(locale, erasedAt(closedAt)) };
    return { kind, to, locale, values };
  });
  return await writeWithMails(services.mail, platformId, mails, write);
}
