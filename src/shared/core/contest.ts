import { randomBytes } from "node:crypto";
import type { StoredWallet, WriterLease } from "./core-operation.ts";

/** Longest pause after a lost race. After a longer one the winner would be far ahead. */
export const RACE_PAUSE_MS_MAX = 40;
/** How long after a lost race, or after another process was seen writing, the wallet counts as contested. */
const CONTESTED_MS = 1_000;
/** How long another process counts as one that takes turns, after it was last seen writing. */
const SEEN_MS = 5_000;
/**
 * A turn lasts about so many transactions, within bounds. With shorter ones most of the time goes into handing the
 * wallet over; with longer ones, eight processes wait for seconds. A process that knows of no other goes on for longer
 * before it pauses.
 */
const TURN_TRANSACTIONS = 8;
const TURN_MS = { min: 150, max: 500 };
const CALM_TURN_MS = { min: 500, max: 1_000 };
/** How long a process that knows of no other pauses: others have to read before they can write. */
const CALM_PAUSE_TRANSACTIONS = 2;
const CALM_PAUSE_MS_MAX = 100;
/**
 * A turn in which so many operations were written ends when no more wait. Before, the process keeps the wallet for the
 * time of some transactions: a few callers come back by then, and a handover for each of them would cost more.
 */
const TURN_OPERATIONS = 12;
const LINGER_TRANSACTIONS = 3;
/** About what one transaction takes of those that wait. */
const OPERATIONS_AT_ONCE = 20;
/** Processes that wait come one after the other, by somewhat less than a transaction takes. */
const SLOT_TRANSACTIONS = 0.7;
const SLOT_MS = { min: 8, max: 300 };
/** By how many slots a process that has lost races comes later, at most. */
const LOSSES_MAX = 4;
/** After waiting for so long, a process pauses no longer than it must for storage that has too much to do. */
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
 * An uncontested wallet is written immediately. On a contested one, processes take turns. With each write, a process
 * says who it is and for how long it goes on. The others send the wallet nothing meanwhile, and their operations gather.
 * When it ends, the one comes first whose own last turn is longest ago: each sees the others' turns in the wallet, so
 * all know the order. Times are counted in transactions: the busier storage is, the longer each of them takes.
 */
export class Contest {
  readonly #readWallet: () => Promise<StoredWallet>;
  readonly #id = randomBytes(6).toString("base64url");
  /** When each other process was last seen writing. */
  readonly #others = new Map<string, number>();
  #contestedUntil = 0;
  /** Since when this process writes without a pause. */
  #since = 0;
  #holds = false;
  #lastTurnEndedAt = Number.NEGATIVE_INFINITY;
  /** Operations written in this turn. */
  #written = 0;
  /** Whether the last write ended the turn. */
  #isTurnOver = false;
  /** Races lost since it last won one. */
  #losses = 0;
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
    const turnMs = this.#isContested ? TURN_MS : CALM_TURN_MS;
    // The last write has to be over when the turn is.
    const lastsMs = within(turnMs, TURN_TRANSACTIONS * this.#transactionMs) - this.#transactionMs;
    return lastsMs - (performance.now() - this.#since);
  }

  /** How many others come first: those whose last turn was before this process's last one. */
  get #rank(): number {
    const now = performance.now();
    let rank = 0;
    for (const [id, at] of this.#others)
      if (now - at > SEEN_MS) this.#others.delete(id);
      else if (at < this.#lastTurnEndedAt) rank += 1;
    return rank;
  }

  /** Begins a time of writing, when something comes to be written after none was. */
  begin(): void {
    // Callers that come back within a turn, or right after it, don't get another one by it.
    if (this.#holds && this.#leftMs > 0) return;
    this.#endTurn();
    this.#since = performance.now();
    this.#waitingSince = 0;
  }

  #endTurn(): void {
    if (this.#holds) this.#lastTurnEndedAt = performance.now();
    this.#holds = false;
    this.#written = 0;
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
    const isContested = this.#isContested;
    if (isContested) {
      this.#endTurn();
      if (this.#waitingSince === 0) this.#waitingSince = performance.now();
      await this.#untilFree();
    } else {
      // Without pauses, a process that knows the version of its own last write always wins against one that has to read.
      const restMs = CALM_PAUSE_TRANSACTIONS * this.#transactionMs;
      await pause(Math.min(restMs, CALM_PAUSE_MS_MAX));
    }
    this.#since = performance.now();
    return !isContested;
  }

  /** Waits until the wallet is free and no other comes first; or for a sign that its process has died. */
  async #untilFree(): Promise<void> {
    for (let before = "", endsAt = 0; ;) {
      await pause(this.#untilNextLookMs(Math.max(0, endsAt - performance.now())));
      const { etag, writer } = await this.#readWallet();
      const other = writer === null || writer.by === this.#id ? undefined : writer;
      const now = performance.now();
      if (other !== undefined) {
        this.#others.set(other.by, now);
        this.#contestedUntil = now + CONTESTED_MS;
      }
      const isSame = etag === before;
      // Its last write may still be under way then.
      if (!isSame) endsAt = other?.forMs ? now + other.forMs + this.#transactionMs : now;
      // Who does not come first looks again, since the one that does may have nothing to write.
      if (now >= endsAt && (isSame || this.#rank === 0)) return;
      before = etag;
    }
  }

  /**
   * Returns the pause before the next look at the wallet. Who comes first looks early, because turns end early. Who has
   * lost races to others with the same idea comes later.
   */
  #untilNextLookMs(leftMs: number): number {
    const rank = this.#rank;
    const slotMs = within(SLOT_MS, SLOT_TRANSACTIONS * this.#transactionMs);
    if (rank > 0) return leftMs + (rank + Math.random() / 2) * slotMs;
    return Math.min(leftMs, slotMs) + Math.random() * Math.min(LOSSES_MAX, this.#losses) * slotMs;
  }

  /** Returns a random pause of up to `maxMs`, by which the process that has waited longest comes first. */
  latenessMs(maxMs: number): number {
    const waitedMs = this.#waitingSince === 0 ? 0 : performance.now() - this.#waitingSince;
    return Math.random() * maxMs * Math.max(0, 1 - waitedMs / PATIENCE_MS);
  }

  /** Returns what a write of so many operations says of this process: it goes on for as long as those that wait need. */
  lease(operations: number, waiting: number): WriterLease {
    this.#written += operations;
    const isOver = !this.#isContested || this.#written >= TURN_OPERATIONS;
    this.#isTurnOver = waiting === 0 && isOver;
    if (this.#isTurnOver) return { by: this.#id, forMs: 0 };
    const transactions =
      waiting === 0 ? LINGER_TRANSACTIONS : 1 + Math.ceil(waiting / OPERATIONS_AT_ONCE);
    const forMs = Math.ceil(Math.min(this.#leftMs, transactions * this.#transactionMs));
    return { by: this.#id, forMs: forMs <= this.#transactionMs ? 0 : forMs };
  }

  won(tookMs: number): void {
    this.isBusy = false;
    this.#losses = 0;
    this.#transactionMs += (tookMs - this.#transactionMs) * NEWEST_SHARE;
    this.#waitingSince = 0;
    if (!this.#isContested) return;
    this.#holds = true;
    if (this.#isTurnOver) this.#endTurn();
  }

  /** Notes that the service had too much to do: others that have waited come first. */
  tooMuch(): void {
    if (this.#waitingSince === 0) this.#waitingSince = performance.now();
    this.isBusy = true;
    this.lost();
  }

  lost(): void {
    this.#losses += 1;
    this.#contestedUntil = performance.now() + CONTESTED_MS;
    this.#holds = false;
    this.#written = 0;
  }
}
