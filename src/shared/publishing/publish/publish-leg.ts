import { randomUUID } from "node:crypto";
import type { Connection } from "../../connections/connection.ts";
import { BACKGROUND_LIMITS, createNetworkTools } from "../../connections/network-tools.ts";
import { withShortAltTexts } from "../../networks/contract/alt-text.ts";
import { mediaRejected } from "../../networks/contract/media-check.ts";
import type { LegToPublish, Network } from "../../networks/contract/network.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import { findAvailable } from "../../networks/lookup.ts";
import { continueWork, withinWork } from "../../runtime/telemetry/work-context.ts";
import type { PublishingDeps } from "../deps.ts";
import { hint } from "../hints.ts";
import { claimed, CRASHES_MAX, nextLegStep, type Leg } from "../leg.ts";
import type { PublishHint } from "../post-queue.ts";
import type { PostToPublish, StoredLeg } from "../post-store.ts";
import { hasStarted, legDraft, type PostRef } from "../post.ts";
import { attachAccount, releaseAccountOf, releaseAccount, takeAccount } from "./attach-account.ts";
import { fatalFile, LegReadings, notingReadings } from "./leg-readings.ts";
import { claimAccount, claimQuota, prepare } from "./prepare.ts";
import { send } from "./send.ts";
import { fail, failOrLook, lookAgain, outcomeUnknown, succeed } from "./settle.ts";
import { createTrace } from "./trace.ts";
import { AccountDrains, begun, change, keepingOpened, save, type Work } from "./work.ts";
import { lastLookSeconds } from "../leg-times.ts";

/** Returns whether what the network says of the first call covers a later one, whose effect may not show yet. */
function isShown(leg: Leg, now: Date): boolean {
  return leg.calledAt === leg.sentAt || lastLookSeconds(leg, now) === null;
}

/** Looks up a call of unknown outcome. Returns true when the leg may be sent (again), false when it ended or waits. */
async function reconcile(work: Work, network: Network, ready: LegToPublish): Promise<boolean> {
  const { services, stored } = work;
  const outcome = await network.reconcile(ready, work.tools);
  switch (outcome.kind) {
    case "published":
      await succeed(work, outcome);
      return false;
    case "may_publish":
      if (outcome.isAbsent && isShown(stored.leg, services.clock.now())) work.doubtSince = null;
      if (stored.leg.retries <= services.config.publishing.retrySeconds.length) return true;
      await failOrLook(work, { code: "network_unavailable", networkCode: null });
      return false;
    case "ask_again":
      await lookAgain(work, outcome.failure, outcome.pollAfterSeconds);
      return false;
    case "unknowable":
      if (stored.leg.resend) return true;
      await fail(work, outcomeUnknown(outcome.failure));
      return false;
    case "rejected":
      if (isShown(stored.leg, services.clock.now())) work.doubtSince = null;
      await fail(work, outcome.failure);
      return false;
  }
}

/** A hint that comes earlier than this is ignored: the right one is still to come. */
const EARLY_SECONDS_MAX = 5;

/** How long the hint of a leg that a stopping process did not begin waits: a new process may not be there yet. */
const HAND_BACK_SECONDS = 1;

/** Sends a hint again that came a few seconds early, because of a clock that runs behind. */
async function hintAgain({ services, ref, stored }: Work, at: string, now: Date): Promise<void> {
  const seconds = (Date.parse(at) - now.getTime()) / 1000;
  if (seconds <= EARLY_SECONDS_MAX)
    await services.publishQueue.hint({ ...ref, networks: [stored.leg.network] }, seconds);
}

async function isDue(work: Work): Promise<boolean> {
  const { services, stored } = work;
  const now = services.clock.now();
  const step = nextLegStep(stored.leg, now);
  if (step.kind === "later" && step.at === stored.leg.notBefore)
    await hintAgain(work, step.at, now);
  // It may have been called to its account, and keeps nobody waiting.
  if (step.kind === "ended") await releaseAccountOf(work);
  return step.kind === "claim";
}

/**
 * Claims the leg for this worker. Returns false when another one was first. What the network chooses once, such as a
 * key of the post, is chosen and stored here, so that it outlives the worker.
 */
async function claim(work: Work): Promise<boolean> {
  const { services, stored } = work;
  const now = services.clock.now();
  const afterCrash = stored.leg.leaseUntil !== null;
  const { leaseSeconds } = services.config.publishing;
  const taken = claimed(stored.leg, { id: randomUUID(), now, leaseSeconds, afterCrash });
  const leg = { ...taken, remote: taken.remote ?? begun(work, now) };
  if (!(await save(work, leg))) return false;
  work.readings.open({
    save: () => change(work, (taken) => taken),
    warn: (error) => services.log.warn("reading not noted", { postId: work.ref.postId, error }),
  });
  // The signal came while the claim was written.
  if (services.stop.endsAt !== undefined) await work.readings.stop();
  work.trace.record({ step: "leg_claimed", outcome: afterCrash ? "after_crash" : "ok" });
  const { network, attempts } = leg;
  services.log.info("leg claimed", { network, attempt: attempts, phase: leg.phase, afterCrash });
  return true;
}

function toPublish(
  work: Work,
  network: Network,
  { connection, credentials }: { connection: Connection; credentials: NetworkData },
): LegToPublish {
  const { leg } = work.stored;
  const altTextMax = network.altTextMax?.(connection.limits) ?? Infinity;
  return {
    key: leg.key,
    draft: withShortAltTexts(legDraft(work.post.draft, leg.network), altTextMax),
    account: connection.account,
    credentials,
    instanceUrl: connection.instanceUrl,
    limits: connection.limits,
    remote: leg.remote ?? {},
    sentAt: leg.sentAt === null ? null : new Date(leg.sentAt),
    isUnpublished: leg.sentAt === null,
  };
}

/** Runs the phases of a claimed leg in order. Each goes on to the next, ends the leg or gives it back. */
async function runPhases(work: Work, network: Network): Promise<void> {
  const usable = await attachAccount(work);
  if (usable === undefined) return;
  const { leg } = work.stored;
  const { connection } = usable;
  const ready = toPublish(work, network, usable);
  if (leg.sentAt !== null && !(await reconcile(work, network, ready))) return;
  if (!(await claimAccount(work, connection))) return;
  const isUnpublished = work.doubtSince === null;
  const prepared = await prepare(work, network, connection, { ...ready, isUnpublished });
  if (prepared === undefined) return;
  // What was made may count towards another quota than the draft: a video that is no reel.
  if (await claimQuota(work, connection, prepared.remote))
    await send(work, network, connection, prepared);
}

/** Writes the worker's steps to the timeline, whatever becomes of the leg. */
async function withTrace({ services, ref, stored, trace }: Work, run: () => Promise<void>) {
  try {
    await run();
  } finally {
    await trace.save(services, ref.postId, stored.leg.claimId ?? "");
  }
}

/** Fails a leg with a file that crashed every worker that read it. Nothing was sent. */
async function failUnreadable(on: Work, mediaIndex: number | null): Promise<void> {
  const { services, ref, stored } = on;
  const { network } = stored.leg;
  services.log.error("leg failed, reading its file crashed the process", {
    event: "leg_given_up",
    postId: ref.postId,
    network,
    mediaIndex,
  });
  const note = "reading it crashed the process, twice in a row";
  await fail(on, mediaRejected(`${network}.media.crash`, note, mediaIndex ?? undefined).failure);
}

async function work(on: Work): Promise<void> {
  const { services, ref } = on;
  const { leg } = on.stored;
  const network = findAvailable(leg.network, services.config.networkApps);
  if (network === undefined) return fail(on, { code: "app_misconfigured", networkCode: null });
  const fatal = fatalFile(leg);
  if (fatal !== undefined) return failUnreadable(on, fatal.mediaIndex);
  if (leg.crashes < CRASHES_MAX) return runPhases(on, network);
  services.log.error("leg given up after crashes", {
    event: "leg_given_up",
    postId: ref.postId,
    network: leg.network,
  });
  await fail(on, { code: "internal_error", networkCode: null });
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
  { seen, drains }: { readonly seen: PostToPublish; readonly drains: AccountDrains },
): Promise<void> {
  const { post, etag: postEtag } = seen;
  const { network, sentAt } = stored.leg;
  const trace = createTrace(network, () => on.stored.leg.attempts, services.clock);
  const readings = new LegReadings(stored.leg);
  const readBy = notingReadings(readings, { owner: ref.platformId, draft: post.draft, network });
  const files = keepingOpened(createNetworkTools(services, network, BACKGROUND_LIMITS, readBy));
  const tools = trace.tools(files.tools);
  const callsEndAt = performance.now() + BACKGROUND_LIMITS.totalMs;
  const worker = { services, ref, post, postEtag, tools, trace, readings, callsEndAt, drains };
  const on: Work = {
    ...worker,
    stored,
    written: stored,
    before: stored.leg,
    writing: Promise.resolve(),
    accountLease: null,
    doubtSince: sentAt,
  };
  if (!(await isDue(on))) return;
  const { account } = stored.leg;
  // Before the claim, so that waiting for the account costs no write of the leg.
  if (account !== null && !(await takeAccount(on, { network, accountId: account.id }))) return;
  const noMoreStop = services.stop.before(() => readings.stop());
  try {
    if (services.stop.endsAt !== undefined) await handBack(services, ref, [network]);
    else if (await claim(on)) await withTrace(on, () => work(on));
  } finally {
    noMoreStop();
    await files.close();
    await readings.close();
    await releaseAccount(on);
  }
}

/** Sends the hint back to the queue: a process that stops begins no leg. */
function handBack(services: PublishingDeps, ref: PostRef, networks: PublishHint["networks"]) {
  return services.publishQueue.hint({ ...ref, networks }, HAND_BACK_SECONDS);
}

async function publishAll(
  services: PublishingDeps,
  ref: PostRef,
  began: { readonly seen: PostToPublish; readonly drains: AccountDrains },
): Promise<unknown[]> {
  const errors: unknown[] = [];
  const publishOne = async (stored: StoredLeg): Promise<void> => {
    try {
      await publishLeg(services, ref, stored, began);
    } catch (error) {
      services.log.error("leg failed unexpectedly", { postId: ref.postId, error });
      errors.push(error);
    }
  };
  await Promise.all(
    began.seen.legs.map((stored) =>
      withinWork({ network: stored.leg.network }, () => publishOne(stored)),
    ),
  );
  return errors;
}

async function publishNamed(
  services: PublishingDeps,
  { networks, ...ref }: Omit<PublishHint, "v">,
  drains: AccountDrains,
): Promise<void> {
  // Events of the start are sent now, and not when the slowest network has ended.
  const hinted = hint(services, ref, { hasEvents: true });
  const first = await services.posts.findToPublish(ref, networks);
  if (first === undefined) return;
  // A read of several pages may show the post before and the leg after a change and the start. Legs are published with
  // the draft at the start.
  const isStarted = hasStarted(first.post);
  const seen = isStarted ? first : await services.posts.findToPublish(ref, networks);
  if (seen === undefined) return;
  const errors = await continueWork(seen.post, {}, () =>
    publishAll(services, ref, { seen, drains }),
  );
  await hinted;
  await hint(services, ref, { hasEvents: true });
  if (errors.length > 0) throw new AggregateError(errors, "legs failed unexpectedly");
}

/**
 * Works on the legs that a hint names, all at once and independently, and on those that are queued for their accounts.
 * Returns for every expected outcome.
 * @throws AggregateError after all legs were worked on, when some of those named failed unexpectedly
 */
export async function publishLegs(services: PublishingDeps, asked: PublishHint): Promise<void> {
  const { networks, ...ref } = asked;
  if (services.stop.endsAt !== undefined) return handBack(services, ref, networks);
  const drains = new AccountDrains(services, (called) => publishNamed(services, called, drains));
  try {
    await publishNamed(services, asked, drains);
  } finally {
    await drains.ended();
  }
}
