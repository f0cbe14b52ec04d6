import { recordUse } from "../../connections/connections.ts";
import type { Movement } from "../../ledger/ledger.ts";
import { fieldOfRule } from "../../networks/contract/rules.ts";
import { fieldOf, type LegDraft } from "../../networks/contract/draft.ts";
import type { Network } from "../../networks/contract/network.ts";
import type { LegFailure } from "../../networks/contract/outcome.ts";
import { isBlank } from "../../networks/contract/text.ts";
import { networkOf } from "../../networks/networks.ts";
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
import { firstCommentOf, legDraft, type Post, type PostRef } from "../post.ts";
import type { LegWork, Step } from "./call-work.ts";
import { ended, waiting } from "./leg-attempt.ts";
import type { LegRun } from "./leg-run.ts";

/** Names of a call and of its success in the timeline. */
const TIMELINE = {
  publish: ["leg_settled", "succeeded"],
  comment: ["comment_sent", "done"],
  remove: ["removal", "done"],
} as const;

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
      // The same call, by the same claim.
      const mine = current?.legs.find(({ leg: stored }) => {
        if (stored.network !== leg.network || stored.claimId !== leg.claimId) return false;
        const isReserved = !publishes || stored.reservation.state === "open";
        return isReserved && currentCall(stored)?.key === call.key;
      });
      if (current === undefined || mine === undefined) return { kind: "done", answer: false };
      const after = ended(mine.leg, call, end, now);
      const published = publishingCall(after);
      const isCommented =
        publishes &&
        published.state === "done" &&
        firstCommentOf(current.post.draft, leg.network) !== null;
      const next = isCommented
        ? withNewCall(after, callAfter(published, "comment", after.round, now))
        : after;
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
async function returnQuota({ run: { deps, post }, leg }: LegWork): Promise<void> {
  const { network, account } = leg;
  const { remote } = publishingCall(leg);
  if (account === null) return;
  const real = { network, accountId: account.id };
  const taken = [{}, { remote: remote ?? {} }].flatMap(
    (known) => quotaFor(deps, post.draft, network, known)?.kind ?? [],
  );
  for (const kind of new Set(taken))
    await deps.stores.networkAccounts.returnQuota(real, kind, legKeyOf(leg));
}

/** Counts and logs how the call that publishes ended. */
function reportLeg({ run: { deps, ref, post }, leg }: LegWork, end: CallEnd): void {
  const { clock, log, work } = deps;
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

/**
 * Returns the field of the request that a failure is about, as a validation names it. Null if the request is not at fault,
 * or nobody can tell which field is.
 */
function fieldOfFailure(
  { name, rules = {} }: Pick<Network, "name" | "rules">,
  draft: LegDraft,
  { code, rule, field, mediaIndex }: LegFailure,
): string | null {
  if (field !== undefined) return field;
  const ofRule = rule === undefined ? null : fieldOfRule(rules, rule, draft);
  if (ofRule !== null) return ofRule;
  if (mediaIndex !== undefined) return fieldOf(name, draft, "mediaUrls");
  if (rule !== undefined) return null;
  if (code === "text_too_long" || code === "text_invalid") return fieldOf(name, draft, "text");
  return code.startsWith("media_") ? fieldOf(name, draft, "mediaUrls") : null;
}

/** Ends the current call, and its leg if it is the call that publishes. */
async function endCall(work: LegWork, asked: CallEnd): Promise<void> {
  const { run, leg, account } = work;
  const { deps, ref, post } = run;
  const written = await run.claim.written();
  // If a post has several legs, the others have changed meanwhile, and so has its row when one of them ended.
  const isOnlyLeg = post.draft.networks.length === 1;
  const stored = isOnlyLeg ? { post, etag: run.postEtag, legs: [written] } : undefined;
  const call = callOf(leg);
  let end = asked;
  if (end.kind !== "done") {
    const { networkCode, note, code } = end.failure;
    // After a call of unknown outcome, no failure may claim that nothing happened.
    if (call.sentAt !== null || code === "outcome_unknown") {
      const failure = { networkCode, ...(note !== undefined && { note }) };
      end = { kind: "unknown", failure: { code: "outcome_unknown", ...failure } };
    }
    // Servers say of a form that they can't read that its text is missing. What was sent is known better here.
    const lacksText = /\.(?:text\.required|content\.empty)$/.test(end.failure.rule ?? "");
    if (lacksText && !isBlank(legDraft(post.draft, leg.network).text)) {
      const { rule: _untrue, ...failure } = end.failure;
      end = { ...end, failure };
    }
    const { rule } = end.failure;
    // The sentence of a rule has its limit. One that the account's server states is known to the check of a draft alone.
    const { limit, variesByServer } = networkOf(leg.network).rules?.[rule ?? ""] ?? {};
    if (limit !== undefined && variesByServer !== true)
      end = { ...end, failure: { values: { limit }, ...end.failure } };
  }
  const publishes = call.kind === "publish";
  if (publishes && end.kind !== "done") {
    const field = fieldOfFailure(
      networkOf(leg.network),
      legDraft(post.draft, leg.network),
      end.failure,
    );
    if (field !== null) end = { ...end, failure: { ...end.failure, field } };
  }
  if (asked.kind !== "done") deps.work.unmappedSignals.record(leg.network, asked.failure);
  if (publishes && end.kind === "failed") await returnQuota(work);
  const at = deps.clock.now().toISOString();
  const operation = endOperation({ ref, post, leg, end, stored });
  if (!(await commitPost(deps, operation, "worker"))) {
    const fields = { postId: ref.postId, network: leg.network, kind: call.kind };
    return deps.log.warn("call was ended by another worker", fields);
  }
  if (publishes) reportLeg(work, end);
  else {
    const { kind, attempts: attempt } = call;
    const fields = { postId: ref.postId, network: leg.network, kind, attempt };
    if (end.kind === "done") deps.log.info("call made", fields);
    else {
      const { code: reason, networkCode, note = null } = end.failure;
      deps.log.info("call failed", { ...fields, reason, networkCode, note });
    }
  }
  const [step, done] = TIMELINE[call.kind];
  if (end.kind === "done") run.timeline.record({ step, at, outcome: done, note: end.url });
  else {
    const { code: outcome, networkCode, note = null } = end.failure;
    run.timeline.record({ step, at, outcome, networkCode, note });
  }
  if (publishes && end.kind === "done" && account !== undefined)
    await recordUse(deps.connections, account.connection);
}

/** What a call makes or removes, in a sentence. */
const OBJECTS = { publish: "post", comment: "comment", remove: "post" } as const;

/** Says in plain words what a waiting call waits for, until its time. */
function explainWait({ kind, state, refusal }: Call, asked: Wait, until: string): string {
  const object = OBJECTS[kind];
  const removed = kind === "remove";
  if (asked.waitsFor === "turn") return `Another worker continues at ${until}.`;
  if (state === "open") {
    const nothing = removed ? "Nothing was removed" : "Nothing was published";
    const next = `The relay tries again at ${until}.`;
    if (!("failure" in asked)) return `${nothing}. ${next}`;
    const { code, mediaIndex, note } = asked.failure;
    const file = mediaIndex === undefined ? "" : `, file ${mediaIndex + 1}`;
    const details = note === undefined ? "" : `: "${note}"`;
    return `${nothing} (${code}${file}${details}). ${next}`;
  }
  if (state === "waiting")
    return `The network is processing the files. The relay asks again at ${until}.`;
  if ("isPoll" in asked && asked.isPoll === true)
    return `The network is still working on the ${object}. The relay asks again at ${until}.`;
  const check = `The relay checks the account for the ${object} at ${until}.`;
  const effect = removed ? "removed" : "published";
  if (refusal === null)
    return `The network's answer was lost or doesn't say whether the ${object} was ${effect}. ${check}`;
  return `The network refused, which doesn't prove that the ${object} wasn't ${effect}. ${check} If nothing has changed by then, the refusal counts.`;
}

/** Gives the leg back until its time, and sends a hint. If the hint is lost, the sweep finds the leg. */
async function postpone(work: LegWork, asked: Wait): Promise<void> {
  const { run, leg: taken } = work;
  const { deps, ref, claim } = run;
  const { before } = claim;
  const { retrySeconds } = deps.config.publishing;
  const schedule = { before, now: deps.clock.now(), retrySeconds, random: Math.random() };
  const leg = waiting(taken, asked, schedule);
  const failure = "failure" in asked ? asked.failure : undefined;
  if (leg === undefined) {
    invariant(failure !== undefined, "a leg waits for too long, and nothing failed");
    return endCall(work, { kind: "failed", failure });
  }
  if (!(await claim.write(leg))) return claim.giveBack();
  const { network, notBefore } = leg;
  const call = callOf(leg);
  const note = explainWait(call, asked, notBefore ?? "");
  const networkCode = failure?.networkCode ?? null;
  run.timeline.record({ step: "leg_waiting", outcome: call.state, networkCode, note });
  // An early look-up is no failure.
  const counted = call.retries > callOf(taken).retries ? failure : undefined;
  const { kind, state, retries } = call;
  const reason = counted?.code;
  const { log } = deps;
  if (kind !== "publish")
    log.info("call delayed", { network, kind, until: notBefore, reason, networkCode });
  else {
    const account = taken.account?.id ?? null;
    const fields = { network, account, state, retries, until: notBefore };
    if (reason === undefined) log.info("leg waits", fields);
    else {
      deps.work.metrics.count("legs.delayed", { network, reason });
      log.info("leg delayed", { ...fields, reason, networkCode });
    }
  }
  await hint(deps, ref, { networks: [network], startAt: notBefore });
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
