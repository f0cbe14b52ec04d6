import type { Connection } from "../../connections/connection.ts";
import type { LegToPublish, Network } from "../../networks/contract/network.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import type { PublishOutcome, TryLater } from "../../networks/contract/outcome.ts";
import { nextRetrySeconds } from "../leg-times.ts";
import { markedSent, putBack, unsent } from "../leg.ts";
import { returnUnusedQuota } from "./prepare.ts";
import { fail, lookAgain, reject, succeed, tryLater } from "./settle.ts";
import { park, save, type Work } from "./work.ts";

/** Returns whether a call may take its full time: the lease lasts as long, and the worker goes on for as long. */
function timeSuffices({ services, stored, callsEndAt }: Work): boolean {
  const leaseMs = Date.parse(stored.leg.leaseUntil ?? "") - services.clock.now().getTime();
  const leftMs = Math.min(leaseMs, callsEndAt - performance.now());
  return leftMs > services.config.publishing.networkTimeoutMs;
}

const leaseTooShort: TryLater = {
  kind: "try_later",
  failure: { code: "network_unavailable", networkCode: "lease_too_short" },
  retryAfterSeconds: 0,
};

/** Gives the leg back for another worker to take at once. The stop of a process does not use up a retry. */
function giveBack(work: Work, prepared: NetworkData | null = null): Promise<void> {
  const { services, stored } = work;
  if (services.stop.endsAt === undefined) return tryLater(work, leaseTooShort, prepared);
  const { retries, remote } = stored.leg;
  const back = putBack(stored.leg, services.clock.now(), 0, work.doubtSince);
  return park(work, { ...back, retries, remote: prepared ?? remote });
}

/** Records for people that the account is in use. A failure does not fail the post. */
async function recordUse({ services }: Work, connection: Connection): Promise<void> {
  try {
    await services.connections.recordUse(connection);
  } catch (error) {
    services.log.warn("use of a connection not recorded", { connection: connection.id, error });
  }
}

async function finish(work: Work, connection: Connection, outcome: PublishOutcome): Promise<void> {
  const { services, stored } = work;
  switch (outcome.kind) {
    case "published":
      await succeed(work, outcome);
      return recordUse(work, connection);
    case "in_doubt":
      return lookAgain(work, outcome.failure, outcome.pollAfterSeconds, outcome.remote);
    case "try_later":
      return tryLater(work, outcome);
    case "rejected":
      return reject(work, connection, outcome);
    case "prepare_again": {
      await returnUnusedQuota(work, outcome.remote);
      // Judged to fit, and refused by a rule all the same: the rule is not the network's own.
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
      if (seconds === null) return fail(work, outcome.failure);
      const back = putBack(stored.leg, services.clock.now(), seconds, work.doubtSince);
      return park(work, { ...back, remote: outcome.remote }, outcome.failure);
    }
  }
}

/**
 * Writes the sent marker and makes the one visible call. Does neither if the lease, or the worker's time, could end
 * before the call does.
 */
export async function send(
  work: Work,
  network: Network,
  connection: Connection,
  ready: LegToPublish,
): Promise<void> {
  const { services } = work;
  // What was uploaded is kept: uploading it again would use up the next lease as well.
  if (!timeSuffices(work)) return giveBack(work, ready.remote);
  const now = services.clock.now();
  const before = work.stored.leg;
  const marked = markedSent(before, ready.remote, work.doubtSince, now);
  if (!(await save(work, marked))) return;
  const notSent = () => {
    work.stored = { ...work.stored, leg: unsent(work.stored.leg, before) };
  };
  // Writing the marker may have taken long, too.
  if (!timeSuffices(work)) {
    notSent();
    return giveBack(work);
  }
  const leg = { ...ready, sentAt: new Date(work.doubtSince ?? now) };
  services.log.info("leg sent", { network: network.name, attempt: work.stored.leg.attempts });
  const outcome = await network.publish(leg, work.tools);
  // Certainly not sent, so the owner's permission to send without a look-up is kept.
  if (outcome.kind === "try_later" || outcome.kind === "prepare_again") notSent();
  await finish(work, connection, outcome);
}
