import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  circuitAfterFailure,
  type Circuit,
} from "../../src/shared/webhooks/endpoints/endpoint-health-store.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const OPENED = Date.parse("2026-03-04T10:00:00.000Z");
const at = (ms: number) => new Date(OPENED + ms);
const time = (ms: number) => at(ms).toISOString();

const opened: Circuit = { openedAt: time(0), probeAt: time(30_000) };

describe("the circuit of an endpoint", () => {
  test.each([
    [1, null],
    [4, null],
    [5, opened],
    [50, opened],
  ])("the circuit of an endpoint after %i failures in a row is %j", (failures, expected) => {
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

  test("the circuit never lets two deliveries probe within 30 seconds, nor a probe wait for 5 minutes", () => {
    const probes = fc.array(fc.integer({ min: 0, max: 20 * MINUTE }), { maxLength: 60 });
    fc.assert(
      fc.property(probes, (lateBy) => {
        let circuit = opened;
        for (const ms of lateBy) {
          const now = new Date(Date.parse(circuit.probeAt) + ms);
          const after = circuitAfterFailure(circuit, 6, now);
          if (after === null) throw new Error("a failure closed the circuit");
          const pauseMs = Date.parse(after.probeAt) - now.getTime();
          expect(pauseMs).toBeGreaterThanOrEqual(30 * SECOND);
          expect(pauseMs).toBeLessThan(5 * MINUTE);
          expect(after.openedAt).toBe(circuit.openedAt);
          circuit = after;
        }
      }),
    );
  });
});
