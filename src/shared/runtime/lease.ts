import { randomUUID } from "node:crypto";
import { releaseOrRetry } from "./release.ts";
import type { Log, LogFields } from "./log.ts";
import { textOrNull } from "./storage/codec.ts";
import { LOST, retryLostRaces } from "./retry-lost-races.ts";

/** Columns of a lease in the row that it protects: who has it, and until when. */
export const LEASE_COLUMNS = { leaseId: textOrNull(), leaseUntil: textOrNull() };
export interface LeaseColumns {
  readonly leaseId: string | null;
  readonly leaseUntil: string | null;
}

/** Column values that give a lease back. */
export const FREE = { leaseId: null, leaseUntil: null } as const satisfies LeaseColumns;

/** Reports whether a worker has the lease. A lease that has expired may be taken over. */
export const isHeld = ({ leaseUntil }: Pick<LeaseColumns, "leaseUntil">, now: Date): boolean =>
  leaseUntil !== null && leaseUntil > now.toISOString();

/** Columns of a lease that is taken or prolonged from now on. */
export const heldBy = (leaseId: string, now: Date, leaseMs: number): LeaseColumns => ({
  leaseId,
  leaseUntil: new Date(now.getTime() + leaseMs).toISOString(),
});

/** Another worker has taken the lease, because this one was suspended for longer than the lease lasts. */
export class LeaseLost extends Error {}

export interface LeasedState<State extends LeaseColumns> {
  readonly state: State;
  /** Undefined while the row doesn't exist. */
  readonly etag: string | undefined;
}

/** What a lease protects, and how its row is read and written. */
export interface LeaseOf<State extends LeaseColumns, Found extends LeasedState<State>> {
  readonly what: string;
  readonly fields: LogFields;
  readonly log: Log;
  readonly clock: { now(): Date };
  readonly leaseMs: number;
  /** Reads the row together with the work to do. Returns undefined when what the lease protects is gone. */
  read(): Promise<Found | undefined>;
  /** Writes a part of the row. Returns its new version, or undefined when `etag` is no longer its version. */
  write(part: Partial<State>, etag: string | undefined): Promise<string | undefined>;
  /** Sends a hint that there may be work, after a lease that was given back late. */
  readonly hint?: () => Promise<void>;
}

/**
 * The right of one worker at a time to do something. It consists of two columns of a row, and the row as its holder
 * knows it.
 *
 * A worker that finds the lease taken changes the row's version, by any write. The holder gives back only the version
 * in which it last read the work to do, so it reads again when a worker has asked since. All its writes are conditional
 * on the version, so a holder that was suspended for longer than its lease changes nothing.
 */
export class Lease<State extends LeaseColumns, Found extends LeasedState<State>> {
  readonly #of: LeaseOf<State, Found>;
  readonly #id = randomUUID();
  #state: State;
  #etag: string | undefined;
  /** Whether a worker may have asked since the holder last read the work to do. */
  #isAsked = false;
  #hasEnded = false;
  /** Whether the outcome of the last write is unknown. */
  #isInDoubt = false;
  #saved: Promise<unknown> = Promise.resolve();

  constructor(of: LeaseOf<State, Found>, found: LeasedState<State>) {
    this.#of = of;
    this.#state = found.state;
    this.#etag = found.etag;
  }

  get state(): State {
    return this.#state;
  }

  /**
   * Takes the lease in the row as it was read. Returns false when the row has changed. If the outcome is unknown, the
   * lease is given back.
   */
  async take(): Promise<boolean> {
    try {
      return await this.#try(this.#term());
    } catch (error) {
      await this.giveBack();
      throw error;
    }
  }

  #term(): Partial<State> {
    // Safe: every such row has these columns.
    return heldBy(this.#id, this.#of.clock.now(), this.#of.leaseMs) as Partial<State>;
  }

  async #try(part: Partial<State>): Promise<boolean> {
    this.#isInDoubt = true;
    const etag = await this.#of.write(part, this.#etag);
    this.#isInDoubt = false;
    if (etag === undefined) return false;
    this.#etag = etag;
    this.#state = { ...this.#state, ...part };
    return true;
  }

  async #read(): Promise<Found> {
    const found = await this.#of.read();
    if (found?.state.leaseId !== this.#id) throw new LeaseLost();
    this.#state = found.state;
    this.#etag = found.etag;
    return found;
  }

  /** Reads the work to do again. @throws LeaseLost */
  async readAgain(): Promise<Found> {
    await this.#saved;
    const found = await this.#read();
    this.#isAsked = false;
    return found;
  }

  /**
   * Writes what `change` makes of the row, after all changes that were requested before.
   * @throws LeaseLost
   * @throws AppError `service_unavailable` when the outcome is unknown
   */
  save(change: (state: State) => Partial<State>): Promise<void> {
    const saving = this.#saved.then(() =>
      retryLostRaces<void>(async (attempts) => {
        if (attempts > 1 || this.#isInDoubt) {
          await this.#read();
          this.#isAsked = true;
        }
        return (await this.#try(change(this.#state))) ? undefined : LOST;
      }),
    );
    this.#saved = saving.catch(() => undefined);
    return saving;
  }

  /** Writes a change and prolongs the lease. @throws LeaseLost */
  keep(change?: Partial<State>): Promise<void> {
    return this.save(() => ({ ...change, ...this.#term() }));
  }

  /** Prolongs the lease when less than `leftMs` of it remains. @throws LeaseLost */
  async prolong(leftMs: number): Promise<void> {
    const until = new Date(this.#of.clock.now().getTime() + leftMs);
    if (!isHeld(this.#state, until)) await this.keep();
  }

  /** Gives the lease back, unless a worker has asked since the last read. Returns whether it did. */
  async release(part?: Partial<State>): Promise<boolean> {
    await this.#saved;
    return !this.#isAsked && (await this.#try({ ...part, ...FREE } as Partial<State>));
  }

  /** Records that a larger write has given the lease back. */
  ended(): void {
    this.#hasEnded = true;
  }

  /**
   * Gives the lease back, whatever work is left and whatever has failed. If that takes several tries, it then sends a
   * hint, because the failed message may have come again meanwhile and found the lease taken. Never throws.
   */
  async giveBack(): Promise<void> {
    if (this.#hasEnded) return;
    const { log, what, fields, hint } = this.#of;
    let tries = 0;
    await releaseOrRetry({ log, what, fields }, async () => {
      tries += 1;
      try {
        await this.save(() => FREE as Partial<State>);
      } catch (error) {
        if (error instanceof LeaseLost) return;
        throw error;
      }
      if (tries > 1) await hint?.();
    });
  }
}
