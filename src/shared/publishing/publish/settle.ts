import type { Movement } from "../../core/core.ts";
import { type Connection, blamed } from "../../connections/connections.ts";
import type { LegFailure, Published, Rejected, TryLater } from "../../networks/contract/outcome.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import type { NetworkName } from "../../networks/lookup.ts";
import { quotaFor } from "../accounts/account-quota.ts";
import { newCall } from "../call.ts";
import type { PublishingDeps } from "../deps.ts";
import {
  earlyLookSeconds,
  lastReconcileSeconds,
  nextReconcileSeconds,
  nextRetrySeconds,
} from "../leg-times.ts";
import type { Leg } from "../leg.ts";
import { failed, postponed, toRetry, succeeded, toReconcile } from "./leg-attempt.ts";
import {
  commitPost,
  postOperation,
  progressed,
  type PostDecision,
  type PostOperation,
} from "../post-change.ts";
import { legKey, type PostToPublish } from "../post-store.ts";
import { firstCommentOf, type Post, type PostRef } from "../post.ts";
import { saveAndHint, type LegRun } from "./leg-run.ts";

/** Returns a published leg with the call of its first comment, if it is to get one. */
function withFirstComment(leg: Leg, { draft }: Post, now: Date): Leg {
  if (firstCommentOf(draft, leg.network) === null) return leg;
  const call = newCall("comment", { legKey: leg.key, round: leg.round, now });
  return { ...leg, calls: [...leg.calls, call] };
}

export type LegEnd =
  | { readonly kind: "published"; readonly published: Published }
  | { readonly kind: "failed"; readonly failure: LegFailure };

interface Settlement {
  readonly ref: PostRef;
  readonly post: Post;
  /** The leg as its worker claimed it. Only the worker with this claim may settle. */
  readonly leg: Leg;
  readonly end: LegEnd;
  /** The post and its only leg as they were last read or written by this worker. */
  readonly stored?: PostToPublish | undefined;
}

function movement(post: Post, leg: Leg, end: LegEnd): Movement {
  return {
    type: end.kind === "published" ? "settle" : "release",
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
 * Makes the settling transaction: leg, reservation, wallet, ledger, the post's state and, with the last leg, the work
 * row. Applied once, however often it is repeated, because it requires the claim and the open reservation. Its answer
 * is whether the leg was still the caller's to settle.
 */
export function settleOperation(settlement: Settlement): PostOperation<boolean> {
  const { ref, post, leg, end, stored } = settlement;
  return postOperation({
    id: `settle|${legKey(ref, leg.network)}|${leg.claimId}`,
    known: post,
    ...(stored && { stored }),
    decide(current, { now }): PostDecision<boolean> {
      const mine = current?.legs.find((stored) => stored.leg.network === leg.network);
      const isMine = mine?.leg.claimId === leg.claimId && mine.leg.reservation.state === "open";
      if (current === undefined || mine === undefined || !isMine)
        return { kind: "done", answer: false };
      const settled =
        end.kind === "published"
          ? withFirstComment(succeeded(mine.leg, end.published, now), current.post, now)
          : failed(mine.leg, end.failure);
      const legs = current.legs.map((stored) => (stored === mine ? settled : stored.leg));
      return {
        kind: "change",
        movements: [movement(current.post, mine.leg, end)],
        after: { post: progressed(current.post, legs, now), legs },
        answer: true,
      };
    },
  });
}

function noteDuration(
  { clock, work: { metrics } }: PublishingDeps,
  post: Post,
  network: NetworkName,
): void {
  const sinceMs = clock.now().getTime() - Date.parse(post.startedAt ?? post.createdAt);
  metrics.observe("legs.publish_s", sinceMs / 1000, { network });
}

async function settleLeg(services: PublishingDeps, settlement: Settlement): Promise<void> {
  const { ref, post, leg, end } = settlement;
  const operation = settleOperation(settlement);
  const settled = await commitPost(services, operation, "worker");
  const { network } = leg;
  const account = leg.account?.id ?? null;
  const fields = { postId: ref.postId, network, account, attempt: leg.attempts };
  if (!settled) return services.log.warn("leg was settled by another worker", fields);
  const outcome = end.kind === "failed" ? end.failure.code : "published";
  services.work.metrics.count("legs.ended", { network, outcome });
  if (end.kind === "failed") {
    // Not named `code`: the log redacts fields of this name, because of the codes of authenticator apps.
    const { code: reason, ...failure } = end.failure;
    services.log.info("leg failed", { ...fields, reason, ...failure });
    return;
  }
  // A retry may come days after the post.
  if (leg.round === post.id) noteDuration(services, post, network);
  services.log.info("leg published", { ...fields, ...end.published });
}

/** Gives back the leg's use of the quota. Called before the leg ends, so that a crash in between repeats it. */
async function returnQuota({ services, post, stored }: LegRun): Promise<void> {
  const { network, account, key, remote } = stored.leg;
  if (account === null) return;
  const real = { network, accountId: account.id };
  const taken = [{}, { remote: remote ?? {} }].flatMap(
    (known) => quotaFor(services, post.draft, network, known)?.kind ?? [],
  );
  for (const kind of new Set(taken))
    await services.stores.networkAccounts.returnQuota(real, kind, key);
}

/**
 * Returns the post and its only leg as this worker knows them, which saves reading them. The other legs of a post with
 * several have changed meanwhile, and so has its row when one of them ended.
 */
async function lastKnown(run: LegRun): Promise<PostToPublish | undefined> {
  const { post, postEtag: etag } = run;
  await Promise.allSettled([run.writing]);
  return post.draft.networks.length === 1 ? { post, etag, legs: [run.written] } : undefined;
}

async function end(run: LegRun, how: LegEnd): Promise<void> {
  const { services, ref, post, stored } = run;
  const known = await lastKnown(run);
  await settleLeg(services, { ref, post, leg: stored.leg, end: how, stored: known });
}

export async function fail(run: LegRun, failure: LegFailure): Promise<void> {
  const { services, stored } = run;
  services.work.unmappedSignals.record(stored.leg.network, failure);
  const known = run.doubtSince === null ? failure : asUnknown(failure);
  const at = services.clock.now().toISOString();
  if (known.code !== "outcome_unknown") await returnQuota(run);
  await end(run, { kind: "failed", failure: known });
  const { networkCode, note = null } = failure;
  run.timeline.record({ step: "leg_settled", at, outcome: known.code, networkCode, note });
}

export async function succeed(run: LegRun, published: Published): Promise<void> {
  const at = run.services.clock.now().toISOString();
  await end(run, { kind: "published", published });
  run.timeline.record({ step: "leg_settled", at, outcome: "succeeded", note: published.url });
}

export async function reject(
  run: LegRun,
  connection: Connection,
  { failure }: Rejected,
): Promise<void> {
  await fail(run, await blamed(run.services.connections, connection, failure));
}

/** Retries a leg that was certainly not published, or fails it after the last retry. Keeps what was `prepared`. */
export async function tryLater(
  run: LegRun,
  { failure, retryAfterSeconds }: TryLater,
  prepared: NetworkData | null = null,
): Promise<void> {
  const { services, stored } = run;
  const seconds = nextRetrySeconds(
    services.config.publishing.retrySeconds,
    stored.leg.retries,
    Math.random(),
    retryAfterSeconds,
  );
  if (seconds === null) return failOrReconcile(run, failure);
  const back = toRetry(stored.leg, services.clock.now(), seconds, run.doubtSince);
  await saveAndHint(run, { ...back, remote: prepared ?? back.remote }, failure);
}

/** Returns a failure as one of which nobody can tell whether the post is out. */
export function asUnknown({ networkCode }: LegFailure): LegFailure {
  return { code: "outcome_unknown", networkCode };
}

/** What a call or a look-up came to that leaves the outcome unknown. */
interface Undecided {
  readonly failure: LegFailure;
  readonly pollAfterSeconds?: number;
  readonly isPoll?: true;
  readonly remote?: NetworkData;
}

/**
 * Looks an unknown outcome up again by the schedule, and in the end reports it as unknown. A network that works on the
 * call is asked earlier at first, which uses up none of the schedule.
 */
export async function reconcileLater(
  run: LegRun,
  { failure, pollAfterSeconds, isPoll, remote }: Undecided,
): Promise<void> {
  const { services, stored } = run;
  const made = remote ?? null;
  const { retrySeconds } = services.config.publishing;
  const { leg } = stored;
  const now = services.clock.now();
  const early = isPoll === true ? earlyLookSeconds(leg, now) : null;
  if (early !== null) return saveAndHint(run, postponed(leg, made, now, early));
  const seconds =
    nextReconcileSeconds(retrySeconds, leg.retries, Math.random(), pollAfterSeconds) ??
    lastReconcileSeconds(leg, now);
  if (seconds === null) return fail(run, asUnknown(failure));
  await saveAndHint(run, toReconcile(leg, made, now, seconds), failure);
}

/** Fails a leg whose schedule is used up, after a last look-up where an earlier call may still show an effect. */
export async function failOrReconcile(run: LegRun, failure: LegFailure): Promise<void> {
  const { services, stored, doubtSince } = run;
  const now = services.clock.now();
  const seconds = doubtSince === null ? null : lastReconcileSeconds(stored.leg, now);
  if (seconds === null) return fail(run, failure);
  const doubted = { ...stored.leg, sentAt: doubtSince };
  await saveAndHint(run, toReconcile(doubted, null, now, seconds), failure);
}
