import { AppError } from "../../runtime/errors.ts";
import { NewerRow } from "../../runtime/storage/damaged-row.ts";
import type { PublishingDeps } from "../deps.ts";
import { queueLegs } from "../hints.ts";
import { callOf, nextLegStep, withCall } from "../leg.ts";
import type { PostToPublish, StoredLeg } from "../post-store.ts";
import type { PostRef } from "../post.ts";
import { applyStep } from "./apply-step.ts";
import { passOnAccount, releaseAccount, acquireAccount } from "./account-lease.ts";
import { claimed } from "./leg-attempt.ts";
import { beginRun, firstRemote, type LegRun } from "./leg-run.ts";
import { makeCall } from "./make-call.ts";

/** A hint that comes earlier than this is ignored, because the right one is still to come. */
const EARLY_SECONDS_MAX = 5;

/** Delay of the hint for a leg that a stopping process did not begin. A new process may not exist yet. */
export const HAND_BACK_SECONDS = 1;

/**
 * Continues one leg as far as possible now. May be called at any time, any number of times, in any number of processes:
 * a leg is only worked on under a claim, and a visible call is made only after writing a sent record that outlives the
 * worker.
 */
export async function publishLeg(
  deps: PublishingDeps,
  ref: PostRef,
  stored: StoredLeg,
  seen: PostToPublish,
): Promise<void> {
  const run = beginRun(deps, ref, stored, seen);
  const { claim, timeline, files } = run;
  const { account, network } = stored.leg;
  const now = deps.clock.now();
  const step = nextLegStep(stored.leg, now);
  if (step.kind === "later" && step.at === stored.leg.notBefore) {
    // The hint came a few seconds early, because of a clock that runs behind.
    const seconds = (Date.parse(step.at) - now.getTime()) / 1000;
    if (seconds <= EARLY_SECONDS_MAX) await queueLegs(deps, ref, [network], seconds);
  }
  // The account may have been handed to this leg, which needs it no longer.
  if (step.kind === "ended") await passOnAccount(run);
  if (step.kind !== "claim") return;
  const { stop } = deps.work;
  try {
    // Before the claim, so that waiting for the account costs no write of the leg.
    if (account !== null && !(await acquireAccount(run, { network, accountId: account.id })))
      return;
    if (stop.endsAt !== undefined) return await queueLegs(deps, ref, [network], HAND_BACK_SECONDS);
    if (!(await claimLeg(run))) return;
    // When the process is told to stop, the lease ends with it, so that another process continues.
    const forget = stop.before(async () => {
      try {
        await claim.shortenLease();
      } catch (error) {
        deps.log.warn("lease not shortened", { postId: ref.postId, error });
      }
    });
    try {
      await applyStep(run, await makeCall(run));
    } finally {
      await timeline.save(deps, ref.postId, claim.claimId);
      forget();
      await files.close();
    }
  } catch (error) {
    const isUnavailable = error instanceof AppError && error.code === "service_unavailable";
    if (isUnavailable || error instanceof NewerRow) await claim.giveBack();
    throw error;
  } finally {
    await releaseAccount(run);
  }
}

/**
 * Claims the leg for this worker. Returns false when another one was first. A value that the network chooses once, such
 * as a key of the post, is chosen and stored here, so that it outlives the worker.
 */
async function claimLeg(run: LegRun): Promise<boolean> {
  const { deps, claim } = run;
  const now = deps.clock.now();
  const afterCrash = claim.leg.leaseUntil !== null;
  const { leaseSeconds } = deps.config.publishing;
  const taken = claimed(claim.leg, { id: claim.claimId, now, leaseSeconds, afterCrash });
  const call = callOf(taken);
  const remote = call.kind === "publish" ? (call.remote ?? firstRemote(run, now)) : call.remote;
  if (!(await claim.write(withCall(taken, { ...call, remote })))) return false;
  run.timeline.record({ step: "leg_claimed", outcome: afterCrash ? "after_crash" : "ok" });
  const { network } = taken;
  const { attempts: attempt, state } = call;
  deps.log.info("leg claimed", { network, attempt, state, afterCrash });
  return true;
}
