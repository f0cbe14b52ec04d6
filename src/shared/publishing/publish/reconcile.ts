import type { Connection } from "../../connections/connections.ts";
import type { LegToPublish, Network } from "../../networks/contract/network.ts";
import { countRefusal } from "../../networks/contract/refusals.ts";
import { lastReconcileSeconds } from "../leg-times.ts";
import type { Leg } from "../leg.ts";
import type { LegRun } from "./leg-run.ts";
import { asUnknown, fail, failOrReconcile, reconcileLater, reject, succeed } from "./settle.ts";

/**
 * Returns whether the answer of a look-up covers the latest call: there was only one, or enough time has passed for its
 * effect to show.
 */
function coversLatestCall(leg: Leg, now: Date): boolean {
  return leg.calledAt === leg.sentAt || lastReconcileSeconds(leg, now) === null;
}

/** Looks up a call of unknown outcome. Returns true when the leg may be sent (again), false when it ended or waits. */
export async function reconcile(
  run: LegRun,
  network: Network,
  connection: Connection,
  ready: LegToPublish,
): Promise<boolean> {
  const { services, stored } = run;
  const outcome = countRefusal(await network.reconcile(ready, run.tools), ready);
  switch (outcome.kind) {
    case "published":
      await succeed(run, outcome);
      return false;
    case "may_publish":
      if (outcome.isAbsent && coversLatestCall(stored.leg, services.clock.now()))
        run.doubtSince = null;
      if (stored.leg.retries <= services.config.publishing.retrySeconds.length) return true;
      await failOrReconcile(
        run,
        outcome.failure ?? { code: "network_unavailable", networkCode: null },
      );
      return false;
    case "ask_again":
      await reconcileLater(run, outcome);
      return false;
    case "unknowable":
      if (stored.leg.resend) return true;
      await fail(run, asUnknown(outcome.failure));
      return false;
    case "rejected":
      if (coversLatestCall(stored.leg, services.clock.now())) run.doubtSince = null;
      await reject(run, connection, outcome);
      return false;
  }
}
