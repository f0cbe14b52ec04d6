import { FREE, heldBy, isHeld } from "../runtime/lease.ts";
import type { SystemScope } from "../callers/scope.ts";
import type { Config } from "../config/config.ts";
import { newId } from "../runtime/ids.ts";
import {
  addCounts,
  type TakeStep,
  type WalkStep,
  overItems,
  type Looked,
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
  hasWork?(services: BackgroundDeps): Promise<boolean>;
  /** The alert `walk-behind` fires when a round is overdue for this long. */
  readonly behindSecondsMax: number;
  /** Makes the function that takes the steps of one run. What a run remembers is forgotten with it. */
  begin(services: BackgroundDeps, system: SystemScope): TakeStep;
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
function next({ walks }: Pick<Config, "walks">, rhythm: Rhythm, after: number): number {
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
  services: Pick<BackgroundDeps, "config">,
  walk: Walk,
  state: WalkState | undefined,
  now: Date,
): boolean {
  if (state === undefined) return true;
  if (isHeld(state, now)) return false;
  const latest = now.getTime() + EARLY_MS_MAX;
  const { config } = services;
  if (state.endedAt !== null) return next(config, walk.every, Date.parse(state.roundAt)) <= latest;
  if (state.restsSince === null) return true;
  return next(config, walk.resumesEvery ?? walk.every, Date.parse(state.restsSince)) <= latest;
}

/** Returns how many seconds ago an unfinished round should have begun, or 0. */
export function secondsBehind(
  services: Pick<BackgroundDeps, "config">,
  walk: Walk,
  state: WalkState,
  now: Date,
): number {
  const due =
    state.lastRoundAt === null
      ? Date.parse(state.roundAt)
      : next(services.config, walk.every, Date.parse(state.lastRoundAt));
  return Math.max(0, Math.round((now.getTime() - due) / 1_000));
}

function beginRound(state: WalkState | undefined, at: string): WalkState {
  return {
    position: null,
    ...FREE,
    roundAt: at,
    endedAt: null,
    restsSince: null,
    lastRoundAt: state?.lastRoundAt ?? null,
    failures: 0,
    counts: {},
    lastCounts: state?.counts ?? {},
  };
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

function afterFailure(state: WalkState): WalkState {
  const failures = state.failures + 1;
  return failures < FAILURES_MAX
    ? { ...state, failures }
    : { ...state, position: null, failures: 0 };
}

/** One run of a walk under its lease. The row is replaced as a whole, because a long position can't be merged. */
class Run {
  readonly #services: BackgroundDeps;
  readonly #walk: Walk;
  readonly #options: RunOptions;
  readonly #id: string;
  readonly #endsAt: number;
  #savedAt = 0;
  #isStopping = false;

  constructor(services: BackgroundDeps, walk: Walk, options: RunOptions) {
    this.#services = services;
    this.#walk = walk;
    this.#options = options;
    this.#id = newId("request", services.clock.now());
    this.#endsAt = performance.now() + options.runMs;
  }

  async go(): Promise<RunEnd> {
    const state = await this.#take();
    if (state === undefined) return "not_now";
    const forget = this.#services.work.stop.before(() => {
      this.#isStopping = true;
      return Promise.resolve();
    });
    try {
      return await this.#walkOn(state);
    } finally {
      forget();
    }
  }

  #take(): Promise<WalkState | undefined> {
    const { clock } = this.#services;
    const { walks } = this.#services.stores;
    const now = clock.now();
    return walks.change(this.#walk.name, (state) => {
      if (state !== undefined && isHeld(state, now)) return undefined;
      const isRound = state !== undefined && state.endedAt === null;
      const isAsked = this.#options.isAsked === true;
      if (!isAsked && !isDue(this.#services, this.#walk, state, now)) return undefined;
      return this.#leased(isRound ? state : beginRound(state, now.toISOString()));
    });
  }

  #leased(state: WalkState): WalkState {
    const leaseMs = this.#walk.isSlow === true ? SLOW_LEASE_MS : LEASE_MS;
    this.#savedAt = performance.now();
    return { ...state, ...heldBy(this.#id, this.#services.clock.now(), leaseMs) };
  }

  /** Writes the state. Returns undefined when another process has taken over the walk, and this run ends. */
  #save(state: WalkState): Promise<WalkState | undefined> {
    return this.#services.stores.walks.change(this.#walk.name, (stored) =>
      stored?.leaseId === this.#id ? state : undefined,
    );
  }

  async #walkOn(first: WalkState): Promise<RunEnd> {
    const caller = { kind: "system", worker: this.#walk.name } as const;
    const takeStep = this.#walk.begin(this.#services, { ...this.#options.system, caller });
    let state = first;
    for (;;) {
      try {
        const step = await takeStep(this.#at(state));
        state = afterStep(state, step, this.#services.clock.now());
      } catch (error) {
        return this.#fail(state, error);
      }
      if (state.endedAt !== null || state.restsSince !== null || this.#isTimeUp()) break;
      const isYoung = performance.now() - this.#savedAt < SAVE_AFTER_MS;
      if (isYoung && this.#walk.isSlow !== true) continue;
      const saved = await this.#save(this.#leased(state));
      if (saved === undefined) return "not_now";
      state = saved;
    }
    if ((await this.#save({ ...state, ...FREE })) === undefined) return "not_now";
    if (state.endedAt === null) return state.restsSince === null ? "time_up" : "rests";
    this.#logRound(state);
    return "round_over";
  }

  #isTimeUp(): boolean {
    return this.#isStopping || performance.now() > this.#endsAt;
  }

  #at({ position, roundAt, counts, lastCounts, failures }: WalkState) {
    const stepEndsAt = performance.now() + STEP_MS_MAX;
    return {
      position: position ?? undefined,
      roundAt: new Date(roundAt),
      counts,
      lastCounts,
      failures,
      isTimeUp: () => this.#isTimeUp() || performance.now() > stepEndsAt,
    };
  }

  async #fail(state: WalkState, error: unknown): Promise<RunEnd> {
    this.#services.log.error("a walk failed", { walk: this.#walk.name, error });
    await this.#save({ ...afterFailure(state), ...FREE });
    return "failed";
  }

  /** Logs a round, unless it found nothing to do, as most rounds of each minute. */
  #logRound({ counts, roundAt, endedAt }: WalkState): void {
    const { looked: _, ...done } = counts;
    if (Object.values(done).every((count) => count === 0)) return;
    const seconds = Math.round((Date.parse(endedAt ?? roundAt) - Date.parse(roundAt)) / 1_000);
    this.#services.log.info("walk ended", { walk: this.#walk.name, roundAt, seconds, ...counts });
  }
}

/**
 * Continues a walk from where the last run stopped, until its round or the time is over. Of two concurrent runs, one
 * gets the walk, and the other's `not_now` is no failure.
 * @throws AppError `service_unavailable` when the walk's own row can't be read or written: the lease ends by itself
 */
export function runWalk(
  services: BackgroundDeps,
  walk: Walk,
  options: RunOptions,
): Promise<RunEnd> {
  return new Run(services, walk, options).go();
}

/** Platforms of a page of their index. */
const PAGE = 1_000;

/**
 * Makes the steps of a walk over all platforms. `look` does a limited part of the work for one of them, and returns
 * where to continue if that was not all.
 */
export function overPlatforms<Rest = string>(
  services: BackgroundDeps,
  what: string,
  look: (platformId: string, rest: Rest | undefined) => Promise<Looked<Rest>>,
): TakeStep {
  return overItems<Rest>({
    log: services.log,
    what,
    page: (after) => listPlatformIds(services.tenants, after, PAGE),
    look: (id, _at, rest) => look(id, rest),
  });
}
