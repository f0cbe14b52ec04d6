import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../../model/random.ts";
import type { Answer } from "../relay/relay-process.ts";
import type { Fleet } from "./fleet.ts";
import type { Tenant } from "./tenants.ts";

const PATIENCE_MS = 10_000;
const TRIES_MAX = 40;
const IN_FLIGHT_MAX = 60;
const SCHEDULED = 0.4;
/** The API wants ten seconds; what comes on top is for requests that have to be repeated. */
const AHEAD_MS_MIN = 14_000;
const FAULTY = 0.1;
const TWINS = 0.06;
const IMPATIENT = 0.06;
const CANCELED = 0.06;
const MOVED = 0.06;

const FAULT_WORDS = [
  "[drop-answer]",
  "[error-after]",
  "[drop-before]",
  "[html-502]",
  "[fail:network_unavailable:1]",
] as const;

/** One post that a customer wants, and what was answered. */
export interface Ask {
  readonly number: number;
  readonly tenant: Tenant;
  /** Idempotency-Key and `externalId`. */
  readonly key: string;
  readonly isScheduled: boolean;
  /** The network fails in the first attempt, so that its lateness says nothing. */
  readonly isFaulty: boolean;
  readonly postIds: Set<string>;
}

export interface LoadCounts {
  requests: number;
  /** Requests that were cut off, or whose answer was not waited for. */
  unanswered: number;
  /** Answers that sent the client away for a while. */
  unavailable: number;
  twins: number;
  cancels: number;
  moves: number;
}

const TEXT = /^No\. (\d+) of the soak\b/;

/** The number of the ask whose text this is. */
export function numberIn(text: string): number | undefined {
  const found = TEXT.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Customers who post at a bounded rate, and repeat under the same key what they got no answer to. */
export class Load {
  readonly asks: Ask[] = [];
  readonly violations: string[] = [];
  readonly counts: LoadCounts = {
    requests: 0,
    unanswered: 0,
    unavailable: 0,
    twins: 0,
    cancels: 0,
    moves: 0,
  };
  readonly #fleet: Fleet;
  readonly #tenants: readonly Tenant[];
  readonly #random: Random;
  readonly #underWay = new Set<Promise<void>>();

  constructor(fleet: Fleet, tenants: readonly Tenant[], random: Random) {
    this.#fleet = fleet;
    this.#tenants = tenants;
    this.#random = random;
  }

  /** Posts until the signal comes; every customer has an answer, or has given up, when this resolves. */
  async run(postsPerSecond: number, aheadMsMax: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // The longer the answers take, the less is asked.
      if (this.#underWay.size < IN_FLIGHT_MAX) this.#begin(aheadMsMax);
      const pauseMs = (2 * this.#random.next() * 1000) / postsPerSecond;
      await wait(pauseMs, undefined, { signal }).catch(() => {});
    }
    await Promise.all(this.#underWay);
  }

  #begin(aheadMsMax: number): void {
    const random = this.#random;
    const number = this.asks.length + 1;
    const tenant = random.pick(this.#tenants);
    const isFaulty = random.chance(FAULTY);
    const isScheduled = random.chance(SCHEDULED);
    const ask: Ask = {
      number,
      tenant,
      key: `the-soak-no-${number}`,
      isScheduled,
      isFaulty,
      postIds: new Set(),
    };
    this.asks.push(ask);
    const scheduleAt = new Date(Date.now() + random.between(AHEAD_MS_MIN, aheadMsMax));
    const body = {
      text: `No. ${number} of the soak${isFaulty ? ` ${random.pick(FAULT_WORDS)}` : ""}`,
      platforms: random.chance(0.6) ? tenant.networks : [random.pick(tenant.networks)],
      externalId: ask.key,
      ...(isScheduled ? { scheduleAt: scheduleAt.toISOString() } : {}),
    };
    const isTwin = random.chance(TWINS);
    if (isTwin) this.counts.twins += 1;
    for (let twin = 0; twin < (isTwin ? 2 : 1); twin += 1) {
      const done = this.#insist(ask, body)
        .then(() => (twin === 0 && isScheduled ? this.#startSequel(ask) : undefined))
        .catch((error: unknown) => void this.violations.push(`${ask.key}: ${String(error)}`))
        .finally(() => this.#underWay.delete(done));
      this.#underWay.add(done);
    }
  }

  /** Some answer, or undefined when none came. */
  async #try(
    { tenant: { customer }, key }: Ask,
    request: readonly [method: string, path: string],
    body?: object,
  ): Promise<Answer | undefined> {
    const relay = await this.#fleet.any(this.#random);
    const [method, path] = request;
    this.counts.requests += 1;
    try {
      return await relay.call(method, path, {
        bearer: customer.key,
        headers: { "x-profile-id": customer.profileId, "idempotency-key": key },
        ...(body === undefined ? {} : { body }),
        timeoutMs: this.#random.chance(IMPATIENT) ? this.#random.between(5, 150) : PATIENCE_MS,
      });
    } catch {
      this.counts.unanswered += 1;
      return undefined;
    }
  }

  /** Asks again and again, under one key, until there is an answer to go by. */
  async #insist(ask: Ask, body: object): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const answer = await this.#try(ask, ["POST", "/v1/posts"], body);
      if (answer !== undefined && answer.status < 300) {
        ask.postIds.add(String(answer.body.data.id));
        return;
      }
      if (answer !== undefined && this.#isFinal(ask, answer)) return;
      await wait(this.#random.between(50, 1_000));
    }
    this.violations.push(`${ask.key} was not answered in ${TRIES_MAX} tries`);
  }

  /** Whether asking again is of no use; what no outage and no passing of time explains is a violation. */
  #isFinal(ask: Ask, { status, body }: Answer): boolean {
    const code = String(body?.error?.code ?? body);
    if (status === 503 && code === "service_unavailable") {
      this.counts.unavailable += 1;
      return false;
    }
    // Asked so late that its time has come.
    if (ask.isScheduled && code === "validation_failed") return true;
    this.violations.push(`${ask.key} was answered ${status} ${JSON.stringify(body)}`);
    return true;
  }

  /** Some change their mind about a post while it waits. Asked once: whatever comes of it has to be consistent. */
  async #startSequel(ask: Ask): Promise<void> {
    const random = this.#random;
    const [postId] = ask.postIds;
    const dice = random.next();
    if (postId === undefined || dice > CANCELED + MOVED) return;
    const path = `/v1/posts/${postId}`;
    await wait(random.below(AHEAD_MS_MIN));
    if (dice < CANCELED) {
      this.counts.cancels += 1;
      await this.#try(ask, ["DELETE", path]);
      return;
    }
    this.counts.moves += 1;
    const scheduleAt = new Date(Date.now() + AHEAD_MS_MIN).toISOString();
    await this.#try(ask, ["PATCH", path], { scheduleAt });
  }
}
