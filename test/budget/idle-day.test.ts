import { afterAll, beforeAll, expect, test } from "vitest";
import { runDueWalks } from "../../src/shared/background/background.ts";
import { systemScope } from "../../src/shared/host/worker.ts";
import { aPlatform, dataOf } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";

const TICKS = 24 * 60;
const TABLE_REQUESTS_MAX = 120_000;

let first: Relay;
let relay: Relay;
let requests = 0;

/** A deployment with mail, a customer, and one who closed the platform, whose users were made without mail. */
beforeAll(async () => {
  first = await startRelay();
  await aPlatform(first);
  const { session } = await aPlatform(first);
  const body = { name: "Example Media" };
  dataOf(await first.call("POST", "/v1/platform/close", { session, body }));
  relay = await startRelay({
    sameDeploymentAs: first,
    settings: { MAIL_URL: "smtp://127.0.0.1:1", MAIL_FROM: "relay@example.com" },
    tableFault() {
      requests += 1;
      return "pass";
    },
  });
});
afterAll(async () => {
  await relay.stop();
  await first.stop();
});

async function tick(): Promise<void> {
  await runDueWalks(relay.services.background, systemScope(relay.services, "run-due-walks"));
  await relay.drain();
  relay.advance(60_000);
}

test("a day without work asks the tables for less than 120,000 requests, with every timer of the day", async () => {
  // What follows from the start and from the request to close is over then.
  for (let minutes = 0; minutes < 15; minutes += 1) await tick();
  requests = 0;
  for (let minutes = 0; minutes < TICKS; minutes += 1) await tick();
  expect(requests).toBeLessThan(TABLE_REQUESTS_MAX);
  // One instance does all of it: of several, each finds that most is done.
  expect(requests).toBeGreaterThan(TICKS * 10);
}, 120_000);
