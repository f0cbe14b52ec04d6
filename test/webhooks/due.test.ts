import { describe, expect, test } from "vitest";
import { hintsOf } from "../../src/shared/host/worker.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import { runWalk } from "../../src/shared/background/walk.ts";
import { WALKS } from "../../src/shared/background/walks.ts";
import { systemScope } from "../../src/shared/host/worker.ts";
import { wakeOf } from "../../src/shared/wake/wake.ts";
import { startRelay } from "../setup/relay.ts";
import { enqueueDueDeliveries } from "../setup/walks.ts";
import { forTest } from "../setup/for-file.ts";

const MINUTE = 60_000;
/** More than one page of a table. */
const MANY = 1_100;
const relay = forTest(() => startRelay());

async function add(count: number, dueAt: string): Promise<void> {
  const { wakes } = relay.services.webhooks;
  const now = relay.clock.now();
  for (let index = 0; index < count; index += 50) {
    const batch = Array.from({ length: Math.min(50, count - index) }, () =>
      wakeOf("endpoint", newId("endpoint", now), dueAt),
    );
    await Promise.all(batch.map((wake) => wakes.add(wake, now)));
  }
}

describe("the timer of what is due", () => {
  test("the timer hints every due row of a full minute once, and repeats hints that could not be sent", async () => {
    const dueAt = relay.clock.now().toISOString();
    await add(MANY, dueAt);
    const sent = new Map<string, number>();
    let calls = 0;
    let refused = 0;
    const note = (message: object) => {
      for (const hint of hintsOf(message)) {
        const { endpointId } = hint as { endpointId: string };
        sent.set(endpointId, (sent.get(endpointId) ?? 0) + 1);
      }
      return "keep" as const;
    };
    relay.queues.onSend = (message) => {
      calls += 1;
      if (calls % 3 > 0) return note(message);
      refused += hintsOf(message).length;
      throw new Error("the queue is away");
    };
    await enqueueDueDeliveries(relay.services);
    expect(refused).toBeGreaterThan(MANY / 4);
    expect(sent.size).toBe(MANY - refused);
    relay.queues.onSend = note;
    await enqueueDueDeliveries(relay.services);
    await enqueueDueDeliveries(relay.services);
    expect([...new Set(sent.values())]).toEqual([1]);
    expect(sent.size).toBe(MANY);
  });

  test("the timer never skips a due row, however often its hint is lost", async () => {
    await add(1, relay.clock.now().toISOString());
    let hinted = 0;
    relay.queues.onSend = () => {
      hinted += 1;
      return "lose";
    };
    for (let run = 0; run < 4; run += 1) {
      await enqueueDueDeliveries(relay.services);
      expect(hinted).toBe(run + 1);
      relay.advance(20 * MINUTE);
    }
  });

  test("the timer hints rows that are due now before old ones, and gets through these even in the shortest runs", async () => {
    const { services } = relay;
    const old = new Date(relay.clock.now().getTime() - 3 * 60 * MINUTE).toISOString();
    await add(MANY, old);
    const walk = WALKS.find(({ name }) => name === "hint-due-deliveries");
    if (walk === undefined) throw new Error("there is no such walk");
    const hinted: string[] = [];
    relay.queues.onSend = (message) => {
      for (const hint of hintsOf(message)) hinted.push((hint as { dueAt: string }).dueAt);
      return "lose";
    };
    const options = { system: systemScope(services, "test"), runMs: -1, isAsked: true };
    for (let run = 0; run < 5; run += 1) {
      const now = relay.clock.now().toISOString();
      await add(1, now);
      const before = hinted.length;
      expect(await runWalk(services.background, walk, options)).toBe("time_up");
      expect(hinted[before]).toBe(now);
      expect(hinted.length).toBeGreaterThan(before + 1);
    }
    await enqueueDueDeliveries(services);
    expect(hinted.filter((dueAt) => dueAt === old)).toHaveLength(MANY);
    expect(hinted).toHaveLength(MANY + 5);
  });

  test("the timer finds rows that were written long after their time, and continues while work is left", async () => {
    await add(1, new Date(relay.clock.now().getTime() - 50 * MINUTE).toISOString());
    let hinted = 0;
    relay.queues.onSend = () => {
      hinted += 1;
      if (hinted < 3) throw new Error("the queue is away");
      return "lose";
    };
    for (let run = 0; run < 4; run += 1) {
      await enqueueDueDeliveries(relay.services);
      relay.advance(5 * MINUTE);
    }
    expect(hinted).toBeGreaterThanOrEqual(3);
  });
});
