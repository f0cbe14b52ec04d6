import { randomBytes } from "node:crypto";
import { expect, inject, test } from "vitest";
import { meAtSizes } from "../../bench/growing-tenant.ts";
import { BENCH_PREFIX } from "../../bench/relay.ts";

test("GET /v1/me costs the same with 2,500 profiles, keys and linked accounts as with three", async () => {
  const storage = { tables: inject("azurite"), queues: inject("azurite"), stop: async () => {} };
  const place = { storage, prefix: `${BENCH_PREFIX}${randomBytes(6).toString("hex")}` };
  const [few, many] = await meAtSizes(place, [3, 2_500]);
  expect(few?.cost.sequential).toBeLessThanOrEqual(2);
  expect(many?.cost).toEqual(few?.cost);
});
