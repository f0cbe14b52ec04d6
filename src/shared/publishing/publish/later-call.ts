import type { FollowUp, FollowUpCall } from "../../networks/contract/network.ts";
import type { LegFailure } from "../../networks/contract/outcome.ts";
import { invariant } from "../../runtime/errors.ts";
import type { Call } from "../call.ts";
import { lastLookSeconds } from "../leg-times.ts";
import { callOf, type Leg } from "../leg.ts";
import { firstCommentOf } from "../post.ts";
import {
  type CallKind,
  type CallWork,
  refused,
  toPublish,
  failed,
  GO_ON,
  plain,
  type Step,
} from "./call-work.ts";
import type { LegRun } from "./leg-run.ts";

/* A call that follows the one that publishes: a first comment, or a removal. */

const OTHER_ACCOUNT: LegFailure = {
  code: "connection_missing",
  networkCode: "account_replaced",
  message: "The account that published the post is no longer the linked one.",
  remediation: "Link the account that published the post, then repeat the request.",
};

/** Returns the network's id of the post that the call follows; null while it is to be found. */
const targetOf = (leg: Leg) => leg.calls[0].result?.externalId ?? callOf(leg).target;

/**
 * Waits with a removal while a repeat of the call that published may still arrive: it would bring the post back, where the
 * network knows no repeat of what was removed.
 */
function awaitRepeats({ run }: CallWork): Step {
  const { leg, call } = run.hand;
  const [publishing] = leg.calls;
  if (call.kind !== "remove" || publishing.calledAt === publishing.sentAt) return GO_ON;
  const seconds = lastLookSeconds(publishing, run.services.clock.now());
  return seconds === null ? GO_ON : { kind: "wait", waitsFor: "pause", seconds };
}

/**
 * Finds the post of a leg with an unknown outcome, in order to remove it. A post that certainly doesn't exist counts as
 * removed.
 */
async function findPost(work: CallWork): Promise<Step> {
  const { run, network } = work;
  const { leg } = run.hand;
  if (targetOf(leg) !== null) return awaitRepeats(work);
  const shownIn = lastLookSeconds(leg.calls[0], run.services.clock.now());
  const found = await network.calls.publish.lookUp(toPublish(work), run.tools);
  const failure = plain("outcome_unknown");
  const wait = { kind: "wait", waitsFor: "look", failure } as const;
  switch (found.kind) {
    case "done":
      run.hand.note((call) => ({ ...call, target: found.externalId }));
      return awaitRepeats(work);
    case "may_perform":
      if (!found.isAbsent) return wait;
      if (shownIn !== null) return { ...wait, seconds: shownIn };
      return { kind: "end", end: { kind: "done", externalId: null, url: null } };
    case "ask_again":
      return { ...wait, seconds: found.pollAfterSeconds };
    case "unknowable":
      return failed(failure);
    case "rejected":
      return refused(work, found.failure);
  }
}

/** Returns the text that the call writes, from what was asked for. */
function textOf({ post, hand }: LegRun, { kind }: Call): string | null {
  return kind === "comment" ? firstCommentOf(post.draft, hand.leg.network) : null;
}

function toFollowUp({ run }: CallWork): FollowUp {
  const { leg, call } = run.hand;
  const remote = leg.calls[0].remote ?? {};
  const { connection, credentials } = run.hand.attached;
  const { account, instanceUrl, limits } = connection;
  const externalId = targetOf(leg);
  invariant(externalId !== null, "a call has no post");
  return {
    key: call.key,
    leg: { account, credentials, instanceUrl, limits, remote, externalId },
    text: textOf(run, call),
    sentAt: call.sentAt === null ? null : new Date(call.sentAt),
    state: call.remote ?? {},
  };
}

/** Returns how a network makes a call of this kind. */
export function laterCall(how: FollowUpCall): CallKind {
  return {
    // Another account can't change the post of the one that published it.
    attach({ run: { hand } }, { account, scopes }) {
      if (account.id !== hand.leg.account?.id) return failed(OTHER_ACCOUNT);
      const missing = how.missingScopes?.(scopes) ?? [];
      return missing.length > 0 ? failed(plain("permission_missing", "scope_missing")) : GO_ON;
    },
    lookUp: (work) => how.lookUp(toFollowUp(work), work.run.tools),
    prepare: [findPost],
    // `sentAt` now is the marker of this very call, so the network must not take it for an earlier attempt.
    perform: (work) => how.perform({ ...toFollowUp(work), sentAt: null }, work.run.tools),
  };
}
