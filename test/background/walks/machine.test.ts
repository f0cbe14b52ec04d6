import { expect, test } from "vitest";
import { continueWalk, runDueWalks } from "../../../src/shared/background/run-due-walks.ts";
import { runWalk, type Walk } from "../../../src/shared/background/walk.ts";
import { WALKS } from "../../../src/shared/background/walks.ts";
import { systemScope } from "../../../src/shared/host/worker.ts";
import { overItems, stepsWith, type TakeStep } from "../../../src/shared/runtime/walk-step.ts";
import { WalkHint } from "../../../src/shared/background/background.ts";
import { startRelay, type Relay } from "../../setup/relay.ts";

const MINUTE = 60_000;

const walkOf = (begin: Walk["begin"], more: Partial<Walk> = {}): Walk => ({
  name: "test",
  every: "tick",
  behindSecondsMax: 600,
  begin,
  ...more,
});
const stepsOf = (take: TakeStep) => walkOf(() => take);

const optionsOf = ({ services }: Relay, runMs = 60_000) => ({
  system: systemScope(services, "test"),
  runMs,
});

/** Counts to ten, a step for each; says which steps were taken. */
function counting() {
  const taken: string[] = [];
  const take = stepsWith<string>(({ position = "0" }) => {
    taken.push(position);
    const next = Number(position) + 1;
    return Promise.resolve({ next: next < 10 ? String(next) : undefined, counts: { steps: 1 } });
  });
  return { taken, walk: stepsOf(take) };
}

const stateOf = async ({ services }: Relay) =>
  (await services.background.stores.walks.list()).get("test");

test("a run that has no time goes on where it stopped, a step at least in each", async () => {
  const relay = await startRelay();
  const { taken, walk } = counting();
  for (let run = 0; run < 9; run += 1)
    expect(await runWalk(relay.services.background, walk, optionsOf(relay, -1))).toBe("time_up");
  expect(await runWalk(relay.services.background, walk, optionsOf(relay))).toBe("round_over");
  expect(taken).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  expect((await stateOf(relay))?.counts).toEqual({ steps: 10 });
});

test("a round begins when the schedule says so, and not before", async () => {
  const relay = await startRelay();
  const { taken, walk } = counting();
  const run = () => runWalk(relay.services.background, walk, optionsOf(relay));
  expect(await run()).toBe("round_over");
  expect(await run()).toBe("not_now");
  relay.advance(MINUTE);
  expect(await run()).toBe("round_over");
  expect(taken).toHaveLength(20);
  const asked = { ...optionsOf(relay), isAsked: true };
  expect(await runWalk(relay.services.background, walk, asked)).toBe("round_over");
});

test("of two processes one gets a walk", async () => {
  const relay = await startRelay();
  const instance = await startRelay({ sameDeploymentAs: relay });
  const held = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  let steps = 0;
  const walk = stepsOf(async () => {
    steps += 1;
    began.resolve();
    await held.promise;
    return { next: undefined };
  });
  const first = runWalk(relay.services.background, walk, optionsOf(relay));
  await began.promise;
  expect(await runWalk(instance.services.background, walk, optionsOf(instance))).toBe("not_now");
  held.resolve();
  expect(await first).toBe("round_over");
  expect(steps).toBe(1);
});

test("what a process that died had is taken over when its lease ends, where it was last kept", async () => {
  const relay = await startRelay();
  const { taken, walk } = counting();
  const steps = walk.begin(relay.services.background, optionsOf(relay).system);
  const dying = walkOf(
    () => (at) => (at.position === "3" ? new Promise(() => undefined) : steps(at)),
    { isSlow: true },
  );
  void runWalk(relay.services.background, dying, optionsOf(relay));
  while ((await stateOf(relay))?.position !== "3") await new Promise((done) => setImmediate(done));
  expect(await runWalk(relay.services.background, walk, optionsOf(relay))).toBe("not_now");
  relay.advance(2 * MINUTE);
  expect(await runWalk(relay.services.background, walk, optionsOf(relay))).toBe("round_over");
  expect(taken).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
});

test("a run that outlived its lease changes nothing of what its successor keeps", async () => {
  const relay = await startRelay();
  const stalled = Promise.withResolvers<void>();
  const late = walkOf(() => async () => {
    await stalled.promise;
    return { next: "late" };
  });
  const first = runWalk(relay.services.background, late, optionsOf(relay, -1));
  while ((await stateOf(relay)) === undefined) await new Promise((done) => setImmediate(done));
  relay.advance(2 * MINUTE);
  const { walk } = counting();
  expect(await runWalk(relay.services.background, walk, optionsOf(relay, -1))).toBe("time_up");
  stalled.resolve();
  expect(await first).toBe("not_now");
  expect((await stateOf(relay))?.position).toBe("1");
});

test("a step that always fails is tried again each time, from the beginning after six, and is told about", async () => {
  const relay = await startRelay();
  const positions: unknown[] = [];
  const walk = stepsOf(({ position }) => {
    positions.push(position);
    if (position === "on") throw new Error("it never works");
    return Promise.resolve({ next: "on" });
  });
  for (let run = 0; run < 8; run += 1) {
    expect(await runWalk(relay.services.background, walk, optionsOf(relay))).toBe("failed");
    relay.advance(MINUTE);
  }
  expect(positions.filter((position) => position === undefined)).toHaveLength(2);
  const lines = relay.logLines.filter((line) => line.includes('"a walk failed"'));
  expect(lines).toHaveLength(8);
  expect(lines[0]).toContain("it never works");
});

test("a walk whose row is damaged begins again", async () => {
  const relay = await startRelay();
  const { taken, walk } = counting();
  await runWalk(relay.services.background, walk, optionsOf(relay, -1));
  await relay.tables.housekeeping.put("walk", { rowKey: "test", position0: "5" });
  expect(await runWalk(relay.services.background, walk, optionsOf(relay))).toBe("round_over");
  expect(taken.slice(0, 2)).toEqual(["0", "0"]);
});

test("a walk that rests leaves the rest of its round to the next time of the schedule", async () => {
  const relay = await startRelay();
  const walk = stepsOf(({ position }) =>
    Promise.resolve({ next: position === undefined ? "rest" : undefined, rests: true }),
  );
  const run = () => runWalk(relay.services.background, walk, optionsOf(relay));
  expect(await run()).toBe("rests");
  expect(await run()).toBe("not_now");
  relay.advance(MINUTE);
  expect(await run()).toBe("round_over");
});

test("a process that is told to stop keeps where it is and ends", async () => {
  const relay = await startRelay();
  const { services } = relay;
  let steps = 0;
  const walk = stepsOf(() => {
    steps += 1;
    if (steps === 3) void services.background.work.stop.begin(services.clock.now());
    return Promise.resolve({ next: String(steps) });
  });
  expect(await runWalk(services.background, walk, optionsOf(relay))).toBe("time_up");
  expect((await stateOf(relay))?.position).toBe("3");
});

/** A walk over a hundred items in pages of ten. */
function over(
  relay: Relay,
  look: (id: string, rest: string | undefined) => { rest?: string } | undefined,
): Walk {
  return walkOf(({ log }) =>
    overItems({
      log,
      what: "test",
      page(after = "-1") {
        const from = Number(after) + 1;
        const items = Array.from({ length: 10 }, (_, index) => String(from + index)).map((id) => ({
          id,
          after: id,
        }));
        return Promise.resolve({ items, next: from >= 90 ? undefined : String(from + 9) });
      },
      look: (id, _at, rest) => Promise.resolve(look(id, rest) ?? {}),
    }),
  );
}

test("an item that always fails is told about, counted and passed over", async () => {
  const relay = await startRelay();
  const looked = new Set<string>();
  const walk = over(relay, (id) => {
    if (id === "42") throw new Error("a row that makes no sense");
    looked.add(id);
    return undefined;
  });
  expect(await runWalk(relay.services.background, walk, optionsOf(relay))).toBe("round_over");
  expect(looked.size).toBe(99);
  expect((await stateOf(relay))?.counts).toEqual({ looked: 100, failed: 1 });
  expect(relay.logLines.filter((line) => line.includes("an item of a walk failed"))).toEqual([
    expect.stringContaining('"item":"42"'),
  ]);
});

test("one item with very much to do is looked at again after all others, and holds up none", async () => {
  const relay = await startRelay();
  const order: string[] = [];
  const walk = over(relay, (id, rest = "0") => {
    order.push(id);
    return id === "0" && Number(rest) < 500 ? { rest: String(Number(rest) + 1) } : undefined;
  });
  expect(await runWalk(relay.services.background, walk, optionsOf(relay))).toBe("round_over");
  expect(new Set(order.slice(0, 100)).size).toBe(100);
  expect(order.filter((id) => id === "0")).toHaveLength(501);
});

test("an outage passes over nobody: the walk waits where it is", async () => {
  const relay = await startRelay();
  let isAway = true;
  const looked: string[] = [];
  const walk = over(relay, (id) => {
    if (isAway && Number(id) >= 20) throw new Error("storage is away");
    looked.push(id);
    return undefined;
  });
  const run = () => runWalk(relay.services.background, walk, optionsOf(relay));
  expect(await run()).toBe("failed");
  expect(await run()).toBe("failed");
  isAway = false;
  expect(await run()).toBe("round_over");
  expect(new Set(looked).size).toBe(100);
  expect(looked).toHaveLength(100);
});

test("the timer runs what is due, hands over what takes too long, and a message goes on with it", async () => {
  const relay = await startRelay({ settings: { TICK_SECONDS: "1" } });
  const { services } = relay;
  await runDueWalks(services.background, systemScope(services, "run-due-walks"));
  // The accounts wait for others, so they are a message's; nothing else takes half a second here.
  const handedOver = () => relay.queues.waiting.map(({ message }) => WalkHint().parse(message));
  const walks = WALKS.map(({ name }) => name);
  expect(handedOver()).toContainEqual({
    v: 1,
    kind: "walk",
    name: "look-after-accounts",
  });
  expect(handedOver().every((hint) => walks.includes(hint.name))).toBe(true);
  await relay.drain();
  const states = await services.background.stores.walks.list();
  for (const { name } of WALKS) expect(states.get(name)?.endedAt, name).not.toBeNull();
  expect(states.size).toBe(WALKS.length);
});

test("a message about a walk that there is not, or that is not due, does nothing", async () => {
  const relay = await startRelay();
  const { services } = relay;
  const system = systemScope(services, "webhooks");
  await continueWalk(services.background, { name: "of-another-version" }, system);
  expect((await services.background.stores.walks.list()).size).toBe(0);
});

test("a walk that is behind its schedule says how far, once it is too far", async () => {
  const relay = await startRelay();
  const { services } = relay;
  const tick = () => runDueWalks(services.background, systemScope(services, "run-due-walks"));
  await tick();
  await relay.drain();
  const { platforms } = services.tenants.stores;
  const listIds = platforms.listIds.bind(platforms);
  platforms.listIds = () => Promise.reject(new Error("storage is away"));
  for (let minute = 0; minute < 5 * 60; minute += 1) {
    relay.advance(MINUTE);
    await tick();
  }
  const behind = () =>
    relay.logLines
      .map((line) => JSON.parse(line) as { message: string; walk: string; seconds: number })
      .filter(({ message }) => message === "walk is behind");
  const lines = behind();
  expect(new Set(lines.map(({ walk }) => walk))).toEqual(
    new Set(["find-forgotten-work", "reconcile-wallets"]),
  );
  expect(Math.min(...lines.map(({ seconds }) => seconds))).toBeGreaterThan(3 * 3_600);
  platforms.listIds = listIds;
  relay.advance(MINUTE);
  await tick();
  relay.advance(MINUTE);
  await tick();
  relay.advance(MINUTE);
  const { length } = behind();
  await tick();
  expect(behind()).toHaveLength(length);
}, 180_000);
