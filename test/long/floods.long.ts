import { afterAll, beforeAll, expect, test } from "vitest";
import { measure, startFlooded, type Figures, type FloodedRelay } from "../limits/floods.ts";
import { startWorld, type World } from "../process/relay/world.ts";

const ROUNDS = 3;
const MS = 8_000;
const FACTOR = 10;

let world: World;
let flooded: FloodedRelay;
beforeAll(async () => {
  world = await startWorld();
  flooded = await startFlooded(world, 12);
}, 180_000);
afterAll(async () => {
  await flooded?.relay.stop();
  await world?.stop();
});

const MEASURED = ["readMs", "publishMs", "knownMs"] as const;

const medianOf = (figures: readonly Figures[], name: (typeof MEASURED)[number]) =>
  figures.map((one) => one[name]).toSorted((one, other) => one - other)[Math.floor(ROUNDS / 2)] ??
  0;

test.each([
  ["log_ins", 12],
  ["log_ins", 60],
  ["resets", 12],
  ["resets", 60],
] as const)(
  "%s of strangers from %d networks delay nobody else",
  { timeout: 20 * 60_000 },
  async (kind, addresses) => {
    const without: Figures[] = [];
    const plain: Figures[] = [];
    const during: Figures[] = [];
    // In turn, so that what else the machine does counts in each.
    for (let round = 0; round < ROUNDS; round += 1) {
      without.push(await measure(flooded, MS));
      plain.push(await measure(flooded, MS, { kind: "plain", addresses }));
      during.push(await measure(flooded, MS, { kind, addresses }));
    }
    const ratiosTo = (control: readonly Figures[]) =>
      MEASURED.map((name) => Number((medianOf(during, name) / medianOf(control, name)).toFixed(2)));
    const ratios = { measured: MEASURED, toNone: ratiosTo(without), toPlain: ratiosTo(plain) };
    process.stdout.write(
      `flood ${JSON.stringify({ kind, addresses, ratios, without, plain, during })}\n`,
    );
    for (const name of MEASURED)
      expect(medianOf(during, name), name).toBeLessThan(
        FACTOR * Math.max(medianOf(without, name), medianOf(plain, name)),
      );
    expect(during.every(({ flood }) => flood["none"] === undefined)).toBe(true);
  },
);
