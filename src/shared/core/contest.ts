import { randomBytes } from "node:crypto";
import type { StoredWallet, WriterLease } from "./core-operation.ts";

/** Longest pause after a lost race. After a longer one the winner would be far ahead. */
export const RACE_PAUSE_MS_MAX = 40;
/** How long after a lost race, or after another process's lease was seen, the wallet counts as contested. */
const CONTESTED_MS = 1_000;
/** How long a process writes without a pause; in the pause, another process can write. */
const UNBROKEN_MS_MAX = 250;
/**
 * How long a process has a contested wallet to itself: about so many transactions, within these bounds. With shorter
 * leases most of the time goes into handing the wallet over; with longer ones, eight processes wait for seconds.
 */
const LEASE_TRANSACTIONS = 8;
const LEASE_MS = { min: 150, max: 500 };
/** For how many transactions a process keeps the wallet with nothing to write: its callers come back by then. */
const LINGER_TRANSACTIONS = 3;
/**
 * Processes that wait for the end of a lease come back spread over the time of so many transactions, and the first of
 * them gets the wallet.
 */
const HANDOVER_TRANSACTIONS = 4;
const HANDOVER_MS = { min: 30, max: 300 };
/** After waiting for so long, a process comes back without delay, and no longer asks whose lease it is. */
const PATIENCE_MS = 2_000;
/** How much a transaction's duration counts in the average. */
const NEWEST_SHARE = 0.25;

const within = ({ min, max }: { readonly min: number; readonly max: number }, ms: number) =>
  Math.min(max, Math.max(min, ms));

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * How one process gets along with the others that write the same wallet. Nothing depends on it but speed: whatever it
 * says, the wallet's ETag decides.
 *
 * An uncontested wallet is written immediately. A process that has lost a race first claims the wallet with a small
 * transaction, and then has it for itself for a while; with each write it says for how long. The others send the wallet
 * nothing meanwhile, and their operations gather. Times are counted in transactions: the busier storage is, the longer
 * each of them takes, and a lease that ends before the second one is worth nothing.
 */
export class Contest {
  readonly #readWallet: () => Promise<StoredWallet>;
  readonly #id = randomBytes(6).toString("base64url");
  #contestedUntil = 0;
  /** Since when this process writes without a pause. */
  #since = 0;
  #holds = false;
  /** What a transaction takes, on average. */
  #transactionMs = 0;
  /** Since when it has waited for others; 0 when it does not. */
  #waitingSince = 0;
  /** Whether the service had too much to do when this process last tried to write. */
  isBusy = false;

  /** `readWallet` reads it again. */
  constructor(readWallet: () => Promise<StoredWallet>) {
    this.#readWallet = readWallet;
  }

  get #isContested(): boolean {
    return performance.now() < this.#contestedUntil;
  }

  get #leftMs(): number {
    // The last write has to be over when the lease is.
    const lastsMs = this.#isContested
      ? within(LEASE_MS, LEASE_TRANSACTIONS * this.#transactionMs) - this.#transactionMs
      : UNBROKEN_MS_MAX;
    return lastsMs - (performance.now() - this.#since);
  }

  get #handoverMs(): number {
    return within(HANDOVER_MS, HANDOVER_TRANSACTIONS * this.#transactionMs);
  }

  /** Begins a time of writing, when something comes to be written after none was. */
  begin(): void {
    // Callers that come back within a turn, or right after it, don't get another one by it.
    if (this.#holds && this.#leftMs > -this.#handoverMs) return;
    this.#since = performance.now();
    this.#holds = false;
    this.#waitingSince = 0;
  }

  /** Whether this process may write, as much as it likes, without waiting. */
  get isOurs(): boolean {
    return (this.#holds || !this.#isContested) && this.#leftMs > 0;
  }

  /**
   * Waits until this process may write. Returns whether it may write much: while it only claims the wallet, a race that
   * it loses should cost little.
   */
  async untilOurs(): Promise<boolean> {
    if (this.isOurs) return true;
    if (!this.#isContested) {
      await this.#rest(Math.min(this.#transactionMs, RACE_PAUSE_MS_MAX));
      return true;
    }
    if (this.#holds) await this.#rest(this.#handoverMs);
    this.#holds = false;
    if (this.#waitingSince === 0) this.#waitingSince = performance.now();
    await this.#untilFree();
    this.#since = performance.now();
    return false;
  }

  /**
   * Pauses. Without pauses, a process that knows the version of its own last write always wins against one that has to
   * read.
   */
  async #rest(ms: number): Promise<void> {
    await pause(ms);
    this.#since = performance.now();
  }

  /** Waits for the end of another process's lease; or for a sign that this process has died, or has nothing to write. */
  async #untilFree(): Promise<void> {
    for (let before = ""; ;) {
      const { etag, writer } = await this.#readWallet();
      const isHeld = writer !== null && writer.by !== this.#id && etag !== before;
      if (!isHeld || this.#waitedMs >= PATIENCE_MS) return;
      before = etag;
      this.#contestedUntil = performance.now() + CONTESTED_MS;
      await pause(Math.min(writer.forMs, LEASE_MS.max) + this.latenessMs(this.#handoverMs));
    }
  }

  get #waitedMs(): number {
    return this.#waitingSince === 0 ? 0 : performance.now() - this.#waitingSince;
  }

  /** Returns a random pause of up to `maxMs`, by which the process that has waited longest comes first. */
  latenessMs(maxMs: number): number {
    return Math.random() * maxMs * Math.max(0, 1 - this.#waitedMs / PATIENCE_MS);
  }

  /** Returns the lease that a write declares for this process; null when the process gives the wallet up. */
  lease(hasMore: boolean): WriterLease | null {
    if (!this.#isContested) return null;
    const lingerMs = LINGER_TRANSACTIONS * this.#transactionMs;
    const forMs = Math.ceil(hasMore ? this.#leftMs : Math.min(this.#leftMs, lingerMs));
    return forMs <= this.#transactionMs ? null : { by: this.#id, forMs };
  }

  won(tookMs: number): void {
    this.isBusy = false;
    // What merely claimed the wallet was not what this process has waited for.
    if (this.#holds || !this.#isContested) this.#waitingSince = 0;
    this.#transactionMs += (tookMs - this.#transactionMs) * NEWEST_SHARE;
    if (this.#isContested) this.#holds = true;
  }

  /** Notes that the service had too much to do: others that have waited come first. */
  tooMuch(): void {
    if (this.#waitingSince === 0) this.#waitingSince = performance.now();
    this.isBusy = true;
    this.lost();
  }

  lost(): void {
    this.#contestedUntil = performance.now() + CONTESTED_MS;
    this.#holds = false;
  }
}
