import type { CoreOperation, CoreView } from "../../billing/group-commit.ts";
import { checkAfter, paced, secondsUntil } from "../../billing/pace.ts";
import type { AppError } from "../../runtime/errors.ts";
import { timeOfId } from "../../runtime/ids.ts";
import { refusal } from "../../billing/wallet.ts";
import type { LegErrorCode } from "../../networks/contract/errors.ts";
import type { NetworkName } from "../../networks/lookup.ts";
import type { PublishingDeps } from "../deps.ts";
import { continueWork } from "../../runtime/telemetry/work-context.ts";
import { reserveMovement } from "../accept/accept.ts";
import type { NetworkCheck } from "../accept/judgement.ts";
import { type Leg, isEnded, notStarted, started, startingAt } from "../leg.ts";
import type { DuePost } from "./due-post.ts";
import { firstCheckAt } from "./first-check.ts";
import type { StartHint } from "./start-queue.ts";
import { hintLegs } from "../publish/hint-legs.ts";
import { checkPost } from "../accept/check-accounts.ts";
import type { Post, PostRef } from "../post.ts";
import { postKey } from "../post-store.ts";
import { commitPost, postOperation, progressed, type PostDecision } from "../post-change.ts";

/** Later than this a post is not published any more. */
const LATE_MS_MAX = 24 * 60 * 60 * 1000;
/** A due row whose post never came to be is left alone this long after the post got its id: it may be on its way. */
const ORPHAN_MS = 10 * 60 * 1000;
/** How soon the post of a suspended platform is looked at again. */
const SUSPENDED_MS = 5 * 60 * 1000;

/** Why nothing of a post may go out although it is due. */
type Standstill =
  | { readonly kind: "skip"; readonly code: LegErrorCode }
  | { readonly kind: "fail"; readonly code: LegErrorCode };

interface Firing {
  readonly ref: PostRef;
  readonly post: Post;
  readonly standstill: Standstill | undefined;
  readonly checks: readonly NetworkCheck[];
  readonly nextCheckAt: string;
  readonly legsPerSecond: number;
}

type Fired =
  | {
      readonly kind: "fired";
      readonly networks: readonly NetworkName[];
      /** When they begin; null for at once. */
      readonly startAt: string | null;
      /** Why the wallet did not pay, where it did not. */
      readonly unpaid: AppError | undefined;
    }
  /** By an earlier try: nothing is to be done. */
  | { readonly kind: "fired_before" }
  /** Since it was read: what was found out holds no more, its time included. */
  | { readonly kind: "changed" };

interface FiredLegs {
  readonly legs: readonly Leg[];
  readonly unpaid?: AppError;
}

function firedLegs(firing: Firing, legs: readonly Leg[], view: CoreView): FiredLegs {
  const { standstill, checks } = firing;
  const open = (next: (leg: Leg) => Leg) => legs.map((leg) => (isEnded(leg) ? leg : next(leg)));
  if (standstill !== undefined) {
    const status = standstill.kind === "skip" ? "skipped" : "failed";
    return { legs: open((leg) => notStarted(leg, status, standstill.code)) };
  }
  const going = open((leg) =>
    started(
      leg,
      checks.find(({ network }) => network === leg.network),
      view.now,
    ),
  );
  const tokens = going.reduce(
    (sum, { reservation }) => sum + (reservation.state === "open" ? reservation.tokens : 0),
    0,
  );
  const unpaid = tokens === 0 ? undefined : refusal(view.wallet, tokens, view.now);
  if (unpaid === undefined) return { legs: going };
  return { legs: open((leg) => notStarted(leg, "failed", "insufficient_tokens")), unpaid };
}

/**
 * The firing transaction: legs on their way with their tokens reserved, or ended with the reason. It starts the very
 * revision that was judged, at its time: of a firing and a change or cancel that race, exactly one wins.
 */
function startOperation(asked: Firing): CoreOperation<Fired> {
  const { ref, post } = asked;
  return postOperation({
    id: `fire|${postKey(ref)}|${post.revision}`,
    known: post,
    decide(current, view): PostDecision<Fired> {
      const { now } = view;
      if (current === undefined) return { kind: "done", answer: { kind: "changed" } };
      if (current.post.status !== "scheduled")
        return { kind: "done", answer: { kind: "fired_before" } };
      const before = current.legs.map(({ leg }) => leg);
      const { legs: firing, unpaid } = firedLegs(asked, before, view);
      const reserved = firing.filter(({ reservation }) => reservation.state === "open");
      const { paceUntil, startAt } = paced(view.wallet, reserved.length, now, asked.legsPerSecond);
      const legs = startingAt(firing, startAt);
      const tokens = reserved.reduce((sum, { reservation }) => sum + reservation.tokens, 0);
      return {
        kind: "change",
        movements: tokens === 0 ? [] : [reserveMovement(current.post, tokens)],
        paceUntil,
        after: {
          post: { ...progressed(current.post, legs, now), startedAt: now.toISOString() },
          legs,
          nextCheckAt: checkAfter(asked.nextCheckAt, startAt, now),
        },
        answer: {
          kind: "fired",
          networks: reserved.map(({ network }) => network),
          startAt,
          unpaid,
        },
      };
    },
  });
}

async function standstillOf(services: PublishingDeps, post: Post): Promise<Standstill | undefined> {
  const { platformId, applicationId, profileId } = post;
  const [application, profile] = await Promise.all([
    services.applications.find(platformId, applicationId),
    services.profiles.find(platformId, profileId),
  ]);
  if (application?.status !== "active") return { kind: "skip", code: "application_disabled" };
  if (profile?.status !== "active") return { kind: "skip", code: "profile_disabled" };
  const dueAt = Date.parse(post.draft.scheduleAt ?? "");
  const isMissed = services.clock.now().getTime() - dueAt > LATE_MS_MAX;
  return isMissed ? { kind: "fail", code: "schedule_missed" } : undefined;
}

async function fire(services: PublishingDeps, ref: PostRef, post: Post): Promise<Fired["kind"]> {
  const now = services.clock.now();
  const [standstill, connections] = await Promise.all([
    standstillOf(services, post),
    services.connections.listOfProfile(post.profileId),
    services.openWork.mark(ref.platformId, now),
  ]);
  const checks = await checkPost(services, { ...post.draft, scheduleAt: null }, connections);
  const nextCheckAt = firstCheckAt(services, now);
  const { legsPerSecond } = services.config.publishing;
  const outcome = await commitPost(
    services,
    ref.platformId,
    startOperation({ ref, post, standstill, checks, nextCheckAt, legsPerSecond }),
    "now",
  );
  if (outcome.kind !== "fired") return outcome.kind;
  if (outcome.unpaid !== undefined)
    await services.wallets.noteRefusal(ref.platformId, outcome.unpaid);
  const firedAt = services.clock.now();
  const latenessMs = firedAt.getTime() - Date.parse(post.draft.scheduleAt ?? "");
  services.metrics.observe("posts.lateness_s", latenessMs / 1000, {});
  services.log.info("post fired", { networks: outcome.networks, latenessMs });
  await hintLegs(services, ref, outcome.networks, secondsUntil(outcome.startAt, firedAt));
  return outcome.kind;
}

/**
 * Fires the post, unless its platform has to wait; whoever came too late finds nothing to do. One that was changed in
 * between is read anew, by another hint.
 */
async function attend(services: PublishingDeps, due: DuePost, post: Post): Promise<void> {
  const { ref } = due;
  const now = services.clock.now();
  const platform = await services.platforms.find(ref.platformId);
  if (post.status === "scheduled" && platform?.status === "suspended") {
    const later = new Date(now.getTime() + SUSPENDED_MS).toISOString();
    await services.due.add({ ref, dueAt: later }, now);
  } else if (post.status === "scheduled") {
    if ((await fire(services, ref, post)) === "changed") return services.startQueue.hint(due, 0);
  }
  await services.due.remove(due);
}

/**
 * Fires a scheduled post when it is due, never before. Safe to repeat at any time; the due row is removed once it
 * stands for nothing any more.
 */
export async function startPost(services: PublishingDeps, hint: StartHint): Promise<void> {
  const { dueAt, platformId, profileId, postId } = hint;
  const ref = { platformId, profileId, postId };
  const due = { ref, dueAt };
  const now = services.clock.now();
  const post = await services.posts.findPost(ref);
  if (post === undefined) {
    // Not by `dueAt`, which moves on with every hint that is sent again.
    if (now.getTime() - timeOfId("post", postId) > ORPHAN_MS) await services.due.remove(due);
    return;
  }
  const scheduleAt = post.draft.scheduleAt ?? "";
  if (post.status === "scheduled" && scheduleAt > now.toISOString()) {
    // Early by a clock that runs ahead, or the post was moved, which has a row of its own.
    const seconds = (Date.parse(scheduleAt) - now.getTime()) / 1000;
    if (scheduleAt === dueAt) await services.startQueue.hint(due, seconds);
    else await services.due.remove(due);
    return;
  }
  await continueWork(post, {}, () => attend(services, due, post));
}
