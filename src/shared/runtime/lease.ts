import { randomUUID } from "node:crypto";
import { giveBack } from "./give-back.ts";
import type { Log, LogFields } from "./log.ts";
import { textOrNull } from "./storage/codec.ts";
import { LOST, untilWon } from "./until-won.ts";

/** The columns that a lease has in the row of what it is for: who has it, and until when. */
export const LEASE_COLUMNS = { leaseId: textOrNull(), leaseUntil: textOrNull() };
export interface LeaseColumns {
  readonly leaseId: string | null;
  readonly leaseUntil: string | null;
}

/** What gives a lease back. */
export const FREE = { leaseId: null, leaseUntil: null } as const satisfies LeaseColumns;

/** Returns whether some worker has the lease. One that has run out may be taken over. */
export const isHeld = ({ leaseUntil }: Pick<LeaseColumns, "leaseUntil">, now: Date): boolean =>
  leaseUntil !== null && leaseUntil > now.toISOString();

/** Returns the columns of a lease that is taken or kept for so long. */
export const heldBy = (leaseId: string, now: Date, leaseMs: number): LeaseColumns => ({
  leaseId,
  leaseUntil: new Date(now.getTime() + leaseMs).toISOString(),
});

/** That another worker has taken the lease: this one was suspended for longer than it lasts. */
export class LeaseLost extends Error {}

/** A row with a lease, as it was read. */
export interface Leased<State extends LeaseColumns> {
  readonly state: State;
  /** Undefined while there is no row. */
  readonly etag: string | undefined;
}

/** What a lease is for, and how its row is read and written. */
export interface LeaseOf<State extends LeaseColumns, Found extends Leased<State>> {
  /** For the log. */
  readonly what: string;
  readonly fields: LogFields;
  readonly log: Log;
  readonly clock: { now(): Date };
  readonly leaseMs: number;
  /** Reads the row, and in one request what there is to do. Undefined when what the lease is for is gone. */
  read(): Promise<Found | undefined>;
  /** Writes a part of the row in this version. Returns the new version, undefined when it was changed since. */
  write(part: Partial<State>, etag: string | undefined): Promise<string | undefined>;
  /** Sends a hint that there may be work, after a lease that could only be given back late. */
  readonly hint?: () => Promise<void>;
}

/**
 * The right to do something that one worker has at a time, by two columns of a row, and the row as its holder knows it.
 *
 * A worker that finds the lease held changes the row's version, with any write. The holder gives back only the version
 * in which it last read what there is to do, so it reads again when somebody has asked since. All that it writes is
 * conditional on the version, so a holder that was suspended for longer than its lease changes nothing.
 */
export class Lease<State extends LeaseColumns, Found extends Leased<State>> {
  readonly #of: LeaseOf<State, Found>;
  readonly #id = randomUUID();
  #state: State;
  #etag: string | undefined;
  /** Whether somebody may have asked the holder since it last read what there is to do. */
  #isAsked = false;
  #hasEnded = false;
  /** Whether the outcome of the last write is unknown. */
  #isInDoubt = false;
  #saved: Promise<unknown> = Promise.resolve();

  constructor(of: LeaseOf<State, Found>, found: Leased<State>) {
    this.#of = of;
    this.#state = found.state;
    this.#etag = found.etag;
  }

  get state(): State {
    return this.#state;
  }

  /**
   * Takes the lease in the row as it was read. Returns false when the row was changed since. Where it is unknown whether
   * it was taken, gives it back.
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
    // Safe: these are columns of every such row.
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

  /** Reads what there is to do now. @throws LeaseLost */
  async readAgain(): Promise<Found> {
    await this.#saved;
    const found = await this.#read();
    this.#isAsked = false;
    return found;
  }

  /**
   * Writes what `change` makes of the row, after every change that was asked for before.
   * @throws LeaseLost, AppError `service_unavailable` when the outcome is unknown
   */
  save(change: (state: State) => Partial<State>): Promise<void> {
    const saving = this.#saved.then(() => this.#save(change));
    this.#saved = saving.catch(() => undefined);
    return saving;
  }

  #save(change: (state: State) => Partial<State>): Promise<void> {
    return untilWon(async (attempts) => {
      if (attempts > 1 || this.#isInDoubt) {
        await this.#read();
        this.#isAsked = true;
      }
      return (await this.#try(change(this.#state))) ? undefined : LOST;
    });
  }

  /** Keeps the lease for longer when less than this is left of it. @throws LeaseLost */
  async prolong(leftMs: number): Promise<void> {
    const until = new Date(this.#of.clock.now().getTime() + leftMs);
    if (!isHeld(this.#state, until)) await this.save(() => this.#term());
  }

  /** Gives the lease back, unless somebody has asked since the last read. Returns whether it did. */
  async release(part?: Partial<State>): Promise<boolean> {
    await this.#saved;
    return !this.#isAsked && (await this.#try({ ...part, ...FREE } as Partial<State>));
  }

  /** Notes that a write of more than the lease has given it back. */
  ended(): void {
    this.#hasEnded = true;
  }

  /**
   * Gives the lease back whatever is left to do, and whatever failed before. Where that takes several tries, sends a
   * hint then: the message that failed may have come again meanwhile, and found the lease taken. Never throws.
   */
  async giveBack(): Promise<void> {
    if (this.#hasEnded) return;
    const { log, what, fields, hint } = this.#of;
    let tries = 0;
    await giveBack({ log, what, fields }, async () => {
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
