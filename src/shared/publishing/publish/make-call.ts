import { blamed, freshCredentials, openConnection } from "../../connections/connections.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import type { LegFailure, Outcome } from "../../networks/contract/outcome.ts";
import { isStorable, TOO_LARGE } from "../../networks/contract/bounded.ts";
import { findAvailable } from "../../networks/networks.ts";
import {
  absentCall,
  type CallRefusal,
  CRASHES_MAX,
  refusedCall,
  sentCall,
  unsentCall,
} from "../call.ts";
import { lastLookSeconds } from "../leg-times.ts";
import { callOf, isBeingRemoved, withCall } from "../leg.ts";
import { CALL_TRAITS } from "./call-traits.ts";
import { CLAIM_LOST, failed, goOn, ownFailure, endRefused, tryLater } from "./call-work.ts";
import {
  type CallWork,
  type LegWork,
  type Step,
  waitFor,
  withCallOf,
  withRemote,
} from "./call-work.ts";
import { timeSuffices, type LegRun } from "./leg-run.ts";
import { returnUnusedQuota } from "./prepare.ts";
import { afterRefusal, shownInSeconds } from "./refusal.ts";

/*
 * Makes the call of a claimed leg, as far as possible now: attach the account, find out what became of an earlier call,
 * prepare, record, perform, and check a refusal. Each phase returns more work or what is to be written, and only `applyStep`
 * writes it. `call-traits.ts` has what differs between the kinds of calls.
 */

type RefusalOutcome = Extract<Outcome, { kind: CallRefusal["kind"] }>;

/** Attaches the account that is linked now, with credentials that stay valid for a while. */
async function attach(work: CallWork): Promise<Step> {
  const { run, traits } = work;
  const { connections } = run.deps;
  const { network } = work.leg;
  const opened = await openConnection(connections, { ...run.ref, network });
  if (opened === undefined || opened.connection.status === "revoked")
    return failed(work, {
      ...ownFailure("connection_missing"),
      rule: `${network}.connection.missing`,
    });
  if (opened.connection.status === "needs_reauth")
    return failed(work, {
      ...ownFailure("connection_needs_reauth"),
      rule: `${network}.connection.needsReauth`,
    });
  const step = await traits.attach(work, opened.connection);
  if (step.kind !== "continue") return step;
  const fresh = await freshCredentials(connections, opened.connection, opened);
  switch (fresh.kind) {
    case "usable":
      return goOn({ ...step.work, account: fresh });
    case "rejected":
      return failed(step.work, await blamed(connections, opened.connection, fresh.failure));
    case "try_later": {
      const waitsFor = callOf(step.work.leg).sentAt === null ? "attempt" : "look";
      const { failure, retryAfterSeconds: seconds } = fresh;
      return waitFor(step.work, { kind: "wait", waitsFor, failure, seconds });
    }
  }
}

/** Returns for how long the outcome of the call under way has been unknown. */
function unknownMs({ run, leg }: LegWork): number {
  return run.deps.clock.now().getTime() - Date.parse(callOf(leg).sentAt ?? "");
}

/** Finds out what became of an earlier call of unknown outcome. The call is never made again without that. */
async function lookUpCall(work: CallWork): Promise<Step> {
  const { run, traits, leg } = work;
  const { sentAt, calledAt, resend, refusal } = callOf(leg);
  if (sentAt === null) return goOn(work);
  const { call, input } = traits.bind(work);
  const seen = await call.find(input, run.tools);
  const { repeatsUntold } = traits;
  const found =
    refusal === null
      ? seen
      : afterRefusal(refusal, seen, { ageMs: unknownMs(work), repeatsUntold });
  // A finding covers the latest call if there was only one, or enough time has passed for its effect to show.
  const coversLatest =
    calledAt === sentAt || lastLookSeconds({ calledAt }, run.deps.clock.now()) === null;
  const known = coversLatest ? withCallOf(work, absentCall) : work;
  switch (found.kind) {
    case "done":
      return { kind: "end", work, end: found };
    case "absent":
      return refusal?.remote && found.failure
        ? beginAgain(known, refusal.remote, found.failure, goOnIfRetriesLeft)
        : goOnIfRetriesLeft(known, found.failure);
    case "repeatable":
      return goOnIfRetriesLeft(traits.isIdempotent ? known : work);
    case "not_yet": {
      const { failure, pollAfterSeconds: seconds, isPoll } = found;
      return waitFor(work, { kind: "wait", waitsFor: "look", failure, seconds, isPoll });
    }
    case "unknowable":
      return resend ? goOn(work) : failed(work, found.failure);
    case "refused":
      return endRefused(known, found.failure);
  }
}

/** Continues with the call. If publishing has used up its retries, it waits or ends as after the last of them. */
function goOnIfRetriesLeft(work: CallWork, failure = ownFailure("network_unavailable")): Step {
  const { kind, retries } = callOf(work.leg);
  const { retrySeconds } = work.run.deps.config.publishing;
  const isUsedUp = kind === "publish" && retries > retrySeconds.length;
  return isUsedUp ? tryLater(work, { failure }) : goOn(work);
}

/** Returns the step when no call can be made in the time that is left. Stopping a process uses up nothing. */
function noTime(work: CallWork): Step {
  if (work.run.deps.work.stop.endsAt !== undefined)
    return waitFor(work, { kind: "wait", waitsFor: "turn", seconds: 0 });
  const failure = ownFailure("network_unavailable", "lease_too_short");
  return tryLater(work, { failure, retryAfterSeconds: 0 });
}

/**
 * Writes the sent record, which outlives the worker. A worker that finds it looks the call up first. None is written if
 * the lease or the worker's time could end before the call does. What was prepared is kept, because repeating that
 * would use up the next lease too.
 */
async function recordSent(work: CallWork): Promise<Step> {
  const { run } = work;
  const unsent = callOf(work.leg);
  // Nothing is written below a post that is to be removed.
  if (unsent.kind === "comment" && isBeingRemoved(work.leg))
    return failed(work, ownFailure("canceled"));
  if (!timeSuffices(run)) return noTime(work);
  const leg = withCall(work.leg, sentCall(unsent, run.deps.clock.now()));
  if (!(await run.claim.save(leg))) return CLAIM_LOST;
  const sent = { ...work, leg, unsent };
  if (timeSuffices(run)) return goOn(sent);
  // Writing the record took long.
  return noTime(notMade(sent));
}

/** Returns the work on a sent call that was certainly not made. */
function notMade({ unsent, ...work }: CallWork): CallWork {
  return unsent === undefined ? work : withCallOf(work, (call) => unsentCall(call, unsent));
}

async function perform(work: CallWork): Promise<Step> {
  const { log } = work.run.deps;
  const { network } = work.leg;
  const { kind, attempts: attempt } = callOf(work.leg);
  if (kind === "publish") log.info("leg sent", { network, attempt });
  else log.info("call sent", { network, kind });
  const { call, input } = work.traits.bind(work);
  const outcome = await call.perform(input, work.run.tools);
  switch (outcome.kind) {
    case "done":
      return { kind: "end", work, end: outcome };
    case "unknown": {
      const { failure, remote, pollAfterSeconds: seconds, isPoll } = outcome;
      const noted = remote === undefined ? work : (withRemote(work, remote) ?? work);
      return waitFor(noted, { kind: "wait", waitsFor: "look", failure, seconds, isPoll });
    }
    case "rejected":
    case "try_later":
    case "prepare_again":
      return outcome.isProof === true || work.traits.isIdempotent
        ? takeRefusal(work, outcome)
        : checkRefusal(work, outcome);
  }
}

/** Asks the network what became of a call that it has refused. While it can't tell, the refusal is stored. */
async function checkRefusal(work: CallWork, refusal: RefusalOutcome): Promise<Step> {
  const { kind, failure } = refusal;
  const at = { now: work.run.deps.clock.now(), isRepeat: work.unsent?.sentAt !== null };
  const isAgain = kind === "prepare_again" && isStorable(refusal.remote);
  const remote = isAgain ? refusal.remote : null;
  const noted = withCallOf(work, (call) => refusedCall(call, { kind, failure, remote }, at));
  const { call: made, input } = work.traits.bind(noted);
  const canTell = made.canTell?.(input) ?? true;
  const found = canTell
    ? await made.find(input, work.run.tools)
    : ({ kind: "unknowable" } as const);
  if (found.kind === "done") return { kind: "end", work: noted, end: found };
  const unknown = { ...failure, code: "outcome_unknown" } as const;
  if (found.kind === "unknowable" && kind !== "rejected" && !work.traits.repeatsUntold)
    return failed(noted, unknown);
  const seconds = found.kind === "unknowable" ? undefined : shownInSeconds(found, unknownMs(noted));
  return seconds === undefined
    ? takeRefusal(work, refusal)
    : waitFor(noted, { kind: "wait", waitsFor: "look", failure: unknown, seconds });
}

/** Returns the step after a refusal that counts. */
async function takeRefusal(sent: CallWork, refusal: RefusalOutcome): Promise<Step> {
  const { failure } = refusal;
  const work = notMade(sent);
  if (refusal.kind === "rejected") return endRefused(work, failure);
  if (refusal.kind === "try_later") return tryLater(work, refusal);
  const { remote, pollAfterSeconds: retryAfterSeconds } = refusal;
  return beginAgain(work, remote, failure, (again) =>
    tryLater(again, { failure, retryAfterSeconds }),
  );
}

/** Gives up what was prepared, which the network has refused. */
async function beginAgain(
  work: CallWork,
  remote: NetworkData,
  failure: LegFailure,
  next: (again: CallWork, failure: LegFailure) => Step,
): Promise<Step> {
  await returnUnusedQuota(work, remote);
  // The check accepted what the network refused, so our rule differs from the network's.
  const { rule: fact } = failure;
  if (fact !== undefined)
    work.run.deps.log.warn("network.fact_doubtful", { network: work.network.name, fact });
  const again = withRemote(work, remote);
  return again === undefined ? tryLater(work, { failure: TOO_LARGE }) : next(again, failure);
}

/** Makes the next call of a claimed leg. Returns how it ended, or what it waits for. */
export async function makeCall(run: LegRun): Promise<Step> {
  const { leg } = run.claim;
  const call = callOf(leg);
  const network = findAvailable(leg.network, run.deps.config.networkApps);
  if (network === undefined) {
    const rule = `${leg.network}.network.notConfigured`;
    return failed({ run, leg }, { ...ownFailure("app_misconfigured"), rule });
  }
  if (network.calls[call.kind] === undefined)
    return failed({ run, leg }, ownFailure("feature_unsupported"));
  if (call.crashes >= CRASHES_MAX) {
    const fields = { event: "leg_given_up", postId: run.ref.postId, network: leg.network };
    run.deps.log.error("leg given up after crashes", fields);
    return failed({ run, leg }, ownFailure("internal_error"));
  }
  const traits = CALL_TRAITS[call.kind];
  let work: CallWork = { run, leg, network, traits };
  for (const phase of [attach, lookUpCall, ...traits.prepare, recordSent, perform]) {
    const step = await phase(work);
    if (step.kind !== "continue") return step;
    work = step.work;
  }
  throw new Error("a call went past its last phase");
}
