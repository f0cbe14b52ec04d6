import { FREE, isHeld, Lease, type LeasedState, LeaseLost } from "../runtime/lease.ts";
import type { SystemScope } from "../callers/scope.ts";
import type { Config } from "../config/config.ts";
import {
  addCounts,
  type TakeStep,
  type WalkStep,
  overItems,
  type ItemResult,
} from "../runtime/walk-step.ts";
import { listPlatformIds } from "../tenants/tenants.ts";
import type { BackgroundDeps } from "./deps.ts";
import type { WalkState } from "./walk-store.ts";

/** A step should end after this time, so that its progress is stored and the lease prolonged. */
const STEP_MS_MAX = 5_000;
/** Longer than a step with its last item takes. A process that dies holds its walk for this long. */
const LEASE_MS = 12_000;
const SLOW_LEASE_MS = 120_000;
/** After a crash, at most this much is repeated, or a step of a slow walk. */
const SAVE_AFTER_MS = 2_000;
/** Then the round begins again, because storage may not accept its position any more. */
const FAILURES_MAX = 6;
/** Timers sometimes fire a moment early. */
const EARLY_MS_MAX = 1_000;

/** How often the rounds of a walk begin: with each run of the timer, each hour, or once a day. */
type Rhythm = "tick" | "hour" | "day";

/** Work that passes over many rows again and again, in steps, in one process at a time. */
export interface Walk {
  readonly name: string;
  readonly every: Rhythm;
  /** When a round that rests continues. By default when the next round would begin. */
  readonly resumesEvery?: Rhythm;
  /** The timer runs it before all others, because posts and deliveries wait for it. */
  readonly isFirst?: boolean;
  /** A request during a run causes one more run, because its reason may be new. */
  readonly runsAgain?: true;
  /** Its steps wait for other services than storage, so the timer leaves it to a queue. */
  readonly isSlow?: boolean;
  /**
   * Reports whether there is anything to do. Only walks that can find out cheaply have this method. A slow walk without
   * it is run by the timer as well.
   */
  hasWork?(deps: BackgroundDeps): Promise<boolean>;
  /** The alert `walk-behind` fires when a round is overdue for this long. */
  readonly behindSecondsMax: number;
  /** Makes the function that takes the steps of one run. What a run remembers is forgotten with it. */
  begin(deps: BackgroundDeps, system: SystemScope): TakeStep;
}

/**
 * The end of a run. `round_over`: the round has ended. `time_up`: there is more to do now. `rests`: there is more to do
 * when the walk is due next. `not_now`: another process continues it, or it is not due. `failed`: a step failed, and
 * the next run of the timer tries again.
 */
export type RunEnd = "round_over" | "time_up" | "rests" | "not_now" | "failed";

export interface RunOptions {
  readonly system: SystemScope;
  readonly runMs: number;
  /** Begins a round even if it is not due. */
  readonly isAsked?: boolean;
}

const DAY_MS = 24 * 60 * 60_000;
/** Hourly walks begin some minutes after the full hour, away from the daily ones. */
const AFTER_THE_HOUR = 7 / 60;

/** Returns the next time after `after` at which a walk of this rhythm is due, in milliseconds. */
function nextDue({ walks }: Pick<Config, "walks">, rhythm: Rhythm, after: number): number {
  const { tickMs, hourMs, dailyAt } = walks;
  const [lengthMs, offsetMs] = {
    tick: [tickMs, 0],
    hour: [hourMs, hourMs * AFTER_THE_HOUR],
    day: [DAY_MS, dailyAt * 60 * 60_000],
  }[rhythm] as [number, number];
  return Math.floor((after - offsetMs) / lengthMs + 1) * lengthMs + offsetMs;
}

/** Reports whether a walk needs a run now. One that another process continues doesn't. */
export function isDue(
  deps: Pick<BackgroundDeps, "config">,
  walk: Walk,
  state: WalkState | undefined,
  now: Date,
): boolean {
  if (state === undefined) return true;
  if (isHeld(state, now)) return false;
  const latest = now.getTime() + EARLY_MS_MAX;
  const { config } = deps;
  if (state.endedAt !== null)
    return nextDue(config, walk.every, Date.parse(state.roundAt)) <= latest;
  if (state.restsSince === null) return true;
  return nextDue(config, walk.resumesEvery ?? walk.every, Date.parse(state.restsSince)) <= latest;
}

/** Returns how many seconds ago an unfinished round should have begun, or 0. */
export function secondsBehind(
  deps: Pick<BackgroundDeps, "config">,
  walk: Walk,
  state: WalkState,
  now: Date,
): number {
  const due =
    state.lastRoundAt === null
      ? Date.parse(state.roundAt)
      : nextDue(deps.config, walk.every, Date.parse(state.lastRoundAt));
  return Math.max(0, Math.round((now.getTime() - due) / 1_000));
}

function afterStep(state: WalkState, step: WalkStep, now: Date): WalkState {
  const counts = addCounts(state.counts, step.counts);
  const went = { ...state, counts, failures: 0, restsSince: null };
  if (step.next !== undefined)
    return {
      ...went,
      position: step.next,
      restsSince: step.rests === true ? now.toISOString() : null,
    };
  return { ...went, position: null, endedAt: now.toISOString(), lastRoundAt: state.roundAt };
}

type WalkLease = Lease<WalkState, LeasedState<WalkState>>;

/** Takes the lease of a walk. Returns undefined when somebody else has it, or it is not due. */
async function takeLease(
  deps: BackgroundDeps,
  walk: Walk,
  isAsked = false,
): Promise<WalkLease | undefined> {
  const { clock, log, stores } = deps;
  const { name } = walk;
  const now = clock.now();
  const { state, etag } = await stores.walks.find(name);
  if (state !== undefined && isHeld(state, now)) return undefined;
  if (!isAsked && !isDue(deps, walk, state, now)) return undefined;
  const round =
    state?.endedAt === null
      ? state
      : {
          position: null,
          ...FREE,
          roundAt: now.toISOString(),
          endedAt: null,
          restsSince: null,
          lastRoundAt: state?.lastRoundAt ?? null,
          failures: 0,
          counts: {},
          lastCounts: state?.counts ?? {},
        };
  const lease: WalkLease = new Lease(
    {
      what: "walk",
      fields: { walk: name },
      log,
      clock,
      leaseMs: walk.isSlow === true ? SLOW_LEASE_MS : LEASE_MS,
      async read() {
        const found = await stores.walks.find(name);
        return found.state && { state: found.state, etag: found.etag };
      },
      write: (part, version) => stores.walks.write(name, { ...lease.state, ...part }, version),
    },
    { state: round, etag },
  );
  return (await lease.take()) ? lease : undefined;
}

/** A run of a walk. */
interface Run {
  readonly deps: BackgroundDeps;
  readonly walk: Walk;
  readonly lease: WalkLease;
  readonly isTimeUp: () => boolean;
}

/** Logs a round, unless it found nothing to do: most rounds of each minute find nothing. */
function logRound({ deps, walk }: Run, { counts, roundAt, endedAt }: WalkState): void {
  const { looked: _, ...done } = counts;
  if (Object.values(done).every((count) => count === 0)) return;
  const seconds = Math.round((Date.parse(endedAt ?? roundAt) - Date.parse(roundAt)) / 1_000);
  deps.log.info("walk ended", { walk: walk.name, roundAt, seconds, ...counts });
}

function runPlace({ isTimeUp }: Run, state: WalkState): Parameters<TakeStep>[0] {
  const { position, roundAt, counts, lastCounts, failures } = state;
  const stepEndsAt = performance.now() + STEP_MS_MAX;
  return {
    position: position ?? undefined,
    roundAt: new Date(roundAt),
    counts,
    lastCounts,
    failures,
    isTimeUp: () => isTimeUp() || performance.now() > stepEndsAt,
  };
}

async function endRun({ lease }: Run, state: WalkState): Promise<void> {
  await lease.save(() => ({ ...state, ...FREE }));
  lease.ended();
}

/** Takes steps until the round or the time is over. @throws LeaseLost when another process has the walk by now */
async function takeSteps(run: Run, takeStep: TakeStep): Promise<RunEnd> {
  const { deps, walk, lease } = run;
  let { state } = lease;
  let savedAt = performance.now();
  for (;;) {
    try {
      state = afterStep(state, await takeStep(runPlace(run, state)), deps.clock.now());
    } catch (error) {
      deps.log.error("a walk failed", { walk: walk.name, error });
      const failures = state.failures + 1;
      await endRun(
        run,
        failures < FAILURES_MAX
          ? { ...state, failures }
          : { ...state, position: null, failures: 0 },
      );
      return "failed";
    }
    if (state.endedAt !== null || state.restsSince !== null || run.isTimeUp()) break;
    const isYoung = performance.now() - savedAt < SAVE_AFTER_MS;
    if (isYoung && walk.isSlow !== true) continue;
    savedAt = performance.now();
    await lease.keep(state);
  }
  await endRun(run, state);
  if (state.endedAt === null) return state.restsSince === null ? "time_up" : "rests";
  logRound(run, state);
  return "round_over";
}

/**
 * Goes on with a walk from where the last run left it, until its round or the time is over. Of two at once
 * one gets the walk; the other one's `not_now` is no failure.
 * @throws AppError `service_unavailable` when the walk's own row can't be read or written
 */
export async function runWalk(
  deps: BackgroundDeps,
  walk: Walk,
  { system, runMs, isAsked }: RunOptions,
): Promise<RunEnd> {
  const endsAt = performance.now() + runMs;
  const lease = await takeLease(deps, walk, isAsked);
  if (lease === undefined) return "not_now";
  let isStopping = false;
  const forget = deps.work.stop.before(() => {
    isStopping = true;
    return Promise.resolve();
  });
  const isTimeUp = () => isStopping || performance.now() > endsAt;
  const caller = { kind: "system", worker: walk.name } as const;
  try {
    const takeStep = walk.begin(deps, { ...system, caller });
    return await takeSteps({ deps, walk, lease, isTimeUp }, takeStep);
  } catch (error) {
    if (error instanceof LeaseLost) return "not_now";
    throw error;
  } finally {
    forget();
    await lease.giveBack();
  }
}

/** Platforms of a page of their index. */
const PAGE = 1_000;

/**
 * Makes the steps of a walk over all platforms. `look` does a limited part of the work for one of them, and returns
 * where to continue if that was not all.
 */
export function overPlatforms<Rest = string>(
  deps: BackgroundDeps,
  what: string,
  look: (platformId: string, rest: Rest | undefined) => Promise<ItemResult<Rest>>,
): TakeStep {
  return overItems<Rest>({
    log: deps.log,
    what,
    page: (after) => listPlatformIds(deps.tenants, after, PAGE),
    look: (id, _at, rest) => look(id, rest),
  });
}
