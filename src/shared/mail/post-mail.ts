import type { Row } from "../runtime/storage/row.ts";
import { MARK_MS, wakeOf } from "../wake/wake.ts";
import type { MailDeps } from "./deps.ts";
import type { MailContent } from "./mail-content.ts";

/** How long a mail is tried that has no earlier end. */
const TRIED_MS = 24 * 60 * 60_000;

export const isMailOn = ({ config }: Pick<MailDeps, "config">): boolean =>
  config.mail !== undefined;

/** Marks the platform as one that has a mail to be sent. A new mail's row is written after it. */
export function markMail({ clock, wakes }: MailDeps, platformId: string): Promise<void> {
  const now = clock.now();
  const at = new Date(now.getTime() + MARK_MS).toISOString();
  return wakes.add(wakeOf("mail", platformId, at), now);
}

/** A mail with its end; without one it is tried for a day. */
type PostedMail = MailContent & { readonly until?: Date };

/**
 * Calls `write` with the row of a mail, which it stores in the transaction of what causes the mail, and has the mail
 * sent. A crash before the transaction leaves no mail, and one after it a mail that the walk finds. Where no mail is sent
 * there is no row.
 */
export function writeWithMail<T>(
  deps: MailDeps,
  platformId: string,
  mail: PostedMail,
  write: (rows: readonly Row[]) => Promise<T>,
): Promise<T> {
  return writeWithMails(deps, platformId, [mail], write);
}

/** Does the same with the rows of several mails, which are stored together. */
export async function writeWithMails<T>(
  deps: MailDeps,
  platformId: string,
  mails: readonly PostedMail[],
  write: (rows: readonly Row[]) => Promise<T>,
): Promise<T> {
  if (!isMailOn(deps) || mails.length === 0) return await write([]);
  const now = deps.clock.now();
  const rows = mails.map(({ until, ...content }) => {
    const end = until ?? new Date(now.getTime() + TRIED_MS);
    return deps.stores.mails.rowOf(platformId, content, { now, until: end });
  });
  await markMail(deps, platformId);
  const written = await write(rows);
  await deps.askForWalk(0);
  return written;
}

/** Writes a mail that nothing else depends on, and has it sent. */
export async function postMail(
  deps: MailDeps,
  platformId: string,
  mail: PostedMail,
): Promise<void> {
  await writeWithMail(deps, platformId, mail, async ([row]) => {
    if (row !== undefined) await deps.stores.mails.insert(platformId, row);
  });
}
