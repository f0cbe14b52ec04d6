import type { MailDeps } from "./deps.ts";
import { NOTICES, type Notice } from "./notice.ts";

/** Whether each notice is on. */
export type NoticeSettings = Readonly<Record<Notice, boolean>>;

// Safe: the names are those of the notices.
const settingsOf = (off: readonly Notice[]) =>
  Object.fromEntries(NOTICES.map((notice) => [notice, !off.includes(notice)])) as NoticeSettings;

/** Reads which notices a platform's owners get. */
export async function readNotices({ stores }: MailDeps, platformId: string) {
  return settingsOf((await stores.notices.find(platformId)).off);
}

/** Switches notices on or off. Those that are not named stay. */
export async function switchNotices(
  { stores }: MailDeps,
  platformId: string,
  change: Readonly<Partial<Record<Notice, boolean | undefined>>>,
): Promise<NoticeSettings> {
  const off = await stores.notices.switchOff(platformId, (before) =>
    NOTICES.filter((notice) => !(change[notice] ?? !before.includes(notice))),
  );
  return settingsOf(off);
}
