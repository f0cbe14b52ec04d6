/* The part of background that other folders use: the scheduled work. */

export type { BackgroundDeps } from "./deps.ts";
export { recordPoison } from "./poison.ts";
export { continueWalk, runDueWalks } from "./run-due-walks.ts";
export { createBackgroundStores } from "./stores.ts";
export { queueWalk, resendWalkHint, WalkHint } from "./walk-queue.ts";
