import { expect, test } from "vitest";
import type { Connection } from "../../src/shared/connections/connection.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import { connectionListViolations } from "../model/simulation/lists.ts";
import { bounded, boundedLinked } from "../setup/bounded.ts";
import { dyingAt } from "../setup/dying-relay.ts";
import { aLinkedAccount, anApplication, aProfile, dataOf } from "../setup/factories.ts";
import { DEATHS_APART } from "../setup/long-check.ts";
import type { Relay } from "../setup/relay.ts";
import { connectionsOf, findConnection } from "../setup/stored.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";
import { eraseProfiles } from "../setup/walks.ts";

const { relay, instance } = useTwoProcesses();
const DAY_MS = 24 * 60 * 60_000;
/** More than any of these changes writes. */
const WRITES_MAX = 40;
const ERASURE_WRITES_MAX = 120;

interface Owner {
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  readonly key: string;
}

async function anOwner(): Promise<Owner> {
  const application = await anApplication(relay);
  const { id: profileId } = await aProfile(relay, application);
  const { id: applicationId, key } = application;
  return { platformId: application.platform.id, applicationId, profileId, key };
}

const inDays = (days: number) =>
  new Date(relay.clock.now().getTime() + days * DAY_MS).toISOString();

const storeAt = (process: Relay) => process.services.connections.stores;

async function link(process: Relay, owner: Owner, name: string, days?: number): Promise<void> {
  const { platformId, applicationId, profileId } = owner;
  const expiresAt = days === undefined ? null : inDays(days);
  await storeAt(process).connections.saveLinked({
    platformId,
    applicationId,
    profileId,
    id: newId("connection", relay.clock.now()),
    network: "bluesky",
    linked: boundedLinked(aLinkedAccount(name, { expiresAt })),
  });
}

async function stored(owner: Owner): Promise<Connection> {
  const found = await findConnection(relay.services, owner, "bluesky");
  if (found === undefined) throw new Error("nothing is linked");
  return found;
}

async function refuse(process: Relay, owner: Owner): Promise<void> {
  const failure = { code: "connection_needs_reauth", networkCode: null } as const;
  await storeAt(process).connections.mark(await stored(owner), failure);
}

async function accept(process: Relay, owner: Owner): Promise<void> {
  await storeAt(process).connections.mark(await stored(owner), null);
}

async function warn(process: Relay, owner: Owner): Promise<void> {
  await storeAt(process).accountChecks.recordWarned(await stored(owner));
}

async function renew(process: Relay, owner: Owner, days: number): Promise<void> {
  const credentials = bounded({ accessToken: `good for ${days} days` });
  const connection = await stored(owner);
  await storeAt(process).connections.saveRefreshed(connection, {
    credentials,
    expiresAt: inDays(days),
  });
}

/** What is wrong with the lists of the owner's application, whose only profile it is. */
async function wrongLists({ platformId, applicationId, profileId }: Owner): Promise<string[]> {
  const read = async (index: "application" | "attention") => {
    const part = { index, platformId, applicationId, at: undefined, rows: 50 };
    const { connections } = storeAt(relay);
    return (await connections.listIndexed(part)).map(({ entry }) => entry);
  };
  const lists = { application: await read("application"), attention: await read("attention") };
  return connectionListViolations(
    lists,
    await connectionsOf(relay.services, { platformId, profileId }),
  );
}

interface Change {
  readonly prepare: (owner: Owner) => Promise<unknown>;
  /** The change, at a process that may die. */
  readonly act: (process: Relay, owner: Owner) => Promise<unknown>;
  /** The account, status and warning of the connection afterwards. */
  readonly end: string;
}

const linked = (owner: Owner) => link(relay, owner, "one");
const refused = async (owner: Owner) => {
  await linked(owner);
  await refuse(relay, owner);
};
const warned = async (owner: Owner) => {
  await link(relay, owner, "one", 3);
  await warn(relay, owner);
};

const CHANGES: Readonly<Record<string, Change>> = {
  "links an account": {
    prepare: () => Promise.resolve(),
    act: (process, owner) => link(process, owner, "one"),
    end: "one active",
  },
  "links another account in its place": {
    prepare: refused,
    act: (process, owner) => link(process, owner, "two"),
    end: "two active",
  },
  "links a refused account again": {
    prepare: refused,
    act: (process, owner) => link(process, owner, "one"),
    end: "one active",
  },
  "links an account again that was warned of": {
    prepare: warned,
    act: (process, owner) => link(process, owner, "one", 60),
    end: "one active",
  },
  "marks an account as refused": { prepare: linked, act: refuse, end: "one needs_reauth" },
  "marks an account as refused that was warned of": {
    prepare: warned,
    act: refuse,
    end: "one needs_reauth warned",
  },
  "marks an account as accepted again": { prepare: refused, act: accept, end: "one active" },
  "warns of the end of an authorization": {
    prepare: (owner) => link(relay, owner, "one", 3),
    act: warn,
    end: "one active warned",
  },
  "renews an authorization past its warning": {
    prepare: warned,
    act: (process, owner) => renew(process, owner, 60),
    end: "one active",
  },
  "renews an authorization that still ends soon": {
    prepare: warned,
    act: (process, owner) => renew(process, owner, 5),
    end: "one active warned",
  },
  "unlinks a refused account": {
    prepare: refused,
    act: async (process, owner) => storeAt(process).connections.revoke(await stored(owner)),
    end: "one revoked",
  },
  "unlinks an account that was warned of": {
    prepare: warned,
    act: async (process, owner) => storeAt(process).connections.revoke(await stored(owner)),
    end: "one revoked",
  },
};

const stateOf = (found: Connection | undefined) =>
  found &&
  [found.account.id, found.status, ...(found.warnedExpiresAt === null ? [] : ["warned"])].join(" ");

test.each(Object.entries(CHANGES))(
  "a process that %s and dies before or after any of its writes leaves lists that are exact, also once another one went on",
  { timeout: 120_000 },
  async (_, { prepare, act, end }) => {
    for (const moment of ["before", "after"] as const) {
      let result: Awaited<ReturnType<typeof dyingAt>> = "died";
      let nth = 1;
      for (; result === "died" && nth < WRITES_MAX; nth += DEATHS_APART) {
        const owner = await anOwner();
        await prepare(owner);
        expect(await wrongLists(owner), `prepared ${nth}`).toEqual([]);
        const before = stateOf(await findConnection(relay.services, owner, "bluesky"));
        result = await dyingAt(relay, { nth, moment }, (process) => act(process, owner));
        expect(await wrongLists(owner), `death ${nth} ${moment}`).toEqual([]);
        const left = stateOf(await findConnection(relay.services, owner, "bluesky"));
        expect([before, end]).toContain(left);
        // Another process does it, where the first one didn't get to it.
        if (left !== end) await act(relay, owner);
        expect(stateOf(await findConnection(relay.services, owner, "bluesky"))).toBe(end);
        expect(await wrongLists(owner), `after ${nth} ${moment}`).toEqual([]);
      }
      expect(result).toBe("lived");
      expect(nth).toBeGreaterThan(1 + DEATHS_APART);
    }
  },
);

test("two processes that change one connection at the same time leave lists that are exact", async () => {
  const second = storeAt(instance);
  for (let round = 0; round < 10; round += 1) {
    const owner = await anOwner();
    await warned(owner);
    const doomed = await stored(owner);
    const results = await Promise.allSettled([
      renew(relay, owner, 60),
      refuse(instance, owner),
      second.connections.revoke(doomed),
      link(relay, owner, round % 2 === 0 ? "one" : "two"),
      warn(instance, owner),
      second.connections.recordUse(doomed),
    ]);
    expect(results.filter(({ status }) => status === "rejected")).toEqual([]);
    expect(await wrongLists(owner), `round ${round}`).toEqual([]);
  }
});

test(
  "an erasure that dies at any of its writes leaves no list of what is gone",
  { timeout: 240_000 },
  async () => {
    let result: Awaited<ReturnType<typeof dyingAt>> = "died";
    for (let nth = 1; result === "died" && nth < ERASURE_WRITES_MAX; nth += DEATHS_APART) {
      const owner = await anOwner();
      await warned(owner);
      const path = `/v1/profiles/${owner.profileId}/erase`;
      dataOf(await relay.call("POST", path, { key: owner.key }));
      const moment = nth % 2 === 0 ? "before" : "after";
      const erase = async (process: Relay, rounds: number) => {
        for (let round = 0; round < rounds; round += 1) {
          await eraseProfiles(process.services);
          relay.advance(11 * 60_000);
        }
      };
      result = await dyingAt(relay, { nth, moment }, (process) => erase(process, 4));
      expect(await wrongLists(owner), `death ${nth}`).toEqual([]);
      await erase(relay, 6);
      expect(await connectionsOf(relay.services, owner)).toEqual([]);
      expect(await wrongLists(owner), `after ${nth}`).toEqual([]);
    }
    expect(result).toBe("lived");
  },
);
