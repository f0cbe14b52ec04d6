import type { MailDeps } from "./deps.ts";
import { NOTICES, type OwnerNotice } from "./notice.ts";

export type NoticeSettings = Readonly<Record<OwnerNotice, boolean>>;

// Safe: the names are those of the notices.
const settingsOf = (off: readonly OwnerNotice[]) =>
  Object.fromEntries(NOTICES.map((notice) => [notice, !off.includes(notice)])) as NoticeSettings;

export async function readNotices({ stores }: MailDeps, platformId: string) {
  return settingsOf((await stores.notices.find(platformId)).off);
}

/** Switches notices on or off. Notices that aren't named stay unchanged. */
export async function switchNotices(
  { stores }: MailDeps,
  platformId: string,
  change: Readonly<Partial<Record<OwnerNotice, boolean | undefined>>>,
): Promise<NoticeSettings> {
  const off = await stores.notices.switchOff(platformId, (before) =>
    NOTICES.filter((notice) => !(change[notice] ?? !before.includes(notice))),
  );
  return settingsOf(off);
}
