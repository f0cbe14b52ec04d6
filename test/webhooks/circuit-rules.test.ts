import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  circuitAfterFailure,
  admission,
  type Circuit,
} from "../../src/shared/webhooks/endpoints/circuit.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const OPENED = Date.parse("2026-03-04T10:00:00.000Z");
const at = (ms: number) => new Date(OPENED + ms);
const time = (ms: number) => at(ms).toISOString();

const opened: Circuit = { openedAt: time(0), probeAt: time(30_000), wakeAt: time(30_000) };
const fresh = (ms: number) => ({ createdAt: time(ms), waitsUntil: time(ms) });

describe("the circuit of an endpoint", () => {
  test.each([
    [1, null],
    [4, null],
    [5, opened],
    [50, opened],
  ])("after %i failures in a row is %j", (failures, expected) => {
    expect(circuitAfterFailure(null, failures, at(0))).toEqual(expected);
  });

  test.each([
    ["at first", 0, 30 * SECOND],
    ["after a minute", MINUTE, MINUTE],
    ["after two", 2 * MINUTE, 2 * MINUTE],
    ["after a day", 24 * 60 * MINUTE, 280 * SECOND],
  ])("puts its next probe off by every failure: %s", (_, ms, pause) => {
    const after = circuitAfterFailure(opened, 6, at(ms));
    expect(after).toEqual({ ...opened, probeAt: time(ms + pause) });
  });

  test("that is closed holds nothing back", () => {
    expect(admission(null, fresh(0), at(1))).toEqual({ kind: "pass" });
  });

  test("gives those that come one after the other the times of the probes to come", () => {
    let circuit = opened;
    const times: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      const decided = admission(circuit, fresh(1), at(1));
      if (decided.kind !== "wait") throw new Error(`it was to wait: ${decided.kind}`);
      times.push((Date.parse(decided.until) - OPENED) / SECOND);
      ({ circuit } = decided);
    }
    expect(times).toEqual([30, 80, 180, 380, 680]);
    // What lies beyond looks again all the same, and changes nothing.
    const beyond = admission(circuit, fresh(1), at(1));
    expect(beyond).toEqual({ kind: "wait", until: time(15 * MINUTE + 1), circuit });
    const old = admission(circuit, fresh(1), at(29_000));
    expect(old).toEqual({ kind: "wait", until: time(15 * MINUTE + 29_000), circuit });
  });

  test("leaves one that waits already where it is", () => {
    const waiting = { createdAt: time(1), waitsUntil: time(20_000) };
    const decided = admission(opened, waiting, at(10_000));
    expect(decided).toEqual({ kind: "wait", until: time(20_000), circuit: opened });
  });

  test("lets the first that comes after the pause probe, and the next one only a pause later", () => {
    const first = admission(opened, fresh(1), at(30_000));
    expect(first).toEqual({ kind: "probe", circuit: { ...opened, probeAt: time(60_000) } });
    if (first.kind !== "probe") return;
    expect(admission(first.circuit, fresh(1), at(30_001))).toMatchObject({ kind: "wait" });
    expect(admission(first.circuit, fresh(1), at(60_000))).toMatchObject({ kind: "probe" });
  });

  test("never lets two probe within 30 seconds, and lets nobody wait for more than an hour", () => {
    const steps = fc.array(
      fc.record({ ms: fc.integer({ min: 0, max: 20 * MINUTE }), isFailure: fc.boolean() }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (made) => {
        let circuit = opened;
        let now = 0;
        let lastProbe = Number.NEGATIVE_INFINITY;
        for (const { ms, isFailure } of made) {
          now += ms;
          if (isFailure) {
            circuit = circuitAfterFailure(circuit, 6, at(now)) ?? circuit;
            continue;
          }
          const decided = admission(circuit, fresh(0), at(now));
          if (decided.kind === "pass") throw new Error("an open circuit let one pass");
          ({ circuit } = decided);
          if (decided.kind === "probe") {
            expect(now - lastProbe).toBeGreaterThanOrEqual(30 * SECOND);
            lastProbe = now;
          } else {
            const wait = Date.parse(decided.until) - OPENED - now;
            expect(wait).toBeGreaterThan(0);
            expect(wait).toBeLessThanOrEqual(60 * MINUTE);
          }
        }
      }),
    );
  });
});
