import { lackOf } from "../../networks/networks.ts";
import type { Connection } from "../../connections/connections.ts";
import { boundedResult } from "../../networks/contract/bounded.ts";
import type { LegFailure } from "../../networks/contract/outcome.ts";
import type { FollowUp, VisibleCall } from "../../networks/contract/visible-call.ts";
import { FIRST_COMMENT_LACKS } from "../../networks/contract/rules.ts";
import { invariant } from "../../runtime/errors.ts";
import type { CallKind } from "../call.ts";
import { lastLookSeconds } from "../leg-times.ts";
import { callOf, type Leg, publishingCall } from "../leg.ts";
import { firstCommentOf } from "../post.ts";
import { followAccount } from "./account-lease.ts";
import {
  type BoundCall,
  type CallTraits,
  type CallWork,
  failed,
  goOn,
  ownFailure,
  endRefused,
} from "./call-work.ts";
import { type Step, toPublish, waitFor, withCallOf } from "./call-work.ts";
import { claimFirstQuota, claimOwnText, prepareFiles } from "./prepare.ts";

const otherAccount = ({ network }: Leg): LegFailure => ({
  code: "connection_missing",
  networkCode: "account_replaced",
  rule: `${network}.account.replaced`,
});

/** Returns the network's id of the post that the call follows; null while it is to be found. */
const followedId = (leg: Leg) => publishingCall(leg).result?.externalId ?? callOf(leg).target;

/**
 * Waits with a removal while a repeat of the call that published may still arrive: it would bring the post back, where the
 * network knows no repeat of what was removed.
 */
function awaitRepeats(work: CallWork): Step {
  const { run, leg } = work;
  const publishing = publishingCall(leg);
  if (callOf(leg).kind !== "remove" || publishing.calledAt === publishing.sentAt) return goOn(work);
  const seconds = lastLookSeconds(publishing, run.deps.clock.now());
  if (seconds === null) return goOn(work);
  return waitFor(work, { kind: "wait", waitsFor: "pause", seconds });
}

/**
 * Finds the post of a leg with an unknown outcome, in order to remove it. A post that certainly doesn't exist counts as
 * removed.
 */
async function findTarget(work: CallWork): Promise<Step> {
  const { run, network, leg } = work;
  if (followedId(leg) !== null) return awaitRepeats(work);
  const shownIn = lastLookSeconds(publishingCall(leg), run.deps.clock.now());
  const found = await network.calls.publish.find(toPublish(work), run.tools);
  const failure = ownFailure("outcome_unknown");
  const wait = { kind: "wait", waitsFor: "look", failure } as const;
  switch (found.kind) {
    case "done":
      return awaitRepeats(
        withCallOf(work, (call) => ({ ...call, target: boundedResult(found).externalId })),
      );
    case "absent":
      if (shownIn !== null) return waitFor(work, { ...wait, seconds: shownIn });
      return { kind: "end", work, end: { kind: "done", externalId: null, url: null } };
    case "repeatable":
      return waitFor(work, wait);
    case "not_yet":
      return waitFor(work, { ...wait, seconds: found.pollAfterSeconds });
    case "unknowable":
      return failed(work, failure);
    case "refused":
      return endRefused(work, found.failure);
  }
}

function toFollowUp(work: CallWork): FollowUp {
  const { run, leg } = work;
  const { isUnpublished: _isUnpublished, ...published } = toPublish(work);
  const { kind, key, sentAt, refusal } = callOf(leg);
  const externalId = followedId(leg);
  invariant(externalId !== null, "a call has no post");
  return {
    ...published,
    key,
    externalId,
    text: kind === "comment" ? firstCommentOf(run.post.draft, leg.network) : null,
    sentAt: sentAt === null ? null : new Date(sentAt),
    isRefused: refusal !== null,
  };
}

const boundCall = <Input>(call: VisibleCall<Input>, input: Input): BoundCall => ({ call, input });

/** Returns what the calls that follow a post have in common: another account can't change the post of the one that published it. */
function following(kind: Exclude<CallKind, "publish">) {
  return {
    attach(work: CallWork, { account, scopes }: Connection): Step {
      if (account.id !== work.leg.account?.id) return failed(work, otherAccount(work.leg));
      const { networkApps } = work.run.deps.config;
      const lack = lackOf(work.leg.network, kind, scopes, networkApps);
      if (lack === undefined) return goOn(work);
      const failure = ownFailure(lack, "scope_missing");
      if (kind !== "comment") return failed(work, failure);
      return failed(work, { ...failure, rule: `${work.leg.network}.${FIRST_COMMENT_LACKS[lack]}` });
    },
    prepare: [findTarget],
    bind(work: CallWork): BoundCall {
      const call = work.network.calls[kind];
      invariant(call !== undefined, "a network lacks the call");
      return boundCall(call, toFollowUp(work));
    },
  };
}

export const CALL_TRAITS: Readonly<Record<CallKind, CallTraits>> = {
  publish: {
    attach: (work, linked) => followAccount(work, linked),
    prepare: [claimOwnText, claimFirstQuota, prepareFiles],
    bind: (work) => boundCall(work.network.calls.publish, toPublish(work)),
    isIdempotent: false,
    repeatsUntold: true,
  },
  /** No network recognizes a repeated comment. */
  comment: { ...following("comment"), isIdempotent: false, repeatsUntold: false },
  /** What was removed stays gone. */
  remove: { ...following("remove"), isIdempotent: true, repeatsUntold: true },
};
