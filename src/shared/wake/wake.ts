/* The part of the wake index that other folders use. */

export { hintIfSoon, hintWakes, isSoon, needOf, type HintedWakes } from "./hint-wakes.ts";
export { sweepMarked } from "./sweep-marked.ts";
export { walkWakes } from "./walk-wakes.ts";
export {
  MARK_MS,
  minuteOf,
  wakeOf,
  Wakes,
  type StoredWake,
  type Wake,
  type WakeKind,
  type WakeRange,
} from "./wake-store.ts";
