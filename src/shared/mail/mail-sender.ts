import { later } from "../runtime/process.ts";
import type { Config } from "../config/config.ts";
import { FairLimit } from "../runtime/fair-limit.ts";
import { releaseOrRetry } from "../runtime/release.ts";
import type { Log } from "../runtime/log.ts";
import type { Clock, Stop } from "../runtime/process.ts";
import { withTimeLimit } from "../runtime/promises.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";
import { LOST, retryLostRaces } from "../runtime/retry-lost-races.ts";
import type { MailContent } from "./mail-content.ts";
import type { MailServerState, MailServerStore, StoredMailServer } from "./mail-server-store.ts";
import type { MailStore, StoredMail } from "./mail-store.ts";
import { meaningOf } from "./refusals.ts";
import { renderMail } from "./render-mail.ts";
import { STEPS, type MailFailure, type SendOutcome, type Transport } from "./transport.ts";

/**
 * Connections of one process to the mail server, most of one platform among them. Providers close what is above some
 * dozens (Amazon SES, Azure Communication Services), so that eight instances stay below it.
 */
const CONNECTIONS_MAX = 16;
const PER_PLATFORM = 8;
const WAITING_MAX = 2_000;
/** How long a mail belongs to the process that sends it, unless that process prolongs the time. */
const LEASE_MS = 2 * 60_000;
const PROLONG_MS = LEASE_MS / 2;
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 15 * 60_000;
/** The timer finds later tries. */
const HINT_MS_MAX = 60_000;
/** When a mail is sent again whose acceptance was cut off: each time later, and five times at most. */
const CUT_OFF_MS = [1.5, 5, 15, 45, 180].map((minutes) => minutes * 60_000);

const waitOf = (attempts: number) =>
  Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.max(0, attempts - 1));
const mailKeyOf = ({ platformId, rowKey }: StoredMail) => `${platformId}|${rowKey}`;

/** A mail that was handed to the server: how it was before, the counts of its claimed row, and that row's version. */
interface MailAttempt {
  readonly mail: StoredMail;
  readonly attempts: number;
  readonly cutOffs: number;
  /** Undefined when another process has the mail by now. */
  readonly etag: string | undefined;
  readonly began: Date;
  readonly isProbe: boolean;
}

/** Why a mail was given up. */
type GiveUpReason = "refused" | "expired" | "unreadable" | "cut_off";

interface SenderParts {
  readonly config: Pick<Config, "service" | "mail">;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly stop: Stop;
  readonly transport: Transport;
  readonly mails: MailStore;
  readonly server: MailServerStore;
  readonly askForWalk: (delaySeconds: number) => Promise<void>;
  /** How long a run of the walk waits for a mail. Longer ones are sent after it has ended. */
  readonly watchedMs: number;
}

/**
 * Sends mails, a limited number at a time. A connection may outlive the run of the walk that began it: mail servers take
 * up to ten minutes for their last answer, and a run lasts seconds. The mail's row says that a process has it, and until
 * when. A process that dies leaves it to the next one after that time.
 */
export class MailSender {
  readonly #parts: SenderParts;
  readonly #slots: FairLimit;
  readonly #open = new Map<string, Promise<Date | undefined>>();
  /** What this process last read or wrote of the mail server. */
  #known: StoredMailServer | undefined;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#slots = new FairLimit({
      capacity: CONNECTIONS_MAX,
      perOwner: PER_PLATFORM,
      waitingMax: WAITING_MAX,
      waitMsMax: parts.watchedMs,
    });
  }

  /** Reads how the mail server has answered all instances. */
  async readServer(): Promise<MailServerState> {
    this.#known = await this.#parts.server.read();
    return this.#known.state;
  }

  /** Reports whether this process knows that the server refuses every mail. */
  get isFailing(): boolean {
    return this.#known !== undefined && this.#known.state.failingSince !== null;
  }

  /** Reports whether the mail may be sent now, by its own row. */
  isDue({ notBefore, heldAt }: StoredMail): boolean {
    if (notBefore <= this.#parts.clock.now().toISOString()) return true;
    if (heldAt === null || this.#known === undefined) return false;
    const { failingSince, recoveredAt } = this.#known.state;
    return failingSince !== null || (recoveredAt !== null && heldAt < recoveredAt);
  }

  /**
   * Sends a mail, or gives it up when it can't be sent any more. Returns when to check it again, or undefined when it is
   * done. It returns after some seconds even if the mail is still being sent.
   */
  send(mail: StoredMail): Promise<Date | undefined> {
    return this.#watched(mail, () => this.#sendIfAllowed(mail));
  }

  /** Sends one mail to a server that refuses every mail, unless another process does. */
  probe(mail: StoredMail): Promise<Date | undefined> {
    return this.#watched(mail, async () => {
      const { clock, server } = this.#parts;
      const before = this.#known;
      const content = this.#still(mail);
      if (before === undefined || content === undefined) return clock.now();
      const probes = before.state.probes + 1;
      const change = { probeAt: later(clock.now(), waitOf(probes)).toISOString(), probes };
      const claimed = await server.write(before, { ...change, lastMail: mail.id });
      if (claimed === undefined) return clock.now();
      this.#known = claimed;
      return await this.#attempt(mail, content, true);
    });
  }

  #watched(mail: StoredMail, work: () => Promise<Date | undefined>): Promise<Date | undefined> {
    const { clock, log, watchedMs } = this.#parts;
    const key = mailKeyOf(mail);
    let sending = this.#open.get(key);
    if (sending === undefined) {
      sending = work().finally(() => void this.#open.delete(key));
      this.#open.set(key, sending);
      // The walk may have ended by then.
      sending.catch((error: unknown) => log.error("mail not handled", { mail: mail.id, error }));
    }
    return withTimeLimit(watchedMs, sending, () => later(clock.now(), LEASE_MS));
  }

  /** Returns the content of a mail that can still be sent. */
  #still({ content, until }: StoredMail): MailContent | undefined {
    const isLate = until <= this.#parts.clock.now().toISOString();
    return isLate || content?.to === "" ? undefined : content;
  }

  async #sendIfAllowed(mail: StoredMail): Promise<Date | undefined> {
    const { clock, mails } = this.#parts;
    if (this.#known === undefined) await this.readServer();
    if (!this.isDue(mail)) return new Date(mail.notBefore);
    // It was written so that known and unknown addresses cost the same.
    if (mail.content?.to === "") {
      await mails.remove(mail);
      return undefined;
    }
    const content = this.#still(mail);
    if (content === undefined)
      return await this.#giveUp(mail, mail.content === undefined ? "unreadable" : "expired");
    if (this.isFailing) return clock.now();
    const sent = await this.#slots.run(mail.platformId, 1, () =>
      this.#attempt(mail, content, false),
    );
    return sent === undefined ? clock.now() : sent.result;
  }

  async #giveUp(mail: StoredMail, reason: GiveUpReason, failure?: MailFailure): Promise<undefined> {
    const { log, metrics, mails } = this.#parts;
    const about = { kind: mail.content?.kind, mail: mail.id, attempts: mail.attempts };
    log.error("mail given up", { ...about, reason, ...failure });
    metrics.count("mails.ended", { outcome: reason });
    await mails.remove(mail);
    return undefined;
  }

  /**
   * Hands a mail to the server. The row is claimed first, as if its acceptance were to be cut off, so that a mail whose
   * process dies is sent again after some time, and five times at most.
   */
  async #attempt(
    mail: StoredMail,
    content: MailContent,
    isProbe: boolean,
  ): Promise<Date | undefined> {
    const { clock, config, mails, stop, transport } = this.#parts;
    const began = clock.now();
    // Both may have changed while it waited for a connection.
    if (stop.endsAt !== undefined || (this.isFailing && !isProbe)) return began;
    const counts = { attempts: mail.attempts + 1, cutOffs: mail.cutOffs + 1 };
    const leaseMs = CUT_OFF_MS[mail.cutOffs];
    if (leaseMs === undefined && mail.cutOffs > CUT_OFF_MS.length)
      return await this.#giveUp(mail, "cut_off");
    const claim = () => ({
      ...counts,
      heldAt: null,
      notBefore: later(clock.now(), Math.max(LEASE_MS, leaseMs ?? 0)),
    });
    let etag = await mails.postpone(mail, claim());
    if (etag === undefined) return later(began, LEASE_MS);
    let prolonging = Promise.resolve();
    const prolong = async () => {
      if (etag !== undefined) etag = await mails.postpone({ ...mail, etag }, claim());
    };
    const timer = setInterval(() => {
      // After a failed write, the next one or the end of the lease decides.
      prolonging = prolonging.then(prolong).catch(() => undefined);
    }, PROLONG_MS);
    const aborted = new AbortController();
    const forget = stop.before(() => {
      aborted.abort();
      return Promise.resolve();
    });
    let outcome: SendOutcome;
    try {
      outcome = await transport.send(renderMail(config, mail, content), aborted.signal);
    } finally {
      clearInterval(timer);
      forget();
      await prolonging;
    }
    const attempt: MailAttempt = { mail, ...counts, etag, began, isProbe };
    const isStopped = aborted.signal.aborted && outcome.kind === "failed";
    return isStopped
      ? await this.#wait(attempt, clock.now(), mail)
      : await this.#recordOutcome(attempt, outcome);
  }

  /** Writes when a mail is tried again, and with which counts. */
  async #wait(
    { mail, etag }: MailAttempt,
    notBefore: Date,
    { attempts, cutOffs, heldAt }: Pick<StoredMail, "attempts" | "cutOffs" | "heldAt">,
  ): Promise<Date> {
    const { clock, mails } = this.#parts;
    // Another process has the mail by now: this one was suspended for longer than the lease lasts.
    if (etag === undefined) return later(clock.now(), LEASE_MS);
    await mails.postpone({ ...mail, etag }, { notBefore, attempts, cutOffs, heldAt });
    return notBefore;
  }

  async #recordOutcome(attempt: MailAttempt, outcome: SendOutcome): Promise<Date | undefined> {
    const { clock, log, metrics, mails } = this.#parts;
    const { mail, attempts, cutOffs } = attempt;
    const about = { kind: mail.content?.kind, mail: mail.id, attempts };
    if (outcome.kind === "accepted") {
      log.info("mail sent", about);
      metrics.count("mails.ended", { outcome: "sent" });
      const given = { log, what: "a mail that was sent", fields: about };
      await releaseOrRetry(given, () => mails.remove(mail));
      await this.#recover(attempt);
      return undefined;
    }
    const { failure } = outcome;
    const now = clock.now();
    if (outcome.kind === "unknown") {
      metrics.count("mails.failed", { step: failure.step, meaning: "unknown" });
      await this.#suspect(attempt, failure);
      const waitMs = CUT_OFF_MS[cutOffs - 1];
      if (waitMs === undefined) return await this.#giveUp(mail, "cut_off", failure);
      log.warn("mail cut off, it is tried again", { ...about, ...failure });
      return await this.#wait(attempt, later(now, waitMs), { attempts, cutOffs, heldAt: null });
    }
    const meaning = meaningOf(failure);
    metrics.count("mails.failed", { step: failure.step, meaning });
    if (meaning === "mail") {
      await this.#pass(attempt, failure);
      return await this.#giveUp(mail, "refused", failure);
    }
    log.warn("mail not sent, it is tried again", { ...about, ...failure, meaning });
    // It waits for the server, not for a time of its own.
    if (meaning === "all") {
      const next = await this.#wait(attempt, now, mail);
      await this.#fail(attempt, failure);
      return next;
    }
    const heldAt = meaning === "unclear" ? now.toISOString() : null;
    const counts = { attempts, cutOffs: mail.cutOffs, heldAt };
    const next = await this.#wait(attempt, later(now, waitOf(attempts)), counts);
    if (meaning === "unclear") await this.#suspect(attempt, failure);
    else await this.#pass(attempt, failure);
    return next;
  }

  /** Changes what all instances know of the server. `change` returns nothing where there is nothing to write. */
  #changeServer(
    change: (state: MailServerState) => Partial<MailServerState> | undefined,
  ): Promise<void> {
    const { server } = this.#parts;
    return retryLostRaces(async (attempts) => {
      if (attempts > 1 || this.#known === undefined) await this.readServer();
      const before = this.#known;
      if (before === undefined) return LOST;
      const changed = change(before.state);
      if (changed === undefined) return undefined;
      const written = await server.write(before, changed);
      if (written === undefined) return LOST;
      this.#known = written;
      return undefined;
    });
  }

  /** Notes that the server refuses every mail. From then on one mail is tried now and then, and all others wait. */
  async #fail(
    { mail: { id }, isProbe }: MailAttempt,
    { step, answer }: MailFailure,
  ): Promise<void> {
    const { clock, log, askForWalk } = this.#parts;
    let waitMs: number | undefined;
    await this.#changeServer((state) => {
      waitMs = undefined;
      // What was under way when the server began to refuse doesn't prolong the pause.
      if (state.failingSince !== null && !isProbe) return undefined;
      const now = clock.now();
      const probes = Math.max(1, state.probes);
      waitMs = waitOf(probes);
      const failingSince = state.failingSince ?? now.toISOString();
      const probeAt = later(now, waitMs).toISOString();
      return { failingSince, probes, probeAt, lastMail: id, step, answer };
    });
    if (waitMs === undefined) return;
    log.warn("no mail is sent for now", { step, answer, waitMs });
    if (waitMs < HINT_MS_MAX) await askForWalk(waitMs / 1_000);
  }

  /** Notes a failure that may be about this mail or about all. When two mails in a row have met one, it is about all. */
  async #suspect(attempt: MailAttempt, failure: MailFailure): Promise<void> {
    const { mail } = attempt;
    let isFailing = false;
    await this.#changeServer(({ failingSince, lastMail }) => {
      isFailing = failingSince !== null || (lastMail !== null && lastMail !== mail.id);
      if (isFailing || lastMail === mail.id) return undefined;
      return { lastMail: mail.id, step: failure.step, answer: failure.answer };
    });
    if (isFailing) await this.#fail(attempt, failure);
  }

  /** Notes that the server has accepted a mail, so that all that wait are sent. */
  async #recover({ began, isProbe }: MailAttempt): Promise<void> {
    const { clock, log, askForWalk } = this.#parts;
    let failedSince: string | null = null;
    await this.#changeServer(({ failingSince, lastMail }) => {
      failedSince = null;
      if (failingSince === null) return lastMail === null ? undefined : { lastMail: null };
      // It was under way when the server began to refuse.
      if (!isProbe && began.toISOString() <= failingSince) return undefined;
      failedSince = failingSince;
      const none = { failingSince: null, probeAt: null, probes: 0, lastMail: null };
      return { ...none, step: null, answer: null, recoveredAt: clock.now().toISOString() };
    });
    if (failedSince === null) return;
    log.info("mails are sent again", { failedSince });
    await askForWalk(0);
  }

  /** Notes that the server refused a mail for its own sake. If it went further than before, that is a recovery. */
  async #pass(attempt: MailAttempt, { step }: MailFailure): Promise<void> {
    if (!attempt.isProbe) return;
    const failedAt = STEPS.findIndex((one) => one === this.#known?.state.step);
    if (STEPS.indexOf(step) > failedAt) return await this.#recover(attempt);
    const probeAt = this.#parts.clock.now().toISOString();
    await this.#changeServer(({ failingSince }) =>
      failingSince === null ? undefined : { probeAt },
    );
    await this.#parts.askForWalk(0);
  }
}
