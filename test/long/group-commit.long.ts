import { expect, test } from "vitest";
import { runSeeds } from "../domain/billing/group-commit-seeds.ts";

const LONG_MS = 20 * 60_000;

/** Several processes on one wallet: the seeds that take too long for every change. */
test("break no rule of money or answers in 2,000 seeded runs", { timeout: LONG_MS }, async () => {
  const outcomes = await runSeeds({ from: 1, to: 2_000, operations: 60 });
  expect([...outcomes].sort()).toEqual(["insufficient_tokens", "ok", "service_unavailable"]);
});

test("break none when many of them contend for little", { timeout: LONG_MS }, async () => {
  await runSeeds({ from: 1_001, to: 1_200, operations: 100, instances: 8 });
});
