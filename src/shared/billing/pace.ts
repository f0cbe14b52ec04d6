import type { Wallet } from "./wallet.ts";

/** A platform's legs go out at once as long as it is no further ahead of its pace than this. */
const AHEAD_MS = 5_000;

export interface Paced {
  /** The wallet's next `paceUntil`. */
  readonly paceUntil: string;
  /** When these legs begin; null for at once. */
  readonly startAt: string | null;
}

/**
 * When a platform's next legs begin: one after the other at its pace, once it has asked for more at a time than the
 * first few. That is how one platform's thousands leave room for another's few. Pure; costs nothing, since the wallet
 * is written with every reservation anyway.
 */
export function paced(wallet: Wallet, legs: number, now: Date, legsPerSecond: number): Paced {
  const from = Math.max(now.getTime(), Date.parse(wallet.paceUntil ?? now.toISOString()));
  const until = from + Math.ceil((legs * 1000) / legsPerSecond);
  const startMs = until - AHEAD_MS;
  return {
    paceUntil: new Date(until).toISOString(),
    startAt: startMs <= now.getTime() ? null : new Date(startMs).toISOString(),
  };
}

/** Seconds until then; none for what starts at once. */
export function secondsUntil(startAt: string | null, now: Date): number {
  return startAt === null ? 0 : Math.max(0, (Date.parse(startAt) - now.getTime()) / 1000);
}
