import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../dev/networks/server.ts";
import { checkAccount } from "../../src/shared/connections/check-account.ts";
import type { Connection } from "../../src/shared/connections/connection.ts";
import { linkAccount } from "../../src/shared/connections/link-account.ts";
import { blamed } from "../../src/shared/connections/fresh-credentials.ts";
import { emitPendingEvents } from "../../src/shared/connections/emit-pending-events.ts";
import { endConnections } from "../../src/shared/tenants/erasure/erase-profiles.ts";
import { systemScope } from "../../src/shared/http/worker.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import type { LinkedAccount } from "../../src/shared/networks/contract/link.ts";
import {
  aLinkedAccount,
  anApplication,
  aPlatform,
  aProfile,
  dataOf,
  type TestApplication,
} from "../setup/factories.ts";
import type { TableFault } from "../model/storage-model.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { sandboxSettings } from "../setup/sandbox-accounts.ts";
import { startReceiver, type Receiver } from "../webhooks/receiver.ts";
import { anEndpoint, deliveriesOf } from "../webhooks/subscriber.ts";
import { findForgottenWork, sweepStalledLegs, emitForgottenEvents } from "../setup/walks.ts";

/** By then nobody is expected to be writing an event under its first id any more. */
const LATE = 2 * 60_000;
const DAY = 24 * 60 * 60_000;

let sandbox: Sandbox;
let receiver: Receiver;
/** A process without faults; those that die are others of the same deployment. */
let calm: Relay;
let application: TestApplication;
let profileId: string;

beforeAll(async () => {
  sandbox = await startSandbox();
  receiver = await startReceiver();
  const world = sandboxSettings(sandbox, sandbox.url);
  const hosts = JSON.parse(world.OUTBOUND_HOST_MAP) as object;
  const receivers = JSON.parse(receiver.settings["OUTBOUND_HOST_MAP"] ?? "{}") as object;
  calm = await startRelay({
    settings: {
      ...receiver.settings,
      ...world,
      OUTBOUND_HOST_MAP: JSON.stringify({ ...hosts, ...receivers }),
    },
  });
  application = await anApplication(calm, await aPlatform(calm, { tokens: 1_000_000 }));
});
afterAll(async () => {
  await calm.stop();
  await receiver.stop();
  await sandbox.stop();
});
beforeEach(async () => {
  profileId = (await aProfile(calm, application)).id;
});

const account = (id: string, expiresAt: string | null = null) =>
  aLinkedAccount(id, { limits: { told: id }, expiresAt });
const FIRST = "did:plc:first";
const SECOND = "did:plc:second";

const place = () => ({ profileId, network: "bluesky" }) as const;
const stored = () => calm.services.connections.find(profileId, "bluesky");

async function existing(): Promise<Connection> {
  const found = await stored();
  if (found === undefined) throw new Error("nothing is linked");
  return found;
}

async function link(on: Relay, linked: LinkedAccount): Promise<void> {
  const path = `/v1/profiles/${profileId}/connect/sessions`;
  const { id } = dataOf(await calm.call("POST", path, { key: application.key, body: {} }));
  const session = await calm.services.connectSessions.find(id);
  if (session === undefined) throw new Error("no session");
  await linkAccount(on.services, { session, network: "bluesky", linked, requestId: "req_test" });
}

/** What the application was told of the profile, in the order of its list. */
async function told() {
  await calm.drain();
  const events = await calm.services.events.listAfter(application.id, "", 10_000);
  return events.filter((event) => event.profileId === profileId);
}

const short = (events: Awaited<ReturnType<typeof told>>) =>
  events.map(({ type, data }) => {
    const { account: about, status } = data["connection"] as Connection;
    return [type, about.id, status].join(" ");
  });

const LINKED = `connection.linked ${FIRST} active`;

/** What a process does to a connection, how it is before, and what is told once it is done. */
interface Act {
  readonly before: () => Promise<void>;
  readonly act: (on: Relay) => Promise<unknown>;
  readonly isDone: (now: Connection | undefined) => boolean;
  readonly tells: readonly string[];
}

const linkedBefore = () => link(calm, account(FIRST));
const inThreeDays = () => new Date(calm.clock.now().getTime() + 3 * DAY).toISOString();

const ACTS: Readonly<Record<string, Act>> = {
  "a link": {
    before: () => Promise.resolve(),
    act: (on) => link(on, account(FIRST)),
    isDone: (now) => now !== undefined,
    tells: [LINKED],
  },
  "a link in another account's place": {
    before: linkedBefore,
    act: (on) => link(on, account(SECOND)),
    isDone: (now) => now?.account.id === SECOND,
    tells: [LINKED, `connection.removed ${FIRST} revoked`, `connection.linked ${SECOND} active`],
  },
  "a removal": {
    before: linkedBefore,
    act: async (on) => {
      const { id } = await existing();
      const path = `/v1/profiles/${profileId}/connections/${id}`;
      await on.call("DELETE", path, { key: application.key });
    },
    isDone: (now) => now?.status === "revoked",
    tells: [LINKED, `connection.removed ${FIRST} revoked`],
  },
  "a refusal by the network": {
    before: linkedBefore,
    act: async (on) =>
      blamed(on.services, await existing(), {
        code: "connection_needs_reauth",
        networkCode: null,
      }),
    isDone: (now) => now?.status === "needs_reauth",
    tells: [LINKED, `connection.needs_reauth ${FIRST} needs_reauth`],
  },
  "a warning of the end": {
    before: () => link(calm, account(FIRST, inThreeDays())),
    act: async (on) => checkAccount(on.services, await existing()),
    isDone: (now) => now?.warnedExpiresAt !== null,
    tells: [LINKED, `connection.expiring ${FIRST} active`],
  },
};

async function act(name: keyof typeof ACTS, on: Relay): Promise<void> {
  await ACTS[name]?.act(on);
}

/** Runs it on a process of its own until it ends or its storage is gone for good; answers the calls' methods. */
async function runUntil(
  fatal: number,
  last: TableFault,
  act: (on: Relay) => Promise<unknown>,
): Promise<readonly string[]> {
  const calls: string[] = [];
  let die = () => {};
  const death = new Promise<void>((resolve) => {
    die = resolve;
  });
  const victim = await startRelay({
    sameDeploymentAs: calm,
    tableFault({ method }) {
      calls.push(method);
      if (calls.length < fatal) return "pass";
      // Its last call may have an effect first, and what it still does after that is lost as well.
      if (calls.length > fatal || last === "lose_request") die();
      return calls.length === fatal ? last : "lose_request";
    },
  });
  // What it had in its queues dies with it.
  victim.queues.onSend = () => (calls.length >= fatal ? "lose" : "keep");
  const ended = act(victim).catch(() => undefined);
  await Promise.race([ended, death]);
  await victim.stop();
  return calls;
}

async function recover(): Promise<void> {
  calm.advance(LATE);
  await emitForgottenEvents(calm.services);
  await sweepStalledLegs(calm.services);
}

async function expectTold(expected: readonly string[], what: unknown): Promise<void> {
  const events = await told();
  expect([what, short(events)]).toEqual([what, expected]);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  expect(await calm.services.pendingEvents.list(place())).toEqual([]);
}

describe("a process that dies", () => {
  const cases = Object.entries(ACTS).flatMap(([name, act]) =>
    (["lose_request", "lose_answer"] as const).map((last) => [name, last, act] as const),
  );

  test.each(cases)(
    "at any call to storage of %s (%s) leaves every event told, each under one id",
    { timeout: 180_000 },
    async (_name, last, { before, act, isDone, tells }) => {
      await before();
      const calls = await runUntil(Infinity, "pass", act);
      expect(calls.length).toBeGreaterThan(5);
      await recover();
      await expectTold(tells, "without a fault");
      const outcomes = new Set<boolean>();
      for (let fatal = 1; fatal <= calls.length; fatal += 1) {
        // A read changes nothing: what is left is what the write before it left.
        if (calls[fatal - 1] === "GET") continue;
        profileId = (await aProfile(calm, application)).id;
        await before();
        await told();
        await runUntil(fatal, last, act);
        await recover();
        const isIt = isDone(await stored());
        const earlier = tells[0] === LINKED && tells.length > 1 ? [LINKED] : [];
        await expectTold(isIt ? tells : earlier, fatal);
        outcomes.add(isIt);
      }
      // It died on both sides of the change, which may be the first write of all.
      expect(outcomes).toContain(true);
      if (last === "lose_request") expect(outcomes).toContain(false);
    },
  );
});

/** Storage neither takes events nor finds any: nothing is tried again, so that no test waits for the next try. */
async function withoutEvents(run: (on: Relay) => Promise<unknown>): Promise<void> {
  await withRefusals(async (on) => {
    on.services.events.isEmitted = () => Promise.reject(new Error("storage is away"));
    await run(on);
  });
}

/** Storage takes no events, however often it is asked; it is asked for three seconds. */
async function withRefusals(run: (on: Relay) => Promise<unknown>): Promise<void> {
  const on = await startRelay({ sameDeploymentAs: calm });
  on.services.events.add = () => Promise.reject(new Error("storage is away"));
  await run(on);
  await on.stop();
}

describe("events that could not be told", () => {
  test("are told in order by the next change of the connection", { timeout: 180_000 }, async () => {
    await withRefusals((on) => link(on, account(FIRST)));
    expect(await told()).toEqual([]);
    await link(calm, account(SECOND));
    await expectTold(
      [LINKED, `connection.removed ${FIRST} revoked`, `connection.linked ${SECOND} active`],
      "in order",
    );
  });

  test("come after what a reader of the list saw, with the time at which they happened", async () => {
    await withoutEvents((on) => link(on, account(FIRST)));
    const happenedAt = (await existing()).createdAt;
    const readTo = newId("event", calm.clock.now());
    await recover();
    await calm.drain();
    const call = { key: application.key };
    calm.advance(16_000);
    const later = dataOf(await calm.call("GET", `/v1/events?limit=100&after=${readTo}`, call));
    expect(later).toMatchObject([{ type: "connection.linked", createdAt: happenedAt, profileId }]);
  });

  test("are told as the account was then, and by the hourly search with all other work", async () => {
    await withoutEvents(async (on) => {
      await link(on, account(FIRST));
      await act("a refusal by the network", on);
    });
    calm.advance(LATE);
    await findForgottenWork(calm.services);
    await expectTold([LINKED, `connection.needs_reauth ${FIRST} needs_reauth`], "as then");
    const [linked] = await told();
    expect(linked?.data["connection"]).toMatchObject({ limits: { told: FIRST }, lastError: null });
    expect(JSON.stringify(linked)).not.toContain("credentials");
  });

  test("are told once by several who find them at the same time", async () => {
    await withoutEvents((on) => link(on, account(FIRST)));
    calm.advance(LATE);
    const other = await startRelay({ sameDeploymentAs: calm });
    await Promise.all(
      [calm, other, calm, other].map(({ services }) => emitPendingEvents(services, place())),
    );
    await other.stop();
    await expectTold([LINKED], "at once");
  });

  test("beyond eight of one connection give way, the oldest first, and are counted", async () => {
    await withoutEvents(async (on) => {
      on.services.pendingEvents.list = () => Promise.resolve([]);
      for (let again = 0; again < 11; again += 1) await link(on, account(FIRST));
    });
    expect(await calm.services.pendingEvents.list(place())).toHaveLength(8);
    await recover();
    await expectTold(
      Array.from({ length: 8 }, () => LINKED),
      "the latest",
    );
    const lost = calm.logLines.filter((line) => line.includes('"event lost"'));
    expect(lost).toHaveLength(1);
    expect(lost[0]).toContain('"count":3');
  });

  test("of an account with very large limits fit into its row, the limits left out", async () => {
    const limits = { many: "x".repeat(90_000) };
    await withoutEvents(async (on) => {
      on.services.pendingEvents.list = () => Promise.resolve([]);
      for (const id of [FIRST, SECOND, FIRST]) await link(on, { ...account(id), limits });
    });
    expect((await existing()).limits).toEqual(limits);
    await recover();
    const events = await told();
    expect(events.map(({ type }) => type)).toEqual([
      "connection.linked",
      "connection.removed",
      "connection.linked",
      "connection.removed",
      "connection.linked",
    ]);
  });

  test("are told before an erasure removes the connection's row", async () => {
    await link(calm, account(FIRST));
    await withoutEvents((on) => act("a removal", on));
    const scope = {
      ...systemScope(calm.services, "erase-profiles"),
      platformId: application.platform.id,
      applicationId: application.id,
      profileId,
    };
    await endConnections(calm.services, scope);
    await expectTold([LINKED, `connection.removed ${FIRST} revoked`], "before the erasure");
  });

  test("survive a renewal of the credentials", async () => {
    await withoutEvents((on) => link(on, account(FIRST)));
    const fresh = { credentials: { accessToken: "new" }, expiresAt: null };
    await calm.services.connections.saveRefreshed(await existing(), fresh);
    await recover();
    await expectTold([LINKED], "after a renewal");
  });
});

describe("an event that is told again under its id", () => {
  test("is delivered once", async () => {
    const endpoint = await anEndpoint(calm, receiver, application, {
      events: ["connection.linked"],
    });
    await withoutEvents((on) => link(on, account(FIRST)));
    const untold = await calm.services.pendingEvents.list(place());
    const again = async () => {
      await calm.services.events.add(application.platform.id, {
        ...(await firstTold()),
        id: untold[0]?.id ?? "",
      });
      await calm.services.fanOutQueue.hint(application.platform.id);
      await calm.drain();
    };
    const firstTold = async () => {
      const [entry] = untold;
      if (entry === undefined) throw new Error("nothing is untold");
      const { id, type, at, origin } = entry;
      const whose = { applicationId: application.id, profileId, postId: null, sequence: null };
      return { id, type, createdAt: at, origin, ...whose, data: {} };
    };
    await again();
    await again();
    await recover();
    await calm.drain();
    const deliveries = await deliveriesOf(calm, endpoint);
    expect(deliveries.map(({ eventId, status }) => [eventId, status])).toEqual([
      [untold[0]?.id, "succeeded"],
    ]);
  });
});
