import { beforeEach, describe, expect, test } from "vitest";
import { serviceUnavailable } from "../../../src/shared/runtime/errors.ts";
import { createLog } from "../../../src/shared/runtime/log.ts";
import { FREE, heldBy, isHeld, Lease, LeaseLost } from "../../../src/shared/runtime/lease.ts";

const LEASE_MS = 10_000;
const NONE = { ...FREE, note: "" };
let now = new Date("2026-03-04T10:00:00.000Z");
/** The row, which both workers read and write. */
let row = { state: NONE as typeof NONE & Record<string, unknown>, etag: "0" };
/** What happens to the next write, if it is not answered. */
let trouble: "lost request" | "lost answer" | undefined;
let hints = 0;

beforeEach(() => {
  row = { state: NONE, etag: "0" };
  [trouble, hints] = [undefined, 0];
});

function write(part: object, etag: string | undefined): string | undefined {
  if (etag !== row.etag) return undefined;
  row = { state: { ...row.state, ...part }, etag: `${Number(row.etag) + 1}` };
  return row.etag;
}

const aLease = () =>
  new Lease<typeof NONE, typeof row>(
    {
      what: "a row",
      fields: {},
      log: createLog({ level: "error", sink: () => undefined }),
      clock: { now: () => now },
      leaseMs: LEASE_MS,
      read: () => Promise.resolve(row),
      write: async (part, etag) => {
        const fate = trouble;
        trouble = undefined;
        if (fate === "lost request") throw serviceUnavailable();
        const written = write(part, etag);
        if (fate === "lost answer") throw serviceUnavailable();
        return written;
      },
      hint: async () => void (hints += 1),
    },
    row,
  );

async function taken() {
  const lease = aLease();
  expect(await lease.take()).toBe(true);
  return lease;
}

/** Another worker asks, or changes another column. */
const touch = (part = {}) => write(part, row.etag);
const passOver = () => write(heldBy("another", now, LEASE_MS), row.etag);

describe("a lease", () => {
  test("a lease is one worker's of those that read the same row, until it runs out", async () => {
    const second = aLease();
    await taken();
    expect(await second.take()).toBe(false);
    expect(isHeld(row.state, now)).toBe(true);
    expect(isHeld(row.state, new Date(now.getTime() + LEASE_MS))).toBe(false);
  });

  test("a lease is given back with other columns, unless somebody asked since the last read", async () => {
    const lease = await taken();
    touch();
    expect(await lease.release({ note: "too early" })).toBe(false);
    await lease.readAgain();
    expect(await lease.release({ note: "the end" })).toBe(true);
    expect(row.state).toEqual({ ...FREE, note: "the end" });
  });

  test("a lease is not given back by a read for a save, which sees nothing of the work", async () => {
    const lease = await taken();
    touch({ note: "theirs" });
    await lease.save(({ note }) => ({ note: `${note} and ours` }));
    expect(row.state.note).toBe("theirs and ours");
    expect(await lease.release()).toBe(false);
    await lease.readAgain();
    expect(await lease.release()).toBe(true);
  });

  test("a lease is prolonged when too little is left of it", async () => {
    const lease = await taken();
    const { etag } = row;
    await lease.prolong(LEASE_MS / 2);
    expect(row.etag).toBe(etag);
    now = new Date(now.getTime() + LEASE_MS - 1_000);
    await lease.prolong(LEASE_MS / 2);
    expect(isHeld(row.state, new Date(now.getTime() + LEASE_MS - 1))).toBe(true);
  });

  test("a lease that another worker took over is changed by nothing", async () => {
    const lease = await taken();
    passOver();
    const { etag } = row;
    await expect(lease.save(() => ({ note: "late" }))).rejects.toThrow(LeaseLost);
    await expect(lease.readAgain()).rejects.toThrow(LeaseLost);
    await lease.giveBack();
    expect([row.state.leaseId, row.etag]).toEqual(["another", etag]);
  });

  test.each(["lost request", "lost answer"] as const)(
    "a lease is free after a %s",
    async (fate) => {
      trouble = fate;
      await expect(aLease().take()).rejects.toThrow();
      expect(row.state.leaseId).toBeNull();
    },
  );

  test("a lease that can't be given back is given back late, with a hint", async () => {
    const lease = await taken();
    trouble = "lost request";
    await lease.giveBack();
    expect(isHeld(row.state, now)).toBe(true);
    await expect.poll(() => row.state.leaseId, { timeout: 5_000 }).toBeNull();
    await expect.poll(() => hints).toBe(1);
  });
});
