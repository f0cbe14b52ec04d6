import type { SystemScope } from "../callers/scope.ts";
import type { BackgroundDeps } from "./deps.ts";
import { isDue, runWalk, secondsBehind, type RunEnd, type Walk } from "./walk.ts";
import type { WalkState } from "./walk-store.ts";
import { WALKS } from "./walks.ts";

/** Time limit of the timer's run; the next one has to begin in time. */
const TIMER_MS_MAX = 20_000;
/** Time limit of one queue-triggered run. */
const MESSAGE_MS_MAX = 60_000;
const WALKS_AT_ONCE = 2;
/** Walks share a queue with deliveries: eight of them take all that one owner of the queue's messages may have. */
const WALKS_OWNER = "walks";
const WALK_WEIGHT = 6;
/** A run that was asked for while another one is under way is asked for again after so long. */
const BUSY_SECONDS = 2;

/** Milliseconds that this run of the timer may take: never so many that the next one would be late. */
function runMsMax({ config, clock }: BackgroundDeps): number {
  const { tickMs } = config.walks;
  return Math.min(TIMER_MS_MAX, (tickMs - (clock.now().getTime() % tickMs)) / 2);
}

/** One run of the timer. */
class Tick {
  readonly #services: BackgroundDeps;
  readonly #system: SystemScope;
  readonly #endsAt: number;

  constructor(services: BackgroundDeps, system: SystemScope) {
    this.#services = services;
    this.#system = system;
    this.#endsAt = performance.now() + runMsMax(services);
  }

  #leftMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  async #run(walk: Walk): Promise<RunEnd> {
    try {
      const options = { system: this.#system, runMs: this.#leftMs() };
      return await runWalk(this.#services, walk, options);
    } catch (error) {
      this.#services.log.error("a walk failed", { walk: walk.name, error });
      return "failed";
    }
  }

  /** Runs them while there is time, and leaves the rest to the queue. */
  async run(walks: readonly Walk[]): Promise<void> {
    let begun = 0;
    const runOn = async (): Promise<void> => {
      for (let next = walks[begun]; next !== undefined; next = walks[begun]) {
        begun += 1;
        const isLeft = this.#leftMs() > 0 && !(await this.#isForQueue(next));
        if (isLeft && (await this.#run(next)) !== "time_up") continue;
        await this.#services.webhooks.stores.fanOutQueue.continueWalk(next.name);
      }
    };
    await Promise.all(Array.from({ length: WALKS_AT_ONCE }, runOn));
  }

  /** Returns whether a queue's worker runs the walk: a slow one would keep the timer from the next posts that are due. */
  async #isForQueue(walk: Walk): Promise<boolean> {
    if (walk.isSlow !== true) return false;
    try {
      return walk.hasWork === undefined || (await walk.hasWork(this.#services));
    } catch (error) {
      this.#services.log.error("a walk failed", { walk: walk.name, error });
      return true;
    }
  }
}

/** Says of every walk how far behind it is. */
function report(services: BackgroundDeps, states: ReadonlyMap<string, WalkState>): void {
  const now = services.clock.now();
  for (const walk of WALKS) {
    const state = states.get(walk.name);
    const behind = state === undefined ? 0 : secondsBehind(services, walk, state, now);
    if (behind > 0) services.work.metrics.observe("walks.behind_s", behind, { walk: walk.name });
    if (behind > walk.behindSecondsMax)
      services.log.error("walk is behind", { walk: walk.name, seconds: behind });
  }
}

/**
 * Runs what is due by the schedules, as the one timer of the service: first what gets posts and deliveries done on
 * time, then every other walk, within 20 seconds; what is left then is handed to the queue. Safe when
 * missed, doubled or late.
 */
export async function runDueWalks(services: BackgroundDeps, system: SystemScope): Promise<void> {
  const tick = new Tick(services, system);
  const isFirst = (walk: Walk) => walk.isFirst === true;
  await tick.run(WALKS.filter(isFirst));
  const states = await services.stores.walks.list();
  report(services, states);
  const now = services.clock.now();
  const isOtherAndDue = (walk: Walk) =>
    !isFirst(walk) && isDue(services, walk, states.get(walk.name), now);
  await tick.run(WALKS.filter(isOtherAndDue));
}

export interface WalkHint {
  readonly name: string;
  /** Sent by people: begins a round even if it is not due. */
  readonly isAsked?: boolean | undefined;
}

/**
 * Goes on with a walk for a minute at most, and has itself called again while there is more to do. Comes back
 * later if the process has enough walks under way.
 */
export async function continueWalk(
  services: BackgroundDeps,
  { name, isAsked = false }: WalkHint,
  system: SystemScope,
): Promise<void> {
  const walk = WALKS.find((known) => known.name === name);
  const { fanOutQueue } = services.webhooks.stores;
  // Of another version of the service, which had such a walk.
  if (walk === undefined) return;
  await services.webhooks.work.drainShares.run(
    { owner: WALKS_OWNER, weight: WALK_WEIGHT, now: services.clock.now() },
    async () => {
      const options = { system, runMs: MESSAGE_MS_MAX, isAsked };
      const end = await runWalk(services, walk, options);
      if (end === "not_now" && isAsked && walk.runsAgain === true)
        await fanOutQueue.continueWalk(name, { isAsked, delaySeconds: BUSY_SECONDS });
      if (end === "time_up") await fanOutQueue.continueWalk(name);
    },
    (seconds) =>
      services.webhooks.stores.webhookQueue.hint({ kind: "walk", name, isAsked }, seconds),
  );
}
