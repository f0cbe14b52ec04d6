import { parseConfig } from "../../../src/shared/config/config.ts";
import { createLog } from "../../../src/shared/runtime/log.ts";
import type { NetworkName } from "../../../src/shared/networks/networks.ts";
import { buildServices, type Services } from "../../../src/shared/compose.ts";
import { linkSandboxAccount } from "../../setup/sandbox-accounts.ts";
import { aCustomer, linkBluesky, linkMastodon } from "../relay/customer.ts";
import type { Customer } from "../relay/customer.ts";
import { dataOf } from "../relay/relay-process.ts";
import type { RelayProcess } from "../relay/relay-process.ts";
import type { World } from "../relay/world.ts";
import type { Receivers } from "./receivers.ts";

const TOKENS = 1_000_000;

/** One paying tenant with a profile, linked accounts and a webhook endpoint. */
export interface Tenant {
  readonly name: string;
  readonly customer: Customer;
  readonly networks: readonly NetworkName[];
  readonly endpointPath: string;
}

interface Plan {
  readonly name: string;
  /** Keeps idempotency keys, or does not when it is the sandbox's lenient one. */
  readonly instance: string;
  readonly beside: "bluesky" | "linkedin" | "facebook";
}

/** Each has accounts of its own: an account gets one leg at a time. */
const PLANS: readonly Plan[] = [
  { name: "one", instance: "mastodon.sandbox.test", beside: "bluesky" },
  { name: "two", instance: "gotosocial.sandbox.test", beside: "bluesky" },
  { name: "three", instance: "three.sandbox.test", beside: "linkedin" },
  { name: "four", instance: "four.sandbox.test", beside: "facebook" },
];

/** Instances that the sandbox founds when they are first asked for; they have to be led there. */
export const FOUNDED_HOSTS: readonly string[] = PLANS.slice(2).map(({ instance }) => instance);

/** The deployment's services in this process, to link what has no short way over the API, and to reconcile. */
export function servicesOf(settings: Readonly<Record<string, string>>): Services {
  const config = parseConfig({ AZURE_FUNCTIONS_ENVIRONMENT: "Development", ...settings });
  return buildServices(config, { log: createLog({ level: "error", sink: () => undefined }) });
}

interface Place {
  readonly relay: RelayProcess;
  readonly world: World;
  readonly services: Services;
  readonly receivers: Receivers;
}

async function linkBeside(place: Place, customer: Customer, plan: Plan): Promise<void> {
  const { relay, world, services } = place;
  if (plan.beside !== "bluesky") return linkSandboxAccount(services, customer, plan.beside);
  const account = { handle: `${plan.name}.bsky.social`, appPassword: "abcd-efgh-ijkl-mnop" };
  world.sandbox.networks.bluesky.addAccount(account);
  await linkBluesky(relay, customer, {
    identifier: account.handle,
    appPassword: account.appPassword,
  });
}

async function aTenant(place: Place, plan: Plan): Promise<Tenant> {
  const { relay, world, receivers } = place;
  const customer = await aCustomer(relay, world, TOKENS);
  await linkMastodon(relay, customer, plan.instance);
  await linkBeside(place, customer, plan);
  const endpointPath = `/soak/${plan.name}`;
  const endpoint = dataOf(
    await relay.call("POST", "/v1/webhooks", {
      bearer: customer.key,
      body: { url: receivers.urlOf(endpointPath) },
    }),
  );
  receivers.listen(endpointPath, endpoint.secret);
  return { name: plan.name, customer, networks: ["mastodon", plan.beside], endpointPath };
}

export async function createTenants(place: Place): Promise<readonly Tenant[]> {
  const tenants: Tenant[] = [];
  for (const plan of PLANS) tenants.push(await aTenant(place, plan));
  return tenants;
}
