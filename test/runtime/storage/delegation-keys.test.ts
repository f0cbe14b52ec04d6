import { expect, test } from "vitest";
import type { UserDelegationKey } from "@azure/storage-blob";
import { DelegationKeys } from "../../../src/shared/runtime/storage/delegation-keys.ts";

const HOUR_MS = 3_600_000;

/** Keys of a service that can be away, and how they were asked for. */
function aService() {
  const state = { now: Date.parse("2026-11-29T00:00:00Z"), isAway: false, fetched: 0 };
  const fetch = (signedStartsOn: Date, signedExpiresOn: Date) => {
    state.fetched += 1;
    if (state.isAway) return Promise.reject(new Error("away"));
    return Promise.resolve({
      value: `key ${state.fetched}`,
      signedStartsOn,
      signedExpiresOn,
    } as UserDelegationKey);
  };
  const keys = new DelegationKeys(fetch, () => state.now);
  const keyFor = (hours: number) => keys.keyFor(new Date(state.now + hours * HOUR_MS));
  return { state, keyFor };
}

test("a key is fetched once a day, and each address of 26 hours ends before its key", async () => {
  const { state, keyFor } = aService();
  for (let hour = 0; hour < 72; hour += 1) {
    const { signedStartsOn, signedExpiresOn } = await keyFor(26);
    expect(signedStartsOn.getTime()).toBeLessThan(state.now);
    expect(signedExpiresOn.getTime()).toBeGreaterThan(state.now + 26 * HOUR_MS);
    state.now += HOUR_MS;
  }
  expect(state.fetched).toBe(3);
});

test("a service that gives no new key stops no address that the one before outlives", async () => {
  const { state, keyFor } = aService();
  await keyFor(1);
  state.isAway = true;
  state.now += 25 * HOUR_MS;
  for (let call = 0; call < 10; call += 1) expect((await keyFor(26)).value).toBe("key 1");
  // One try of the ten, and one a minute later.
  expect(state.fetched).toBe(2);
  state.now += 60_000;
  expect((await keyFor(26)).value).toBe("key 1");
  expect(state.fetched).toBe(3);
  state.now += 21 * HOUR_MS;
  await expect(keyFor(26)).rejects.toThrow("away");
  expect((await keyFor(1)).value).toBe("key 1");
  state.isAway = false;
  expect((await keyFor(26)).value).not.toBe("key 1");
});

test("a clock that was set back makes a key no younger", async () => {
  const { state, keyFor } = aService();
  await keyFor(26);
  state.now -= 30 * HOUR_MS;
  expect((await keyFor(26)).value).toBe("key 2");
});

test("calls at the same time fetch one key", async () => {
  const { state, keyFor } = aService();
  await Promise.all([keyFor(26), keyFor(26), keyFor(1)]);
  expect(state.fetched).toBe(1);
});
