import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorld, type World } from "../process/relay/world.ts";
import { casesOf, IS_LONG } from "../setup/long-check.ts";
import { measure, startFlooded, type FloodedRelay } from "./floods.ts";

const BCRYPT_COST = 12;
const ADDRESSES = 12;
const CONTROL_MS = IS_LONG ? 5_000 : 2_000;
const ATTACK_MS = IS_LONG ? 5_000 : 3_000;
/** A flood fails only above ten times the control run, and above what a busy machine does to a single request. */
const FACTOR = 10;
const MS_LET_PASS = 500;

let world: World;
let flooded: FloodedRelay;
beforeAll(async () => {
  world = await startWorld();
  flooded = await startFlooded(world, BCRYPT_COST);
}, 180_000);
afterAll(async () => {
  await flooded?.relay.stop();
  await world?.stop();
});

test.each(casesOf(["log_ins", "resets"] as const))(
  "%s of strangers from a dozen networks delay neither reads and posts of others nor logins from known devices",
  { retry: 1, timeout: 300_000 },
  async (kind) => {
    const without = await measure(flooded, CONTROL_MS);
    const during = await measure(flooded, ATTACK_MS, { kind, addresses: ADDRESSES });
    const most = (ms: number) => FACTOR * Math.max(ms, MS_LET_PASS);
    expect(during.readMs, "the slowest read").toBeLessThan(most(without.readMs));
    expect(during.publishMs, "the slowest post").toBeLessThan(most(without.publishMs));
    expect(during.knownMs, "the slowest login").toBeLessThan(most(without.knownMs));
    expect(during.flood["none"]).toBeUndefined();
    if (kind === "log_ins") expect(during.flood["503"]).toBeGreaterThan(0);
  },
);
