import * as z from "zod";
import { expect, test, vi } from "vitest";
import type { Services } from "../../../src/shared/compose.ts";
import { FairLimit } from "../../../src/shared/runtime/fair-limit.ts";
import { worker } from "../../../src/shared/host/worker.ts";
import { shape, type ShapeOf } from "../../../src/shared/runtime/shape.ts";
import { HintQueue, hintOf } from "../../../src/shared/runtime/storage/queue.ts";
import { PATIENCE_MS } from "../../setup/bounds.ts";

const Errand = shape(() => hintOf("errand", { name: z.string() }));
type Errand = ShapeOf<typeof Errand>;

/** A queue whose sends end when the test says so. */
function slowQueue() {
  const messages: object[] = [];
  const sends: { resolve(): void; reject(error: Error): void }[] = [];
  const queue = new HintQueue<Errand>({
    send(message) {
      messages.push(message);
      const { promise, ...send } = Promise.withResolvers<void>();
      sends.push(send);
      return promise;
    },
    ping: () => Promise.resolve(),
  });
  return { queue, messages, sends };
}

/** Returns hints that were sent together, and the messages that took them. */
async function sentTogether(names: readonly string[]) {
  const { queue, messages, sends } = slowQueue();
  const hinted = Promise.all(names.map((name) => queue.hint({ kind: "errand", name })));
  for (let sent = 0; sent < names.length; sent += 1) {
    sends[sent]?.resolve();
    await new Promise(setImmediate);
  }
  await hinted;
  return messages;
}

test("an idle process sends a hint at once; those that come meanwhile share a message", async () => {
  expect(await sentTogether(["first", "second", "third", "second"])).toEqual([
    { v: 1, kind: "errand", name: "first" },
    { v: 1, kind: "errand", name: "second", more: [{ v: 1, kind: "errand", name: "third" }] },
  ]);
});

test("a message has eight hints at most", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `errand ${index}`);
  const messages = await sentTogether(names);
  const more = messages.map(
    (message) => (Reflect.get(message, "more") as unknown[] | undefined) ?? [],
  );
  expect(more.map(({ length }) => length + 1)).toEqual([1, 8, 8, 3]);
});

test("a hint with a delay goes alone and at once", async () => {
  const { queue, messages } = slowQueue();
  void queue.hint({ kind: "errand", name: "now" });
  void queue.hint({ kind: "errand", name: "later" }, 5);
  expect(messages).toEqual([
    { v: 1, kind: "errand", name: "now" },
    { v: 1, kind: "errand", name: "later" },
  ]);
});

test("all who share a message are told that it was not sent, and the next one is sent", async () => {
  const { queue, messages, sends } = slowQueue();
  const [first, ...others] = ["first", "second", "third"].map((name) =>
    queue.hint({ kind: "errand", name }),
  );
  sends[0]?.resolve();
  await first;
  await vi.waitFor(() => expect(sends).toHaveLength(2), PATIENCE_MS);
  const told = Promise.allSettled(others);
  sends[1]?.reject(new Error("no answer"));
  expect((await told).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  void queue.hint({ kind: "errand", name: "fourth" });
  await vi.waitFor(
    () => expect(messages[2]).toEqual({ v: 1, kind: "errand", name: "fourth" }),
    PATIENCE_MS,
  );
});

test("a send that does not end holds up the hints behind it for half a second", async () => {
  vi.useFakeTimers();
  try {
    const { queue, messages } = slowQueue();
    void queue.hint({ kind: "errand", name: "stuck" });
    void queue.hint({ kind: "errand", name: "behind" });
    await vi.advanceTimersByTimeAsync(499);
    expect(messages).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(messages).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

const shared = (names: readonly string[]) => {
  const [first, ...more] = names.map((name) => ({ v: 1, kind: "errand", name }));
  return { ...first, more };
};

/** A process whose worker notes what it runs. */
function aProcess(run: (name: string) => Promise<void>) {
  const access = { companions: new FairLimit({ capacity: 64, perOwner: 64, waitingMax: 0 }) };
  const services = { access } as unknown as Services;
  const alone: string[] = [];
  const errands = worker("errands", {
    message: Errand,
    resend(_, { name }) {
      alone.push(name);
      return Promise.resolve();
    },
    run: (_, { name }) => run(name),
  });
  return { alone, handle: (message: object) => errands.handle(services, message) };
}

test("all hints of a message are worked on at once, whatever one of them meets", async () => {
  const begun: string[] = [];
  const { handle } = aProcess((name) => {
    begun.push(name);
    return name === "bad" ? Promise.reject(new Error("bad")) : Promise.resolve();
  });
  await expect(handle(shared(["good", "bad", "better"]))).rejects.toThrow("bad");
  expect(begun).toEqual(["good", "bad", "better"]);
  await expect(handle({ ...shared(["best"]), more: [{ v: 1 }] })).rejects.toThrow();
  expect(begun.at(-1)).toBe("best");
});

test("hints beyond what a process bears get messages of their own", async () => {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  const begun: string[] = [];
  const { alone, handle } = aProcess((name) => {
    begun.push(name);
    return isOver;
  });
  const names = Array.from({ length: 80 }, (_, index) => `errand ${index}`);
  const handled = handle(shared(names));
  await vi.waitFor(() => expect(alone).toEqual(names.slice(65)), PATIENCE_MS);
  expect(begun).toEqual(names.slice(0, 65));
  resolve();
  await handled;
});
