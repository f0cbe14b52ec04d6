import { recordUse } from "../../connections/connections.ts";
import type { Movement } from "../../ledger/ledger.ts";
import { ruleWords } from "../../networks/contract/media-check.ts";
import type { LegFailure } from "../../networks/contract/outcome.ts";
import { networkOf, type NetworkName } from "../../networks/lookup.ts";
import { invariant } from "../../runtime/errors.ts";
import { quotaFor } from "../accounts/account-quota.ts";
import { type Call, callAfter, type CallEnd, type Wait } from "../call.ts";
import { hint } from "../hints.ts";
import { callOf, currentCall, type Leg, legKeyOf, publishingCall, withNewCall } from "../leg.ts";
import {
  commitPost,
  postOperation,
  progressed,
  touched,
  type PostDecision,
  type PostOperation,
} from "../post-change.ts";
import { legKey, type PostToPublish } from "../post-store.ts";
import { firstCommentOf, type Post, type PostRef } from "../post.ts";
import type { LegWork, Step } from "./call-work.ts";
import { ended, waiting } from "./leg-attempt.ts";
import type { LegRun } from "./leg-run.ts";

/** Names of a call and of its success in the timeline. */
const TIMELINE = {
  publish: ["leg_settled", "succeeded"],
  comment: ["comment_sent", "done"],
  remove: ["removal", "done"],
} as const;

/** Returns how a call ends. After a call of unknown outcome, no failure may claim that nothing happened. */
function asKnown(call: Call, end: CallEnd): CallEnd {
  if (end.kind === "done") return end;
  const { failure } = end;
  if (call.sentAt === null && failure.code !== "outcome_unknown") return end;
  const { networkCode, note } = failure;
  return {
    kind: "unknown",
    failure: { code: "outcome_unknown", networkCode, ...(note !== undefined && { note }) },
  };
}

/** Returns a published leg with the call of its first comment, if it is to get one. */
function withFirstComment(leg: Leg, { draft }: Post, now: Date): Leg {
  const publishing = publishingCall(leg);
  const isAsked = publishing.state === "done" && firstCommentOf(draft, leg.network) !== null;
  return isAsked ? withNewCall(leg, callAfter(publishing, "comment", leg.round, now)) : leg;
}

/** Returns the end in the words of the rule that was broken: they are more exact than its code's, and validation has them. */
function inWordsOfRule(name: NetworkName, end: CallEnd): CallEnd {
  if (end.kind === "done" || end.failure.rule === undefined) return end;
  const { rule, code } = end.failure;
  return { ...end, failure: { ...ruleWords(networkOf(name), rule, code), ...end.failure } };
}

interface Ending {
  readonly ref: PostRef;
  readonly post: Post;
  /** The leg as its worker claimed it, with what it noted. Only the worker with this claim may end its call. */
  readonly leg: Leg;
  readonly end: CallEnd;
  /** The post and its only leg as they were last read or written by this worker. */
  readonly stored?: PostToPublish | undefined;
}

function movement(post: Post, leg: Leg, end: CallEnd): Movement {
  return {
    type: end.kind === "done" ? "settle" : "release",
    operation: leg.reservation.operation,
    tokens: leg.reservation.tokens,
    postId: post.id,
    network: leg.network,
    applicationId: post.applicationId,
    profileId: post.profileId,
    actor: post.actor,
    requestId: post.requestId,
    note: null,
    reservedOn: leg.reservation.day,
  };
}

/** Returns whether the stored leg has the same call under way, by the same claim. */
function isSameCall(stored: Leg, leg: Leg): boolean {
  const call = currentCall(stored);
  if (stored.network !== leg.network || stored.claimId !== leg.claimId) return false;
  const isReserved = call?.kind !== "publish" || stored.reservation.state === "open";
  return isReserved && call?.key === callOf(leg).key;
}

/**
 * Makes the transaction that ends the call under way: its state in the leg, the events and, with the last call, the work
 * row. The call that publishes ends its leg, too: the reservation, the wallet, the ledger and the post's state follow.
 * Applied once, however often it is repeated, because it requires the claim and the open call. Its answer is whether the
 * call was still the caller's to end.
 */
export function endOperation({ ref, post, leg, end, stored }: Ending): PostOperation<boolean> {
  const call = callOf(leg);
  const publishes = call.kind === "publish";
  return postOperation({
    id: `end|${call.kind}|${legKey(ref, leg.network)}|${leg.claimId}`,
    known: post,
    ...(stored && { stored }),
    decide(current, { now }): PostDecision<boolean> {
      const mine = current?.legs.find((one) => isSameCall(one.leg, leg));
      if (current === undefined || mine === undefined) return { kind: "done", answer: false };
      const after = ended(mine.leg, call, end, now);
      const next = publishes ? withFirstComment(after, current.post, now) : after;
      const legs = current.legs.map((one) => (one === mine ? next : one.leg));
      const changed = publishes ? progressed(current.post, legs, now) : touched(current.post, now);
      return {
        kind: "change",
        movements: publishes ? [movement(current.post, mine.leg, end)] : [],
        after: { post: changed, legs },
        answer: true,
      };
    },
  });
}

/** Gives back the leg's use of the quota. Called before the leg ends, so that a crash in between repeats it. */
async function returnQuota({ run: { services, post }, leg }: LegWork): Promise<void> {
  const { network, account } = leg;
  const { remote } = publishingCall(leg);
  if (account === null) return;
  const real = { network, accountId: account.id };
  const taken = [{}, { remote: remote ?? {} }].flatMap(
    (known) => quotaFor(services, post.draft, network, known)?.kind ?? [],
  );
  for (const kind of new Set(taken))
    await services.stores.networkAccounts.returnQuota(real, kind, legKeyOf(leg));
}

/**
 * Returns the post and its only leg as this worker knows them, which saves reading them. If a post has several legs,
 * the others have changed meanwhile, and so has its row when one of them ended.
 */
async function lastKnown(run: LegRun): Promise<PostToPublish | undefined> {
  const { post, postEtag: etag } = run;
  const leg = await run.claim.written();
  return post.draft.networks.length === 1 ? { post, etag, legs: [leg] } : undefined;
}

/** Counts and logs how the call that publishes ended. */
function reportLeg({ run: { services, ref, post }, leg }: LegWork, end: CallEnd): void {
  const { clock, log, work } = services;
  const { network, account } = leg;
  const { attempts: attempt } = publishingCall(leg);
  const fields = { postId: ref.postId, network, account: account?.id ?? null, attempt };
  const outcome = end.kind === "done" ? "published" : end.failure.code;
  work.metrics.count("legs.ended", { network, outcome });
  if (end.kind !== "done") {
    // Not named `code`, because the log redacts fields of this name: authenticator apps have codes.
    const { code: reason, ...failure } = end.failure;
    return log.info("leg failed", { ...fields, reason, ...failure });
  }
  const sinceMs = clock.now().getTime() - Date.parse(post.startedAt ?? post.createdAt);
  // A retry may come days after the post.
  if (leg.round === post.id) work.metrics.observe("legs.publish_s", sinceMs / 1000, { network });
  const { externalId: networkPostId, url } = end;
  log.info("leg published", { ...fields, networkPostId, url });
}

/** Logs how a call that follows ended. */
function reportCall({ run, leg }: LegWork, call: Call, end: CallEnd): void {
  const { log } = run.services;
  const { kind, attempts: attempt } = call;
  const fields = { postId: run.ref.postId, network: leg.network, kind, attempt };
  if (end.kind === "done") return log.info("call made", fields);
  const { code: reason, networkCode, note = null } = end.failure;
  log.info("call failed", { ...fields, reason, networkCode, note });
}

/** Ends the current call, and its leg if it is the call that publishes. */
async function endCall(work: LegWork, asked: CallEnd): Promise<void> {
  const { run, leg, account } = work;
  const { services, ref, post } = run;
  const known = await lastKnown(run);
  const call = callOf(leg);
  const end = inWordsOfRule(leg.network, asKnown(call, asked));
  const publishes = call.kind === "publish";
  if (asked.kind !== "done") services.work.unmappedSignals.record(leg.network, asked.failure);
  if (publishes && end.kind === "failed") await returnQuota(work);
  const at = services.clock.now().toISOString();
  const operation = endOperation({ ref, post, leg, end, stored: known });
  if (!(await commitPost(services, operation, "worker"))) {
    const fields = { postId: ref.postId, network: leg.network, kind: call.kind };
    return services.log.warn("call was ended by another worker", fields);
  }
  if (publishes) reportLeg(work, end);
  else reportCall(work, call, end);
  const [step, done] = TIMELINE[call.kind];
  if (end.kind === "done") run.timeline.record({ step, at, outcome: done, note: end.url });
  else {
    const { code: outcome, networkCode, note = null } = end.failure;
    run.timeline.record({ step, at, outcome, networkCode, note });
  }
  if (publishes && end.kind === "done" && account !== undefined)
    await recordUse(services.connections, account.connection);
}

/** Counts and logs what a leg waits for. `failure` is absent when nothing failed. */
function reportWait({ services }: LegRun, leg: Leg, failure?: LegFailure): void {
  const call = callOf(leg);
  const { network, notBefore: until } = leg;
  const { code: reason, networkCode = null } = failure ?? {};
  const { log, work } = services;
  if (call.kind !== "publish")
    return log.info("call delayed", { network, kind: call.kind, until, reason, networkCode });
  const fields = { network, state: call.state, retries: call.retries, until };
  if (reason === undefined) return log.info("leg waits", fields);
  work.metrics.count("legs.delayed", { network, reason });
  log.info("leg delayed", { ...fields, reason, networkCode });
}

/** Gives the leg back until its time, and sends a hint. If the hint is lost, the sweep finds the leg. */
async function postpone(work: LegWork, asked: Wait): Promise<void> {
  const { run, leg: taken } = work;
  const { services, ref, claim } = run;
  const { before } = claim;
  const { retrySeconds } = services.config.publishing;
  const schedule = { before, now: services.clock.now(), retrySeconds, random: Math.random() };
  const leg = waiting(taken, asked, schedule);
  const failure = "failure" in asked ? asked.failure : undefined;
  if (leg === undefined) {
    invariant(failure !== undefined, "a leg waits for too long, and nothing failed");
    return endCall(work, { kind: "failed", failure });
  }
  if (!(await claim.write(leg))) return claim.giveBack();
  const { network, notBefore } = leg;
  const call = callOf(leg);
  run.timeline.record({ step: "leg_waiting", outcome: call.state, note: `until ${notBefore}` });
  // An early look-up is no failure.
  const isCounted = call.retries > callOf(taken).retries;
  reportWait(run, leg, isCounted ? failure : undefined);
  await hint(services, ref, { networks: [network], startAt: notBefore });
}

/** Writes the result of a phase of the leg's call. Nothing else ends a call, and only `giveBack` also postpones one. */
export async function applyStep(run: LegRun, step: Step): Promise<void> {
  switch (step.kind) {
    case "continue":
      return;
    case "wait":
      return postpone(step.work, step.wait);
    case "end":
      return endCall(step.work, step.end);
    case "lost":
      return run.claim.giveBack();
  }
}
