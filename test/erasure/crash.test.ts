import { afterAll, beforeAll, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../dev/networks/server.ts";
import type { LinkedAccount } from "../../src/shared/networks/contract/link.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import { readBalance } from "../setup/publisher.ts";
import { linkedCount } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { storedRows } from "../setup/stored-rows.ts";
import {
  aMarkedProfile,
  erase,
  isGone,
  runOnce,
  startEndCustomers,
  untilGone,
  worldSettings,
  type EndCustomers,
} from "./world.ts";
import { reconcileWallets } from "../setup/walks.ts";

const MINUTE = 60_000;
/** Of a run before storage is out of reach for the rest of it, as it is for a process that dies. */
const WRITES_MAX = 9;
const RUNS_MAX = 150;

const LINKED: LinkedAccount = {
  account: {
    id: "",
    username: "bakery",
    displayName: "Bakery",
    avatarUrl: null,
    url: "https://www.linkedin.com/in/bakery",
    kind: "person",
  },
  credentials: {},
  instanceUrl: null,
  scopes: [],
  limits: {},
  expiresAt: null,
};

let sandbox: Sandbox;
let receiver: EndCustomers;
let calm: Relay;
let dying: Relay;
let writesLeft = Infinity;

beforeAll(async () => {
  sandbox = await startSandbox();
  receiver = await startEndCustomers();
  calm = await startRelay({ settings: worldSettings(sandbox, receiver) });
  dying = await startRelay({
    sameDeploymentAs: calm,
    tableFault({ method, table, rowKeys }) {
      // What is written beside the request comes in no order that a test could count: a key's last use, rate limits.
      // How far the walk is, is kept apart from the erasure itself.
      const isBeside = table === "ratewindows" || table === "housekeeping" || rowKeys.includes("U");
      if (method === "GET" || isBeside) return "pass";
      writesLeft -= 1;
      if (writesLeft >= 0) return "pass";
      // The last one before the end had its effect, and nobody heard of it.
      return writesLeft === -1 ? "lose_answer" : "lose_request";
    },
  });
});
afterAll(async () => {
  await calm.stop();
  await dying.stop();
  await receiver.stop();
  await sandbox.stop();
});

async function tablesWith(mark: string): Promise<string[]> {
  const rows = await storedRows(calm);
  return rows.filter(({ text }) => text.includes(mark)).map(({ table }) => table);
}

test("an erasure whose every run dies after a few writes leaves nothing behind all the same", async () => {
  const profile = await aMarkedProfile(calm, receiver);
  const before = await readBalance(calm, profile);
  await erase(calm, profile);
  let runs = 0;
  for (; runs < RUNS_MAX && !(await isGone(calm, profile)); runs += 1) {
    writesLeft = runs % WRITES_MAX;
    await runOnce(dying);
    writesLeft = Infinity;
    await calm.drain();
    calm.advance(MINUTE);
  }
  await runOnce(calm);

  expect(runs).toBeLessThan(RUNS_MAX);
  expect(dying.logLines.some((line) => line.includes("profile not erased"))).toBe(true);
  expect(await tablesWith(profile.mark)).toEqual([]);
  const rows = await storedRows(calm);
  const left = rows.filter(({ text }) => text.includes(profile.profileId));
  for (const { rowKey } of left) expect(rowKey).toMatch(/^(L|O)\|/);
  expect(rows.filter(({ table }) => table === "erasures")).toEqual([]);
  expect(await readBalance(calm, profile)).toMatchObject({
    tokenBalance: before.tokenBalance,
    tokenReserved: 0,
  });
  await reconcileWallets(calm.services);
  expect(calm.logLines.filter((line) => line.includes("does not reconcile"))).toEqual([]);
});

test("an account that a process was linking when it died leaves nothing behind", async () => {
  const profile = await aMarkedProfile(calm, receiver);
  const { owner } = profile;
  const id = newId("connection", calm.clock.now());
  // The row of the authorisation is written; the connection's own is not.
  writesLeft = 1;
  const linking = dying.services.connections.saveLinked({
    ...owner,
    id,
    network: "linkedin",
    linked: { ...LINKED, account: { ...LINKED.account, id: profile.mark } },
  });
  await expect(linking).rejects.toThrow();
  writesLeft = Infinity;
  expect(await linkedCount(calm, owner.platformId)).toBe(2);

  await erase(calm, profile);
  await untilGone(calm, profile);

  const rows = await storedRows(calm);
  const left = rows.filter(({ text }) => text.includes(owner.profileId));
  for (const { rowKey } of left) expect(rowKey).toMatch(/^(L|O)\|/);
  expect(await linkedCount(calm, owner.platformId)).toBe(0);
});

test("an erasure whose request dies right after its first write is carried out", async () => {
  const profile = await aMarkedProfile(calm, receiver);
  writesLeft = 0;
  const answer = await erase(dying, profile);
  writesLeft = Infinity;
  expect(answer.status).toBe(503);
  for (let minutes = 0; minutes < RUNS_MAX && !(await isGone(calm, profile)); minutes += 1) {
    await calm.drain();
    await runOnce(calm);
    calm.advance(MINUTE);
  }
  expect(await isGone(calm, profile)).toBe(true);
  expect(await tablesWith(profile.mark)).toEqual([]);
});
