import { blamed, type Connection } from "../../connections/connections.ts";
import { withShortAltTexts } from "../../networks/contract/alt-text.ts";
import { isStorable } from "../../networks/contract/bounded.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import type { Network } from "../../networks/contract/network.ts";
import type { LegFailure } from "../../networks/contract/outcome.ts";
import type { LegToPublish, VisibleCall } from "../../networks/contract/visible-call.ts";
import { invariant } from "../../runtime/errors.ts";
import type { Call, CallEnd, Wait } from "../call.ts";
import { callOf, type Leg, publishingCall, withCall } from "../leg.ts";
import { legDraft } from "../post.ts";
import type { LegRun } from "./leg-run.ts";

/** The account that a leg is worked on for. */
interface WorkAccount {
  readonly connection: Connection;
  readonly credentials: NetworkData;
}

/** A worker's work on a leg, as far as it has come. */
export interface LegWork {
  readonly run: LegRun;
  /** The leg as the phases have made it. It is written with a sent record, or by what ends or postpones the call. */
  readonly leg: Leg;
  /** The account that is linked now, once it is usable. */
  readonly account?: WorkAccount;
}

/** A worker's work on one call. */
export interface CallWork extends LegWork {
  readonly network: Network;
  readonly traits: CallTraits;
  /** The call as it was before its sent record was written. Absent until then. */
  readonly unsent?: Call;
}

/** A network's call and what its steps are given. `boundCall` makes it, so that the two belong together. */
export interface BoundCall {
  readonly call: VisibleCall<unknown>;
  readonly input: unknown;
}

/** What differs between the kinds of calls. `leg-times.ts` has their times, and `problems.ts` their words. */
export interface CallTraits {
  /** Checks, or follows, the account that is linked now. */
  attach(work: CallWork, linked: Connection): Promise<Step> | Step;
  /** Phases before the sent record. They may be repeated, and nobody can see their effect. */
  readonly prepare: readonly ((work: CallWork) => Promise<Step>)[];
  /** Returns the network's call with its input. */
  bind(work: CallWork): BoundCall;
  /** Whether the answer to a repeat says all about the calls before it, so that it counts as it is. */
  readonly isIdempotent: boolean;
  /** Whether a refusal that allows a repeat counts where nothing can be looked up. */
  readonly repeatsUntold: boolean;
}

/** The result of a phase of a call: more work, or what `applyStep` writes. */
export type Step =
  | { readonly kind: "continue"; readonly work: CallWork }
  | { readonly kind: "wait"; readonly work: LegWork; readonly wait: Wait }
  | { readonly kind: "end"; readonly work: LegWork; readonly end: CallEnd }
  /** Another process has changed the leg. */
  | { readonly kind: "lost" };

export const CLAIM_LOST: Step = { kind: "lost" };

export const goOn = (work: CallWork): Step => ({ kind: "continue", work });

export const waitFor = (work: LegWork, wait: Wait): Step => ({ kind: "wait", work, wait });

export const failed = (work: LegWork, failure: LegFailure): Step => ({
  kind: "end",
  work,
  end: { kind: "failed", failure },
});

/** Makes a failure that is not from a network. */
export const ownFailure = (
  code: LegFailure["code"],
  networkCode: string | null = null,
): LegFailure => ({
  code,
  networkCode,
});

/** Returns the work with another state of the call under way. */
export function withCallOf(work: CallWork, change: (call: Call) => Call): CallWork {
  return { ...work, leg: withCall(work.leg, change(callOf(work.leg))) };
}

/** Returns the work with what the network wants to know again; undefined if no row can hold it. */
export function withRemote(work: CallWork, remote: NetworkData): CallWork | undefined {
  return isStorable(remote) ? withCallOf(work, (call) => ({ ...call, remote })) : undefined;
}

export function accountOfWork({ account }: LegWork): WorkAccount {
  invariant(account !== undefined, "a call has no account");
  return account;
}

/** Returns what the network needs to publish the leg to its account, or to look for it there. */
export function toPublish(work: CallWork): LegToPublish {
  const { run, network, leg, unsent } = work;
  const publishing = publishingCall(leg);
  const { connection, credentials } = accountOfWork(work);
  // `sentAt` is the sent record as it is stored: until `perform` that of the first call of unknown outcome, although it may be
  // known by now that this had no effect. `isUnpublished` goes by what is known before this call's own record.
  const { sentAt } = publishingCall(run.claim.leg);
  const altTextMax = network.altTextMax?.(connection.limits) ?? Infinity;
  return {
    key: publishing.key,
    draft: withShortAltTexts(legDraft(run.post.draft, leg.network), altTextMax),
    account: connection.account,
    credentials,
    instanceUrl: connection.instanceUrl,
    limits: connection.limits,
    remote: publishing.remote ?? {},
    sentAt: sentAt === null ? null : new Date(sentAt),
    isUnpublished: (unsent ?? publishing).sentAt === null,
  };
}

/** Returns the end of a call that the network refused, possibly because of its account. */
export async function endRefused(work: CallWork, failure: LegFailure): Promise<Step> {
  // A permission that later calls alone need says nothing of the account.
  const isOwn = failure.code === "permission_missing" && callOf(work.leg).kind !== "publish";
  if (isOwn) return failed(work, failure);
  const { connection } = accountOfWork(work);
  return failed(work, await blamed(work.run.deps.connections, connection, failure));
}

/** Returns the step after something that was certainly not done, but may succeed later. */
export const tryLater = (
  work: LegWork,
  {
    failure,
    retryAfterSeconds: seconds,
  }: { readonly failure: LegFailure; readonly retryAfterSeconds?: number },
): Step => waitFor(work, { kind: "wait", waitsFor: "attempt", failure, seconds });
