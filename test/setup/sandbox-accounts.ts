import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../../dev/networks/bluesky/state.ts";
import { STRICT_HOST } from "../../dev/networks/mastodon/state.ts";
import type { Sandbox } from "../../dev/networks/server.ts";
import { createNetworkTools } from "../../src/shared/connect/network-tools.ts";
import { newId } from "../../src/shared/ids.ts";
import type { LinkOutcome } from "../../src/shared/networks/network.ts";
import { networkOf, type NetworkName } from "../../src/shared/networks/lookup.ts";
import type { Services } from "../../src/shared/services.ts";

/** Settings that put the sandbox in the place of the world. */
export function sandboxSettings(sandbox: Pick<Sandbox, "hosts">, origin: string) {
  return {
    OUTBOUND_HOST_MAP: JSON.stringify(
      Object.fromEntries(sandbox.hosts.map((host) => [host, origin])),
    ),
    OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
  };
}

async function authorize(url: string): Promise<string> {
  const form = new URLSearchParams({ decision: "allow" });
  const answer = await fetch(url, { method: "POST", body: form, redirect: "manual" });
  const location = answer.headers.get("location");
  if (location === null) throw new Error(`the sandbox did not authorize: ${answer.status}`);
  return location;
}

async function signIn(services: Services, name: NetworkName, host: string): Promise<LinkOutcome> {
  const network = networkOf(name);
  const tools = createNetworkTools(services, name);
  const { link } = network;
  const logIn = { identifier: DEMO_HANDLE, appPassword: DEMO_APP_PASSWORD };
  if (link.kind === "form") return link.signIn(logIn, tools);
  if (link.alternative !== undefined) return link.alternative.signIn(logIn, tools);
  const redirectUri = "http://127.0.0.1:1/callback";
  const codeVerifier = "v".repeat(43);
  const codeChallenge = Buffer.from(
    await crypto.subtle.digest("SHA-256", Buffer.from(codeVerifier)),
  ).toString("base64url");
  const start = { redirectUri, state: "state", codeChallenge };
  const started = await link.start({ instance: host }, start, tools);
  if (started.kind === "failed") return started;
  const callback = new URL(await authorize(services.outbound.browserUrl(started.url)));
  const params = Object.fromEntries(callback.searchParams);
  const flow = started.flow;
  const outcome = await link.finish({ params, codeVerifier, redirectUri, flow }, tools);
  if (outcome.kind !== "choose") return outcome;
  const [first] = outcome.candidates;
  if (first === undefined || link.choose === undefined) throw new Error(`${name} offers nothing`);
  return link.choose(first.id, outcome.flow, tools);
}

/** Makes what the store would still tell of a connection a matter of the past. */
export async function forgetUntold(
  services: Services,
  place: { readonly profileId: string; readonly network: NetworkName },
): Promise<void> {
  const untold = await services.untold.list(place);
  await services.untold.settle(
    place,
    untold.map(({ id }) => id),
  );
}

/** Links the sandbox's demo account to a profile without the hosted page; nobody is told of it. */
export async function linkSandboxAccount(
  services: Services,
  owner: {
    readonly platformId: string;
    readonly applicationId: string;
    readonly profileId: string;
  },
  network: NetworkName,
  {
    host = STRICT_HOST,
    id = newId("connection", services.clock.now()),
  }: {
    readonly host?: string;
    /** Of the connection that is linked anew. */
    readonly id?: string;
  } = {},
): Promise<void> {
  const outcome = await signIn(services, network, host);
  if (outcome.kind === "failed")
    throw new Error(`${network} was not linked: ${outcome.code} ${outcome.note ?? ""}`);
  await services.connections.saveLinked({ ...owner, id, network, linked: outcome.linked });
  await forgetUntold(services, { profileId: owner.profileId, network });
}
