import type { Row } from "../runtime/storage/row.ts";
import { MARK_MS, wakeOf } from "../wake/wake.ts";
import type { Config } from "../config/config.ts";
import type { MailDeps } from "./deps.ts";
import type { MailContent } from "./mail-content.ts";

/** How long a mail without an earlier deadline is tried. */
const TRIED_MS = 3 * 24 * 60 * 60_000;

export const isMailOn = (config: Config): boolean => config.mail !== undefined;

export type MarkDeps = Pick<MailDeps, "clock" | "wakes">;

/** Marks the platform as one with a mail to be sent. Comes before the row, so that a crash leaves at most a mark. */
export function markMail({ clock, wakes }: MarkDeps, platformId: string, due = 0): Promise<void> {
  const now = clock.now();
  const at = new Date(Math.max(due, now.getTime() + MARK_MS)).toISOString();
  return wakes.add(wakeOf("mail", platformId, at), now);
}

/** A mail with its deadline. Without one it is tried for three days. */
export type PostedMail = MailContent & { readonly until?: Date };

/** Writes the rows of mails with what causes them. */
export type Writing<T> = (rows: readonly Row[]) => Promise<T>;

/** Returns the rows of mails, for the transaction that writes them. The platform is marked before. */
export function mailRows(
  { clock, stores }: Pick<MailDeps, "clock" | "stores">,
  platformId: string,
  mails: readonly PostedMail[],
): readonly Row[] {
  const now = clock.now();
  const end = new Date(now.getTime() + TRIED_MS);
  return mails.map(({ until = end, ...content }) =>
    stores.mails.rowOf(platformId, content, { now, until }),
  );
}

/**
 * Calls `write` with the rows of mails, which it stores in the transaction of the change that causes them, and has them
 * sent. A crash before the transaction leaves no mail. After a crash behind it, the walk finds the mails. When sending
 * mail is off, there are no rows.
 */
export async function writeWithMails<T>(
  deps: MailDeps,
  platformId: string,
  mails: readonly PostedMail[],
  write: Writing<T>,
): Promise<T> {
  if (!isMailOn(deps.config) || mails.length === 0) return await write([]);
  const rows = mailRows(deps, platformId, mails);
  await markMail(deps, platformId);
  const written = await write(rows);
  await deps.askForWalk(0);
  return written;
}

/** Stores the rows of mails that nothing else is written with. */
export function insertMails(
  { stores }: MailDeps,
  platformId: string,
  rows: readonly Row[],
): Promise<void> {
  return stores.mails.insert(platformId, rows);
}

/** Writes a mail on its own and has it sent. */
export async function postMail(
  deps: MailDeps,
  platformId: string,
  mail: PostedMail,
): Promise<void> {
  await writeWithMails(deps, platformId, [mail], (rows) => insertMails(deps, platformId, rows));
}
