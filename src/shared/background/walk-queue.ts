import * as z from "zod";
import type { Log } from "../runtime/log.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { type HintQueue, hintOf } from "../runtime/storage/queue.ts";

/** A walk has more to do. One that people ask for begins a round even if it is not due. */
export const WalkHint = shape(() =>
  hintOf("walk", { name: z.string(), isAsked: z.boolean().optional() }),
);
export type WalkHint = ShapeOf<typeof WalkHint>;

interface WalkSender {
  readonly stores: { readonly walkQueue: HintQueue<WalkHint> };
  readonly log: Log;
}

/** Sends a hint to continue a walk. Never throws, because the timer finds a walk that stopped. */
export async function queueWalk(
  { stores, log }: WalkSender,
  { name, isAsked = false }: Pick<WalkHint, "name" | "isAsked">,
  delaySeconds = 0,
): Promise<void> {
  try {
    const hint = { v: 1, kind: "walk", name, ...(isAsked && { isAsked }) } as const;
    await stores.walkQueue.sendAlone(hint, delaySeconds);
  } catch (error) {
    log.warn("walk not handed over, the timer will", { walk: name, error });
  }
}

/** Sends a hint again, in a message of its own. */
export const resendWalkHint = ({ stores }: WalkSender, hint: WalkHint): Promise<void> =>
  stores.walkQueue.sendAlone(hint);
