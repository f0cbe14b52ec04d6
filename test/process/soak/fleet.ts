import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../../model/random.ts";
import { startRelayProcess } from "../relay/relay-process.ts";
import type { RelayProcess } from "../relay/relay-process.ts";

const PAUSE_MS = [2_000, 7_000] as const;
const DOWN_MS_MAX = 2_500;
const STARTS_MAX = 3;
const POLL_MS = 50;

interface Member {
  readonly relay: RelayProcess;
  isUp: boolean;
}

/** What the processes said that somebody would have to look at. */
export interface Complaints {
  /** Error lines, counted by what they say. */
  readonly errors: Map<string, number>;
  readonly walletMismatches: string[];
}

/** Several host processes of one deployment, which are killed and started again. */
export class Fleet {
  readonly complaints: Complaints = { errors: new Map(), walletMismatches: [] };
  readonly #members: Member[] = [];
  readonly #starting = new Set<Promise<void>>();
  #failure: unknown;
  kills = 0;
  restarts = 0;

  async start(count: number, settings: Readonly<Record<string, string>>): Promise<void> {
    const onLine = (line: string) => this.#listen(line);
    for (let index = 0; index < count; index += 1)
      this.#members.push({ relay: await startRelayProcess({ settings, onLine }), isUp: true });
  }

  #listen(line: string): void {
    if (!line.includes('"level":"error"')) return;
    const message = /"message":"((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? line.slice(0, 200);
    this.complaints.errors.set(message, (this.complaints.errors.get(message) ?? 0) + 1);
    if (line.includes('"event":"wallet_mismatch"')) this.complaints.walletMismatches.push(line);
  }

  get #living(): readonly Member[] {
    return this.#members.filter(({ isUp }) => isUp);
  }

  /** Some process that is up, though perhaps not for long. */
  async any(random: Random): Promise<RelayProcess> {
    while (this.#living.length === 0) {
      if (this.#failure !== undefined) throw this.#failure;
      await wait(POLL_MS);
    }
    return random.pick(this.#living).relay;
  }

  /** Kills one now and then until the signal comes, and starts it again soon after. All are up when this resolves. */
  async crash(
    random: Random,
    signal: AbortSignal,
    [least, most]: readonly [number, number] = PAUSE_MS,
  ): Promise<void> {
    for (;;) {
      await wait(random.between(least, most), undefined, { signal }).catch(() => {});
      if (signal.aborted) break;
      if (this.#living.length === 0) continue;
      const member = random.pick(this.#living);
      member.isUp = false;
      await member.relay.kill9();
      this.kills += 1;
      this.#restart(member, random.below(DOWN_MS_MAX));
    }
    await Promise.all(this.#starting);
    if (this.#failure !== undefined) throw this.#failure;
  }

  #restart(member: Member, afterMs: number): void {
    const started = this.#startAgain(member, afterMs)
      .catch((error: unknown) => {
        this.#failure = error;
      })
      .finally(() => this.#starting.delete(started));
    this.#starting.add(started);
  }

  /** A machine with much to do may let a start run out of time. */
  async #startAgain(member: Member, afterMs: number): Promise<void> {
    await wait(afterMs);
    for (let attempt = 1; ; attempt += 1)
      try {
        await member.relay.restart();
        break;
      } catch (error) {
        if (attempt === STARTS_MAX) throw error;
      }
    member.isUp = true;
    this.restarts += 1;
  }

  /** What they have printed lately. */
  output(): string {
    return this.#members.map(({ relay }) => relay.output()).join("\n");
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map(({ relay }) => relay.stop()));
  }
}
