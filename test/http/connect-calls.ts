import { beforeEach, expect } from "vitest";
import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../../sandbox/bluesky/state.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { Browser, decide, locationOf } from "../connections/browser.ts";
import { anOwner, openWorld } from "../connections/world.ts";
import type { Owner, World } from "../connections/world.ts";
import type { Answer } from "../setup/relay.ts";
import { forgetHost } from "../setup/stored.ts";
import { forFile } from "../setup/for-file.ts";

interface SessionBody {
  readonly id: string;
  readonly status: string;
  readonly platforms: readonly string[];
  readonly connectUrl: string;
  readonly connections: readonly ConnectionBody[];
}
interface ConnectionBody {
  readonly id: string;
  readonly platform: string;
  readonly status: string;
  readonly account: { readonly id: string; readonly username: string };
}

export const MINUTE = 60_000;
export const BLUESKY = { identifier: DEMO_HANDLE, appPassword: DEMO_APP_PASSWORD };
export const MASTODON = { instance: "mastodon.sandbox.test" };

interface Visit {
  readonly decision?: "allow" | "deny";
  readonly instance?: string;
}

/** A relay before the sandbox, and before every test a tenant that has linked nothing. */
export function useConnect(
  keep?: (fresh: { readonly world: World; readonly owner: Owner }) => void,
) {
  let owner: Owner;

  const world = forFile(() => openWorld());
  beforeEach(async () => {
    world.intercept(undefined);
    world.sandbox.reset();
    // The sandbox forgot the relay's registration there.
    await forgetHost(world.services, MASTODON.instance);
    owner = await anOwner(world);
  });

  function start(body: object = {}, by: Owner = owner): Promise<Answer> {
    const path = `/v1/profiles/${by.profileId}/connect/sessions`;
    return world.relay.call("POST", path, { key: by.key, body });
  }

  async function aSession(body: object = {}, by: Owner = owner): Promise<SessionBody> {
    const answer = await start(body, by);
    expect(answer.status).toBe(201);
    return answer.body.data;
  }

  async function session({ id }: { id: string }, by: Owner = owner): Promise<SessionBody> {
    const answer = await world.relay.call("GET", `/v1/connect/sessions/${id}`, { key: by.key });
    expect(answer.status).toBe(200);
    return answer.body.data;
  }

  async function connections(by: Owner = owner): Promise<readonly ConnectionBody[]> {
    const path = `/v1/profiles/${by.profileId}/connections`;
    const answer = await world.relay.call("GET", path, { key: by.key });
    expect(answer.status).toBe(200);
    expect(answer.body.page).toEqual({
      nextCursor: null,
      hasMore: false,
      limit: NETWORK_NAMES.length,
    });
    return answer.body.data;
  }

  const cancel = ({ id }: { id: string }, by: Owner = owner) =>
    world.relay.call("POST", `/v1/connect/sessions/${id}/cancel`, { key: by.key });

  async function linkBluesky(
    connectUrl: string,
    typed: Readonly<Record<string, string>> = BLUESKY,
  ) {
    const browser = new Browser(world);
    return await browser.submit(await browser.get(connectUrl), "bluesky", typed);
  }

  /** Up to the callback's address, which the network would lead the browser to. */
  async function towardsCallback(
    connectUrl: string,
    { decision = "allow", instance = MASTODON.instance }: Visit = {},
  ) {
    const browser = new Browser(world);
    const started = await browser.submit(await browser.get(connectUrl), "mastodon", { instance });
    const callback = await decide(locationOf(started), decision);
    return { browser, callback };
  }

  beforeEach(() => keep?.({ world, owner }));
  return { aSession, connections, cancel, towardsCallback, session, linkBluesky, start };
}
