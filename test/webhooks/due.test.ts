import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { minuteOf } from "../../src/shared/due/due-store.ts";
import { hintsOf } from "../../src/shared/http/worker.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { enqueueDueDeliveries } from "../setup/walks.ts";

const MINUTE = 60_000;
/** More than one page of a table. */
const MANY = 1_100;
let relay: Relay;
beforeEach(async () => {
  relay = await startRelay();
});
afterEach(() => relay.stop());

async function add(count: number, dueAt: string): Promise<void> {
  const { dueDeliveries } = relay.services;
  const now = relay.clock.now();
  for (let index = 0; index < count; index += 50) {
    const batch = Array.from({ length: Math.min(50, count - index) }, () => ({
      ref: { endpointId: newId("endpoint", now) },
      dueAt,
    }));
    await Promise.all(batch.map((due) => dueDeliveries.add(due, now)));
  }
}

describe("the timer of what is due", () => {
  test("hints every row of a full minute once, and again what could not be sent", async () => {
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

  test("never passes over a row, however often it is missed, and lets old ones not hold it back", async () => {
    const { dueDeliveries } = relay.services;
    await enqueueDueDeliveries(relay.services);
    const dueAt = relay.clock.now().toISOString();
    await add(1, dueAt);
    relay.queues.onSend = () => "lose";
    for (let run = 0; run < 3; run += 1) {
      relay.advance(20 * MINUTE);
      await enqueueDueDeliveries(relay.services);
    }
    const past = await dueDeliveries.pastMinutes(relay.clock.now(), undefined, 100);
    expect(past.length).toBeLessThan(25);
    expect((await dueDeliveries.listMinute(minuteOf(dueAt), undefined)).dues).toEqual([]);
    let hinted = 0;
    relay.queues.onSend = () => {
      hinted += 1;
      return "lose";
    };
    relay.advance(20 * MINUTE);
    await enqueueDueDeliveries(relay.services);
    expect(hinted).toBe(1);
  });

  test("looks far enough back in its very first run, and keeps looking while work is left", async () => {
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
