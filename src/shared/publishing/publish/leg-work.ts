import { randomUUID } from "node:crypto";
import type { Connection } from "../../connections/connection.ts";
import { markIfRefused } from "../../connections/refused-account.ts";
import type {
  LegFailure,
  NetworkData,
  NetworkTools,
  Published,
  Rejected,
  TryLater,
} from "../../networks/contract/network.ts";
import { findAvailable } from "../../networks/lookup.ts";
import type { PublishingDeps } from "../deps.ts";
import type { NetworkAccount } from "../accounts/account-store.ts";
import { hintLegs } from "./hint-legs.ts";
import { accountOf, quotaFor } from "../accept/judge-accounts.ts";
import {
  type Leg,
  claimed,
  givenBack,
  movedTo,
  nextStep,
  putBack,
  renewed,
  toBeLookedUp,
} from "../leg.ts";
import { lastLookSeconds, nextLookSeconds, nextRetrySeconds } from "../leg-times.ts";
import type { LegReadings } from "./leg-readings.ts";
import type { Post } from "../post.ts";
import type { PostPlace, StoredLeg } from "../post-store.ts";
import type { Trace } from "./trace.ts";
import type { Turn } from "../accounts/turn-store.ts";
import { settleLeg } from "./settle-leg.ts";

/** One leg in the hands of one worker. `stored` follows every write; losing a race ends the work quietly. */
export interface Work {
  readonly services: PublishingDeps;
  readonly place: PostPlace;
  readonly post: Post;
  readonly tools: NetworkTools;
  readonly trace: Trace;
  stored: StoredLeg;
  /** As it was before this worker took it. */
  readonly before: Leg;
  /** Which of its files are being read. */
  readonly readings: LegReadings;
  /** The last write of the leg: each waits for the one before, whose version it has to name. */
  writing: Promise<unknown>;
  /** While the leg is the one that its account has in hand. */
  turn: Turn | null;
  /** Of an earlier call whose outcome is not known: until it is, a failure must not claim that nothing went out. */
  doubtSince: string | null;
}

/** Renewals within one lease: losing one of them loses nothing. */
const LEASE_RENEWALS = 3;

/** Earlier than this a hint is a stray one: the right one is still under way. */
const EARLY_SECONDS_MAX = 5;

/** When a leg comes again that found the line of its account full. */
const LINE_FULL_SECONDS = 60;
/** When a leg comes again that was claimed under another account than it goes out on. */
const MOVED_SECONDS = 1;

/** Writes the leg's next state; false when another worker took it meanwhile. */
export function save(work: Work, leg: Leg): Promise<boolean> {
  return change(work, () => leg);
}

/** Writes what becomes of the leg as it is when its turn to be written comes. */
async function change(work: Work, next: (leg: Leg) => Leg): Promise<boolean> {
  const write = async (): Promise<boolean> => {
    const { services, place, stored, readings } = work;
    const leg = { ...next(stored.leg), readings: readings.current };
    const written = await services.posts.replaceLegIfUnchanged(place, leg, stored.etag);
    if (written === undefined) return false;
    work.stored = written;
    readings.noteStored(leg.readings);
    return true;
  };
  const writing = work.writing.then(write, write);
  work.writing = writing;
  return writing;
}

/**
 * Keeps the leg ours while something takes longer than a lease, as large uploads do. When the lease is lost all the
 * same, the next write of this worker finds it out.
 */
export async function holdingLease<T>(work: Work, run: () => Promise<T>): Promise<T> {
  const { services } = work;
  const { leaseSeconds } = services.config.publishing;
  let renewing: Promise<unknown> = Promise.resolve();
  const renew = async (): Promise<void> => {
    const now = services.clock.now();
    try {
      const isOurs = await change(work, (leg) => renewed(leg, now, leaseSeconds));
      const { leaseUntil } = work.stored.leg;
      if (isOurs && work.turn !== null && leaseUntil !== null)
        await services.turns.extend(work.turn, leaseUntil);
    } catch (error) {
      services.log.warn("lease not renewed", { postId: work.place.postId, error });
    }
  };
  const timer = setInterval(
    () => {
      renewing = renewing.then(renew);
    },
    (leaseSeconds * 1000) / LEASE_RENEWALS,
  );
  try {
    return await run();
  } finally {
    clearInterval(timer);
    await renewing;
  }
}

/** A hint that came a moment early, by a clock that runs behind, is sent again for the rest. */
async function hintAgain({ services, place, stored }: Work, at: string, now: Date): Promise<void> {
  const seconds = (Date.parse(at) - now.getTime()) / 1000;
  if (seconds <= EARLY_SECONDS_MAX)
    await services.publishQueue.hint(place, [stored.leg.network], seconds);
}

/** Whether the leg has something to do now. */
export async function isDue(work: Work): Promise<boolean> {
  const { services, stored } = work;
  const now = services.clock.now();
  const step = nextStep(stored.leg, now);
  if (step.kind === "later" && step.at === stored.leg.notBefore)
    await hintAgain(work, step.at, now);
  return step.kind === "claim";
}

const begun = ({ services, stored: { leg } }: Work, now: Date) =>
  findAvailable(leg.network, services.config.networkApps)?.begin({ key: leg.key, now }) ?? null;

/**
 * Takes the leg for this worker; false when another one was first. What its network chooses once, such as a key of the
 * post, is chosen here, so that it outlives the worker.
 */
export async function claim(work: Work): Promise<boolean> {
  const { services, stored } = work;
  const now = services.clock.now();
  const afterCrash = stored.leg.leaseUntil !== null;
  const { leaseSeconds } = services.config.publishing;
  const taken = claimed(stored.leg, { id: randomUUID(), now, leaseSeconds, afterCrash });
  const leg = { ...taken, remote: taken.remote ?? begun(work, now) };
  if (!(await save(work, leg))) return false;
  work.readings.open({
    save: () => change(work, (taken) => taken),
    warn: (error) => services.log.warn("reading not noted", { postId: work.place.postId, error }),
  });
  work.trace.record({ step: "leg_claimed", outcome: afterCrash ? "after_crash" : "ok" });
  const { network, attempts } = leg;
  services.log.info("leg claimed", { network, attempt: attempts, phase: leg.phase, afterCrash });
  return true;
}

/**
 * Gives the leg back until later and hints; the sweeper stands in for a lost hint. `failure`: what it met, where it does
 * not just wait for its turn or its media.
 */
export async function park(work: Work, leg: Leg, failure?: LegFailure): Promise<void> {
  const { services, place } = work;
  if (!(await save(work, leg)) || leg.notBefore === null) return;
  const { network, phase, retries, notBefore } = leg;
  work.trace.record({ step: "leg_waiting", outcome: phase, note: `until ${notBefore}` });
  const { code: reason, networkCode = null } = failure ?? {};
  const until = { phase, retries, until: notBefore };
  if (reason === undefined) services.log.info("leg waits", { network, ...until });
  else {
    services.metrics.count("legs.delayed", { network, reason });
    services.log.info("leg delayed", { network, ...until, reason, networkCode });
  }
  const seconds = (Date.parse(leg.notBefore) - services.clock.now().getTime()) / 1000;
  await hintLegs(services, place, [leg.network], seconds);
}

/**
 * Whether the leg is the one that its account has in hand now. Else it stands in line, claimed by nobody, and is hinted
 * when its turn has come.
 */
export async function takeTurn(work: Work, account: NetworkAccount): Promise<boolean> {
  const { services, place, stored } = work;
  const { key: legKey, network } = stored.leg;
  const { platformId, profileId, postId } = place;
  const now = services.clock.now();
  const { leaseSeconds } = services.config.publishing;
  const until = new Date(now.getTime() + leaseSeconds * 1000).toISOString();
  const leg = { legKey, place: { platformId, profileId, postId } };
  const taking = await services.turns.take(account, leg, { now, until });
  if (taking === "line_full") await hintLegs(services, place, [network], LINE_FULL_SECONDS);
  if (typeof taking === "string") return false;
  work.turn = taking;
  return true;
}

/** Calls the next in line. Best effort: a turn that is not given back ends with its lease. */
export async function releaseTurn(work: Work): Promise<void> {
  const { services, place, turn } = work;
  if (turn === null) return;
  work.turn = null;
  try {
    const next = await services.turns.release(turn, services.clock.now());
    if (next !== undefined) await hintLegs(services, next.place, [turn.account.network]);
  } catch (error) {
    services.log.warn("an account was not released", { postId: place.postId, error });
  }
}

/**
 * The leg goes out on the account that is linked now, and says so. What was prepared for another account is of no use,
 * and what may have been sent there can't be looked up any more. False when the leg ended or waits.
 */
export async function followAccount(work: Work, linked: Connection): Promise<boolean> {
  const account = accountOf(linked);
  if (work.turn?.account.accountId === account.accountId) return true;
  const { leg } = work.stored;
  if (leg.sentAt !== null && !leg.resend) {
    await fail(work, outcomeUnknown({ code: "outcome_unknown", networkCode: "account_replaced" }));
    return false;
  }
  const moved = movedTo(leg, linked, begun(work, work.services.clock.now()));
  if (!(await save(work, moved))) return false;
  await releaseTurn(work);
  if (await takeTurn(work, account)) return true;
  await park(work, givenBack(work.before, moved, work.services.clock.now(), MOVED_SECONDS));
  return false;
}

/** Before the leg ends, so that a crash in between claims anew instead of losing a slot. */
async function returnQuota({ services, post, stored }: Work): Promise<void> {
  const { network, account, key } = stored.leg;
  const quota = quotaFor(services, post.draft, network);
  if (quota === undefined || account === null) return;
  const real = { network, accountId: account.id };
  await services.networkAccounts.returnQuota(real, quota.kind, key);
}

export async function fail(work: Work, failure: LegFailure): Promise<void> {
  const { services, place, post, stored } = work;
  services.unmappedSignals.record(stored.leg.network, failure);
  const known = work.doubtSince === null ? failure : outcomeUnknown(failure);
  const end = { kind: "failed", failure: known } as const;
  const at = services.clock.now().toISOString();
  if (known.code !== "outcome_unknown") await returnQuota(work);
  await settleLeg(services, { place, post, leg: stored.leg, end });
  work.readings.leave();
  const { networkCode, note = null } = failure;
  work.trace.record({ step: "leg_settled", at, outcome: known.code, networkCode, note });
}

export async function succeed(work: Work, published: Published): Promise<void> {
  const { services, place, post, stored } = work;
  const end = { kind: "published", published } as const;
  const at = services.clock.now().toISOString();
  await settleLeg(services, { place, post, leg: stored.leg, end });
  work.readings.leave();
  work.trace.record({ step: "leg_settled", at, outcome: "succeeded", note: published.url });
}

/** Certainly not published: again by the schedule, or failed when it is used up. What was `prepared` is kept. */
export async function tryLater(
  work: Work,
  { failure, retryAfterSeconds }: TryLater,
  prepared: NetworkData | null = null,
): Promise<void> {
  const { services, stored } = work;
  const seconds = nextRetrySeconds(
    services.config.publishing.retrySeconds,
    stored.leg.retries,
    Math.random(),
    retryAfterSeconds,
  );
  if (seconds === null) return failOrLook(work, failure);
  const back = putBack(stored.leg, services.clock.now(), seconds, work.doubtSince);
  await park(work, { ...back, remote: prepared ?? back.remote }, failure);
}

/** The schedule is used up. What may still show of an earlier call is looked up before the outcome is told. */
export async function failOrLook(work: Work, failure: LegFailure): Promise<void> {
  const { services, stored, doubtSince } = work;
  const now = services.clock.now();
  const seconds = doubtSince === null ? null : lastLookSeconds(stored.leg, now);
  if (seconds === null) return fail(work, failure);
  const doubted = { ...stored.leg, sentAt: doubtSince };
  await park(work, toBeLookedUp(doubted, null, now, seconds), failure);
}

export async function reject(
  work: Work,
  connection: Connection,
  { failure }: Rejected,
): Promise<void> {
  await markIfRefused(work.services, connection, failure);
  await fail(work, failure);
}

export function outcomeUnknown({ networkCode }: LegFailure): LegFailure {
  return { code: "outcome_unknown", networkCode };
}

/** An outcome that can't be told yet: looked up again by the schedule, at last reported as unknown. */
export async function lookAgain(
  work: Work,
  failure: LegFailure,
  pollAfterSeconds?: number,
  remote: NetworkData | null = null,
): Promise<void> {
  const { services, stored } = work;
  const { retrySeconds } = services.config.publishing;
  const { leg } = stored;
  const now = services.clock.now();
  const seconds =
    nextLookSeconds(retrySeconds, leg.retries, Math.random(), pollAfterSeconds) ??
    lastLookSeconds(leg, now);
  if (seconds === null) return fail(work, outcomeUnknown(failure));
  await park(work, toBeLookedUp(leg, remote, now, seconds), failure);
}
