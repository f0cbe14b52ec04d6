import { connectionsOf } from "../../connections/connections.ts";
import type { PartitionView } from "../../partition/partition.ts";
import { spendingRefusal, walletOf } from "../../ledger/ledger.ts";
import type { LegErrorCode } from "../../networks/contract/errors.ts";
import type { NetworkName } from "../../networks/networks.ts";
import type { AppError } from "../../runtime/errors.ts";
import { timeOfId } from "../../runtime/ids.ts";
import { continueWork } from "../../runtime/telemetry/work-context.ts";
import type { TakeStep } from "../../runtime/walk-step.ts";
import { hintWakes, type Wake } from "../../wake/wake.ts";
import { reserveMovement } from "../accept/accept-operation.ts";
import { checkPost } from "../accept/check-post.ts";
import type { PublishingDeps } from "../deps.ts";
import { duePosts } from "../hints.ts";
import { isEnded, notStarted, started, type Leg } from "../leg.ts";
import {
  commitPost,
  postOperation,
  progressed,
  type PostDecision,
  type PostOperation,
} from "../post-change.ts";
import type { Pace } from "../pace.ts";
import type { StartHint } from "../post-queue.ts";
import { postKey } from "../post-store.ts";
import { postWake, postRefOf, type Post } from "../post.ts";
import type { NetworkCheck } from "../problems.ts";

/** A post that is later than this is not published any more. */
const LATE_MS_MAX = 24 * 60 * 60 * 1000;
/** How long a due row without its post, or with another time, is kept. The post may be about to be written. */
const ORPHAN_MS = 10 * 60 * 1000;
/** How soon the post of a suspended or closed platform is checked again. */
const SUSPENDED_MS = 5 * 60 * 1000;

/** Why no leg of a due post may be published. */
interface Obstacle {
  readonly status: "skipped" | "failed";
  readonly code: LegErrorCode;
}

/** A due post: whether it may start, and what its networks find in it now. */
interface DuePost {
  readonly post: Post;
  readonly obstacle: Obstacle | undefined;
  readonly checks: readonly NetworkCheck[];
  readonly pace: Pace;
}

type StartResult =
  | {
      readonly kind: "started";
      readonly networks: readonly NetworkName[];
      /** Why the wallet did not pay, or undefined if it did. */
      readonly unpaid: AppError | undefined;
    }
  /** An earlier try started it, so nothing is left to do. */
  | { readonly kind: "started_before" }
  /** The post was changed after it was read, so the findings no longer count, nor does its time. */
  | { readonly kind: "changed" };

interface StartedLegs {
  readonly legs: readonly Leg[];
  readonly networks: readonly NetworkName[];
  readonly tokens: number;
  readonly unpaid?: AppError;
}

/** Returns the legs of a post that starts: with their tokens reserved if the wallet pays for all of them, or ended. */
function legsAtStart(
  { obstacle, checks }: DuePost,
  legs: readonly Leg[],
  view: PartitionView,
): StartedLegs {
  const open = (next: (leg: Leg) => Leg) => legs.map((leg) => (isEnded(leg) ? leg : next(leg)));
  const none = (why: Obstacle) => ({
    legs: open((leg) => notStarted(leg, why, view.now)),
    networks: [],
    tokens: 0,
  });
  if (obstacle !== undefined) return none(obstacle);
  const checkOf = (leg: Leg) => checks.find(({ network }) => network === leg.network);
  const after = open((leg) => started(leg, checkOf(leg), view.now));
  const begun = after.filter(({ reservation }) => reservation.state === "open");
  const tokens = begun.reduce((sum, { reservation }) => sum + reservation.tokens, 0);
  const unpaid = tokens === 0 ? undefined : spendingRefusal(walletOf(view), tokens, view.now);
  if (unpaid !== undefined)
    return { ...none({ status: "failed", code: "insufficient_tokens" }), unpaid };
  return { legs: after, networks: begun.map(({ network }) => network), tokens };
}

/**
 * Makes the starting transaction: legs with their tokens reserved, or ended with the reason. It starts exactly the
 * revision that was checked. Of a start that races with a change or cancel, exactly one wins.
 */
function startOperation(start: DuePost): PostOperation<StartResult> {
  const { post, pace } = start;
  return postOperation({
    id: `start|${postKey(postRefOf(post))}|${post.revision}`,
    known: post,
    pace,
    decide(current, view): PostDecision<StartResult> {
      if (current === undefined) return { kind: "done", answer: { kind: "changed" } };
      if (current.post.status !== "scheduled")
        return { kind: "done", answer: { kind: "started_before" } };
      const before = current.legs.map(({ leg }) => leg);
      const { legs, networks, tokens, unpaid } = legsAtStart(start, before, view);
      const startedAt = view.now.toISOString();
      return {
        kind: "change",
        movements: tokens === 0 ? [] : [reserveMovement(current.post, tokens, networks)],
        after: { post: { ...progressed(current.post, legs, view.now), startedAt }, legs },
        answer: { kind: "started", networks, unpaid },
      };
    },
  });
}

async function obstacleOf(
  deps: Pick<PublishingDeps, "clock" | "tenants">,
  post: Post,
): Promise<Obstacle | undefined> {
  const { platformId, applicationId, profileId } = post;
  const [application, profile] = await Promise.all([
    deps.tenants.findApplication(platformId, applicationId),
    deps.tenants.findProfile(platformId, profileId),
  ]);
  if (application?.status !== "active") return { status: "skipped", code: "application_disabled" };
  if (profile?.status !== "active") return { status: "skipped", code: "profile_disabled" };
  const dueAt = Date.parse(post.draft.scheduleAt ?? "");
  const isMissed = deps.clock.now().getTime() - dueAt > LATE_MS_MAX;
  return isMissed ? { status: "failed", code: "schedule_missed" } : undefined;
}

async function start(deps: PublishingDeps, post: Post): Promise<StartResult["kind"]> {
  const [obstacle, connections] = await Promise.all([
    obstacleOf(deps, post),
    connectionsOf(deps.connections, post),
  ]);
  const checks = await checkPost(deps, { ...post.draft, scheduleAt: null }, connections);
  const pace = deps.config.publishing;
  const outcome = await commitPost(deps, startOperation({ post, obstacle, checks, pace }));
  if (outcome.kind !== "started") return outcome.kind;
  if (outcome.unpaid !== undefined) await deps.ledger.noteRefusal(post.platformId, outcome.unpaid);
  const latenessMs = deps.clock.now().getTime() - Date.parse(post.draft.scheduleAt ?? "");
  deps.work.metrics.observe("posts.lateness_s", latenessMs / 1000, {});
  deps.log.info("post started", { networks: outcome.networks, latenessMs });
  return outcome.kind;
}

/**
 * Starts the post, postpones it if its platform is suspended, or cancels it if the platform is closed. Does nothing for
 * a post that has started. A post that changed in between is read again by another hint.
 */
async function startOrPostpone(deps: PublishingDeps, wake: Wake, post: Post): Promise<void> {
  const ref = postRefOf(post);
  const now = deps.clock.now();
  const platform = await deps.tenants.findPlatform(ref.platformId);
  if (post.status === "scheduled" && platform !== undefined && platform.status !== "active") {
    const later = new Date(now.getTime() + SUSPENDED_MS).toISOString();
    await deps.wakes.add(postWake(ref, later), now);
  } else if (post.status === "scheduled") {
    if ((await start(deps, post)) === "changed")
      return deps.stores.publishQueue.hint({ kind: "start", ...ref, dueAt: wake.at });
  }
  await deps.wakes.remove(wake);
}

/** Starts a scheduled post when it is due, never before, and removes its due row. May be repeated at any time. */
export async function startPost(deps: PublishingDeps, hint: StartHint): Promise<void> {
  const { dueAt, platformId, profileId, postId } = hint;
  const ref = { platformId, profileId, postId };
  const wake = postWake(ref, dueAt);
  const now = deps.clock.now();
  const post = await deps.stores.posts.findPost(ref);
  if (post === undefined) {
    if (now.getTime() - timeOfId("post", postId) > ORPHAN_MS) await deps.wakes.remove(wake);
    return;
  }
  const scheduleAt = post.draft.scheduleAt ?? "";
  if (post.status === "scheduled" && scheduleAt > now.toISOString()) {
    // The sender's clock is ahead, or the post was moved to another time, which has a due row of its own.
    const seconds = (Date.parse(scheduleAt) - now.getTime()) / 1000;
    if (scheduleAt === dueAt)
      await deps.stores.publishQueue.hint({ kind: "start", ...ref, dueAt }, seconds);
    // A change that brings this time back may have written its row but not yet the post, which has no other row.
    else await deps.wakes.removeIfOld(wake, new Date(now.getTime() - ORPHAN_MS));
    return;
  }
  await continueWork(post, {}, () => startOrPostpone(deps, wake, post));
}

export function hintDuePosts(deps: PublishingDeps): TakeStep {
  return hintWakes(deps, duePosts(deps));
}
