import type { TakeStep } from "../runtime/walk-step.ts";
import { MARK_MS, sweepMarked } from "../wake/wake.ts";
import type { Log } from "../runtime/log.ts";
import type { MailDeps } from "./deps.ts";
import type { MailContent } from "./mail-content.ts";
import { FULL_PAGE, type StoredMail } from "./mail-store.ts";
import { markMail } from "./post-mail.ts";
import { renderMail } from "./render-mail.ts";
import { markIfNoticesWait, tellOwners } from "./tell-owners.ts";
import { SEND_MS_MAX } from "./transport.ts";

export const SEND_MAILS = "send-mails";

/** A mail whose sending was cut off may have been accepted. It is not sent again within a minute. */
const CUT_OFF_MS = 60_000;
const REFUSED_MS = 5_000;
const REFUSED_MS_MAX = 15 * 60_000;
/** A slow server must not delay the mails of other platforms. The next run sends the rest. */
const LOOK_MS_MAX = 20_000;
/** The timer finds later tries. */
const HINT_MS_MAX = 60_000;

const later = (now: Date, ms: number) => new Date(now.getTime() + ms);
const waitOf = (attempts: number) => Math.min(REFUSED_MS_MAX, REFUSED_MS * 2 ** (attempts - 1));

/**
 * Returns the content of a mail that still has to be sent. Undefined, and logged, when the mail can't be sent any more.
 */
function stillOf(log: Log, mail: StoredMail, now: Date): MailContent | undefined {
  const { content, id, attempts } = mail;
  if (content?.to === "") return undefined;
  if (content !== undefined && mail.until > now.toISOString()) return content;
  const reason = content === undefined ? "its data key is gone" : "it could not be sent in time";
  log.error(`mail given up: ${reason}`, { kind: content?.kind, mail: id, attempts });
  return undefined;
}

/**
 * Sends a mail. Returns when to try again, or undefined when the mail is done. The time of the next try is stored
 * first, so that a mail whose process dies is sent again after a minute at the earliest.
 */
async function sendMail(deps: MailDeps, mail: StoredMail): Promise<Date | undefined> {
  const { clock, log, transport, stores } = deps;
  const about = { kind: mail.content?.kind, mail: mail.id, attempts: mail.attempts };
  const now = clock.now();
  const content = stillOf(deps.log, mail, now);
  if (content === undefined) {
    await stores.mails.remove(mail);
    return undefined;
  }
  if (mail.notBefore > now.toISOString()) return new Date(mail.notBefore);
  if (transport.isDown()) return later(now, REFUSED_MS);
  const attempts = mail.attempts + 1;
  const whenCutOff = later(now, SEND_MS_MAX + CUT_OFF_MS);
  const etag = await stores.mails.postpone(mail, { notBefore: whenCutOff, attempts });
  if (etag === undefined) return whenCutOff;
  const outcome = await transport.send(renderMail(deps.config, mail, content));
  switch (outcome.kind) {
    case "accepted":
      log.info("mail sent", { ...about, attempts });
      await stores.mails.remove(mail);
      return undefined;
    case "refused":
      log.error("mail given up: the server refused it", { ...about, answer: outcome.answer });
      await stores.mails.remove(mail);
      return undefined;
    case "not_sent": {
      const notBefore = later(clock.now(), waitOf(attempts));
      log.warn("mail not sent, it is tried again", { ...about, answer: outcome.answer });
      await stores.mails.postpone({ ...mail, etag }, { notBefore, attempts });
      return notBefore;
    }
    case "unknown":
      log.warn("mail cut off, it is tried again", { ...about, answer: outcome.answer });
      return whenCutOff;
  }
}

/** Sends a platform's mails, and schedules another run while a mail is left. */
async function sendMailsOf(deps: MailDeps, platformId: string): Promise<void> {
  const { clock, stores } = deps;
  const found = await stores.mails.read(platformId);
  const hasMore = await tellOwners(deps, platformId, found.notices);
  let mails = hasMore ? await stores.mails.list(platformId) : found.mails;
  const next: number[] = [];
  const endsAt = performance.now() + LOOK_MS_MAX;
  const isLate = () => performance.now() > endsAt;
  for (;;) {
    for (const mail of mails) {
      const at = isLate() ? clock.now() : await sendMail(deps, mail);
      if (at !== undefined) next.push(at.getTime());
    }
    const last = mails.at(-1);
    // Mails that wait for another try don't delay the mails behind them.
    if (last === undefined || mails.length < FULL_PAGE || isLate()) break;
    mails = await stores.mails.listAfter(last);
  }
  if (next.length === 0) return;
  const now = clock.now();
  await markMail(deps, platformId);
  const waitMs = Math.min(...next) - now.getTime();
  if (waitMs < HINT_MS_MAX) await deps.askForWalk(Math.max(0, waitMs) / 1_000);
}

export function sendMails(deps: MailDeps): TakeStep {
  return sweepMarked(deps, {
    kind: "mail",
    what: SEND_MAILS,
    look: (platformId) => sendMailsOf(deps, platformId),
  });
}

/** Reports whether a platform was recently marked as having mail. */
export async function hasMail({ clock, wakes }: MailDeps): Promise<boolean> {
  const to = later(clock.now(), MARK_MS).toISOString();
  const { wakes: found } = await wakes.list("mail", { to }, undefined);
  return found.length > 0;
}

/** Marks a platform that has a mail but no mark. Returns whether it did. */
export async function markIfWaiting(deps: MailDeps, platformId: string): Promise<boolean> {
  const { mails, notices } = await deps.stores.mails.read(platformId, 2);
  if (mails.length === 0) return await markIfNoticesWait(deps, platformId, notices);
  await markMail(deps, platformId);
  return true;
}
