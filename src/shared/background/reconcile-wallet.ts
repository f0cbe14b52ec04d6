import type { Reconciled, StoredEntry } from "../billing/wallet-store.ts";
import type { Wallet } from "../billing/wallet.ts";
import type { BackgroundDeps } from "./deps.ts";
import { overPlatforms } from "./over-platforms.ts";
import type { TakeStep } from "../runtime/walk-step.ts";
import type { Leg } from "../publishing/leg.ts";
import { DamagedRow } from "../runtime/storage/damaged-row.ts";

const PAGE_ENTRIES = 1_000;
const POSTS_AT_ONCE = 32;
const TRIES_MAX = 3;
const RESERVED_MS_MAX = 24 * 60 * 60 * 1000;

const BEGINNING: Reconciled = { sequence: 0, balance: 0, reserved: 0 };

/**
 * What is wrong with entries that should lead, one after the other, from a checked point to the wallet; pure.
 * `entries` are newest first, as the ledger is read.
 */
function ledgerMismatches(
  from: Reconciled,
  entries: readonly StoredEntry[],
  wallet: Wallet,
): string[] {
  const mismatches: string[] = [];
  let { sequence, balance, reserved } = from;
  for (const entry of entries.toReversed()) {
    sequence += 1;
    if (entry.sequence !== sequence)
      return [...mismatches, `entry ${sequence} is missing: ${entry.sequence} follows`];
    if (entry.type !== "reserve" && entry.type !== "release") balance += entry.tokens;
    if (entry.type !== "credit" && entry.type !== "debit") reserved += entry.tokens;
    if (entry.balanceAfter !== balance || entry.reservedAfter !== reserved)
      mismatches.push(`entry ${sequence} does not add up`);
  }
  if (sequence !== wallet.sequence)
    mismatches.push(`the ledger ends at ${sequence}, the wallet at ${wallet.sequence}`);
  if (balance !== wallet.balance)
    mismatches.push(`the ledger says a balance of ${balance}, the wallet ${wallet.balance}`);
  if (reserved !== wallet.reserved)
    mismatches.push(`the ledger says ${reserved} reserved, the wallet ${wallet.reserved}`);
  return mismatches;
}

async function entriesAfter(
  services: BackgroundDeps,
  platformId: string,
  sequence: number,
): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = [];
  let after: string | undefined;
  do {
    const page = { after, limit: PAGE_ENTRIES };
    const { items, next } = await services.wallets.listEntries(platformId, {}, page);
    const unchecked = items.filter((entry) => entry.sequence > sequence);
    entries.push(...unchecked);
    after = unchecked.length < items.length ? undefined : next;
  } while (after !== undefined);
  return entries;
}

/** Legs with tokens promised to them: only posts with open work have any. */
async function openReservations(services: BackgroundDeps, platformId: string): Promise<Leg[]> {
  const reserving: Leg[] = [];
  let after: string | undefined;
  do {
    const { works, next } = await services.posts.listOpenWork(platformId, after);
    for (let index = 0; index < works.length; index += POSTS_AT_ONCE) {
      const batch = works.slice(index, index + POSTS_AT_ONCE);
      const posts = await Promise.all(batch.map(({ ref }) => services.posts.find(ref)));
      const legs = posts.flatMap((found) => found?.legs ?? []);
      reserving.push(...legs.filter(({ reservation }) => reservation.state === "open"));
    }
    after = next;
  } while (after !== undefined);
  return reserving;
}

function reservationMismatches(legs: readonly Leg[], wallet: Wallet, now: Date): string[] {
  const mismatches: string[] = [];
  const reserved = legs.reduce((sum, { reservation }) => sum + reservation.tokens, 0);
  if (reserved !== wallet.reserved)
    mismatches.push(
      `open legs have ${reserved} reserved, the wallet has ${wallet.reserved} reserved`,
    );
  const oldest = new Date(now.getTime() - RESERVED_MS_MAX).toISOString();
  for (const leg of legs)
    if (leg.lastAttemptAt !== null && leg.lastAttemptAt < oldest)
      mismatches.push(`${leg.key} has tokens reserved since ${leg.lastAttemptAt}`);
  return mismatches;
}

/**
 * Checks a platform's ledger, wallet and open legs against each other, from where the last check ended. Reports, and
 * never repairs: what is wrong is for people to see. A wallet that keeps moving meanwhile is left for the next run.
 */
export async function reconcilePlatform(
  services: BackgroundDeps,
  platformId: string,
): Promise<string[]> {
  const from = (await services.wallets.findReconciled(platformId)) ?? BEGINNING;
  for (let attempt = 1; attempt <= TRIES_MAX; attempt += 1) {
    const wallet = await services.wallets.read(platformId);
    if (wallet.sequence < from.sequence) return [`the wallet went back to ${wallet.sequence}`];
    const [entries, legs] = await Promise.all([
      entriesAfter(services, platformId, from.sequence),
      openReservations(services, platformId),
    ]);
    const after = await services.wallets.read(platformId);
    if (after.sequence !== wallet.sequence) continue;
    const mismatches = [
      ...ledgerMismatches(from, entries, wallet),
      ...reservationMismatches(legs, wallet, services.clock.now()),
    ];
    if (mismatches.length === 0) await services.wallets.markReconciled(platformId, wallet);
    return mismatches;
  }
  return [];
}

/** A damaged row is a mismatch of its own platform, and does not keep the others from being checked. */
async function mismatchesOf(services: BackgroundDeps, platformId: string): Promise<string[]> {
  try {
    return await reconcilePlatform(services, platformId);
  } catch (error) {
    if (error instanceof DamagedRow) return [error.message];
    throw error;
  }
}

/** Makes the steps that check every platform. A mismatch is an error line for an alert to find. */
export function reconcileWallets(services: BackgroundDeps): TakeStep {
  return overPlatforms(services, "reconcile-wallets", async (platformId) => {
    const mismatches = await mismatchesOf(services, platformId);
    if (mismatches.length === 0) return {};
    services.metrics.count("wallets.mismatched", {});
    services.log.error("wallet does not reconcile", {
      event: "wallet_mismatch",
      platformId,
      mismatches,
    });
    return { counts: { mismatched: 1 } };
  });
}
