import { createNetworkTools } from "../../connections/network-tools.ts";
import { freshCredentials } from "../../connections/fresh-credentials.ts";
import type { Connection } from "../../connections/connection.ts";
import type {
  LegFailure,
  LegToPublish,
  Network,
  NetworkData,
  PublishOutcome,
  TryLater,
} from "../../networks/contract/network.ts";
import { findAvailable } from "../../networks/lookup.ts";
import type { MediaRepair } from "../../networks/contract/media.ts";
import { mediaRejected } from "../../networks/contract/media-failed.ts";
import type { PublishingDeps } from "../deps.ts";
import { type Post, legDraft } from "../post.ts";
import { claimAccount } from "../accounts/claim-account.ts";
import { CRASHES_MAX, type Leg, markedSent, parked, putBack, unsent } from "../leg.ts";
import { lastLookSeconds, nextRetrySeconds } from "../leg-times.ts";
import {
  claim,
  fail,
  failOrLook,
  followAccount,
  holdingLease,
  isDue,
  lookAgain,
  outcomeUnknown,
  park,
  reject,
  releaseTurn,
  save,
  succeed,
  takeTurn,
  tryLater,
  type Work,
} from "./leg-work.ts";
import { fatalFile, LegReadings, notingReadings } from "./leg-readings.ts";
import { notingRepairs, withRepairs } from "./note-repairs.ts";
import { createTrace } from "./trace.ts";
import type { PostPlace, StoredLeg } from "../post-store.ts";

/** Media that is still processing after this long will not become ready. */
const PROCESSING_MS_MAX = 60 * 60 * 1000;

function toPublish(work: Work, connection: Connection, credentials: NetworkData): LegToPublish {
  const { leg } = work.stored;
  return {
    key: leg.key,
    draft: legDraft(work.post.draft, leg.network),
    account: connection.account,
    credentials,
    instanceUrl: connection.instanceUrl,
    limits: connection.limits,
    remote: leg.remote ?? {},
    sentAt: leg.sentAt === null ? null : new Date(leg.sentAt),
  };
}

/** Whether the network's word on the first call holds for a later one too, which may still be on its way. */
function isShown(leg: Leg, now: Date): boolean {
  return leg.calledAt === leg.sentAt || lastLookSeconds(leg, now) === null;
}

/** True when nothing stands in the way of a (further) visible call. */
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

/** For people to see which accounts are in use; a post does not fail for it. */
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

/** Uploads and containers. The prepared leg, or undefined when it ended or waits. */
async function prepare(
  work: Work,
  network: Network,
  connection: Connection,
  leg: LegToPublish,
): Promise<LegToPublish | undefined> {
  const repairs: MediaRepair[] = [];
  const tools = notingRepairs(work.tools, repairs);
  const outcome = await holdingLease(work, () => network.prepare(leg, tools));
  // Written with whatever the leg's next state is.
  work.stored = { ...work.stored, leg: withRepairs(work.stored.leg, repairs) };
  const now = work.services.clock.now();
  switch (outcome.kind) {
    case "ready":
      work.services.log.info("leg prepared", { network: network.name, repairs: repairs.length });
      return { ...leg, remote: outcome.remote };
    case "processing": {
      const since = Date.parse(work.stored.leg.lastAttemptAt ?? now.toISOString());
      if (now.getTime() - since > PROCESSING_MS_MAX)
        await fail(work, { code: "media_not_ready", networkCode: null });
      else await park(work, parked(work.stored.leg, outcome.remote, now, outcome.pollAfterSeconds));
      return undefined;
    }
    case "try_later":
      await tryLater(work, outcome, outcome.remote);
      return undefined;
    case "rejected":
      await reject(work, connection, outcome);
      return undefined;
  }
}

/** Whether the lease outlasts the longest call that may follow. */
function leaseSuffices({ services, stored }: Work): boolean {
  const leftMs = Date.parse(stored.leg.leaseUntil ?? "") - services.clock.now().getTime();
  return leftMs > services.config.publishing.networkTimeoutMs;
}

const leaseTooShort: TryLater = {
  kind: "try_later",
  failure: { code: "network_unavailable", networkCode: "lease_too_short" },
  retryAfterSeconds: 0,
};

/** The sent marker, then the one visible call; not begun on a lease that could end before the call does. */
async function send(
  work: Work,
  network: Network,
  connection: Connection,
  ready: LegToPublish,
): Promise<void> {
  const { services } = work;
  // Uploads that took this long must not be done again, or they would use up the next lease as well.
  if (!leaseSuffices(work)) return tryLater(work, leaseTooShort, ready.remote);
  const now = services.clock.now();
  const before = work.stored.leg;
  const marked = markedSent(before, ready.remote, work.doubtSince, now);
  if (!(await save(work, marked))) return;
  const notSent = () => {
    work.stored = { ...work.stored, leg: unsent(work.stored.leg, before) };
  };
  // The marker itself may have taken long.
  if (!leaseSuffices(work)) {
    notSent();
    return tryLater(work, leaseTooShort);
  }
  const leg = { ...ready, sentAt: new Date(work.doubtSince ?? now) };
  services.log.info("leg sent", { network: network.name, attempt: work.stored.leg.attempts });
  const outcome = await network.publish(leg, work.tools);
  // Certainly not sent: the owner's permission to send it holds on.
  if (outcome.kind === "try_later" || outcome.kind === "prepare_again") notSent();
  await finish(work, connection, outcome);
}

async function failUnlinked(work: Work, code: LegFailure["code"]): Promise<undefined> {
  await fail(work, { code, networkCode: null });
}

/** The account and its credentials, or undefined when the leg ended or waits for them. */
async function connect(work: Work) {
  const { services, place } = work;
  const opened = await services.connections.open(place.profileId, work.stored.leg.network);
  if (opened === undefined || opened.connection.status === "revoked")
    return failUnlinked(work, "connection_missing");
  const linked = opened.connection;
  if (linked.status === "needs_reauth") return failUnlinked(work, "connection_needs_reauth");
  if (!(await followAccount(work, linked))) return undefined;
  const fresh = await freshCredentials(services, linked, opened);
  if (fresh.kind === "usable") return fresh;
  if (fresh.kind === "rejected") await reject(work, linked, fresh);
  else if (work.stored.leg.sentAt === null) await tryLater(work, fresh);
  else await lookAgain(work, fresh.failure);
  return undefined;
}

async function walk(work: Work, network: Network): Promise<void> {
  const usable = await connect(work);
  if (usable === undefined) return;
  const { leg } = work.stored;
  const { connection, credentials } = usable;
  const ready = toPublish(work, connection, credentials);
  if (leg.sentAt !== null && !(await reconcile(work, network, ready))) return;
  if (!(await claimAccount(work, connection))) return;
  const prepared = await prepare(work, network, connection, ready);
  if (prepared !== undefined) await send(work, network, connection, prepared);
}

/** What is done is written down under the claim, whatever becomes of it. */
async function tracing({ services, place, stored, trace }: Work, run: () => Promise<void>) {
  try {
    await run();
  } finally {
    await trace.save(services, place.postId, stored.leg.claimId ?? "");
  }
}

/** Whoever read this file did not live to tell: nothing was sent, and nobody reads it again. */
async function failUnreadable(on: Work, mediaIndex: number | null): Promise<void> {
  const { services, place, stored } = on;
  const { network } = stored.leg;
  services.log.error("leg ended for a file that ends its readers", {
    event: "leg_given_up",
    postId: place.postId,
    network,
    mediaIndex,
  });
  const note = "its reading ended the process, twice in a row";
  await fail(on, mediaRejected(`${network}.media.crash`, note, mediaIndex ?? undefined).failure);
}

async function work(on: Work): Promise<void> {
  const { services, place } = on;
  const { leg } = on.stored;
  const network = findAvailable(leg.network, services.config.networkApps);
  if (network === undefined) return fail(on, { code: "app_misconfigured", networkCode: null });
  const fatal = fatalFile(leg);
  if (fatal !== undefined) return failUnreadable(on, fatal.mediaIndex);
  if (leg.crashes < CRASHES_MAX) return walk(on, network);
  services.log.error("leg given up after crashes", {
    event: "leg_given_up",
    postId: place.postId,
    network: leg.network,
  });
  await fail(on, { code: "internal_error", networkCode: null });
}

/**
 * Moves one leg on as far as it goes now. Safe to call any number of times, at any time, from any number of processes:
 * a leg is worked on only under a claim, and nothing visible is sent without a marker that outlives the worker.
 */
export async function publishLeg(
  services: PublishingDeps,
  place: PostPlace,
  post: Post,
  stored: StoredLeg,
): Promise<void> {
  const { network, sentAt } = stored.leg;
  const trace = createTrace(network, () => on.stored.leg.attempts, services.clock);
  const readings = new LegReadings(stored.leg);
  const readBy = notingReadings(readings, { owner: place.platformId, draft: post.draft, network });
  const tools = trace.tools(createNetworkTools(services, network, undefined, readBy));
  const worker = { services, place, post, tools, trace, readings };
  const on: Work = {
    ...worker,
    stored,
    before: stored.leg,
    writing: Promise.resolve(),
    turn: null,
    doubtSince: sentAt,
  };
  if (!(await isDue(on))) return;
  const { account } = stored.leg;
  // Before the claim, so that waiting in line costs no write of the leg.
  if (account !== null && !(await takeTurn(on, { network, accountId: account.id }))) return;
  const noMoreStop = services.stop.before(() => readings.stop());
  try {
    if (await claim(on)) await tracing(on, () => work(on));
  } finally {
    noMoreStop();
    await readings.close();
    await releaseTurn(on);
  }
}
