import { randomBytes } from "node:crypto";
import type { Head, WriterLease } from "./operation.ts";

/** Longest pause after a lost race. After a longer one, the winner would be far ahead. */
export const RACE_PAUSE_MS_MAX = 40;
/** How long the partition counts as contested after a lost race, or after another process was seen writing. */
const CONTESTED_MS = 1_000;
/** How long another process counts as taking turns after it was last seen writing. */
const SEEN_MS = 5_000;
/**
 * Approximate length of a turn in transactions, within limits. With shorter turns, most of the time goes into handing
 * over the partition. With longer ones, eight processes wait for seconds. A process that knows of no other writes for
 * longer before it pauses.
 */
const TURN_TRANSACTIONS = 8;
const TURN_MS = { min: 150, max: 500 };
const CALM_TURN_MS = { min: 500, max: 1_000 };
/** Length of the pause of a process that knows of no other. Others have to read before they can write. */
const CALM_PAUSE_TRANSACTIONS = 2;
const CALM_PAUSE_MS_MAX = 100;
/**
 * After this many operations, a turn ends as soon as none waits. Before that, the process keeps the partition for the time
 * of some transactions, because a few callers come back by then, and a handover for each would cost more.
 */
const TURN_OPERATIONS = 12;
const LINGER_TRANSACTIONS = 3;
/** About how many of the waiting operations one transaction takes. */
const OPERATIONS_AT_ONCE = 20;
/** Waiting processes start one after the other, at intervals that are somewhat shorter than a transaction. */
const SLOT_TRANSACTIONS = 0.7;
const SLOT_MS = { min: 8, max: 300 };
/** Maximum number of intervals by which a process that has lost races starts later. */
const LOSSES_MAX = 4;
/** After waiting this long, a process pauses no longer than an overloaded storage requires. */
const PATIENCE_MS = 2_000;
/** Weight of a transaction's duration in the moving average. */
const NEWEST_SHARE = 0.25;

const within = ({ min, max }: { readonly min: number; readonly max: number }, ms: number) =>
  Math.min(max, Math.max(min, ms));

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * How one process shares a partition with the others that write it. Only speed depends on this: the head's ETag decides
 * in any case.
 *
 * An uncontested partition is written immediately. On a contested one, processes take turns. With each write, a process
 * says who it is and for how long it will continue. Meanwhile the others don't write, and gather their operations. When
 * a turn ends, the process whose own last turn is longest ago is next. All processes see the turns in the head, so
 * all know the order. Times are measured in transactions, because these take longer when storage is busy.
 */
export class Contest {
  readonly #readHead: () => Promise<Head>;
  readonly #id = randomBytes(6).toString("base64url");
  /** When each other process was last seen writing. */
  readonly #others = new Map<string, number>();
  #contestedUntil = 0;
  /** Since when this process has been writing without a pause. */
  #since = 0;
  #holds = false;
  #lastTurnEndedAt = Number.NEGATIVE_INFINITY;
  /** Operations written in this turn. */
  #written = 0;
  /** Whether the last write ended the turn. */
  #isTurnOver = false;
  /** Races lost since the last one won. */
  #losses = 0;
  /** Average duration of a transaction. */
  #transactionMs = 0;
  /** Since when this process has been waiting for others, or 0. */
  #waitingSince = 0;
  /** Whether the service was overloaded when this process last tried to write. */
  isBusy = false;

  /** `readHead` reads it again. */
  constructor(readHead: () => Promise<Head>) {
    this.#readHead = readHead;
  }

  get #isContested(): boolean {
    return performance.now() < this.#contestedUntil;
  }

  get #leftMs(): number {
    const turnMs = this.#isContested ? TURN_MS : CALM_TURN_MS;
    // The last write must have ended when the turn does.
    const lastsMs = within(turnMs, TURN_TRANSACTIONS * this.#transactionMs) - this.#transactionMs;
    return lastsMs - (performance.now() - this.#since);
  }

  /** How many others are before this process, because their last turn was before its own. */
  get #rank(): number {
    const now = performance.now();
    let rank = 0;
    for (const [id, at] of this.#others)
      if (now - at > SEEN_MS) this.#others.delete(id);
      else if (at < this.#lastTurnEndedAt) rank += 1;
    return rank;
  }

  /** Starts a period of writing when an operation arrives and none was waiting. */
  begin(): void {
    // Callers that come back during a turn, or directly after it, don't extend it.
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

  /** Whether this process may write without waiting. */
  get isOurs(): boolean {
    return (this.#holds || !this.#isContested) && this.#leftMs > 0;
  }

  /**
   * Waits until this process may write. Returns whether it may write a full batch: while it still claims the partition,
   * losing a race should cost little.
   */
  async untilOurs(): Promise<boolean> {
    if (this.isOurs) return true;
    const isContested = this.#isContested;
    if (isContested) {
      this.#endTurn();
      if (this.#waitingSince === 0) this.#waitingSince = performance.now();
      await this.#untilFree();
    } else {
      // Without pauses, a process that knows its own last write always wins against one that has to read first.
      const restMs = CALM_PAUSE_TRANSACTIONS * this.#transactionMs;
      await pause(Math.min(restMs, CALM_PAUSE_MS_MAX));
    }
    this.#since = performance.now();
    return !isContested;
  }

  /** Waits until the partition is free and this process is next, or until the holder seems to have died. */
  async #untilFree(): Promise<void> {
    for (let before = "", endsAt = 0; ;) {
      const leftMs = Math.max(0, endsAt - performance.now());
      const rank = this.#rank;
      const slotMs = within(SLOT_MS, SLOT_TRANSACTIONS * this.#transactionMs);
      // The process that is next checks early, because turns end early. One that lost races against others at the same
      // point checks later.
      const untilCheckMs =
        rank > 0
          ? leftMs + (rank + Math.random() / 2) * slotMs
          : Math.min(leftMs, slotMs) + Math.random() * Math.min(LOSSES_MAX, this.#losses) * slotMs;
      await pause(untilCheckMs);
      const { etag, writer } = await this.#readHead();
      const other = writer === null || writer.by === this.#id ? undefined : writer;
      const now = performance.now();
      if (other !== undefined) {
        this.#others.set(other.by, now);
        this.#contestedUntil = now + CONTESTED_MS;
      }
      const isSame = etag === before;
      // Its last write may still be running then.
      if (!isSame) endsAt = other?.forMs ? now + other.forMs + this.#transactionMs : now;
      // A process that isn't next checks again, because the next one may have nothing to write.
      if (now >= endsAt && (isSame || this.#rank === 0)) return;
      before = etag;
    }
  }

  /** Returns a random pause of up to `maxMs`. It lets the process that has waited longest go first. */
  latenessMs(maxMs: number): number {
    const waitedMs = this.#waitingSince === 0 ? 0 : performance.now() - this.#waitingSince;
    return Math.random() * maxMs * Math.max(0, 1 - waitedMs / PATIENCE_MS);
  }

  /** Returns the writer's note for a write of so many operations: it continues as long as the waiting ones need. */
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

  /** Records that the service was overloaded. Others that have waited go first. */
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
