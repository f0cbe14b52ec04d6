import type { SystemScope } from "../callers/scope.ts";
import type { BackgroundDeps } from "./deps.ts";
import { isDue, runWalk, secondsBehind, type RunEnd, type Walk } from "./walk.ts";
import type { WalkState } from "./walk-store.ts";
import { WALKS } from "./walks.ts";
import { queueWalk, type WalkHint } from "./walk-queue.ts";

/** Time limit of the timer's run. The next run has to begin in time. */
const TIMER_MS_MAX = 20_000;
/** Time limit of one queue-triggered run. */
const MESSAGE_MS_MAX = 60_000;
const WALKS_AT_ONCE = 2;
/** When a run that was requested during another one is requested again. */
const BUSY_SECONDS = 2;
/** A process runs eight walks at a time. */
const WALK_WEIGHT = 6;

/** Reports whether a queue's worker runs the walk. A slow one would keep the timer from the next posts that are due. */
async function isForQueue(deps: BackgroundDeps, walk: Walk): Promise<boolean> {
  if (walk.isSlow !== true) return false;
  try {
    return walk.hasWork === undefined || (await walk.hasWork(deps));
  } catch (error) {
    deps.log.error("a walk failed", { walk: walk.name, error });
    return true;
  }
}

/** Runs walks until a time, and leaves the rest to the queue. `endsAt` is in milliseconds of `performance`. */
async function runUntil(
  deps: BackgroundDeps,
  walks: readonly Walk[],
  { system, endsAt }: { readonly system: SystemScope; readonly endsAt: number },
): Promise<void> {
  const leftMs = () => Math.max(0, endsAt - performance.now());
  const run = async (walk: Walk): Promise<RunEnd> => {
    try {
      return await runWalk(deps, walk, { system, runMs: leftMs() });
    } catch (error) {
      deps.log.error("a walk failed", { walk: walk.name, error });
      return "failed";
    }
  };
  let begun = 0;
  const runOn = async (): Promise<void> => {
    for (let next = walks[begun]; next !== undefined; next = walks[begun]) {
      begun += 1;
      const isLeft = leftMs() > 0 && !(await isForQueue(deps, next));
      if (isLeft && (await run(next)) !== "time_up") continue;
      await queueWalk(deps, { name: next.name });
    }
  };
  await Promise.all(Array.from({ length: WALKS_AT_ONCE }, runOn));
}

/** Reports for every walk how far behind it is. */
function report(deps: BackgroundDeps, states: ReadonlyMap<string, WalkState>): void {
  const now = deps.clock.now();
  for (const walk of WALKS) {
    const state = states.get(walk.name);
    const behind = state === undefined ? 0 : secondsBehind(deps, walk, state, now);
    if (behind > 0) deps.work.metrics.observe("walks.behind_s", behind, { walk: walk.name });
    if (behind > walk.behindSecondsMax)
      deps.log.error("walk is behind", { walk: walk.name, seconds: behind });
  }
}

/**
 * Runs all scheduled work that is due, as the only timer of the service. Walks that posts and deliveries wait for are
 * first, then every other one, for 20 seconds. The rest is handed to the queue. A run may be missed, repeated or late.
 */
export async function runDueWalks(deps: BackgroundDeps, system: SystemScope): Promise<void> {
  // How many milliseconds this run of the timer may take without delaying the next one.
  const { tickMs } = deps.config.walks;
  const run = {
    system,
    endsAt:
      performance.now() +
      Math.min(TIMER_MS_MAX, (tickMs - (deps.clock.now().getTime() % tickMs)) / 2),
  };
  const isFirst = (walk: Walk) => walk.isFirst === true;
  await runUntil(deps, WALKS.filter(isFirst), run);
  const states = await deps.stores.walks.list();
  report(deps, states);
  const now = deps.clock.now();
  const isOtherAndDue = (walk: Walk) =>
    !isFirst(walk) && isDue(deps, walk, states.get(walk.name), now);
  await runUntil(deps, WALKS.filter(isOtherAndDue), run);
}

/**
 * Continues a walk for at most a minute, and requests another call while there is more to do. Comes back later if the
 * process has enough running walks.
 */
export async function continueWalk(
  deps: BackgroundDeps,
  { name, isAsked = false }: Pick<WalkHint, "name" | "isAsked">,
  system: SystemScope,
): Promise<void> {
  const walk = WALKS.find((known) => known.name === name);
  // The hint is from another version of the service, which has this walk.
  if (walk === undefined) return;
  const { work, clock, stores } = deps;
  const share = { owner: "walks", weight: WALK_WEIGHT, now: clock.now() };
  const giveBack = await work.walkShares.acquire(share, (seconds) =>
    stores.walkQueue.hint({ kind: "walk", name, isAsked }, seconds),
  );
  if (giveBack === undefined) return;
  try {
    const end = await runWalk(deps, walk, { system, runMs: MESSAGE_MS_MAX, isAsked });
    if (end === "not_now" && isAsked && walk.runsAgain === true)
      await queueWalk(deps, { name, isAsked }, BUSY_SECONDS);
    if (end === "time_up") await queueWalk(deps, { name });
  } finally {
    giveBack();
  }
}
