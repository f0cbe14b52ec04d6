import { boundedLinked } from "../setup/bounded.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/server.ts";
import { checkAccount } from "../../src/shared/connections/check-account.ts";
import type { Connection } from "../../src/shared/connections/connection.ts";
import { linkAccount } from "../../src/shared/connections/link-account.ts";
import { blamed } from "../../src/shared/connections/fresh-credentials.ts";
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
import { sweepStalledLegs } from "../setup/walks.ts";

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

const stored = () =>
  calm.services.connections.stores.connections.find({
    platformId: application.platform.id,
    profileId,
    network: "bluesky",
  });

async function existing(): Promise<Connection> {
  const found = await stored();
  if (found === undefined) throw new Error("nothing is linked");
  return found;
}

async function link(on: Relay, linked: LinkedAccount): Promise<void> {
  const path = `/v1/profiles/${profileId}/connect/sessions`;
  const { id } = dataOf(await calm.call("POST", path, { key: application.key, body: {} }));
  const session = await calm.services.connections.stores.connectSessions.find({
    platformId: application.platform.id,
    id,
  });
  if (session === undefined) throw new Error("no session");
  await linkAccount(on.services.connections, {
    session,
    network: "bluesky",
    linked: boundedLinked(linked),
    requestId: "req_test",
  });
}

/** What the application was told about the profile, in the order of its list. */
async function told() {
  await calm.drain();
  const events = await calm.services.webhooks.stores.events.listAfter(application.id, "", 10_000);
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
      blamed(on.services.connections, await existing(), {
        code: "connection_needs_reauth",
        networkCode: null,
      }),
    isDone: (now) => now?.status === "needs_reauth",
    tells: [LINKED, `connection.needs_reauth ${FIRST} needs_reauth`],
  },
  "a warning of the end": {
    before: () => link(calm, account(FIRST, inThreeDays())),
    act: async (on) => checkAccount(on.services.connections, await existing()),
    isDone: (now) => now?.warnedExpiresAt !== null,
    tells: [LINKED, `connection.expiring ${FIRST} active`],
  },
};

/**
 * Runs it on a process of its own until it ends, or until its storage is gone for good at the write with this number.
 * Returns how many writes there were.
 */
async function runUntil(
  fatal: number,
  last: TableFault,
  act: (on: Relay) => Promise<unknown>,
): Promise<number> {
  let writes = 0;
  let die = () => {};
  const death = new Promise<void>((resolve) => {
    die = resolve;
  });
  const victim = await startRelay({
    sameDeploymentAs: calm,
    tableFault({ method }) {
      // A read changes nothing: what is left is what the write before it left.
      if (method === "GET") return writes < fatal ? "pass" : "lose_request";
      writes += 1;
      if (writes < fatal) return "pass";
      // Its last write may have an effect first, and what it still does after that is lost as well.
      if (writes > fatal || last === "lose_request") die();
      return writes === fatal ? last : "lose_request";
    },
  });
  // What it had in its queues dies with it.
  victim.queues.onSend = () => (writes >= fatal ? "lose" : "keep");
  const ended = act(victim).catch(() => undefined);
  await Promise.race([ended, death]);
  await victim.stop();
  return writes;
}

async function recover(): Promise<void> {
  calm.advance(LATE);
  await sweepStalledLegs(calm.services);
}

async function expectTold(expected: readonly string[], what: unknown): Promise<void> {
  const events = await told();
  expect([what, short(events)]).toEqual([what, expected]);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
}

describe("a process that dies", () => {
  const cases = Object.entries(ACTS).flatMap(([name, act]) =>
    (["lose_request", "lose_answer"] as const).map((last) => [name, last, act] as const),
  );

  test.each(cases)(
    "a process that dies at any write of %s (%s) leaves every event told once",
    { timeout: 180_000 },
    async (_name, last, { before, act, isDone, tells }) => {
      await before();
      const writes = await runUntil(Infinity, "pass", act);
      expect(writes).toBeGreaterThan(1);
      await recover();
      await expectTold(tells, "without a fault");
      const outcomes = new Set<boolean>();
      for (let fatal = 1; fatal <= writes; fatal += 1) {
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
      // It died on both sides of the change, which may be the last write of all.
      expect(outcomes).toContain(last === "lose_answer");
    },
  );
});
