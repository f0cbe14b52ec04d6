import type { Connection } from "../../connections/connections.ts";
import { accountOf } from "../accounts/account-quota.ts";
import type { NetworkAccount } from "../accounts/account-store.ts";
import { leaseUntil, type HandOver, type QueuedLeg } from "../accounts/account-queue-store.ts";
import { releaseOrRetry } from "../../runtime/release.ts";
import { hint } from "../hints.ts";
import { callOf, legKeyOf } from "../leg.ts";
import {
  type CallWork,
  CLAIM_LOST,
  failed,
  goOn,
  ownFailure,
  type Step,
  waitFor,
} from "./call-work.ts";
import { movedTo } from "./leg-attempt.ts";
import { firstRemote, type LegRun } from "./leg-run.ts";

/** The delay of a leg that was claimed under another account than it is published to. */
const MOVED_SECONDS = 1;

/** A worker that is alive prolongs its account's lease before only this share of it is left. */
const STALE_SHARE = 0.6;

/**
 * Takes the account for the leg, so that no other leg uses it. Returns false if another leg has the account: this one
 * then waits in the account's queue, without a claim, until it is called. If the other's lease was not prolonged, its
 * worker may be dead and will call no leg, so this leg also gets a hint for the lease's end.
 */
export async function acquireAccount(run: LegRun, account: NetworkAccount): Promise<boolean> {
  const { deps, ref, claim } = run;
  const { network } = claim.leg;
  const legKey = legKeyOf(claim.leg);
  const { platformId, profileId, postId } = ref;
  const now = deps.clock.now();
  const leaseMs = deps.config.publishing.leaseSeconds * 1000;
  const until = new Date(now.getTime() + leaseMs).toISOString();
  const leg = { legKey, ref: { platformId, profileId, postId } };
  // Until there is an answer, it is unknown whether the account was taken.
  claim.accountLease = leaseUntil(account, legKey, until);
  const taken = await deps.stores.accountQueues.take(account, leg, { now, until });
  claim.accountLease = taken.kind === "taken" ? taken.lease : null;
  if (taken.kind === "taken") return true;
  if (Date.parse(taken.heldUntil) - now.getTime() < leaseMs * STALE_SHARE)
    await hint(deps, ref, { networks: [network], startAt: taken.heldUntil });
  return false;
}

/** Gives the account to the next leg in its queue. */
export async function releaseAccount(run: LegRun): Promise<void> {
  const { deps, claim } = run;
  const { accountLease } = claim;
  if (accountLease === null) return;
  claim.accountLease = null;
  const { accountQueues } = deps.stores;
  await wakeNext(run, (now, handOver) => accountQueues.release(accountLease, now, handOver));
}

/** Passes on an account that was handed to a leg which has ended. */
export async function passOnAccount(run: LegRun): Promise<void> {
  const { leg } = run.claim;
  const { network, account } = leg;
  if (account === null) return;
  const { accountQueues } = run.deps.stores;
  const accountRef = { network, accountId: account.id };
  await wakeNext(run, (now, handOver) =>
    accountQueues.releaseOf(accountRef, legKeyOf(leg), now, handOver),
  );
}

/** Releases an account, repeatedly if needed, and hints the leg that has it next. */
async function wakeNext(
  { deps, ref, claim }: LegRun,
  release: (now: Date, handOver: HandOver) => Promise<QueuedLeg | undefined>,
): Promise<void> {
  const { network } = claim.leg;
  const { log, clock } = deps;
  const handOver: HandOver = {};
  await releaseOrRetry(
    { log, what: "an account", fields: { postId: ref.postId, network } },
    async () => {
      const next = await release(clock.now(), handOver);
      if (next !== undefined) await hint(deps, next.ref, { networks: [network] });
    },
  );
}

/**
 * Moves the leg to the account that is linked now. What was prepared for another account is dropped, and a call that
 * may have been made there can't be looked up any more.
 */
export async function followAccount(work: CallWork, linked: Connection): Promise<Step> {
  const { run } = work;
  const account = accountOf(linked);
  if (run.claim.accountLease?.account.accountId === account.accountId) return goOn(work);
  const { sentAt, resend } = callOf(work.leg);
  if (sentAt !== null && !resend)
    return failed(work, ownFailure("outcome_unknown", "account_replaced"));
  const leg = movedTo(work.leg, linked, firstRemote(run, run.deps.clock.now()));
  if (!(await run.claim.save(leg))) return CLAIM_LOST;
  const moved = { ...work, leg };
  await releaseAccount(run);
  if (await acquireAccount(run, account)) return goOn(moved);
  return waitFor(moved, { kind: "wait", waitsFor: "turn", seconds: MOVED_SECONDS });
}
