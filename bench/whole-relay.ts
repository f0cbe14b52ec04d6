import { randomBytes } from "node:crypto";
import { buildApp } from "../tools/build.ts";
import type { Services } from "../src/shared/compose.ts";
import { startBenchStorage } from "./emulator.ts";
import { HostProcess } from "./host-process.ts";
import { startInstantNetwork, type InstantNetwork } from "./instant-network.ts";
import {
  acceptAsk,
  BENCH_PREFIX,
  openTenant,
  settingsOf,
  startRelay,
  succeed,
  type Tenant,
} from "./relay.ts";

/** The built product in processes of its own under the local host, its storage, and a network that answers immediately. */
export interface WholeRelay {
  readonly network: InstantNetwork;
  readonly hosts: readonly HostProcess[];
  openTenants(count: number): Promise<Tenant[]>;
  /** Accepts a post of one leg by one of the processes, in turn; of several tenants, each process has its own. */
  post(tenants: Tenant | readonly Tenant[], body?: object): Promise<string>;
  /** Returns what the first process takes of the machine's memory, in bytes. */
  residentBytes(): Promise<number>;
  stop(): Promise<void>;
}

/** Tenants whose one account is at the instant network, with an endpoint for all their events. */
export async function openLinked(
  services: Services,
  network: InstantNetwork,
  count: number,
): Promise<Tenant[]> {
  const tenants: Tenant[] = [];
  while (tenants.length < count) {
    const tenant = await openTenant(services);
    await succeed(services, {
      method: "POST",
      path: "v1/webhooks",
      headers: { authorization: `Bearer ${tenant.apiKey}` },
      body: { url: network.endpointUrl(tenant.applicationId) },
    });
    tenants.push(tenant);
  }
  return tenants;
}

/** Accepts a post of one leg, and returns its text. After a 503 the same request is made again, as clients do. */
export async function acceptPost(
  next: () => HostProcess,
  tenant: Tenant,
  body: object = {},
): Promise<string> {
  const ask = acceptAsk(tenant, { platforms: ["mastodon"], ...body });
  let { status, text } = await next().send(ask);
  while (status === 503) ({ status, text } = await next().send(ask));
  // 201: it starts later.
  if (status !== 202 && status !== 201)
    throw new Error(`a post was answered with ${status}: ${text}`);
  return (JSON.parse(text) as { data: { text: string } }).data.text;
}

/** Starts so many processes. `nodeOptions`: as an operator sets them in `NODE_OPTIONS`. */
export async function startWholeRelay(
  nodeOptions = "",
  processes = 1,
  networkMs = 0,
): Promise<WholeRelay> {
  await buildApp();
  const [storage, network] = await Promise.all([
    startBenchStorage(),
    startInstantNetwork(networkMs),
  ]);
  const prefix = `${BENCH_PREFIX}${randomBytes(6).toString("hex")}`;
  const services = startRelay(storage, prefix, network.settings);
  const environment = {
    ...settingsOf(storage, prefix),
    ...network.settings,
    NODE_OPTIONS: nodeOptions,
  };
  const hosts: HostProcess[] = [];
  let posts = 0;
  const stop = async () => {
    await Promise.all(hosts.map((host) => host.stop()));
    await Promise.all([storage.stop(), network.stop()]);
  };
  const next = () => {
    const host = hosts[(posts += 1) % hosts.length];
    if (host === undefined) throw new Error("no process has started");
    return host;
  };
  try {
    while (hosts.length < processes) hosts.push(await HostProcess.start(environment));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    network,
    hosts,
    openTenants: (count) => openLinked(services, network, count),
    async post(tenants, body = {}) {
      const all = [tenants].flat();
      const tenant = all[(posts + 1) % all.length];
      if (tenant === undefined) throw new Error("there is no tenant to post for");
      return await acceptPost(next, tenant, body);
    },
    residentBytes: () => next().residentBytes(),
    stop,
  };
}
