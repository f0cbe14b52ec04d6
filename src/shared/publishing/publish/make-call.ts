import { blamed, freshCredentials } from "../../connections/connections.ts";
import type { Network } from "../../networks/contract/network.ts";
import { findAvailable } from "../../networks/lookup.ts";
import { absentCall, type CallName, CRASHES_MAX, sentCall, unsentCall } from "../call.ts";
import { isBeingRemoved, withCall } from "../leg.ts";
import { openLinked } from "./attach-account.ts";
import { failed, GO_ON, CLAIM_LOST, plain, refused, tryLater } from "./call-work.ts";
import type { CallKind, CallWork, Step } from "./call-work.ts";
import { laterCall } from "./later-call.ts";
import { timeSuffices, type LegRun } from "./leg-run.ts";
import { publication } from "./publication.ts";

/*
 * Makes the call of a claimed leg, as far as possible now: attach the account, look up an earlier call of unknown
 * outcome, prepare, mark, perform. Each phase returns a step, and only `applyStep` writes it. `publication.ts` and
 * `later-call.ts` have the differences between the kinds of calls.
 */

/** Attaches the account that is linked now, with credentials that stay valid for a while. */
async function attach(work: CallWork): Promise<Step> {
  const { run, how } = work;
  const opened = await openLinked(run);
  if (typeof opened === "string") return failed(plain(opened));
  const step = await how.attach(work, opened.connection);
  if (step.kind !== "continue") return step;
  const { services } = run;
  const fresh = await freshCredentials(services.connections, opened.connection, opened);
  switch (fresh.kind) {
    case "usable":
      run.hand.attach(fresh);
      return GO_ON;
    case "rejected":
      return failed(await blamed(services.connections, opened.connection, fresh.failure));
    case "try_later": {
      const { sentAt } = run.hand.call;
      const { failure, retryAfterSeconds: seconds } = fresh;
      return { kind: "wait", waitsFor: sentAt === null ? "attempt" : "look", failure, seconds };
    }
  }
}

/** Looks up an earlier call of unknown outcome. The call is never made again without that. */
async function lookUpEarlier(work: CallWork): Promise<Step> {
  const { run, how } = work;
  const { call } = run.hand;
  if (call.sentAt === null) return GO_ON;
  const found = await how.lookUp(work);
  switch (found.kind) {
    case "done":
      return { kind: "end", end: found };
    case "may_perform":
      if (found.isUncertain !== true) run.hand.note(absentCall);
      return goOnIfRetriesLeft(run, found.failure);
    case "ask_again": {
      const { failure, pollAfterSeconds: seconds, isPoll } = found;
      return { kind: "wait", waitsFor: "look", failure, seconds, isPoll };
    }
    case "unknowable":
      return call.resend ? GO_ON : failed(found.failure);
    case "rejected":
      if (found.isUncertain !== true) run.hand.note(absentCall);
      return refused(work, found.failure);
  }
}

/** Continues with the call. If publishing has used up its retries, it waits or ends as after the last of them. */
function goOnIfRetriesLeft(
  { services, hand }: LegRun,
  failure = plain("network_unavailable"),
): Step {
  const { call } = hand;
  const { retrySeconds } = services.config.publishing;
  const isUsedUp = call.kind === "publish" && call.retries > retrySeconds.length;
  return isUsedUp ? tryLater({ failure }) : GO_ON;
}

/** Returns the step when no call can be made in the time that is left. Stopping a process uses up nothing. */
function noTime({ services }: LegRun): Step {
  if (services.work.stop.endsAt !== undefined)
    return { kind: "wait", waitsFor: "turn", seconds: 0 };
  const failure = plain("network_unavailable", "lease_too_short");
  return tryLater({ failure, retryAfterSeconds: 0 });
}

/**
 * Writes the marker that outlives the worker. A worker that finds it looks the call up first. No marker is written if
 * the lease or the worker's time could end before the call does. What was prepared is kept, because repeating that
 * would use up the next lease too.
 */
async function mark(work: CallWork): Promise<Step> {
  const { run } = work;
  const { leg, call: unsent } = run.hand;
  // Nothing is written below a post that is to be removed.
  if (unsent.kind === "comment" && isBeingRemoved(leg)) return failed(plain("canceled"));
  if (!timeSuffices(run)) return noTime(run);
  const sent = sentCall(unsent, run.services.clock.now());
  if (!(await run.hand.save(() => withCall(leg, sent)))) return CLAIM_LOST;
  work.unsent = unsent;
  if (timeSuffices(run)) return GO_ON;
  // Writing the marker took long.
  run.hand.note((call) => unsentCall(call, unsent));
  return noTime(run);
}

async function perform(work: CallWork): Promise<Step> {
  const { run, how, unsent } = work;
  logSent(run);
  const made = await how.perform(work);
  if (made.kind === "done") return { kind: "end", end: made };
  const { failure, state, isPoll } = made;
  if (state !== undefined) run.hand.note((call) => ({ ...call, remote: state }));
  if (made.kind === "in_doubt")
    return { kind: "wait", waitsFor: "look", failure, seconds: made.pollAfterSeconds, isPoll };
  // Certainly not made.
  if (unsent !== undefined) run.hand.note((call) => unsentCall(call, unsent));
  return made.kind === "rejected" ? refused(work, failure) : tryLater(made);
}

function logSent({ services: { log }, hand: { leg, call } }: LegRun): void {
  const { network } = leg;
  const { kind, attempts: attempt } = call;
  if (kind === "publish") log.info("leg sent", { network, attempt });
  else log.info("call sent", { network, kind });
}

function giveUp({ services, ref, hand }: LegRun): Step {
  const { network } = hand.leg;
  const fields = { event: "leg_given_up", postId: ref.postId, network };
  services.log.error("leg given up after crashes", fields);
  return failed(plain("internal_error"));
}

/** Returns how a network makes a call of this kind; undefined where it lacks it. */
function howToMake({ calls }: Network, kind: CallName): CallKind | undefined {
  if (kind === "publish") return publication;
  const later = calls[kind];
  return later && laterCall(later);
}

/** Makes the next call of a claimed leg. Returns how it ended, or what it waits for. */
export async function makeCall(run: LegRun): Promise<Step> {
  const { leg, call } = run.hand;
  const network = findAvailable(leg.network, run.services.config.networkApps);
  if (network === undefined) return failed(plain("app_misconfigured"));
  const how = howToMake(network, call.kind);
  if (how === undefined) return failed(plain("feature_unsupported"));
  if (call.crashes >= CRASHES_MAX) return giveUp(run);
  const work: CallWork = { run, network, how };
  for (const phase of [attach, lookUpEarlier, ...how.prepare, mark, perform]) {
    const step = await phase(work);
    if (step.kind !== "continue") return step;
  }
  throw new Error("a call went past its last phase");
}
