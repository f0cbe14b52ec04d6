import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { BadCredentials } from "../../src/shared/limits/bad-credentials.ts";
import { RateLimiter } from "../../src/shared/limits/rate-limiter.ts";
import type { WindowCounts, RateWindowRows } from "../../src/shared/limits/rate-window-store.ts";
import { RecentMap } from "../../src/shared/runtime/recent-map.ts";
import { SharedWindow, type Admission } from "../../src/shared/limits/shared-window.ts";
import { FRESH_MS, WINDOW_MS } from "../../src/shared/limits/sliding-window.ts";
import { createLog } from "../../src/shared/runtime/log.ts";

const START = 29_543_640 * WINDOW_MS;
const MINUTE = START / WINDOW_MS;
const LIMIT = 300;

/** Rows in memory that can fail or hang. */
class TestRows implements RateWindowRows {
  readonly rows = new Map<number, Map<string, number>>();
  mode: "works" | "slow" | "fails" | "hangs" = "works";
  publishing = 0;
  publishingMost = 0;

  async #behave(): Promise<void> {
    if (this.mode === "hangs") await new Promise(() => undefined);
    if (this.mode === "slow") await new Promise((resolve) => setTimeout(resolve, 1_000));
    if (this.mode === "fails") throw new Error("no storage");
    await Promise.resolve();
  }

  async publish(_subject: string, minute: number, column: string, count: number): Promise<void> {
    this.publishing += 1;
    this.publishingMost = Math.max(this.publishingMost, this.publishing);
    await this.#behave();
    this.set(minute, column, count);
    this.publishing -= 1;
  }

  async read(_subject: string, minute: number): Promise<WindowCounts> {
    await this.#behave();
    return new Map(this.rows.get(minute));
  }

  set(minute: number, column: string, count: number): void {
    this.rows.set(minute, (this.rows.get(minute) ?? new Map<string, number>()).set(column, count));
  }

  sum(minute: number): number {
    return [...(this.rows.get(minute)?.values() ?? [])].reduce((sum, count) => sum + count, 0);
  }
}

let now: number;
let rows: TestRows;
let failures: unknown[];
let window: SharedWindow;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  now = START + 1_000;
  rows = new TestRows();
  failures = [];
  window = new SharedWindow({
    subject: "key",
    rows,
    now: () => now,
    onFailure: (error) => failures.push(error),
  });
});
afterEach(() => {
  vi.useRealTimers();
});

async function ask(times: number, on = window): Promise<Admission[]> {
  const decisions: Admission[] = [];
  for (let index = 0; index < times; index += 1) decisions.push(await on.admit(LIMIT));
  return decisions;
}

const granted = (decisions: readonly Admission[]) =>
  decisions.filter(({ allowed }) => allowed).length;

describe("one instance", () => {
  test("grants the limit and not one more", async () => {
    expect(granted(await ask(330))).toBe(300);
    expect(granted(await ask(30))).toBe(0);
  });

  test("tells what is left and when it comes back", async () => {
    const [first] = await ask(1);
    expect(first).toEqual({ allowed: true, limit: 300, remaining: 299, seconds: 59 });
    const last = (await ask(300)).at(-1);
    // 300 in this minute: the first place is free 0.2 s after its end.
    expect(last).toEqual({ allowed: false, limit: 300, remaining: 0, seconds: 60 });
  });

  test("what was refused is not counted", async () => {
    await ask(300);
    await ask(500);
    now = START + WINDOW_MS + WINDOW_MS / 2;
    expect(granted(await ask(300))).toBe(150);
  });

  test("after two minutes everything is free again", async () => {
    await ask(300);
    now += 2 * WINDOW_MS;
    expect(granted(await ask(330))).toBe(300);
  });

  test("a clock that is set back neither frees nor costs anything", async () => {
    await ask(200);
    now -= 10 * WINDOW_MS;
    expect(granted(await ask(330))).toBe(100);
  });

  test("many at once get the limit and not one more", async () => {
    const asked = Array.from({ length: 1_000 }, () => window.admit(LIMIT));
    expect(granted(await Promise.all(asked))).toBe(300);
  });

  test("nothing waits for storage that hangs before the strict zone is near", async () => {
    rows.mode = "hangs";
    expect(granted(await ask(4))).toBe(4);
  });

  test("counts of one row are never written by two calls at a time", async () => {
    await Promise.all(Array.from({ length: 400 }, () => window.admit(LIMIT)));
    now += WINDOW_MS;
    await Promise.all(Array.from({ length: 400 }, () => window.admit(LIMIT)));
    // Two rows at most: of this minute and of the one before.
    expect(rows.publishingMost).toBeLessThanOrEqual(2);
    expect(rows.publishingMost).toBeGreaterThanOrEqual(1);
  });
});

describe("among others", () => {
  test("their counts of this minute and of the one before count as one's own", async () => {
    rows.set(MINUTE, "other", 100);
    rows.set(MINUTE, "another", 50);
    rows.set(MINUTE - 1, "other", 300);
    now = START + WINDOW_MS / 2;
    // The last thing that is not known: what came before the first exchange.
    expect(granted(await ask(30))).toBeLessThanOrEqual(4);
    now = START + 59_000;
    expect(granted(await ask(300))).toBeGreaterThan(130);
  });

  test("what was granted is written after a moment, even when nobody asks any more", async () => {
    await ask(3);
    await vi.advanceTimersByTimeAsync(FRESH_MS);
    expect(rows.sum(MINUTE)).toBe(3);
  });

  test("what was granted at the end of a minute is written to that minute", async () => {
    await ask(9);
    now = START + WINDOW_MS + 10;
    await ask(2);
    await vi.advanceTimersByTimeAsync(FRESH_MS);
    expect([rows.sum(MINUTE), rows.sum(MINUTE + 1)]).toEqual([9, 2]);
  });

  test("a window made again does not overwrite what the one before it counted", async () => {
    await ask(200);
    await vi.advanceTimersByTimeAsync(FRESH_MS);
    const again = new SharedWindow({ subject: "key", rows, now: () => now, onFailure: () => {} });
    expect(granted(await ask(330, again))).toBeLessThanOrEqual(104);
    await vi.advanceTimersByTimeAsync(FRESH_MS);
    expect(rows.sum(MINUTE)).toBeGreaterThanOrEqual(300);
  });

  test("a caller far below the limit costs few exchanges, one in five seconds", async () => {
    // With a limit of 300, the instances that may exist bound what one may admit unseen.
    const limit = 100_000;
    let reads = 0;
    const counted: RateWindowRows = {
      publish: (...given) => rows.publish(...given),
      read: (...given) => ((reads += 1), rows.read(...given)),
    };
    const busy = new SharedWindow({
      subject: "key",
      rows: counted,
      now: () => now,
      onFailure: (error) => failures.push(error),
    });
    for (let second = 0; second < 50; second += 1) {
      await busy.admit(limit);
      await vi.advanceTimersByTimeAsync(1_000);
      now += 1_000;
    }
    expect(reads).toBeGreaterThan(5);
    expect(reads).toBeLessThanOrEqual(13);
  });
});

describe("without storage", () => {
  beforeEach(() => {
    rows.mode = "fails";
  });

  test("the same limit holds on this instance", async () => {
    expect(granted(await ask(400))).toBe(300);
    expect(failures.length).toBeGreaterThan(0);
  });

  test("it is tried again after a moment, not for every request", async () => {
    await ask(100);
    const before = failures.length;
    now += FRESH_MS + 500;
    await ask(100);
    expect(failures.length - before).toBe(1);
  });

  test("counts are exchanged again as soon as it works again", async () => {
    await ask(100);
    rows.mode = "works";
    rows.set(MINUTE, "other", 150);
    now += FRESH_MS + 500;
    await ask(1);
    await vi.advanceTimersByTimeAsync(FRESH_MS);
    expect(rows.sum(MINUTE)).toBe(251);
    expect(granted(await ask(100))).toBe(49);
  });

  test("nobody waits longer than ten seconds for storage that is slow", async () => {
    rows.mode = "works";
    await ask(250);
    rows.mode = "slow";
    let answered = 0;
    const waiting = Array.from({ length: 60 }, async () => {
      const { allowed } = await window.admit(LIMIT);
      answered += 1;
      return allowed;
    });
    for (let second = 0; second < 12; second += 1) {
      await vi.advanceTimersByTimeAsync(1_000);
      now += 1_000;
    }
    expect(answered).toBe(60);
    expect((await Promise.all(waiting)).filter(Boolean)).toHaveLength(50);
  });

  test("a request that waits for storage that hangs is decided here after ten seconds", async () => {
    rows.mode = "works";
    await ask(250);
    rows.mode = "hangs";
    const waiting = window.admit(LIMIT);
    await vi.advanceTimersByTimeAsync(9_900);
    now += 9_900;
    expect(failures).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(await waiting).toMatchObject({ allowed: true, remaining: 49 });
    expect(failures).toHaveLength(1);
    // Nobody waits any more while it hangs.
    expect(granted(await ask(100))).toBe(49);
  });
});

describe("a limiter", () => {
  test("keeps subjects apart", async () => {
    const log = createLog({ level: "info", sink: () => undefined });
    const limiter = new RateLimiter({ rows, now: () => now, log });
    const admit = async (subject: string) => (await limiter.admit(subject, 1)).allowed;
    expect([await admit("a"), await admit("a"), await admit("b")]).toEqual([true, false, true]);
  });

  test("says once a minute that storage fails", async () => {
    const lines: string[] = [];
    const log = createLog({ level: "info", sink: (level, line) => lines.push(`${level} ${line}`) });
    const limiter = new RateLimiter({ rows, now: () => now, log });
    rows.mode = "fails";
    for (let second = 0; second < 90; second += 1) {
      await limiter.admit("a", LIMIT);
      await limiter.admit(`b${second}`, LIMIT);
      await vi.advanceTimersByTimeAsync(0);
      now += 1_000;
    }
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^error .*storage fails/);
  });
});

describe("two buckets of one request", () => {
  const log = createLog({ level: "info", sink: () => undefined });
  const own = { subject: "key", limit: 100 };
  const whole = { subject: "platform", limit: 150 };

  test("wait for storage side by side", async () => {
    const limiter = new RateLimiter({ rows, now: () => now, log });
    for (let index = 0; index < 100; index += 1) await limiter.admitWithin(own, whole);
    rows.mode = "slow";
    const other = { subject: "another key", limit: 10 };
    for (let index = 0; index < 7; index += 1) void limiter.admit(other.subject, other.limit);
    await vi.advanceTimersByTimeAsync(30_000);
    // Both are in the part of the limit where every request waits for an exchange, of two steps.
    let answered = false;
    void limiter.admitWithin(other, whole).then(() => (answered = true));
    await vi.advanceTimersByTimeAsync(2_100);
    expect(answered).toBe(true);
  });

  test("count it in both or in none", async () => {
    const limiter = new RateLimiter({ rows, now: () => now, log });
    for (let index = 0; index < 500; index += 1) await limiter.admitWithin(own, whole);
    const left = await limiter.admit("platform", 150);
    expect(left.remaining).toBe(49);
  });
});

describe("bounded memory", () => {
  test("what was not used for longest goes first", () => {
    const map = new RecentMap<number>(3);
    for (const [index, name] of ["a", "b", "c"].entries()) map.set(name, index);
    map.get("a");
    map.set("d", 3);
    expect(["a", "b", "c", "d"].map((name) => map.get(name))).toEqual([0, undefined, 2, 3]);
    expect(map.size).toBe(3);
  });

  test("a flood of addresses with wrong credentials leaves the latest ones counted", () => {
    const bad = new BadCredentials(1);
    for (let index = 0; index < 50_000; index += 1) bad.noteWrong(`address ${index}`, "x", now);
    const other = { kind: "api_key", text: "y" } as const;
    expect(bad.secondsUntilTry("address 49999", other, now)).toBeGreaterThan(0);
    expect(bad.secondsUntilTry("address 0", other, now)).toBeUndefined();
  });
});
