import { randomUUID } from "node:crypto";
import { giveBack } from "../../runtime/give-back.ts";
import { LOST, untilWon } from "../../runtime/until-won.ts";
import type { WebhooksDeps } from "../deps.ts";
import { isLeased, type EndpointState } from "../endpoints/endpoint-health-store.ts";
import { isArmed, type EndpointWork } from "./pending-store.ts";
import { hintEndpoint } from "./queue-delivery.ts";

/** A lease outlasts the longest call by this much. */
const BEYOND_CALL_MS = 20_000;
/** No call begins that could end with less than this left of the lease: clocks differ by some seconds. */
const LEFT_AFTER_CALL_MS = 10_000;

/** That another process has taken the lease: this one stood still for longer than it lasts. */
export class LeaseLost extends Error {}

/** The right to deliver to an endpoint, which one process has at a time, and the endpoint's state as it is known to it. */
export class EndpointLease {
  readonly #services: WebhooksDeps;
  readonly #endpointId: string;
  readonly #id = randomUUID();
  #state: EndpointState;
  #etag: string | undefined;
  #saved: Promise<unknown> = Promise.resolve();

  private constructor(services: WebhooksDeps, endpointId: string, work: EndpointWork) {
    this.#services = services;
    this.#endpointId = endpointId;
    this.#state = work.state;
    this.#etag = work.etag;
  }

  /**
   * Takes the lease; returns undefined where there is nothing to do before the due row that is there. Where another
   * process has it, asks that one to look once more, and returns undefined. `dueAt` is the time of the due row that
   * asked: its hint is used up, and where the other's clock is behind, that one has to send another when it looks.
   */
  static async take(
    services: WebhooksDeps,
    endpointId: string,
    { limit, dueAt }: { readonly limit: number; readonly dueAt: string | undefined },
  ): Promise<{ readonly lease: EndpointLease; readonly work: EndpointWork } | undefined> {
    return untilWon(async () => {
      const work = await services.pending.read(endpointId, limit);
      const lease = new EndpointLease(services, endpointId, work);
      const now = services.clock.now();
      if (!isLeased(work.state, now)) {
        if (dueAt === undefined && isArmed(work, now)) return undefined;
        return (await lease.#begin()) ? { lease, work } : LOST;
      }
      const { isWanted, nextAt } = work.state;
      const isUsedUp = dueAt !== undefined && nextAt === dueAt;
      const asked = { isWanted: true, ...(isUsedUp && { nextAt: null }) };
      const isAsked = (isWanted && !isUsedUp) || (await lease.#try(asked));
      return isAsked ? undefined : LOST;
    });
  }

  /** Writes the lease. Where it is unknown whether it was taken, gives it back. */
  async #begin(): Promise<boolean> {
    try {
      return await this.#try(this.#term());
    } catch (error) {
      await this.abandon();
      throw error;
    }
  }

  get state(): EndpointState {
    return this.#state;
  }

  #term() {
    const now = this.#services.clock.now().getTime();
    const lengthMs = this.#services.config.webhooks.timeoutMs + BEYOND_CALL_MS;
    const leaseUntil = new Date(now + lengthMs).toISOString();
    return { leaseId: this.#id, leaseUntil, isWanted: false };
  }

  async #try(part: Partial<EndpointState>): Promise<boolean> {
    const etag = await this.#services.pending.writeState(this.#endpointId, part, this.#etag);
    if (etag === undefined) return false;
    this.#etag = etag;
    this.#state = { ...this.#state, ...part };
    return true;
  }

  /** Takes over what was read anew. @throws LeaseLost */
  #adopt({ state, etag }: EndpointWork): void {
    if (state.leaseId !== this.#id) throw new LeaseLost();
    this.#state = state;
    this.#etag = etag;
  }

  /** Reads what there is to do now. Whoever wants more from then on has to say so again. @throws LeaseLost */
  async readAnew(limit: number): Promise<EndpointWork> {
    const work = await this.#read(limit);
    if (!this.#state.isWanted) return work;
    await this.save(() => ({ isWanted: false }));
    return this.#read(limit);
  }

  /** Reads the work, and the state that comes with it. @throws LeaseLost */
  async #read(limit: number): Promise<EndpointWork> {
    const work = await this.#services.pending.read(this.#endpointId, limit);
    this.#adopt(work);
    return work;
  }

  /**
   * Changes the state, after every change that was asked for before.
   * @throws LeaseLost, AppError `service_unavailable` when the outcome is unknown
   */
  save(change: (state: EndpointState) => Partial<EndpointState>): Promise<void> {
    const saving = this.#saved.then(() => this.#save(change));
    this.#saved = saving.catch(() => undefined);
    return saving;
  }

  #save(change: (state: EndpointState) => Partial<EndpointState>): Promise<void> {
    return untilWon(async (attempts) => {
      if (attempts > 1) await this.#read(0);
      return (await this.#try(change(this.#state))) ? undefined : LOST;
    });
  }

  /** Returns whether the lease has to be prolonged before another call begins. */
  get isShort(): boolean {
    const { clock, config } = this.#services;
    const neededMs = config.webhooks.timeoutMs + LEFT_AFTER_CALL_MS;
    const until = Date.parse(this.#state.leaseUntil ?? "");
    return until - clock.now().getTime() < neededMs;
  }

  /** Prolongs the lease. @throws LeaseLost */
  prolong(): Promise<void> {
    return this.save(({ isWanted }) => ({ ...this.#term(), isWanted }));
  }

  /**
   * Gives the lease back, unless the state was changed since it was read: then there may be more to do. Returns whether
   * it did.
   */
  async release(part: Partial<EndpointState>): Promise<boolean> {
    await this.#saved;
    if (this.#state.isWanted) return false;
    return this.#try({ ...part, leaseId: null, leaseUntil: null });
  }

  /**
   * Gives the lease back whatever is left to do, and whatever failed before. Where that takes several tries, sends a hint
   * then: the message that failed may have come again meanwhile, and found the lease taken.
   */
  async abandon(): Promise<void> {
    const { log } = this.#services;
    let isLate = false;
    await giveBack(
      { log, what: "an endpoint", fields: { endpointId: this.#endpointId } },
      async () => {
        const wasLate = isLate;
        isLate = true;
        try {
          await this.#read(0);
          await this.save(() => ({ leaseId: null, leaseUntil: null, isWanted: false }));
        } catch (error) {
          if (error instanceof LeaseLost) return;
          throw error;
        }
        if (wasLate) await hintEndpoint(this.#services, this.#endpointId);
      },
    );
  }
}
