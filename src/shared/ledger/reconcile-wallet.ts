import { DamagedRow } from "../runtime/storage/damaged-row.ts";
import type { StoredEntry } from "./wallet-row.ts";
import type { Wallet } from "./wallet.ts";
import type { LedgerDeps } from "./deps.ts";

/** Entries that are read and checked at a time. */
const ROUND_ENTRIES = 4_000;
/** Time limit of one check. A ledger that takes longer is checked over several. */
const CHECK_MS_MAX = 25_000;
/** Maximum number of entries that may be written while the open legs are read. */
const MOVES_MAX = 20_000;
/** Maximum number of open legs in memory. */
const LEGS_MAX = 200_000;
const MISMATCHES_MAX = 20;
const RESERVED_MS_MAX = 24 * 60 * 60 * 1000;

/** The result of a check. `moving`: only a part could be checked, and that part was right. */
export type WalletCheck =
  | { readonly kind: "checked" }
  | { readonly kind: "moving" }
  | { readonly kind: "mismatch"; readonly mismatches: readonly string[] };

interface Point {
  readonly sequence: number;
  readonly balance: number;
  readonly reserved: number;
}

const CHECKED: WalletCheck = { kind: "checked" };
const MOVING: WalletCheck = { kind: "moving" };

function ofMismatches(mismatches: readonly string[]): WalletCheck {
  if (mismatches.length === 0) return CHECKED;
  return { kind: "mismatch", mismatches: mismatches.slice(0, MISMATCHES_MAX) };
}

/** Returns the mismatches of entries that should follow a checked point one by one, up to `upTo`. */
function chainMismatches(from: Point, entries: readonly StoredEntry[], upTo: number): string[] {
  const mismatches: string[] = [];
  let { sequence, balance, reserved } = from;
  for (const entry of entries) {
    sequence += 1;
    if (entry.sequence !== sequence)
      return [...mismatches, `entry ${sequence} is missing: ${entry.sequence} follows`];
    if (entry.type !== "reserve" && entry.type !== "release") balance += entry.tokens;
    if (entry.type !== "credit" && entry.type !== "debit") reserved += entry.tokens;
    if (entry.balanceAfter !== balance || entry.reservedAfter !== reserved)
      mismatches.push(`entry ${sequence} does not add up`);
  }
  if (sequence !== upTo) mismatches.push(`the ledger ends at ${sequence}, not at ${upTo}`);
  return mismatches;
}

function walletMismatches(ledger: Point, wallet: Wallet): string[] {
  const mismatches: string[] = [];
  if (ledger.balance !== wallet.balance)
    mismatches.push(`the ledger says a balance of ${ledger.balance}, the wallet ${wallet.balance}`);
  if (ledger.reserved !== wallet.reserved)
    mismatches.push(`the ledger says ${ledger.reserved} reserved, the wallet ${wallet.reserved}`);
  return mismatches;
}

interface VerifiedPart {
  /** The wallet at the end of the checked part, or undefined when that was not reached. */
  readonly wallet?: Wallet;
  readonly mismatches: readonly string[];
}

/**
 * Checks the ledger from the stored point up to the wallet. Checked entries don't change any more, so the point moves
 * with each round, and the wallet may change meanwhile.
 */
async function verifyLedger(deps: LedgerDeps, platformId: string): Promise<VerifiedPart> {
  const { stores } = deps;
  const until = performance.now() + CHECK_MS_MAX;
  while (performance.now() < until) {
    const stored = await stores.ledger.findMark(platformId);
    const { mark } = stored;
    // After the mark, because another process may have moved it up to a newer wallet than one read before.
    const wallet = await stores.ledger.readWallet(platformId);
    if (wallet.sequence < mark.sequence)
      return { mismatches: [`the wallet went back to ${wallet.sequence}`] };
    if (wallet.sequence === mark.sequence)
      return { wallet, mismatches: walletMismatches(mark, wallet) };
    const upTo = Math.min(wallet.sequence, mark.sequence + ROUND_ENTRIES);
    const entries = await stores.ledger.entries(platformId, mark.sequence, upTo);
    const mismatches = chainMismatches(mark, entries, upTo);
    if (mismatches.length > 0) return { mismatches };
    const isFolded = await stores.ledger.fold(platformId, stored, entries);
    const last = entries.at(-1);
    if (!isFolded || last === undefined || upTo < wallet.sequence) continue;
    const end = { sequence: upTo, balance: last.balanceAfter, reserved: last.reservedAfter };
    return { wallet, mismatches: walletMismatches(end, wallet) };
  }
  return { mismatches: [] };
}

/** Identifies a leg as the ledger does. */
const legOf = (postId: string | null, network: string | null) => `${postId}|${network}`;

/**
 * Compares what a wallet has reserved at its sequence with the open legs, which are read while it may change. A leg
 * without an entry since then is unchanged. For the others, their first entry says how they were.
 */
async function checkReservations(
  deps: LedgerDeps,
  platformId: string,
  wallet: Wallet,
): Promise<WalletCheck> {
  const { clock, stores } = deps;
  const open = await deps.openReservations(platformId, LEGS_MAX);
  const newest = await stores.ledger.newest(platformId);
  const after = await stores.ledger.readWallet(platformId);
  if (newest > after.sequence)
    return ofMismatches([`the ledger ends at ${newest}, the wallet at ${after.sequence}`]);
  const moved = after.sequence - wallet.sequence;
  if (open === undefined || moved > MOVES_MAX) return MOVING;
  const entries: StoredEntry[] = [];
  for (let from = wallet.sequence; from < after.sequence; from += ROUND_ENTRIES) {
    const upTo = Math.min(after.sequence, from + ROUND_ENTRIES);
    entries.push(...(await stores.ledger.entries(platformId, from, upTo)));
  }
  if (entries.length !== moved)
    return ofMismatches([`${moved - entries.length} entries after ${wallet.sequence} are missing`]);
  // What the legs of these entries had reserved before: nothing if a leg's first entry reserves, and what that entry
  // settles or releases if it ends the leg.
  const before = new Map<string, number>();
  const touch = (leg: string, tokens: number) => {
    if (!before.has(leg)) before.set(leg, tokens);
  };
  for (const { type, postId, network, legs, tokens } of entries) {
    if (type === "settle" || type === "release") touch(legOf(postId, network), -tokens);
    if (type === "reserve") for (const leg of legs ?? []) touch(legOf(postId, leg), 0);
  }
  const mismatches: string[] = [];
  const oldest = new Date(clock.now().getTime() - RESERVED_MS_MAX).toISOString();
  let reserved = 0;
  for (const tokens of before.values()) reserved += tokens;
  for (const { postId, network, tokens, key, lastAttemptAt } of open) {
    if (before.has(legOf(postId, network))) continue;
    reserved += tokens;
    if (lastAttemptAt !== null && lastAttemptAt < oldest)
      mismatches.push(`${key} has tokens reserved since ${lastAttemptAt}`);
  }
  if (reserved !== wallet.reserved)
    mismatches.unshift(
      `open legs have ${reserved} reserved, the wallet has ${wallet.reserved} reserved`,
    );
  return ofMismatches(mismatches);
}

/**
 * Checks a platform's ledger, wallet and open legs against each other, from where the last check ended, and adds the
 * ledger to the totals of its days. The wallet may change all the time. Mismatches are reported and never repaired,
 * because people have to see them. @throws DamagedRow
 */
export async function checkWallet(deps: LedgerDeps, platformId: string): Promise<WalletCheck> {
  const { wallet, mismatches } = await verifyLedger(deps, platformId);
  if (wallet === undefined) return mismatches.length === 0 ? MOVING : ofMismatches(mismatches);
  const reservations = await checkReservations(deps, platformId, wallet);
  if (mismatches.length === 0) return reservations;
  const more = reservations.kind === "mismatch" ? reservations.mismatches : [];
  return ofMismatches([...mismatches, ...more]);
}

/** A platform that was not found right for longer has an alert of its own, because silence proves nothing. */
const UNCHECKED_MS_MAX = 6 * 60 * 60 * 1000;

/** Stores the result of a check, and reports a platform whose last full check is too long ago. */
async function keepResult(
  deps: LedgerDeps,
  platformId: string,
  result: WalletCheck["kind"],
): Promise<void> {
  const now = deps.clock.now();
  const since = await deps.stores.ledger.keepResult(platformId, result, now);
  // A mismatch has a line of its own in every run.
  if (since === null || result === "mismatch") return;
  if (now.getTime() - Date.parse(since) <= UNCHECKED_MS_MAX) return;
  deps.metrics.count("wallets.unchecked", {});
  deps.log.error("wallet not fully checked", { event: "wallet_unchecked", platformId, since });
}

/**
 * Checks a platform and stores the result. Returns the mismatches. A damaged row is one of its platform, and doesn't stop
 * the check of the others.
 */
export async function reconcileWallet(
  deps: LedgerDeps,
  platformId: string,
): Promise<readonly string[]> {
  let result: WalletCheck;
  try {
    result = await checkWallet(deps, platformId);
  } catch (error) {
    if (!(error instanceof DamagedRow)) {
      // The last full check may be long ago, and nothing else would report it.
      await keepResult(deps, platformId, "moving");
      throw error;
    }
    result = { kind: "mismatch", mismatches: [error.message] };
  }
  const mismatches = result.kind === "mismatch" ? result.mismatches : [];
  try {
    await keepResult(deps, platformId, result.kind);
  } catch (error) {
    // The damaged row may be the mark itself.
    if (!(error instanceof DamagedRow) || mismatches.length === 0) throw error;
  }
  return mismatches;
}
