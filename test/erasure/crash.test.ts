import { afterAll, beforeAll, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/server.ts";
import { newErasure } from "../../src/shared/erasure/erasure-stages.ts";
import { aLinkedAccount, linkedCount } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { storedRows } from "../setup/stored-rows.ts";
import {
  aMarkedProfile,
  erase,
  runOnce,
  startEndCustomers,
  untilGone,
  worldSettings,
  type EndCustomers,
} from "./world.ts";
import { saveLinked } from "../setup/stored.ts";

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
      // The last one before the end had its effect, and nobody heard about it.
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
  // The row of the authorization is written; the connection's own is not.
  writesLeft = 1;
  const linking = saveLinked(dying.services, owner, "linkedin", aLinkedAccount(profile.mark));
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

test("a request that did not close the profile erases nothing, and a repeat is carried out", async () => {
  const profile = await aMarkedProfile(calm, receiver);
  const { erasures } = calm.services.erasure;
  const entries = async () => {
    let count = 0;
    // A page may be empty, and is not the last one then.
    for (let after: string | undefined, isFirst = true; isFirst || after !== undefined;) {
      const { items, next } = await erasures.list(after);
      [count, after, isFirst] = [count + items.length, next, false];
    }
    return count;
  };
  const leaveEntry = () => {
    const requestedBy = { kind: "session", id: "usr_gone" } as const;
    return erasures.open(
      newErasure({ ...profile.owner, id: profile.profileId, requestedBy }, calm.clock.now()),
    );
  };
  await leaveEntry();
  await runOnce(calm);
  expect(await entries()).toBe(1);
  calm.advance(11 * 60_000);
  await runOnce(calm);
  expect(await entries()).toBe(0);
  expect(await linkedCount(calm, profile.owner.platformId)).toBe(2);

  await leaveEntry();
  const found = await erasures.find(profile.profileId);
  expect((await erase(calm, profile)).status).toBe(202);
  // A run that wants to drop the first entry leaves that of the repeat.
  if (found !== undefined) await erasures.drop(found);
  expect(await entries()).toBe(1);
  await untilGone(calm, profile);
  expect(await entries()).toBe(0);
});
