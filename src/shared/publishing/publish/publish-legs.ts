import type { NetworkName } from "../../networks/networks.ts";
import { withTimeLimit } from "../../runtime/promises.ts";
import { NewerRow } from "../../runtime/storage/damaged-row.ts";
import { continueWork } from "../../runtime/telemetry/work-context.ts";
import { fanOutEvents } from "../../webhooks/webhooks.ts";
import type { PublishingDeps } from "../deps.ts";
import { hint, queueLegs } from "../hints.ts";
import type { LegsHint } from "../post-queue.ts";
import { hasStarted, type PostRef } from "../post.ts";
import { HAND_BACK_SECONDS, publishLeg } from "./publish-leg.ts";

/** The events of a post's start wait this long for those of its legs, to be fanned out with them. */
const START_EVENTS_MS = 500;

/** How long after the start of a message its worker may still fan out events. Legs may take four of five minutes. */
const FAN_OUT_MS_MAX = 20_000;

/**
 * Works on the legs that a hint names, in parallel and independently. Returns for every expected outcome.
 * @throws AggregateError after all legs were worked on, when some of them failed unexpectedly
 */
export async function publishLegs(deps: PublishingDeps, asked: LegsHint): Promise<void> {
  const { platformId, profileId, postId, networks } = asked;
  const ref = { platformId, profileId, postId };
  const again = (seconds: number) => queueLegs(deps, ref, networks, seconds);
  if (deps.work.stop.endsAt !== undefined) return again(HAND_BACK_SECONDS);
  const share = { owner: platformId, now: deps.clock.now() };
  const giveBack = await deps.work.publishShares.acquire(share, again);
  if (giveBack === undefined) return;
  try {
    await publishEach(deps, ref, networks);
  } finally {
    giveBack();
  }
}

/** Works on each of the legs as it is stored now, and fans out the events of the post's start and of its legs. */
async function publishEach(
  deps: PublishingDeps,
  ref: PostRef,
  networks: readonly NetworkName[],
): Promise<void> {
  const fanOutEndsAt = performance.now() + FAN_OUT_MS_MAX;
  const { posts } = deps.stores;
  const first = await posts.findToPublish(ref, networks);
  // A read of several pages may show the post before a change and the leg after the start. Legs are published with the
  // draft at the start.
  const isTorn = first !== undefined && !hasStarted(first.post);
  const seen = isTorn ? await posts.findToPublish(ref, networks) : first;
  const errors: unknown[] = [];
  const running: Promise<void>[] = [];
  if (seen !== undefined)
    for (const stored of seen.legs) {
      const work = continueWork(seen.post, { network: stored.leg.network }, async () => {
        try {
          await publishLeg(deps, ref, stored, seen);
        } catch (error) {
          // Left to an instance of the build that has written the row. Reading it was logged.
          if (error instanceof NewerRow) return;
          deps.log.error("leg failed unexpectedly", { postId: ref.postId, error });
          errors.push(error);
        }
      });
      running.push(work);
    }
  const publishing = Promise.all(running);
  // A slow network doesn't keep the events of the start waiting. What is quick has one fan-out for all.
  const early = await withTimeLimit(START_EVENTS_MS, publishing, () => "late" as const);
  if (early === "late") await fanOutPost(deps, ref, fanOutEndsAt);
  await publishing;
  await fanOutPost(deps, ref, fanOutEndsAt);
  if (errors.length > 0) throw new AggregateError(errors, "legs failed unexpectedly");
}

/** Fans out the post's events here, or hints them when this message has taken long enough. Never throws. */
async function fanOutPost(deps: PublishingDeps, ref: PostRef, endsAt: number): Promise<void> {
  const { platformId } = ref;
  const { wakes, clock, log } = deps;
  const { stop } = deps.work;
  try {
    if (stop.endsAt === undefined && performance.now() < endsAt) {
      await wakes.mark("platform", platformId, clock.now());
      return await fanOutEvents(deps.webhooks, { platformId }, endsAt);
    }
  } catch (error) {
    log.warn("events not fanned out, they get a message", { postId: ref.postId, error });
  }
  await hint(deps, ref, { hasEvents: true });
}
