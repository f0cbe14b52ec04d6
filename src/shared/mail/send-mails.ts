import { later } from "../runtime/process.ts";
import type { TakeStep } from "../runtime/walk-step.ts";
import { MARK_MS, sweepMarked } from "../wake/wake.ts";
import type { MailDeps } from "./deps.ts";
import { FULL_PAGE, type StoredMail } from "./mail-store.ts";
import { markMail } from "./post-mail.ts";
import { markIfNoticesWait, tellOwners } from "./tell-owners.ts";

export const SEND_MAILS = "send-mails";

/** A platform with many mails must not keep the run from ending. The next run sends the rest. */
const LOOK_MS_MAX = 10_000;
/** The timer finds later tries. */
const HINT_MS_MAX = 60_000;
/** The line that calls somebody is written when the server has refused every mail for this long. */
const FAILING_MS_MAX = 5 * 60_000;

/** Sends a platform's mails, and schedules another run while a mail is left. */
async function sendMailsOf(deps: MailDeps, platformId: string): Promise<void> {
  const { clock, sender, stores } = deps;
  const found = await stores.mails.read(platformId);
  const hasMore = await tellOwners(deps, platformId, found.notices);
  let mails = hasMore ? await stores.mails.list(platformId) : found.mails;
  const next: number[] = [];
  const endsAt = performance.now() + LOOK_MS_MAX;
  for (;;) {
    // In parallel: one that takes long delays none of the others.
    const times = await Promise.all(mails.map((mail) => sender.send(mail)));
    next.push(...times.flatMap((at) => (at === undefined ? [] : [at.getTime()])));
    const last = mails.at(-1);
    if (last === undefined || mails.length < FULL_PAGE) break;
    if (performance.now() > endsAt) {
      next.push(clock.now().getTime());
      break;
    }
    // Mails that wait for another try don't delay the mails behind them.
    mails = await stores.mails.listAfter(last);
  }
  if (next.length === 0) return;
  await markMail(deps, platformId);
  // What waits for the server is sent when one mail has come through.
  if (sender.isFailing) return;
  const waitMs = Math.min(...next) - clock.now().getTime();
  if (waitMs < HINT_MS_MAX) await deps.askForWalk(Math.max(0, waitMs) / 1_000);
}

/** Finds a mail that may be tried with a server that refuses every mail: if possible, another one than the last time. */
async function findProbe(
  { clock, sender, stores, wakes }: MailDeps,
  lastMail: string | null,
  isTimeUp: () => boolean,
): Promise<StoredMail | undefined> {
  const now = clock.now().toISOString();
  const to = later(clock.now(), MARK_MS).toISOString();
  const seen = new Set<string>();
  let second: StoredMail | undefined;
  let page: string | undefined;
  do {
    const listed = await wakes.list("mail", { to }, page);
    for (const { id: platformId } of listed.wakes) {
      if (seen.has(platformId)) continue;
      seen.add(platformId);
      for (const mail of await stores.mails.list(platformId)) {
        const isWaiting = mail.content !== undefined && mail.content.to !== "" && mail.until > now;
        if (!isWaiting || !sender.isDue(mail)) continue;
        if (mail.id !== lastMail) return mail;
        second = mail;
      }
      if (isTimeUp()) return second;
    }
    page = listed.next;
  } while (page !== undefined);
  return second;
}

/** Tries one mail when it is time. Returns whether the mails of all platforms may be visited now. */
async function mayVisit(deps: MailDeps, isTimeUp: () => boolean): Promise<boolean> {
  const { clock, log, sender } = deps;
  const { failingSince, probeAt, lastMail, step, answer } = await sender.readServer();
  if (failingSince === null) return true;
  const now = clock.now();
  const failingMs = now.getTime() - Date.parse(failingSince);
  deps.metrics.observe("mails.failing_s", Math.round(failingMs / 1_000), {});
  if (failingMs > FAILING_MS_MAX)
    log.error("the mail server refuses every mail", { failingSince, step, answer });
  if (probeAt !== null && probeAt > now.toISOString()) return false;
  const mail = await findProbe(deps, lastMail, isTimeUp);
  // Without a mail that could be tried, the visits clear what has expired.
  if (mail === undefined) return true;
  await sender.probe(mail);
  return !sender.isFailing;
}

/**
 * Makes the steps that send the mails of all platforms. While the server refuses every mail, a step tries one mail now
 * and then, and visits no platform.
 */
export function sendMails(deps: MailDeps): TakeStep {
  const visit = sweepMarked(deps, {
    kind: "mail",
    what: SEND_MAILS,
    look: (platformId) => sendMailsOf(deps, platformId),
  });
  return async (at) =>
    (await mayVisit(deps, () => at.isTimeUp())) ? await visit(at) : { next: undefined };
}

/** Reports whether a platform was recently marked as having mail. */
export async function hasMail({ clock, wakes }: MailDeps): Promise<boolean> {
  const to = later(clock.now(), MARK_MS).toISOString();
  const { wakes: found } = await wakes.list("mail", { to }, undefined);
  return found.length > 0;
}

/** Reports whether the mail server refuses every mail, as far as any instance knows. */
export async function isMailFailing({ sender }: MailDeps): Promise<boolean> {
  return (await sender.readServer()).failingSince !== null;
}

/** Marks a platform that has a mail but no mark. Returns whether it did. */
export async function markIfWaiting(deps: MailDeps, platformId: string): Promise<boolean> {
  const { mails, notices } = await deps.stores.mails.read(platformId, 2);
  if (mails.length === 0) return await markIfNoticesWait(deps, platformId, notices);
  await markMail(deps, platformId);
  return true;
}
