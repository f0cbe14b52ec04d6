import { expect, inject, test } from "vitest";
import { runSoak } from "./soak.ts";

const SECONDS = 8;

/** The short form of `npm run soak`, which the long check runs. */
test(
  `in ${SECONDS} s of kills, lost and doubled messages nothing is lost, nothing happens twice`,
  { timeout: 480_000 },
  async () => {
    expect(inject("bundleError")).toBe("");
    const report = await runSoak({
      seconds: SECONDS,
      hosts: 2,
      postsPerSecond: 3,
      killsEveryMs: [1_200, 3_000],
      seed: 60,
      connectionString: inject("azurite"),
    });
    process.stdout.write(`${report.text}\n`);
    expect(report.violations).toEqual([]);
    // It is worth something only if all of this happened.
    expect(report.kills).toBeGreaterThan(1);
    expect(report.restarts).toBe(report.kills);
    expect(report.messagesDropped).toBeGreaterThan(0);
    expect(report.messagesDoubled).toBeGreaterThan(0);
    expect(report.postsAccepted).toBeGreaterThan(SECONDS / 2);
    expect(report.legsSucceeded).toBeGreaterThan(SECONDS / 2);
    expect(report.visiblePosts).toBeGreaterThanOrEqual(report.legsSucceeded);
    expect(report.eventsDelivered).toBeGreaterThan(SECONDS);
  },
);
