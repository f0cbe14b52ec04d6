import type * as ChildProcesses from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { frameHead, FrameReader, type Frame } from "../../src/shared/media/frames.ts";

const LIMITS = { messageMax: 1_000, bytesMax: 10_000 };
const framed = ({ message, bytes }: Frame) =>
  Buffer.concat([frameHead(message, bytes.length), bytes]);

describe("frames", () => {
  test("come out as they went in, however they are cut on their way", () => {
    const frame = fc.record({
      message: fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value))),
      bytes: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    });
    const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 4 }), sizes, (frames, cuts) => {
        const sent = Buffer.concat(frames.map(framed));
        const reader = new FrameReader({ messageMax: 100_000, bytesMax: 10_000 });
        const got: Frame[] = [];
        for (let at = 0, cut = 0; at < sent.length; cut += 1) {
          const size = cuts[cut % cuts.length] ?? 1;
          got.push(...reader.push(sent.subarray(at, at + size)));
          at += size;
        }
        expect(got).toEqual(frames);
      }),
    );
  });

  test.each([
    ["a message that is too long", frameHead("x".repeat(1_000), 0)],
    ["more bytes than are taken", frameHead({}, 10_001)],
    ["lengths of any size", Buffer.alloc(8, 0xff)],
    ["what is no JSON", Buffer.concat([Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]), Buffer.from("{x")])],
  ])("frames of %s are refused", (_what, bytes) => {
    expect(() => new FrameReader(LIMITS).push(bytes)).toThrow();
  });
});

const { spawned } = vi.hoisted(() => ({ spawned: { script: "" } }));
vi.mock("node:child_process", async (original) => {
  const actual = await original<typeof ChildProcesses>();
  return {
    ...actual,
    // A process that a file has taken over, instead of the one that reads files.
    spawn: (program: string, args: readonly string[], options: object) =>
      spawned.script === ""
        ? actual.spawn(program, args, options)
        : actual.spawn(process.execPath, ["-e", spawned.script], { ...options, env: {} }),
  };
});

describe("a process that a file has taken over", () => {
  afterEach(() => {
    spawned.script = "";
  });

  const job = {
    kind: "facts",
    contentType: "image/jpeg",
    size: 3,
    pieces: [],
    isThorough: false,
  } as const;
  const limits = { cpuMs: 3_000, residentBytes: 1e9, answerBytes: 0 };
  const begun = `const frame = (m, n = 0) => { const j = Buffer.from(JSON.stringify(m)); const h = Buffer.alloc(8); h.writeUInt32BE(j.length, 0); h.writeUInt32BE(n, 4); process.stdout.write(Buffer.concat([h, j])); }; frame("begun");`;

  test.each([
    [
      "writes without end",
      `${begun} const more = () => process.stdout.write(Buffer.alloc(65536), more); more();`,
    ],
    [
      "speaks of bytes that never come",
      `${begun} frame({ kind: "fitted" }, 4_000_000_000); setInterval(() => 0, 1000);`,
    ],
    [
      "answers what is no answer",
      `${begun} frame({ cmd: "NODE_HANDLE", type: "nope" }); setInterval(() => 0, 1000);`,
    ],
    ["sends nonsense", `process.stdout.write("{{{{\\n".repeat(99)); setInterval(() => 0, 1000);`],
    [
      "answers before it is asked",
      `process.stdin.pause(); process.stdout.write(Buffer.alloc(900)); setInterval(() => 0, 1000);`,
    ],
  ])("a process that is taken over and %s does its parent no harm", async (_what, script) => {
    const { ReadingProcess } = await import("../../src/shared/media/reading-process.ts");
    spawned.script = script;
    const child = new ReadingProcess();
    const before = process.memoryUsage().rss;
    const reading = await child.run(job, [], limits);
    expect(["died", "stopped"]).toContain(reading.kind);
    expect(child.isUsable).toBe(false);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  test("leaves nothing of an answer for the next job", async () => {
    const { ReadingProcess } = await import("../../src/shared/media/reading-process.ts");
    const facts = `{ kind: "facts", width: 1, height: 1, durationSeconds: null, film: null, image: null }`;
    spawned.script = `${begun} const f = ${facts}; frame(f); frame(f); setInterval(() => 0, 1000);`;
    const child = new ReadingProcess();
    expect(await child.run(job, [], limits)).toMatchObject({ kind: "answered" });
    // What comes after the answer may be a moment behind it.
    await vi.waitUntil(() => !child.isUsable, { timeout: 60_000 });
  });
});

test("the reading program ends when nobody feeds it any more", async () => {
  const program = fileURLToPath(
    new URL("../../src/shared/media/reading-child.ts", import.meta.url),
  );
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.end();
  const [, signal] = (await once(child, "exit")) as [number | null, string | null];
  expect(signal).toBe("SIGKILL");
});
