import { randomUUID } from "node:crypto";
import type { Services } from "../src/shared/compose.ts";
import type { NetworkName } from "../src/shared/networks/lookup.ts";
import { commitAlone } from "./commit-alone.ts";
import { ledgerProblems } from "./ledger-check.ts";
import { BENCH_NETWORKS, call, type Tenant } from "./relay.ts";

const TOKENS_OF_LEG = 10;

interface AcceptedView {
  readonly id: string;
  readonly status: string;
  readonly legs: readonly { readonly status: string }[];
  readonly tokens: { readonly reserved: number };
}

/** Posts for tenants in turn; every answer is judged, and the money at the end. */
export class Accepting {
  readonly #services: Services;
  readonly #tenants: readonly Tenant[];
  readonly #networks: readonly NetworkName[];
  readonly #ids = new Set<string>();
  readonly #acceptedOf = new Map<string, number>();

  /** `networks`: where each post goes, a leg for each. */
  constructor(
    services: Services,
    tenants: readonly Tenant[],
    networks: readonly NetworkName[] = BENCH_NETWORKS,
  ) {
    this.#services = services;
    this.#tenants = tenants;
    this.#networks = networks;
  }

  /** @throws Error when the answer is not that of a newly accepted post */
  async accept(index: number): Promise<void> {
    const tenant = this.#tenantOf(index);
    const key = randomUUID();
    const { status, body, headers } = await this.#post(tenant, key);
    if (status !== 202) throw new Error(`a post was answered with ${status}: ${String(body)}`);
    const { data } = JSON.parse(String(body)) as { data: AcceptedView };
    const isRight =
      data.status === "processing" &&
      data.legs.length === this.#networks.length &&
      data.legs.every((leg) => leg.status === "pending") &&
      data.tokens.reserved === TOKENS_OF_LEG * this.#networks.length &&
      !headers.has("idempotent-replayed");
    if (!isRight || this.#ids.has(data.id))
      throw new Error(`a post was answered wrongly: ${String(body)}`);
    this.#ids.add(data.id);
    this.#count(tenant);
  }

  /** The writing part alone, past the routes. */
  async commit(index: number): Promise<void> {
    const tenant = this.#tenantOf(index);
    await commitAlone(this.#services, tenant, this.#networks);
    this.#count(tenant);
  }

  #tenantOf(index: number): Tenant {
    const tenant = this.#tenants[index % this.#tenants.length];
    if (tenant === undefined) throw new Error("there is no tenant to post for");
    return tenant;
  }

  #count({ platformId }: Tenant): void {
    this.#acceptedOf.set(platformId, (this.#acceptedOf.get(platformId) ?? 0) + 1);
  }

  #post(tenant: Tenant, idempotencyKey: string) {
    return call(this.#services, {
      method: "POST",
      path: "v1/posts",
      headers: {
        authorization: `Bearer ${tenant.apiKey}`,
        "x-profile-id": tenant.profileId,
        "idempotency-key": idempotencyKey,
      },
      body: { text: `Measured ${idempotencyKey}`, platforms: this.#networks },
    });
  }

  /** @throws Error naming every tenant whose ledger, holds or posts do not add up */
  async requireSums(): Promise<void> {
    const problems: string[] = [];
    for (const tenant of this.#tenants) {
      const posts = this.#acceptedOf.get(tenant.platformId) ?? 0;
      problems.push(...(await ledgerProblems(this.#services, tenant, posts)));
    }
    if (problems.length > 0) throw new Error(`the ledger does not add up:\n${problems.join("\n")}`);
  }
}
