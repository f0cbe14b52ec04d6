import { blamed, type Connection, freshCredentials } from "../../connections/connections.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import type { FollowUp, FollowUpCall, Network } from "../../networks/contract/network.ts";
import type { LegFailure } from "../../networks/contract/outcome.ts";
import { invariant } from "../../runtime/errors.ts";
import { CALL_CRASHES_MAX, sentCall, type Call } from "../call.ts";
import { lastReconcileSeconds } from "../leg-times.ts";
import { withCall } from "../leg.ts";
import { firstCommentOf } from "../post.ts";
import { applyStep, callOf, type Step } from "./apply-step.ts";
import { openLinked } from "./attach-account.ts";
import { save, timeSuffices, type LegRun } from "./leg-run.ts";
import { toPublish } from "./to-publish.ts";

/*
 * Makes the next of the calls that follow a leg's publication: attach the account, find what was published, look up an
 * earlier call whose outcome is unknown, mark, perform. Each phase returns a step, and `applyStep` alone writes it.
 */

const GO_ON: Step = { kind: "continue" };

const failed = (failure: LegFailure): Step => ({ kind: "end", end: { kind: "failed", failure } });
const plain = (code: LegFailure["code"], networkCode: string | null = null): LegFailure => {
  return { code, networkCode };
};

/** A worker's work on one call. */
interface CallWork {
  readonly run: LegRun;
  readonly network: Network;
  readonly how: FollowUpCall;
  /** Set by the first phase. */
  attached?: { readonly connection: Connection; readonly credentials: NetworkData };
}

function attachedOf({ attached }: CallWork) {
  invariant(attached !== undefined, "a call has no account");
  return attached;
}

/** Notes in the run what the next write of the leg adds to the call. */
function note(run: LegRun, changes: Partial<Call>): void {
  const call = { ...callOf(run.stored.leg), ...changes };
  run.stored = { ...run.stored, leg: withCall(run.stored.leg, call) };
}

const OTHER_ACCOUNT: LegFailure = {
  code: "connection_missing",
  networkCode: "account_replaced",
  message: "The account that published the post is no longer the linked one.",
  remediation: "Link the account that published the post, then ask again.",
};

/** Attaches the account that published the post: another one can't change its posts. */
async function attach(work: CallWork): Promise<Step> {
  const { run, how } = work;
  const { services, stored } = run;
  const opened = await openLinked(run);
  if (typeof opened === "string") return failed(plain(opened));
  const { connection } = opened;
  if (connection.account.id !== stored.leg.account?.id) return failed(OTHER_ACCOUNT);
  if ((how.missingScopes?.(connection.scopes) ?? []).length > 0)
    return failed(plain("permission_missing", "scope_missing"));
  const fresh = await freshCredentials(services.connections, connection, opened);
  if (fresh.kind === "usable") {
    work.attached = fresh;
    return GO_ON;
  }
  if (fresh.kind === "rejected")
    return failed(await blamed(services.connections, connection, fresh.failure));
  return { kind: "wait", failure: fresh.failure, seconds: fresh.retryAfterSeconds };
}

/**
 * Finds the post of a leg that ended with an unknown outcome, which is to be removed. What is certainly not there counts
 * as removed.
 */
async function findPost(work: CallWork): Promise<Step> {
  const { run, network } = work;
  const { leg } = run.stored;
  if ((leg.networkPostId ?? callOf(run.stored.leg).target) !== null) return GO_ON;
  const shownIn = lastReconcileSeconds(leg, run.services.clock.now());
  const found = await network.reconcile(toPublish(run, network, attachedOf(work)), run.tools);
  const unknown = plain("outcome_unknown");
  switch (found.kind) {
    case "published":
      note(run, { target: found.networkPostId });
      return GO_ON;
    case "may_publish":
      if (!found.isAbsent) return { kind: "wait", failure: unknown };
      if (shownIn !== null) return { kind: "wait", failure: unknown, seconds: shownIn };
      return { kind: "end", end: { kind: "done", externalId: null, url: null } };
    case "ask_again":
      return { kind: "wait", failure: unknown, seconds: found.pollAfterSeconds };
    case "unknowable":
      return failed(unknown);
    case "rejected":
      return failed(await refusedFor(work, found.failure));
  }
}

/** Returns a refusal as it is to be reported. A permission that this call alone needs says nothing of the account. */
function refusedFor(work: CallWork, failure: LegFailure): Promise<LegFailure> | LegFailure {
  if (failure.code === "permission_missing") return failure;
  return blamed(work.run.services.connections, attachedOf(work).connection, failure);
}

/** Returns the text that the call writes, from what was asked for. */
function textOf({ post, stored }: LegRun, { kind }: Call): string | null {
  if (kind !== "comment") return null;
  return firstCommentOf(post.draft, stored.leg.network);
}

function toFollowUp(work: CallWork): FollowUp {
  const { run } = work;
  const { leg } = run.stored;
  const call = callOf(run.stored.leg);
  const { connection, credentials } = attachedOf(work);
  const { account, instanceUrl, limits } = connection;
  const externalId = leg.networkPostId ?? call.target;
  invariant(externalId !== null, "a call has no post");
  return {
    key: call.key,
    leg: { account, credentials, instanceUrl, limits, remote: leg.remote ?? {}, externalId },
    text: textOf(run, call),
    sentAt: call.sentAt === null ? null : new Date(call.sentAt),
    state: call.remote ?? {},
  };
}

/** Looks up an earlier call of unknown outcome. It is never made again without that. */
async function lookUp(work: CallWork): Promise<Step> {
  const { run, how } = work;
  if (callOf(run.stored.leg).sentAt === null) return GO_ON;
  const found = await how.lookUp(toFollowUp(work), run.tools);
  switch (found.kind) {
    case "done":
      return { kind: "end", end: found };
    case "may_perform":
      // Stays marked in the row until the next marker, in case this worker dies.
      note(run, { sentAt: null });
      return GO_ON;
    case "ask_again":
      return { kind: "wait", failure: found.failure, seconds: found.pollAfterSeconds };
    case "unknowable":
      return failed(found.failure);
    case "rejected":
      note(run, { sentAt: null });
      return failed(await refusedFor(work, found.failure));
  }
}

const noTime: Step = { kind: "wait", failure: plain("network_unavailable"), seconds: 0 };

/** Marks the call as sent, if the lease and the worker's time last for it. */
async function mark({ run }: CallWork): Promise<Step> {
  if (!timeSuffices(run)) return noTime;
  const marked = sentCall(callOf(run.stored.leg), run.services.clock.now());
  if (!(await save(run, withCall(run.stored.leg, marked)))) return { kind: "lost" };
  if (timeSuffices(run)) return GO_ON;
  // Writing the marker took long.
  note(run, { sentAt: null });
  return noTime;
}

/** Makes the visible call. */
async function perform(work: CallWork): Promise<Step> {
  const { run, how } = work;
  const { kind } = callOf(run.stored.leg);
  run.services.log.info("call sent", { network: run.stored.leg.network, kind });
  // Its own marker is no earlier attempt.
  const outcome = await how.perform({ ...toFollowUp(work), sentAt: null }, run.tools);
  if (outcome.kind === "in_doubt") {
    note(run, { remote: outcome.state ?? callOf(run.stored.leg).remote });
    return { kind: "wait", failure: outcome.failure, seconds: outcome.pollAfterSeconds };
  }
  if (outcome.kind === "done") return { kind: "end", end: outcome };
  note(run, { sentAt: null });
  if (outcome.kind === "rejected") return failed(await refusedFor(work, outcome.failure));
  return { kind: "wait", failure: outcome.failure, seconds: outcome.retryAfterSeconds };
}

const PHASES = [attach, findPost, lookUp, mark, perform] as const;

async function runPhases(work: CallWork): Promise<Step> {
  for (const phase of PHASES) {
    const step = await phase(work);
    if (step.kind !== "continue") return step;
  }
  throw new Error("a call went past its last phase");
}

async function stepOf(run: LegRun, network: Network | undefined): Promise<Step> {
  const { kind, crashes } = callOf(run.stored.leg);
  if (network === undefined) return failed(plain("app_misconfigured"));
  const how = network.calls[kind];
  if (how === undefined) return failed(plain("feature_unsupported"));
  if (crashes >= CALL_CRASHES_MAX) return failed(plain("internal_error"));
  return runPhases({ run, network, how });
}

/** Makes the next call of a claimed leg that has ended, as far as it can go now. */
export async function makeCall(run: LegRun, network: Network | undefined): Promise<void> {
  await applyStep(run, await stepOf(run, network));
}
