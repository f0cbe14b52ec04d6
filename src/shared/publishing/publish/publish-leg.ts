import { randomUUID } from "node:crypto";
import {
  type Connection,
  BACKGROUND_LIMITS,
  createNetworkTools,
} from "../../connections/connections.ts";
import { withShortAltTexts } from "../../networks/contract/alt-text.ts";
import type { LegToPublish, Network } from "../../networks/contract/network.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import { findAvailable } from "../../networks/lookup.ts";
import { continueWork, withinWork } from "../../runtime/telemetry/work-context.ts";
import type { PublishingDeps } from "../deps.ts";
import { hint } from "../hints.ts";
import { withTimeLimit } from "../../runtime/promises.ts";
import { fanOutEvents } from "../../webhooks/webhooks.ts";
import { CRASHES_MAX, nextLegStep } from "../leg.ts";
import { claimed } from "./leg-attempt.ts";
import type { LegsHint } from "../post-queue.ts";
import type { PostToPublish, StoredLeg } from "../post-store.ts";
import { hasStarted, legDraft, type PostRef } from "../post.ts";
import { attachAccount, passOnAccount, releaseAccount, takeAccount } from "./attach-account.ts";
import { claimTextAndQuota, claimQuota, prepare } from "./prepare.ts";
import { send } from "./send.ts";
import { reconcile } from "./reconcile.ts";
import { fail } from "./settle.ts";
import { createTimelineRecorder } from "./timeline-recorder.ts";
import { change, firstRemote, giveLegBack, keepingOpened, save, type LegRun } from "./leg-run.ts";
import { AppError } from "../../runtime/errors.ts";
import { NewerRow } from "../../runtime/storage/damaged-row.ts";

/** A hint that comes earlier than this is ignored: the right one is still to come. */
const EARLY_SECONDS_MAX = 5;

/** The events of a post's start wait this long for those of its legs, to be fanned out with them. */
const START_EVENTS_MS = 500;

/** How long after the begin of a message its worker may still fan out events: legs may take four of the host's five minutes. */
const FAN_OUT_MS_MAX = 20_000;

/** How long the hint of a leg that a stopping process did not begin waits: a new process may not be there yet. */
const HAND_BACK_SECONDS = 1;

/** Sends a hint again that came a few seconds early, because of a clock that runs behind. */
async function hintAgain({ services, ref, stored }: LegRun, at: string, now: Date): Promise<void> {
  const seconds = (Date.parse(at) - now.getTime()) / 1000;
  if (seconds <= EARLY_SECONDS_MAX)
    await services.stores.publishQueue.hint(
      { kind: "legs", ...ref, networks: [stored.leg.network] },
      seconds,
    );
}

async function isDue(run: LegRun): Promise<boolean> {
  const { services, stored } = run;
  const now = services.clock.now();
  const step = nextLegStep(stored.leg, now);
  if (step.kind === "later" && step.at === stored.leg.notBefore) await hintAgain(run, step.at, now);
  // The account may have been handed to this leg, which needs it no longer.
  if (step.kind === "ended") await passOnAccount(run);
  return step.kind === "claim";
}

/**
 * Claims the leg for this worker. Returns false when another one was first. What the network chooses once, such as a
 * key of the post, is chosen and stored here, so that it outlives the worker.
 */
async function claim(run: LegRun): Promise<boolean> {
  const { services, stored } = run;
  const now = services.clock.now();
  const afterCrash = stored.leg.leaseUntil !== null;
  const { leaseSeconds } = services.config.publishing;
  const taken = claimed(stored.leg, { id: run.claimId, now, leaseSeconds, afterCrash });
  const leg = { ...taken, remote: taken.remote ?? firstRemote(run, now) };
  if (!(await save(run, leg))) return false;
  run.timeline.record({ step: "leg_claimed", outcome: afterCrash ? "after_crash" : "ok" });
  const { network, attempts } = leg;
  services.log.info("leg claimed", { network, attempt: attempts, phase: leg.phase, afterCrash });
  return true;
}

function toPublish(
  run: LegRun,
  network: Network,
  { connection, credentials }: { connection: Connection; credentials: NetworkData },
): LegToPublish {
  const { leg } = run.stored;
  const altTextMax = network.altTextMax?.(connection.limits) ?? Infinity;
  return {
    key: leg.key,
    draft: withShortAltTexts(legDraft(run.post.draft, leg.network), altTextMax),
    account: connection.account,
    credentials,
    instanceUrl: connection.instanceUrl,
    limits: connection.limits,
    remote: leg.remote ?? {},
    sentAt: leg.sentAt === null ? null : new Date(leg.sentAt),
    isUnpublished: leg.sentAt === null,
  };
}

/** Runs the phases of a claimed leg in order. Each goes on to the next, ends the leg or postpones it. */
async function runPhases(run: LegRun, network: Network): Promise<void> {
  const usable = await attachAccount(run);
  if (usable === undefined) return;
  const { leg } = run.stored;
  const { connection } = usable;
  const ready = toPublish(run, network, usable);
  if (leg.sentAt !== null && !(await reconcile(run, network, connection, ready))) return;
  if (!(await claimTextAndQuota(run, connection))) return;
  const isUnpublished = run.doubtSince === null;
  const prepared = await prepare(run, network, connection, { ...ready, isUnpublished });
  if (prepared === undefined) return;
  // What was made may count towards another quota than the draft: a video that is no reel.
  if (await claimQuota(run, connection, prepared.remote))
    await send(run, network, connection, prepared);
}

/** Writes the leg when the process is told to stop, so that its lease ends with the process and another one goes on. */
async function endingLeaseAtStop(run: LegRun, work: () => Promise<void>): Promise<void> {
  const { services, ref } = run;
  const forget = services.work.stop.before(async () => {
    try {
      await change(run, (leg) => leg);
    } catch (error) {
      services.log.warn("lease not shortened", { postId: ref.postId, error });
    }
  });
  try {
    await work();
  } finally {
    forget();
  }
}

/** Writes the worker's steps to the timeline, whatever becomes of the leg. */
async function withTimeline(
  { services, ref, stored, timeline }: LegRun,
  phases: () => Promise<void>,
) {
  try {
    await phases();
  } finally {
    await timeline.save(services, ref.postId, stored.leg.claimId ?? "");
  }
}

async function runLeg(run: LegRun): Promise<void> {
  const { services, ref } = run;
  const { leg } = run.stored;
  const network = findAvailable(leg.network, services.config.networkApps);
  if (network === undefined) return fail(run, { code: "app_misconfigured", networkCode: null });
  if (leg.crashes < CRASHES_MAX) return runPhases(run, network);
  services.log.error("leg given up after crashes", {
    event: "leg_given_up",
    postId: ref.postId,
    network: leg.network,
  });
  await fail(run, { code: "internal_error", networkCode: null });
}

/**
 * Moves one leg on as far as it can go now. May be called at any time, any number of times, in any number of processes:
 * a leg is worked on only under a claim, and a visible call is made only after a marker was written that outlives the
 * worker.
 */
async function publishLeg(
  services: PublishingDeps,
  ref: PostRef,
  stored: StoredLeg,
  { post, etag: postEtag }: PostToPublish,
): Promise<void> {
  const { network, sentAt } = stored.leg;
  const timeline = createTimelineRecorder(network, () => run.stored.leg.attempts, services.clock);
  const limits = { ...BACKGROUND_LIMITS, owner: ref.platformId };
  const files = keepingOpened(createNetworkTools(services.connections, network, limits));
  const tools = timeline.tools(files.tools);
  const callsEndAt = performance.now() + BACKGROUND_LIMITS.totalMs;
  const worker = { services, ref, post, postEtag, tools, timeline, callsEndAt };
  const run: LegRun = {
    ...worker,
    claimId: randomUUID(),
    stored,
    written: stored,
    before: stored.leg,
    writing: Promise.resolve(),
    accountLease: null,
    doubtSince: sentAt,
  };
  if (!(await isDue(run))) return;
  let cannotGoOn = false;
  try {
    await workOn(run);
  } catch (error) {
    cannotGoOn =
      error instanceof NewerRow ||
      (error instanceof AppError && error.code === "service_unavailable");
    throw error;
  } finally {
    await files.close();
    if (cannotGoOn) await giveLegBack(run);
    await releaseAccount(run);
  }
}

/** Takes the leg's account, claims the leg and runs it. */
async function workOn(run: LegRun): Promise<void> {
  const { services, ref, stored } = run;
  const { account, network } = stored.leg;
  // Before the claim, so that waiting for the account costs no write of the leg.
  if (account !== null && !(await takeAccount(run, { network, accountId: account.id }))) return;
  if (services.work.stop.endsAt !== undefined)
    await requeueHint(services, ref, [network], HAND_BACK_SECONDS);
  else if (await claim(run))
    await endingLeaseAtStop(run, () => withTimeline(run, () => runLeg(run)));
}

/** Sends the hint back to the queue: of a process that stops, or that has no slot for the platform. */
function requeueHint(
  services: PublishingDeps,
  { platformId, profileId, postId }: PostRef,
  networks: LegsHint["networks"],
  seconds: number,
) {
  const ref = { platformId, profileId, postId };
  return services.stores.publishQueue.hint(
    { kind: "legs", ...ref, networks: [...networks] },
    seconds,
  );
}

async function publishAll(
  services: PublishingDeps,
  ref: PostRef,
  seen: PostToPublish,
): Promise<unknown[]> {
  const errors: unknown[] = [];
  const publishOne = async (stored: StoredLeg): Promise<void> => {
    try {
      await publishLeg(services, ref, stored, seen);
    } catch (error) {
      // Left to an instance of the build that has written the row; reading it was logged.
      if (error instanceof NewerRow) return;
      services.log.error("leg failed unexpectedly", { postId: ref.postId, error });
      errors.push(error);
    }
  };
  await Promise.all(
    seen.legs.map((stored) =>
      withinWork({ network: stored.leg.network }, () => publishOne(stored)),
    ),
  );
  return errors;
}

/** Works on the legs as they are stored now. Returns what failed. */
async function publishStored(
  services: PublishingDeps,
  ref: PostRef,
  networks: LegsHint["networks"],
): Promise<unknown[]> {
  const first = await services.stores.posts.findToPublish(ref, networks);
  if (first === undefined) return [];
  // A read of several pages may show the post before and the leg after a change and the start. Legs are published with
  // the draft at the start.
  const isStarted = hasStarted(first.post);
  const seen = isStarted ? first : await services.stores.posts.findToPublish(ref, networks);
  if (seen === undefined) return [];
  return continueWork(seen.post, {}, () => publishAll(services, ref, seen));
}

/** Publishes the legs, and fans out the events of the post's start and of its legs. */
async function publishNamed(
  services: PublishingDeps,
  { platformId, profileId, postId, networks }: LegsHint,
): Promise<void> {
  const ref = { platformId, profileId, postId };
  const fanOutEndsAt = performance.now() + FAN_OUT_MS_MAX;
  const publishing = publishStored(services, ref, networks);
  // A slow network doesn't keep the events of the start waiting. What is quick has one fan-out for all.
  const early = await withTimeLimit(START_EVENTS_MS, publishing, () => "late" as const);
  if (early === "late") await fanOutPost(services, ref, fanOutEndsAt);
  const errors = await publishing;
  await fanOutPost(services, ref, fanOutEndsAt);
  if (errors.length > 0) throw new AggregateError(errors, "legs failed unexpectedly");
}

/** Fans out the post's events here, or hints them when this message has taken long enough. Never throws. */
async function fanOutPost(services: PublishingDeps, ref: PostRef, endsAt: number): Promise<void> {
  const { platformId } = ref;
  const { wakes, clock, log } = services;
  const { stop } = services.work;
  try {
    if (stop.endsAt === undefined && performance.now() < endsAt) {
      await wakes.mark("platform", platformId, clock.now());
      return await fanOutEvents(services.webhooks, { platformId }, endsAt);
    }
  } catch (error) {
    log.warn("events not fanned out, they get a message", { postId: ref.postId, error });
  }
  await hint(services, ref, { hasEvents: true });
}

/**
 * Works on the legs that a hint names, in parallel and independently. Returns for every expected outcome.
 * @throws AggregateError after all legs were worked on, when some of them failed unexpectedly
 */
export async function publishLegs(services: PublishingDeps, asked: LegsHint): Promise<void> {
  const { networks, ...ref } = asked;
  if (services.work.stop.endsAt !== undefined)
    return requeueHint(services, ref, networks, HAND_BACK_SECONDS);
  const share = { owner: ref.platformId, now: services.clock.now() };
  await services.work.publishShares.run(
    share,
    () => publishNamed(services, asked),
    (seconds) => requeueHint(services, ref, networks, seconds),
  );
}
