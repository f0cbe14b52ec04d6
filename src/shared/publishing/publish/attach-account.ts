import type { Connection } from "../../connections/connection.ts";
import { freshCredentials } from "../../connections/fresh-credentials.ts";
import type { LegFailure } from "../../networks/contract/outcome.ts";
import { accountOf } from "../accept/check-accounts.ts";
import type { NetworkAccount } from "../accounts/account-store.ts";
import type { QueuedLeg } from "../accounts/account-queue-store.ts";
import { givenBack, movedTo } from "../leg.ts";
import { fail, lookAgain, outcomeUnknown, reject, tryLater } from "./settle.ts";
import { begun, park, save, type Work } from "./work.ts";

/** When a leg comes again that was claimed under another account than it goes out on. */
const MOVED_SECONDS = 1;

/**
 * Takes the account for the leg, so that no other leg is worked on for it. Returns false if another leg has the account:
 * this one then waits in the account's queue, without a claim, until it is called.
 */
export async function takeAccount(work: Work, account: NetworkAccount): Promise<boolean> {
  const { services, ref, stored } = work;
  const { key: legKey } = stored.leg;
  const { platformId, profileId, postId } = ref;
  const now = services.clock.now();
  const { leaseSeconds } = services.config.publishing;
  const until = new Date(now.getTime() + leaseSeconds * 1000).toISOString();
  const leg = { legKey, ref: { platformId, profileId, postId } };
  const lease = await services.accountQueues.take(account, leg, { now, until });
  work.accountLease = lease ?? null;
  return lease !== undefined;
}

/** Gives the account to the next leg in its queue, best effort: a lease that is not given back runs out. */
export async function releaseAccount(work: Work): Promise<void> {
  const { services, accountLease } = work;
  if (accountLease === null) return;
  work.accountLease = null;
  await callNext(work, (now) => services.accountQueues.release(accountLease, now));
}

/** Gives the account to the next leg when an ended one was called. Best effort. */
export async function releaseAccountOf(work: Work): Promise<void> {
  const { network, account, key } = work.stored.leg;
  if (account === null) return;
  const { accountQueues } = work.services;
  const accountRef = { network, accountId: account.id };
  await callNext(work, (now) => accountQueues.releaseOf(accountRef, key, now));
}

async function callNext(
  { services, ref, stored, drains }: Work,
  release: (now: Date) => Promise<QueuedLeg | undefined>,
): Promise<void> {
  try {
    const next = await release(services.clock.now());
    if (next !== undefined) await drains.goOn(next, stored.leg.network);
  } catch (error) {
    services.log.warn("an account was not released", { postId: ref.postId, error });
  }
}

/**
 * Moves the leg to the account that is linked now. What was prepared for another account is dropped, and a call that
 * may have been made there can't be looked up any more. Returns false when the leg ended or waits.
 */
async function followAccount(work: Work, linked: Connection): Promise<boolean> {
  const account = accountOf(linked);
  if (work.accountLease?.account.accountId === account.accountId) return true;
  const { leg } = work.stored;
  if (leg.sentAt !== null && !leg.resend) {
    await fail(work, outcomeUnknown({ code: "outcome_unknown", networkCode: "account_replaced" }));
    return false;
  }
  const moved = movedTo(leg, linked, begun(work, work.services.clock.now()));
  if (!(await save(work, moved))) return false;
  await releaseAccount(work);
  if (await takeAccount(work, account)) return true;
  await park(work, givenBack(work.before, moved, work.services.clock.now(), MOVED_SECONDS));
  return false;
}

async function failUnlinked(work: Work, code: LegFailure["code"]): Promise<undefined> {
  await fail(work, { code, networkCode: null });
}

/** Returns the linked account and its credentials; undefined when the leg ended or waits for them. */
export async function attachAccount(work: Work) {
  const { services, ref } = work;
  const opened = await services.connections.open(ref.profileId, work.stored.leg.network);
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
