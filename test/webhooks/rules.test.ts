import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { needOf } from "../../src/shared/wake/wake.ts";
import { newId, timeOfId, isId } from "../../src/shared/runtime/ids.ts";
import {
  deliveryIdOf,
  nextAttemptSeconds,
  retryAfterSeconds,
} from "../../src/shared/webhooks/deliveries/delivery.ts";
import { isAbandoned } from "../../src/shared/webhooks/endpoints/endpoint.ts";
import { Rerun } from "../../src/shared/webhooks/hint-queue.ts";
import { keptText } from "../../src/shared/webhooks/deliveries/send-delivery.ts";
import { SETTINGS } from "../../src/shared/config/settings.ts";

const now = new Date("2026-03-04T10:00:00.000Z");
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString();
const DAY_SECONDS = 24 * 60 * 60;

describe("the schedule", () => {
  const { schema, fallback } = SETTINGS.WEBHOOK_RETRY_SECONDS;
  const delays = schema().parse(fallback);

  test("the schedule makes ten attempts over three days", () => {
    expect(delays).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    expect(nextAttemptSeconds(delays, 10, 0.5, null)).toBeNull();
  });

  test("the schedule keeps every delay within a tenth of its value, and uses that whole range", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempts, random) => {
          const delay = delays[attempts - 1] ?? 0;
          const made = nextAttemptSeconds(delays, attempts, random, null) ?? 0;
          expect(made).toBeGreaterThanOrEqual(delay * 0.9);
          expect(made).toBeLessThanOrEqual(delay * 1.1);
        },
      ),
    );
    expect(nextAttemptSeconds([100], 1, 0, null)).toBeCloseTo(90);
    expect(nextAttemptSeconds([100], 1, 0.999_999, null)).toBeCloseTo(110, 1);
  });

  test.each([
    ["a longer wait is granted", 1, 3_600, 3_600],
    ["a shorter one does not shorten the delay", 2, 10, 300],
    ["after the last attempt nothing helps", 10, 3_600, null],
  ])("Retry-After: %s", (_, attempts, asked, expected) => {
    expect(nextAttemptSeconds(delays, attempts, 0.5, asked)).toBe(expected);
  });

  test.each([
    [429, "120", 120],
    [503, " 7 ", 7],
    [503, "0", 0],
    [429, "999999999", DAY_SECONDS],
    [429, "Wed, 04 Mar 2026 10:01:00 GMT", 60],
    [503, "Wed, 04 Mar 2026 09:00:00 GMT", 0],
    [503, "Fri, 04 Mar 2050 09:00:00 GMT", DAY_SECONDS],
    [429, "soon", null],
    [429, "-5", null],
    [429, "", null],
    [429, undefined, null],
    [500, "120", null],
    [200, "120", null],
    [302, "120", null],
  ])("an answer %i with Retry-After %j asks for %j seconds", (status, header, expected) => {
    expect(retryAfterSeconds(status, header, now)).toBe(expected);
  });
});

describe("the id of a first delivery", () => {
  const eventId = newId("event", now);
  const endpointId = newId("endpoint", now);

  test("the id of a first delivery is the same for the same event and endpoint, and differs for any other", () => {
    expect(deliveryIdOf(eventId, endpointId)).toBe(deliveryIdOf(eventId, endpointId));
    const ids = new Set<string>();
    for (let event = 0; event < 30; event += 1)
      for (let endpoint = 0; endpoint < 30; endpoint += 1)
        ids.add(deliveryIdOf(newId("event", now), newId("endpoint", now)));
    expect(ids.size).toBe(900);
  });

  test("the id of a first delivery is an id like any other, with the event's time", () => {
    const id = deliveryIdOf(eventId, endpointId);
    expect(isId("delivery", id)).toBe(true);
    expect(timeOfId("delivery", id)).toBe(timeOfId("event", eventId));
  });
});

describe("an endpoint is abandoned", () => {
  const failing = (failures: number, days: number) => ({
    failures,
    failingSince: at(-days * DAY_SECONDS),
  });
  test.each([
    ["never without a failure", { failures: 0, failingSince: null }, false],
    ["after 20 failures over 5 days", failing(20, 5), true],
    ["not after 19 failures", failing(19, 30), false],
    ["not before 5 days are over", failing(500, 4.99), false],
  ])("an endpoint is abandoned: %s", (_, health, expected) => {
    expect(isAbandoned(health, now)).toBe(expected);
  });
});

describe("the stored part of an answer", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  test.each([
    ["nothing at all", new Uint8Array(), null],
    ["text", bytes("ok\n"), "ok\n"],
    ["control characters", bytes("a\u0000b\u001b[31mc\u007fd\u0085e"), "ab[31mcde"],
    ["bytes that are no text", Uint8Array.of(0x61, 0xff, 0x62), "a\ufffdb"],
  ])("the stored part of an answer: %s", (_, body, expected) => {
    expect(keptText(body)).toBe(expected);
  });

  test("the stored part of an answer is at most 2 KiB of whole characters", () => {
    expect(keptText(bytes("x".repeat(16_384)))).toBe("x".repeat(2_048));
    expect(keptText(bytes("é".repeat(2_000)))).toBe("é".repeat(1_024));
    expect(keptText(bytes("😀".repeat(1_000)))).toBe("😀".repeat(512));
    expect(keptText(bytes(`x${"😀".repeat(1_000)}`))).toBe(`x${"😀".repeat(511)}`);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 6_000 }), (body) => {
        const kept = keptText(body) ?? "";
        expect(bytes(kept).length).toBeLessThanOrEqual(2_048);
        expect(kept.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("work that runs once at a time", () => {
  test("work that runs once at a time is repeated once for all calls that came in between", async () => {
    const rerun = new Rerun();
    const gate = Promise.withResolvers<void>();
    let runs = 0;
    const work = async () => {
      runs += 1;
      if (runs === 1) await gate.promise;
    };
    const first = rerun.run("a", work);
    await Promise.all([rerun.run("a", work), rerun.run("a", work), rerun.run("b", work)]);
    expect(runs).toBe(2);
    gate.resolve();
    await first;
    expect(runs).toBe(3);
    await rerun.run("a", work);
    expect(runs).toBe(4);
  });

  test("work that is wanted again when its time is up is left to the caller", async () => {
    const rerun = new Rerun();
    let runs = 0;
    const work = async () => {
      runs += 1;
      if (runs < 3) await rerun.run("a", work);
    };
    expect(await rerun.run("a", work, -Infinity)).toBe(true);
    expect(runs).toBe(1);
    expect(await rerun.run("a", work)).toBe(false);
    expect(runs).toBe(3);
  });

  test("work that failed can be run again", async () => {
    const rerun = new Rerun();
    const failing = () => Promise.reject(new Error("no"));
    await expect(rerun.run("a", failing)).rejects.toThrow("no");
    let isRun = false;
    await rerun.run("a", () => {
      isRun = true;
      return Promise.resolve();
    });
    expect(isRun).toBe(true);
  });
});

describe("what is due", () => {
  const row = { lost: 0 };
  test.each([
    ["far ahead waits", { at: at(119), hintedAt: null }, "wait"],
    ["soon gets its hint", { at: at(117), hintedAt: null }, "hint"],
    ["and hinted waits", { at: at(-59), hintedAt: at(-200) }, "wait"],
    ["whose hint was lost gets another", { at: at(-61), hintedAt: at(-200) }, "hint_again"],
    ["hinted late waits for that hint", { at: at(-900), hintedAt: at(-59) }, "wait"],
  ] as const)("what is due: %s", (_, due, expected) => {
    expect(needOf({ ...row, ...due }, now)).toBe(expected);
  });

  test.each([
    [1, 119, "wait"],
    [1, 121, "hint_again"],
    [3, 479, "wait"],
    [20, 899, "wait"],
    [20, 901, "hint_again"],
  ] as const)("what is due rests longer after %i lost hints: %i s", (lost, seconds, expected) => {
    const dueAt = at(-seconds);
    expect(needOf({ at: dueAt, hintedAt: dueAt, lost }, now)).toBe(expected);
  });
});
