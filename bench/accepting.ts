import { randomUUID } from "node:crypto";
import type { Services } from "../src/shared/compose.ts";
import type { NetworkName } from "../src/shared/networks/networks.ts";
import { BENCH_NETWORKS, call, type Tenant } from "./relay.ts";

const TOKENS_OF_LEG = 10;

interface AcceptedView {
  readonly id: string;
  readonly status: string;
  readonly legs: readonly { readonly status: string }[];
  readonly tokens: { readonly reserved: number };
}

/** Posts for tenants in turn; every answer is checked. */
export class Accepting {
  readonly #services: Services;
  readonly #tenants: readonly Tenant[];
  readonly #networks: readonly NetworkName[];
  readonly #ids = new Set<string>();

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
  }

  #tenantOf(index: number): Tenant {
    const tenant = this.#tenants[index % this.#tenants.length];
    if (tenant === undefined) throw new Error("there is no tenant to post for");
    return tenant;
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
}
