import type { Services } from "../src/shared/compose.ts";
import { acceptAsk, headersOf, succeed, type Ask, type Tenant } from "./relay.ts";
import { countRequests, type RequestCounts } from "./request-counter.ts";

const HOUR_MS = 3_600_000;
const TRIES = 4;

/** Requests whose round trips to storage are counted, each by a name that stays. */
export const COUNTED = [
  "accept",
  "acceptScheduled",
  "acceptReplayed",
  "readPost",
  "listPosts",
  "me",
  "connections",
  "usage",
] as const;
export type Counted = (typeof COUNTED)[number];

/** What one request costs at storage. */
export interface Cost {
  readonly requests: number;
  /** One after the other. */
  readonly sequential: number;
  readonly transactions: number;
  readonly messages: number;
  readonly entitiesRead: number;
}

export function costOf({ total, sequential, byKind, entitiesRead }: RequestCounts): Cost {
  const { transaction: transactions, send: messages } = byKind;
  return { requests: total, sequential, transactions, messages, entitiesRead };
}

export class RoundTrips {
  readonly #services: Services;
  readonly #tenant: Tenant;

  constructor(services: Services, tenant: Tenant) {
    this.#services = services;
    this.#tenant = tenant;
  }

  /**
   * Each request several times, and the cheapest of them: what goes on beside it (rate limits told to other instances,
   * what is noted once a minute, clients that open) only adds.
   * @throws Error on any answer that is no success
   */
  async count<Name extends Counted>(
    names: readonly Name[],
  ): Promise<Readonly<Record<Name, RequestCounts>>> {
    const cheapest = new Map<Name, RequestCounts>();
    for (let tried = 0; tried < TRIES; tried += 1)
      for (const name of names) {
        const counts = await this.#once(name);
        const before = cheapest.get(name);
        if (before === undefined || counts.total < before.total) cheapest.set(name, counts);
      }
    // Safe: there is one for each of the names.
    return Object.fromEntries(cheapest) as Record<Name, RequestCounts>;
  }

  async #once(name: Counted): Promise<RequestCounts> {
    const ask = await this.#askOf(name);
    return await countRequests(async () => {
      await this.#call(ask);
    });
  }

  async #askOf(name: Counted): Promise<Ask> {
    const tenant = this.#tenant;
    const read = (path: string): Ask => ({ method: "GET", path, headers: headersOf(tenant) });
    switch (name) {
      case "accept":
        return acceptAsk(tenant);
      case "acceptScheduled":
        return acceptAsk(tenant, { scheduleAt: new Date(Date.now() + HOUR_MS).toISOString() });
      case "acceptReplayed": {
        const ask = acceptAsk(tenant);
        await this.#call(ask);
        return ask;
      }
      case "readPost": {
        const { id } = await this.#call(acceptAsk(tenant));
        return read(`v1/posts/${id}`);
      }
      case "listPosts":
        return read("v1/posts");
      case "me":
        return read("v1/me");
      case "connections":
        return read(`v1/profiles/${tenant.profileId}/connections`);
      case "usage":
        return read("v1/billing/usage");
    }
  }

  #call(ask: Ask): Promise<{ readonly id: string }> {
    return succeed(this.#services, ask);
  }
}
