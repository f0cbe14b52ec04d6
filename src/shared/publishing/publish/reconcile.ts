import type { LegToPublish, Network } from "../../networks/contract/network.ts";
import { lastLookSeconds } from "../leg-times.ts";
import type { Leg } from "../leg.ts";
import { fail, failOrLook, lookAgain, outcomeUnknown, succeed } from "./settle.ts";
import type { Work } from "./work.ts";

/** Returns whether what the network says of the first call covers a later one, whose effect may not show yet. */
function isShown(leg: Leg, now: Date): boolean {
  return leg.calledAt === leg.sentAt || lastLookSeconds(leg, now) === null;
}

/** Looks up a call of unknown outcome. Returns true when the leg may be sent (again), false when it ended or waits. */
export async function reconcile(
  work: Work,
  network: Network,
  ready: LegToPublish,
): Promise<boolean> {
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
