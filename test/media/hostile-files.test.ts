import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { fitImage } from "../../src/shared/media/fit-image.ts";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { ReadingProcess } from "../../src/shared/media/reading-process.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import type {
  FittedImage,
  ImageTarget,
  MediaFile,
} from "../../src/shared/networks/contract/media.ts";
import { MediaFailure } from "../../src/shared/networks/contract/media.ts";
import { watchThread } from "../setup/blocked.ts";
import { tolerated } from "../setup/bounds.ts";
import { drawing, endlessChunks, endlessTimes, interlacedPng, manyTimes } from "./bombs.ts";
import { inMemory } from "./in-memory.ts";
import { animatedGif, flag, noisePng } from "./pictures.ts";

const MEGABYTE = 1024 * 1024;
const NOWHERE = "https://files.example.test/file";

function target(): ImageTarget {
  const image = networkOf("bluesky").media?.({ text: "", media: [], options: {} }, {}).image;
  if (image === undefined) throw new Error("Bluesky takes no images");
  return image;
}

const open = (bytes: Uint8Array) =>
  openMedia(inMemory(bytes), NOWHERE, { bytesMax: 100 * MEGABYTE });

async function publishable(bytes: Uint8Array): Promise<MediaFile | FittedImage> {
  const file = await open(bytes);
  return file.contentType.startsWith("video/") ? file : fitImage(file, target());
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const failure: unknown = await work.then(
    () => "taken",
    (error: unknown) => error,
  );
  if (failure instanceof MediaFailure) return `${failure.code} ${failure.reason}`;
  return String(failure);
}

/** The processes that this one has started to read files in. */
function readers(): number[] {
  const own = `${process.pid}`;
  const parentOf = (pid: string) => {
    try {
      return /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
    } catch {
      return undefined;
    }
  };
  const isReader = (pid: string) =>
    parentOf(pid) === own &&
    readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("reading-child");
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isReader(name))
    .map(Number);
}

let clip: Buffer;
let photo: Buffer;
beforeAll(async () => {
  clip = await readFile("sandbox/media/clip.mp4");
  photo = await flag(600, 400).jpeg().toBuffer();
});

/** Each ended the process, or kept it from everything else, where it was read among other work. */
const BOMBS: Readonly<Record<string, () => Promise<Uint8Array> | Uint8Array>> = {
  "a video whose table of times fills the memory": () => endlessTimes(clip),
  "a video of many such runs": () => manyTimes(clip, 1_000, 2_000_000),
  "a picture that is decoded to more than a gigabyte": () => interlacedPng(9_000, 8_000),
};

describe("a hostile file", () => {
  test.each(Object.entries(BOMBS))(
    "a hostile file is refused, and blocks nothing else: %s",
    async (_name, make) => {
      const bytes = await make();
      await publishable(photo);
      const before = process.memoryUsage().rss;
      const thread = watchThread();
      const refusal = await refusalOf(publishable(bytes));
      const blockedMs = thread.end();
      expect(refusal).toMatch(/^media_rejected (?:memory|time|pixels)$/);
      expect(blockedMs).toBeLessThan(tolerated(100));
      expect(process.memoryUsage().rss - before).toBeLessThan(64 * MEGABYTE);
      expect(await publishable(photo)).toMatchObject({ repairs: [] });
    },
    60_000,
  );

  test("a hostile file of chunks without end says what it can, in time", async () => {
    const startedAt = performance.now();
    await refusalOf(publishable(endlessChunks(clip)));
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  }, 180_000);

  test.each(["webp", "avif", "plain"] as const)("a drawing is no image (as %s)", async (as) => {
    expect(await refusalOf(publishable(drawing(as)))).toBe("media_rejected type");
  });

  test("a hostile file that begins as one type and is another is refused", async () => {
    const gif = await animatedGif(40, 40);
    const jpeg = Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBP", "latin1"), gif]);
    expect(await refusalOf(publishable(jpeg))).toBe("media_rejected damaged");
  });

  test("keeps no other customer's photo waiting", async () => {
    const bombs = [endlessTimes(clip), manyTimes(clip, 1_000, 2_000_000)];
    const startedAt = performance.now();
    const ended = bombs.map((bytes) => refusalOf(publishable(bytes)));
    expect(await publishable(photo)).toMatchObject({ repairs: [] });
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    for (const refusal of await Promise.all(ended)) expect(refusal).toMatch(/^media_rejected/);
  }, 180_000);
});

describe.skipIf(process.platform !== "linux")("a process that reads files", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test("a process that reads files is given nothing of the service's settings", async () => {
    await publishable(photo);
    const [pid] = readers();
    const names = readFileSync(`/proc/${pid}/environ`, "latin1")
      .split("\0")
      .map((setting) => setting.split("=", 1)[0])
      .filter((name) => name !== "");
    const harmless = ["PWD", "OLDPWD", "SHLVL", "_"];
    expect(names.filter((name) => !harmless.includes(name ?? ""))).toEqual([]);
  });

  test("a process that reads files is used again, and ended when there was nothing to read for half a minute", async () => {
    await publishable(photo);
    const [before] = readers();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await publishable(photo);
    expect(readers()).toContain(before);
    vi.advanceTimersByTime(31_000);
    vi.useRealTimers();
    for (let look = 0; look < 50 && readers().includes(before ?? 0); look += 1) await delay(100);
    expect(readers()).not.toContain(before);
  });

  test("a process that reads files that is ended from outside is replaced, and its file read by the next", async () => {
    await publishable(photo);
    const big = await noisePng(1_500, 1_500);
    const fitting = publishable(big);
    await delay(30);
    for (const pid of readers()) process.kill(pid, "SIGKILL");
    expect(await fitting).toMatchObject({ contentType: "image/jpeg" });
  });

  test("a process that reads files is stopped when it computes for longer than it may", async () => {
    const child = new ReadingProcess();
    const bytes = await noisePng(3_000, 2_000);
    const job = { kind: "fit", target: target() } as const;
    const limits = { cpuMs: 300, residentBytes: 1_000 * MEGABYTE, answerBytes: 10 * MEGABYTE };
    expect(await child.run(job, [bytes], limits)).toEqual({ kind: "stopped", reason: "time" });
    expect(child.isUsable).toBe(false);
  });

  test("a process that reads files is stopped when it holds more memory than it may", async () => {
    const child = new ReadingProcess();
    // Small as it comes, so that the limit is met by what it decodes to.
    const bytes = interlacedPng(4_000, 3_000);
    const job = { kind: "fit", target: target() } as const;
    const limits = { cpuMs: 60_000, residentBytes: 130 * MEGABYTE, answerBytes: 10 * MEGABYTE };
    expect(await child.run(job, [bytes], limits)).toEqual({ kind: "stopped", reason: "memory" });
  });

  test("a process that reads files does not outlive the process that started it", async () => {
    const program = `
      import { ReadingProcess } from ${JSON.stringify(new URL("../../src/shared/media/reading-process.ts", import.meta.url).href)};
      const child = new ReadingProcess();
      const job = { kind: "facts", contentType: "image/jpeg", size: 3, pieces: [{ start: 0, length: 3 }], isThorough: false };
      await child.run(job, [Buffer.from([1, 2, 3])], { cpuMs: 3000, residentBytes: 1e9, answerBytes: 0 });
      const { readFileSync, readdirSync } = await import("node:fs");
      const mine = readdirSync("/proc").filter((pid) => {
        try { return readFileSync("/proc/" + pid + "/status", "latin1").includes("PPid:\\t" + process.pid + "\\n"); } catch { return false; }
      });
      process.stdout.write(mine.join(","), () => process.kill(process.pid, "SIGKILL"));`;
    let printed = "";
    try {
      printed = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
        encoding: "utf8",
        timeout: 180_000,
      });
    } catch (error) {
      printed = String((error as { stdout?: string }).stdout);
    }
    const pids = printed.split(",").filter((pid) => pid !== "");
    expect(pids).toHaveLength(1);
    const isAlive = () => pids.some((pid) => readdirSync("/proc").includes(pid));
    for (let look = 0; look < 50 && isAlive(); look += 1) await delay(100);
    expect(isAlive()).toBe(false);
  });
});
