import { afterAll, beforeAll, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../dev/networks/server.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import { aLinkedAccount, linkedCount } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { storedRows } from "../setup/stored-rows.ts";
import {
  aMarkedProfile,
  erase,
  startEndCustomers,
  untilGone,
  worldSettings,
  type EndCustomers,
} from "./world.ts";

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
      if (method === "GET" || table === "ratewindows" || rowKeys.includes("U")) return "pass";
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
    linked: aLinkedAccount(profile.mark),
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
