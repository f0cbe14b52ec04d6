/* What other folders use of background: what runs by a schedule, and what it needs. */

export type { BackgroundDeps } from "./deps.ts";
export { recordPoison } from "./poison.ts";
export { continueWalk, runDueWalks } from "./run-due-walks.ts";
export { createBackgroundStores } from "./stores.ts";
export { queueWalk, resendWalkHint, WalkHint } from "./walk-queue.ts";
