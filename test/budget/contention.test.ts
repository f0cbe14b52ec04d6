import { expect, test } from "vitest";
import { casesOf } from "../setup/long-check.ts";
import { contend } from "./contending.ts";

const SECONDS = 3;

/** In a time of its own: how fast the machine is makes no difference. */
test("instances that share a wallet accept as many posts as one, and send nobody away", async () => {
  const alone = await contend({ instances: 1, isLimited: true, seconds: SECONDS });
  for (const instances of casesOf([8, 4])) {
    const together = await contend({ instances, isLimited: true, seconds: SECONDS });
    expect([...together.statuses.keys()]).toEqual([202]);
    expect(together.answeredPerSecond).toBeGreaterThan(0.7 * alone.answeredPerSecond);
  }
});

test("instances that race for a wallet lose little by it", async () => {
  const alone = await contend({ instances: 1, isLimited: false, seconds: 1 });
  const together = await contend({ instances: 4, isLimited: false, seconds: 1 });
  expect(together.answeredPerSecond).toBeGreaterThan(0.7 * alone.answeredPerSecond);
});

test("repeated keys cost the others nothing", async () => {
  const none = await contend({ instances: 1, isLimited: true, seconds: SECONDS });
  const some = await contend({ instances: 1, isLimited: true, seconds: SECONDS, repeated: 0.1 });
  expect(some.answeredPerSecond).toBeGreaterThan(none.answeredPerSecond / 1.2);
});

test("instances whose storage has one core lose little of it to each other", async () => {
  const one = { isLimited: false, hasOneCore: true, seconds: SECONDS };
  const alone = await contend({ ...one, instances: 1 });
  for (const [instances, least] of casesOf([
    [8, 0.6],
    [4, 0.8],
  ] as const)) {
    const together = await contend({ ...one, instances });
    expect([...together.statuses.keys()]).toEqual([202]);
    expect(together.answeredPerSecond).toBeGreaterThan(least * alone.answeredPerSecond);
  }
});
