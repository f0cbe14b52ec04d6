import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { createLog } from "../../../src/shared/runtime/log.ts";
import {
  continueWork,
  currentOrigin,
  currentTraceParent,
  noteWork,
  NO_ORIGIN,
  outsideWork,
  traceParentOfCall,
  type Invocation,
} from "../../../src/shared/runtime/telemetry/work-context.ts";
import { inWork } from "../../setup/in-work.ts";

const PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

function capture() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: "info", sink: (_level, line) => lines.push(JSON.parse(line)) });
  return { log, lines };
}

describe("the lines of a piece of work", () => {
  test("show whose they are, however deep and late they are written", async () => {
    const { log, lines } = capture();
    await inWork({ parents: [PARENT], requestId: "req_1", fields: { postId: "p" } }, async () => {
      await wait(1);
      log.info("first");
      noteWork({ platformId: "plt_1" });
      await Promise.all([
        continueWork(NO_ORIGIN, { network: "bluesky" }, async () => {
          await wait(2);
          log.info("left");
        }),
        continueWork(NO_ORIGIN, { network: "mastodon" }, async () => log.info("right")),
      ]);
      log.info("last");
    });
    log.info("outside");
    const whose = { requestId: "req_1", traceId: TRACE, postId: "p" };
    const byMessage = new Map(
      lines.map(({ at: _at, level: _level, message, ...rest }) => [message, rest]),
    );
    expect(byMessage.get("first")).toEqual(whose);
    expect(byMessage.get("left")).toEqual({ ...whose, platformId: "plt_1", network: "bluesky" });
    expect(byMessage.get("right")).toEqual({ ...whose, platformId: "plt_1", network: "mastodon" });
    expect(byMessage.get("last")).toEqual({ ...whose, platformId: "plt_1" });
    expect(byMessage.get("outside")).toEqual({});
  });

  test("the lines of two pieces of work at once never mix", async () => {
    const { log, lines } = capture();
    const one = (id: string) =>
      inWork({ parents: [], requestId: id }, async () => {
        for (let step = 0; step < 5; step += 1) {
          await wait(1);
          log.info(id);
        }
      });
    await Promise.all(["req_a", "req_b", "req_c"].map(one));
    expect(lines).toHaveLength(15);
    for (const { message, requestId } of lines) expect(requestId).toBe(message);
    expect(new Set(lines.map(({ traceId }) => traceId)).size).toBe(3);
  });

  test("the lines of a piece of work can't be passed off as others by a field", () => {
    const { log, lines } = capture();
    log.error("poison message", { message: "request", level: "debug", at: "never" });
    expect(lines[0]).toMatchObject({ message: "poison message", level: "error" });
    expect(lines[0]?.["at"]).toMatch(/Z$/);
  });

  test("the lines of a piece of work are blotted like any field", async () => {
    const { log, lines } = capture();
    const requestId = `sk_live_${"a".repeat(20)}`;
    await inWork({ parents: [], requestId }, async () => log.info("request"));
    expect(JSON.stringify(lines)).not.toContain(requestId);
  });
});

describe("a trace", () => {
  test("takes the first valid parent and begins again without one", async () => {
    const traceOf = (parents: readonly unknown[]) =>
      inWork({ parents }, async () => currentOrigin().traceId);
    expect(await traceOf(["garbage", undefined, PARENT])).toBe(TRACE);
    const fresh = await traceOf(["garbage"]);
    expect(fresh).toMatch(/^[0-9a-f]{32}$/);
    expect(await traceOf([])).not.toBe(fresh);
  });

  test("goes on in what a row tells of, and else as it was", async () => {
    await inWork({ parents: [PARENT], requestId: "req_hint" }, async () => {
      const traceId = "a".repeat(32);
      continueWork({ traceId, requestId: "req_row" }, {}, () =>
        expect(currentOrigin()).toEqual({ traceId, requestId: "req_row" }),
      );
      continueWork({ traceId: null, requestId: null }, {}, () =>
        expect(currentOrigin()).toEqual({ traceId: TRACE, requestId: "req_hint" }),
      );
    });
  });

  test("a trace has a span of its own for every call, and one for the work as a whole", async () => {
    await inWork({ parents: [PARENT] }, async () => {
      const calls = [traceParentOfCall(), traceParentOfCall()];
      const hints = [currentTraceParent(), currentTraceParent()];
      for (const parent of [...calls, ...hints]) expect(parent).toMatch(`00-${TRACE}-`);
      expect(new Set([PARENT, ...calls]).size).toBe(3);
      expect(new Set([PARENT, ...hints]).size).toBe(2);
    });
    expect([traceParentOfCall(), currentTraceParent()]).toEqual([undefined, undefined]);
    expect(currentOrigin()).toEqual({ traceId: null, requestId: null });
  });

  test("ends where something outlives the work that started it", async () => {
    await inWork({ parents: [PARENT] }, async () => {
      await outsideWork(async () => {
        await wait(1);
        expect(currentTraceParent()).toBeUndefined();
      });
    });
  });
});

describe("the host", () => {
  test("gets the lines of an invocation while it runs, and never after its end", async () => {
    const taken: string[] = [];
    const host: Invocation = { write: (level, line) => taken.push(`${level} ${line}`) };
    const printed: string[] = [];
    const log = createLog({ level: "info" });
    const print = vi.spyOn(console, "log").mockImplementation((line) => void printed.push(line));
    try {
      let late: Promise<void> | undefined;
      await inWork({ parents: [], host }, async () => {
        log.info("during");
        continueWork(NO_ORIGIN, { network: "bluesky" }, () => log.warn("deeper"));
        late = wait(5).then(() => log.info("after"));
      });
      await late;
    } finally {
      print.mockRestore();
    }
    expect(taken.map((line) => /^(\w+) .*"message":"(\w+)"/.exec(line)?.slice(1))).toEqual([
      ["info", "during"],
      ["warn", "deeper"],
    ]);
    expect(printed).toHaveLength(1);
    expect(printed[0]).toContain('"message":"after"');
    expect(printed[0]).toContain('"traceId"');
  });
});
