import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../../sandbox/bluesky/state.ts";
import { STRICT_HOST } from "../../sandbox/mastodon/state.ts";
import type { Sandbox } from "../../sandbox/server.ts";
import { createNetworkTools } from "../../src/shared/connections/network-tools.ts";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import type { Services } from "../../src/shared/compose.ts";
import { allow, signIn } from "./sign-in.ts";
import { saveLinked } from "./stored.ts";

/** Settings that put the sandbox in the place of the world. */
export function sandboxSettings(sandbox: Pick<Sandbox, "hosts">, origin: string) {
  return {
    OUTBOUND_HOST_MAP: JSON.stringify(
      Object.fromEntries(sandbox.hosts.map((host) => [host, origin])),
    ),
    OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
  };
}

/** What the connect page's form says. */
const FORMS: Partial<Record<NetworkName, Readonly<Record<string, string>>>> = {
  bluesky: { identifier: DEMO_HANDLE, appPassword: DEMO_APP_PASSWORD },
  mastodon: { instance: STRICT_HOST },
};

/** Removes the events of a profile that nobody has been sent. */
export async function dropPendingEvents(
  {
    webhooks: {
      stores: { events },
    },
  }: Services,
  { platformId, profileId }: { readonly platformId: string; readonly profileId: string },
): Promise<void> {
  const pending = await events.listPending(platformId, 100);
  const own = pending.filter((event) => event.profileId === profileId);
  await events.removePending(platformId, own);
}

/** Links the sandbox's demo account to a profile without the hosted page; no event says so. */
export async function linkSandboxAccount(
  services: Services,
  owner: {
    readonly platformId: string;
    readonly applicationId: string;
    readonly profileId: string;
  },
  network: NetworkName,
  {
    form = FORMS[network] ?? {},
    id,
  }: {
    readonly form?: Readonly<Record<string, string>>;
    /** The id of a connection that is linked again. */
    readonly id?: string;
  } = {},
): Promise<void> {
  const outcome = await signIn(network, form, {
    tools: createNetworkTools(services.connections, network),
    decide: (page) => allow(services.connections.outbound.browserUrl(page)),
  });
  if (outcome.kind === "failed")
    throw new Error(`${network} was not linked: ${outcome.code} ${outcome.note ?? ""}`);
  await saveLinked(services, { ...owner, connectionId: id }, network, outcome.linked);
  await dropPendingEvents(services, owner);
}
