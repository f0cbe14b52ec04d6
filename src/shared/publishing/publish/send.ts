import type { Connection } from "../../connections/connections.ts";
import type { LegToPublish, Network } from "../../networks/contract/network.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import type { PublishOutcome, TryLater } from "../../networks/contract/outcome.ts";
import { checkRefusal } from "../../networks/contract/refusals.ts";
import { nextRetrySeconds } from "../leg-times.ts";
import { markedSent, toRetry, unsent } from "./leg-attempt.ts";
import { returnUnusedQuota } from "./prepare.ts";
import { fail, reconcileLater, reject, succeed, tryLater } from "./settle.ts";
import { saveAndHint, save, timeSuffices, type LegRun } from "./leg-run.ts";

const leaseTooShort: TryLater = {
  kind: "try_later",
  failure: { code: "network_unavailable", networkCode: "lease_too_short" },
  retryAfterSeconds: 0,
};

/** Leaves the leg for another worker to take at once. The stop of a process does not use up a retry. */
function yieldLeg(run: LegRun, prepared: NetworkData | null = null): Promise<void> {
  const { services, stored } = run;
  if (services.work.stop.endsAt === undefined) return tryLater(run, leaseTooShort, prepared);
  const { retries, remote } = stored.leg;
  const back = toRetry(stored.leg, services.clock.now(), 0, run.doubtSince);
  return saveAndHint(run, { ...back, retries, remote: prepared ?? remote });
}

/** Records for people that the account is in use. A failure does not fail the post. */
async function recordUse({ services }: LegRun, connection: Connection): Promise<void> {
  services.connections.linking.appFaults.accepted(connection);
  try {
    await services.connections.stores.connections.recordUse(connection);
  } catch (error) {
    services.log.warn("use of a connection not recorded", { connection: connection.id, error });
  }
}

async function finish(run: LegRun, connection: Connection, outcome: PublishOutcome): Promise<void> {
  const { services, stored } = run;
  switch (outcome.kind) {
    case "published":
      await succeed(run, outcome);
      return recordUse(run, connection);
    case "in_doubt":
      return reconcileLater(run, outcome);
    case "try_later":
      return tryLater(run, outcome);
    case "rejected":
      return reject(run, connection, outcome);
    case "prepare_again": {
      await returnUnusedQuota(run, outcome.remote);
      // The check accepted it and the network refused it: our rule is not the network's.
      if (outcome.failure.rule !== undefined)
        services.log.warn("network.fact_doubtful", {
          network: stored.leg.network,
          fact: outcome.failure.rule,
        });
      const seconds = nextRetrySeconds(
        services.config.publishing.retrySeconds,
        stored.leg.retries,
        Math.random(),
        outcome.pollAfterSeconds,
      );
      if (seconds === null) return fail(run, outcome.failure);
      const back = toRetry(stored.leg, services.clock.now(), seconds, run.doubtSince);
      return saveAndHint(run, { ...back, remote: outcome.remote }, outcome.failure);
    }
  }
}

/**
 * Writes the sent marker and makes the one visible call. Does neither if the lease, or the worker's time, could end
 * before the call does.
 */
export async function send(
  run: LegRun,
  network: Network,
  connection: Connection,
  ready: LegToPublish,
): Promise<void> {
  const { services } = run;
  // What was uploaded is kept: uploading it again would use up the next lease as well.
  if (!timeSuffices(run)) return yieldLeg(run, ready.remote);
  const now = services.clock.now();
  const before = run.stored.leg;
  const marked = markedSent(before, ready.remote, run.doubtSince, now);
  if (!(await save(run, marked))) return;
  const notSent = () => {
    run.stored = { ...run.stored, leg: unsent(run.stored.leg, before) };
  };
  // Writing the marker may have taken long, too.
  if (!timeSuffices(run)) {
    notSent();
    return yieldLeg(run);
  }
  const leg = { ...ready, sentAt: new Date(run.doubtSince ?? now) };
  services.log.info("leg sent", { network: network.name, attempt: run.stored.leg.attempts });
  const answered = await network.publish(leg, run.tools);
  const outcome = await checkRefusal(answered, network, leg, run.tools);
  // Certainly not sent, so the owner's permission to send without a look-up is kept.
  if (outcome.kind === "try_later" || outcome.kind === "prepare_again") notSent();
  await finish(run, connection, outcome);
}
