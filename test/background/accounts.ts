import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../../sandbox/bluesky/state.ts";
import type { Connection } from "../../src/shared/connections/connection.ts";
import { createNetworkTools } from "../../src/shared/connections/network-tools.ts";
import { networkOf, type NetworkName } from "../../src/shared/networks/networks.ts";
import type { Services } from "../../src/shared/compose.ts";
import { anOwner, openWorld, type Owner, type World } from "../connections/world.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { dropPendingEvents, linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { checkAccounts } from "../setup/walks.ts";
import { connectionOf, saveLinked } from "../setup/stored.ts";

export const DAY_MS = 24 * 60 * 60 * 1000;

/** A deployment with all five networks. */
export function openWholeWorld(more: Readonly<Record<string, string>> = {}): Promise<World> {
  return openWorld({ ...DEMO_APPS, ...more });
}

export async function aLinkedOwner(
  world: World,
  network: NetworkName,
): Promise<{ readonly owner: Owner; readonly connection: Connection }> {
  const owner = await anOwner(world);
  if (network === "bluesky") await linkByAppPassword(world.services, owner);
  else await linkSandboxAccount(world.services, owner, network);
  return { owner, connection: await connectionOf(world.services, owner, network) };
}

/** Bluesky's sessions of app passwords last longer than those of OAuth at the sandbox. */
export async function linkByAppPassword(services: Services, owner: Owner): Promise<void> {
  const { link } = networkOf("bluesky");
  const form = link.kind === "form" ? link : link.alternative;
  const fields = { identifier: DEMO_HANDLE, appPassword: DEMO_APP_PASSWORD };
  const outcome = await form?.signIn(fields, createNetworkTools(services.connections, "bluesky"));
  if (outcome?.kind !== "linked") throw new Error(`not linked: ${outcome?.code}`);
  await saveLinked(services, owner, "bluesky", outcome.linked);
  await dropPendingEvents(services, owner);
}

/** What the daily timer does, a day later each time. */
export async function passDays(world: World, days: number): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    world.relay.advance(DAY_MS);
    await checkAccounts(world.services);
  }
}

/** Paths of the calls that the networks got, without their queries. */
export function calls(world: World, part: string): string[] {
  return world.sandbox
    .requests()
    .map(({ path }) => path.split("?")[0] ?? "")
    .filter((path) => path.includes(part));
}

/** Types of the events that the owner's application was told about, oldest first. */
export async function toldTypes(world: World, owner: Owner): Promise<string[]> {
  await world.relay.drain();
  // The list leaves out what is so young that something older may still be written.
  world.relay.advance(60_000);
  const answer = await world.relay.call("GET", "/v1/events?limit=100", { key: owner.key });
  return (answer.body.data as { type: string }[]).map(({ type }) => type);
}
