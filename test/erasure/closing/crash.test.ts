import { afterAll, beforeAll, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../../sandbox/server.ts";
import { startRelay, type Relay } from "../../setup/relay.ts";
import { eraseProfiles } from "../../setup/walks.ts";
import { startReceiver, type Receiver } from "../../webhooks/receiver.ts";
import { freshSession, outcomeOf } from "../../setup/factories.ts";
import {
  aCustomer,
  askIn,
  DAY,
  MINUTE,
  pass,
  readPlatform,
  startWorld,
  traces,
  untilErased,
  type ClosingWorld,
} from "./world.ts";

let sandbox: Sandbox;
let receiver: Receiver;
let world: ClosingWorld;
let dying: Relay;
/** What the dying process still writes. The last one has its effect, and its answer is lost. */
let writesLeft = Infinity;

beforeAll(async () => {
  sandbox = await startSandbox();
  receiver = await startReceiver();
  world = await startWorld(sandbox, receiver);
  dying = await startRelay({
    sameDeploymentAs: world.relay,
    tableFault({ method, table, rowKeys }) {
      // What is written beside, in no order, and the walk's own row: its run goes on where storage says.
      const isBeside = table === "ratewindows" || table === "housekeeping" || rowKeys.includes("U");
      if (method === "GET" || isBeside) return "pass";
      writesLeft -= 1;
      if (writesLeft >= 0) return "pass";
      return writesLeft === -1 ? "lose_answer" : "lose_request";
    },
  });
});
afterAll(async () => {
  await dying.stop();
  await world.stop();
  await receiver.stop();
  await sandbox.stop();
});

/** Runs of which each dies after one write more than the one before, until one ends; what is due later comes in time. */
async function runsThatDie(): Promise<number> {
  for (let writes = 0; ; writes += 1) {
    writesLeft = writes;
    await eraseProfiles(dying.services).catch(() => undefined);
    const hasEnded = writesLeft > 0;
    writesLeft = Infinity;
    world.relay.advance(MINUTE);
    await world.relay.drain();
    if (hasEnded) return writes;
  }
}

test("a process that dies at any write of closing and erasing loses nothing and does nothing twice", async () => {
  const customer = await aCustomer(world);
  const { email } = customer;
  const session = await freshSession(world.relay, customer);
  const outcomes: string[] = [];
  for (let writes = 0; ; writes += 1) {
    writesLeft = writes;
    const answer = await askIn(dying, session);
    writesLeft = Infinity;
    outcomes.push(outcomeOf(answer));
    if (outcomes.at(-1) === "202" || outcomes.at(-1) === "403 platform_closed") break;
  }
  expect(new Set(outcomes.slice(0, -1))).toEqual(new Set(["503 service_unavailable"]));

  await runsThatDie();
  world.relay.advance(6 * DAY);
  await runsThatDie();
  world.relay.advance(DAY);
  for (let runs = 0; runs < 60; runs += 1) {
    await runsThatDie();
    if (outcomeOf(await readPlatform(world.relay, customer)) === "404 not_found") break;
  }
  await untilErased(world.relay, customer);
  // Marks of the wake index end within minutes.
  await pass(world.relay, 5);

  expect((await traces(world.relay, customer)).map(({ table, rowKey }) => [table, rowKey])).toEqual(
    [],
  );
  const subjects = (await world.mailed.mailsTo(email)).map(({ subject }) => subject);
  expect(subjects).toEqual([
    "Your platform on Relay was closed",
    "Your platform on Relay is about to be erased",
  ]);
});
