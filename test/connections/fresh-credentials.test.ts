import { beforeEach, describe, expect, test } from "vitest";
import {
  freshCredentials,
  tryRefusedCredentials,
} from "../../src/shared/connections/fresh-credentials.ts";
import { heldBy } from "../../src/shared/runtime/lease.ts";
import { SingleFlight } from "../../src/shared/runtime/promises.ts";
import type { Connection } from "../../src/shared/connections/connection.ts";
import { HttpFailure } from "../../src/shared/runtime/http-call.ts";
import type { LinkedAccount } from "../../src/shared/networks/contract/link.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import { createNetworkTools } from "../../src/shared/connections/network-tools.ts";
import type { TableFault } from "../model/storage-model.ts";
import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../../sandbox/bluesky/state.ts";
import { anOwner, openWorld, type Owner } from "./world.ts";
import { connectionOf, credentialsOf, revokeConnection, saveLinked } from "../setup/stored.ts";
import { forFile } from "../setup/for-file.ts";

/** Bluesky's access tokens last two hours. */
const TWO_HOURS = 2 * 3_600_000;
const LEASE_MS = 30_000;

let owner: Owner;
let connection: Connection;

let tableFault: (method: string) => TableFault = () => "pass";

const world = forFile(() => openWorld());
beforeEach(async () => {
  world.intercept(undefined);
  tableFault = () => "pass";
  world.sandbox.reset();
  owner = await anOwner(world);
  await saveLinked(world.services, owner, "bluesky", await signIn());
  connection = await stored();
});

const stored = () => connectionOf(world.services, owner, "bluesky");

/** The account signs in again; nothing is stored. */
async function signIn(): Promise<LinkedAccount> {
  const { link } = networkOf("bluesky");
  const way = link.kind === "form" ? link : link.alternative;
  if (way === undefined) throw new Error("the sign-in changed");
  const form = { identifier: DEMO_HANDLE, appPassword: DEMO_APP_PASSWORD };
  const outcome = await way.signIn(form, createNetworkTools(world.services.connections, "bluesky"));
  if (outcome.kind === "failed") throw new Error(outcome.code);
  return outcome.linked;
}

const link = (linked: LinkedAccount) =>
  saveLinked(world.services, { ...owner, connectionId: connection.id }, "bluesky", linked);

const isRefresh = (url: string) => url.endsWith("com.atproto.server.refreshSession");
const refreshes = () =>
  world.sandbox.requests().filter(({ path }) => isRefresh(path.split("?")[0] ?? ""));

describe("credentials that last", () => {
  test("credentials that last are opened without a call and without a write", async () => {
    const fresh = await freshCredentials(world.services.connections, connection);
    expect(fresh).toMatchObject({ kind: "usable", connection });
    expect(refreshes()).toEqual([]);
    expect(await stored()).toEqual(connection);
  });
});

describe("credentials that are about to end", () => {
  beforeEach(() => world.relay.advance(TWO_HOURS));

  test("credentials that are about to end are renewed once for twenty who ask at once, and stored before they are used", async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () => freshCredentials(world.services.connections, connection)),
    );
    expect(refreshes()).toHaveLength(1);
    const now = await stored();
    expect(now.generation).toBe(connection.generation + 1);
    const credentials = await credentialsOf(world.services, owner, "bluesky");
    for (const fresh of all)
      expect(fresh).toMatchObject({ kind: "usable", credentials, connection: { id: now.id } });
  });

  test("credentials that are about to end are renewed once for several processes", async () => {
    const processes = await Promise.all(Array.from({ length: 4 }, () => world.anotherProcess()));
    const all = await Promise.all(
      processes.flatMap((services) => [
        freshCredentials(services.connections, connection),
        freshCredentials(services.connections, connection),
      ]),
    );
    expect(refreshes()).toHaveLength(1);
    expect(new Set(all.map((fresh) => JSON.stringify(fresh))).size).toBe(1);
    expect(all[0]?.kind).toBe("usable");
  });

  test("an answer that was lost is asked for again, with the old ones", async () => {
    world.intercept(async (request, send) => {
      await send(request);
      throw new HttpFailure("in_doubt", "connection_lost");
    });
    const lost = await freshCredentials(world.services.connections, connection);
    expect(lost).toMatchObject({ kind: "try_later", failure: { code: "network_unavailable" } });
    expect(await stored()).toEqual(connection);
    world.intercept(undefined);
    expect((await freshCredentials(world.services.connections, connection)).kind).toBe("usable");
    expect(refreshes()).toHaveLength(2);
  });

  test("a refusal marks the connection once; the network is not asked again", async () => {
    world.sandbox.networks.bluesky.revokeAppPasswords(DEMO_HANDLE);
    const refused = await freshCredentials(world.services.connections, connection);
    expect(refused).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth", networkCode: "ExpiredToken" },
    });
    expect(await stored()).toMatchObject({
      status: "needs_reauth",
      lastError: { code: "connection_needs_reauth" },
      generation: connection.generation,
    });
    const again = await freshCredentials(world.services.connections, connection);
    expect(again).toMatchObject({ kind: "rejected" });
    expect(refreshes()).toHaveLength(1);
  });

  test("a refusal of credentials that were replaced meanwhile does not count", async () => {
    const fresh = await signIn();
    world.intercept(async (request, send) => {
      if (!isRefresh(request.url)) return await send(request);
      world.intercept(undefined);
      world.sandbox.networks.bluesky.revokeAppPasswords(DEMO_HANDLE);
      const refused = await send(request);
      await link(fresh);
      return refused;
    });
    const outcome = await freshCredentials(world.services.connections, connection);
    expect(outcome).toMatchObject({ kind: "usable", credentials: fresh.credentials });
    expect((await stored()).status).toBe("active");
  });

  test("renewed ones give way to those of an account that was linked meanwhile", async () => {
    const fresh = await signIn();
    world.intercept(async (request, send) => {
      const renewed = await send(request);
      if (isRefresh(request.url)) await link(fresh);
      return renewed;
    });
    const outcome = await freshCredentials(world.services.connections, connection);
    expect(outcome).toMatchObject({ kind: "usable", credentials: fresh.credentials });
    expect(await credentialsOf(world.services, owner, "bluesky")).toEqual(fresh.credentials);
  });

  test("a process that died while renewing holds others up for half a minute at most", async () => {
    const { connections } = world.services.connections.stores;
    const found = await connections.readLease(connection);
    const lease = heldBy("a dead process", world.relay.clock.now(), LEASE_MS);
    expect(await connections.writeLease(connection, lease, found?.etag)).toBeDefined();
    expect(await tryRefusedCredentials(world.services.connections, connection)).toBeUndefined();
    world.relay.advance(LEASE_MS);
    expect((await freshCredentials(world.services.connections, connection)).kind).toBe("usable");
    expect(refreshes()).toHaveLength(1);
  });

  test.each(["lose_request", "lose_answer", "late", "false_412", "unavailable"] as const)(
    "renewed ones are not lost when storage suffers %s",
    async (fault) => {
      const services = await world.anotherProcess({
        tableFault: ({ method }) => tableFault(method),
      });
      let isRenewed = false;
      world.intercept(async (request, send) => {
        const response = await send(request);
        isRenewed ||= isRefresh(request.url);
        return response;
      });
      let suffered = 0;
      tableFault = (method) => {
        const isHit = isRenewed && method !== "GET" && suffered === 0;
        suffered += isHit ? 1 : 0;
        return isHit ? fault : "pass";
      };
      const outcome = await freshCredentials(services.connections, connection);
      expect(suffered).toBe(1);
      const now = await stored();
      const credentials = await credentialsOf(world.services, owner, "bluesky");
      expect(outcome).toMatchObject({ kind: "usable", credentials });
      expect(now.generation).toBe(connection.generation + 1);
      expect(refreshes()).toHaveLength(1);
    },
  );
});

test("calls for one thing are joined while it is under way, and not after", async () => {
  const flights = new SingleFlight<number>();
  let runs = 0;
  const run = (key: string) =>
    flights.run(key, async () => {
      const mine = (runs += 1);
      await Promise.resolve();
      return mine;
    });
  expect(await Promise.all([run("a"), run("a"), run("b"), run("a")])).toEqual([1, 1, 2, 1]);
  expect(await run("a")).toBe(3);
  await expect(flights.run("a", () => Promise.reject(new Error("lost")))).rejects.toThrow("lost");
  expect(await run("a")).toBe(4);
});

describe("credentials that can't be had", () => {
  test("the credentials of a connection that was removed can't be had", async () => {
    await revokeConnection(world.services, connection);
    const outcome = await freshCredentials(world.services.connections, connection);
    expect(outcome).toMatchObject({ kind: "rejected", failure: { code: "connection_missing" } });
  });

  test("the credentials of another account than the one that was asked for can't be had", async () => {
    const linked = await signIn();
    const other = { ...linked, account: { ...linked.account, id: "did:plc:other" } };
    await saveLinked(world.services, owner, "bluesky", other);
    const outcome = await freshCredentials(world.services.connections, connection);
    expect(outcome).toMatchObject({ kind: "try_later" });
  });

  test("credentials whose sealing key is gone can't be had: the account has to be linked again", async () => {
    const DATA_KEYS = JSON.stringify({ another: Buffer.alloc(32, 9).toString("base64") });
    const services = await world.anotherProcess({ settings: { DATA_KEYS } });
    const outcome = await freshCredentials(services.connections, connection);
    expect(outcome).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
    expect((await stored()).status).toBe("needs_reauth");
  });
});
