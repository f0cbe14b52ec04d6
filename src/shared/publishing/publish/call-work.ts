import { blamed, type Connection } from "../../connections/connections.ts";
import { withShortAltTexts } from "../../networks/contract/alt-text.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import type { LegToPublish, Network } from "../../networks/contract/network.ts";
import type {
  Done,
  FollowUpLookUp,
  FollowUpOutcome,
  LegFailure,
} from "../../networks/contract/outcome.ts";
import type { Call, CallEnd, Wait } from "../call.ts";
import { legDraft } from "../post.ts";
import type { LegRun } from "./leg-run.ts";

/** The result of a phase of a call. Only `applyStep` writes it. */
export type Step =
  | { readonly kind: "continue" }
  | Wait
  | { readonly kind: "end"; readonly end: CallEnd }
  /** Another process has changed the leg. */
  | { readonly kind: "lost" };

export const GO_ON: Step = { kind: "continue" };
export const CLAIM_LOST: Step = { kind: "lost" };

export const failed = (failure: LegFailure): Step => ({
  kind: "end",
  end: { kind: "failed", failure },
});

/** Makes a failure that is not from a network. */
export const plain = (code: LegFailure["code"], networkCode: string | null = null): LegFailure => ({
  code,
  networkCode,
});

/** A worker's work on one call. */
export interface CallWork {
  readonly run: LegRun;
  readonly network: Network;
  readonly how: CallKind;
  /** The call as it was before its marker was written. Absent until then. */
  unsent?: Call;
}

/** The result of a look-up. `isUncertain`: a call that was made may still have an effect, now or later. */
export type Found =
  | Exclude<FollowUpLookUp, Uncertain>
  | (Extract<FollowUpLookUp, Uncertain> & { readonly isUncertain?: boolean });

interface Uncertain {
  readonly kind: "may_perform" | "rejected";
}

/** The result of the visible call. `state` is what the network has to be told again. */
export type Made =
  | Done
  | (Exclude<FollowUpOutcome, Done> & {
      readonly state?: NetworkData;
      readonly isPoll?: true;
    });

/** The differences between the kinds of calls. */
export interface CallKind {
  /** Checks, or follows, the account that is linked now. */
  attach(work: CallWork, linked: Connection): Promise<Step> | Step;
  /** Finds out whether an earlier call had its effect. Changes nothing. */
  lookUp(work: CallWork): Promise<Found>;
  /** Steps before the marker. They may be repeated, and nobody can see their effect. */
  readonly prepare: readonly ((work: CallWork) => Promise<Step>)[];
  perform(work: CallWork): Promise<Made>;
}

/** Returns what the network needs to publish the leg to its account, or to look it up there. */
export function toPublish({ run, network, unsent }: CallWork): LegToPublish {
  const { leg } = run.hand;
  const [publishing] = leg.calls;
  const { connection, credentials } = run.hand.attached;
  // `sentAt` is the mark as it is stored: until `perform` that of the first call of unknown outcome, although the look-up
  // may have found by now that it had no effect. `isUnpublished` goes by what is known before this call's own mark.
  const [{ sentAt }] = run.hand.stored.leg.calls;
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
export async function refused({ run }: CallWork, failure: LegFailure): Promise<Step> {
  // A permission that later calls alone need says nothing of the account.
  const isOwn = failure.code === "permission_missing" && run.hand.call.kind !== "publish";
  if (isOwn) return failed(failure);
  return failed(await blamed(run.services.connections, run.hand.attached.connection, failure));
}

/** Returns the step after something that was certainly not done, but may succeed later. */
export const tryLater = ({
  failure,
  retryAfterSeconds: seconds,
}: {
  readonly failure: LegFailure;
  readonly retryAfterSeconds?: number;
}): Step => ({ kind: "wait", waitsFor: "attempt", failure, seconds });
