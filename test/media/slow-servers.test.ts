import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Dialler } from "../../src/shared/media/media-request.ts";
import { fitImage } from "../../src/shared/media/fit-image.ts";
import {
  createMediaReader,
  FACTS_LIMITS,
  FIT_LIMITS,
  type MediaReader,
} from "../../src/shared/media/media-reader.ts";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { readFacts } from "../../src/shared/media/read-facts.ts";
import type { MediaFile } from "../../src/shared/networks/contract/media.ts";
import { checkMedia } from "../../src/shared/publishing/accept/check-media.ts";
import { HttpFailure } from "../../src/shared/runtime/http-call.ts";
import { NO_CHUNKS } from "./in-memory.ts";

const never = () => new Promise<never>(() => undefined);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Wants more of every file, and counts how often it was asked. */
function hungry(): MediaReader & { asked: number } {
  return {
    asked: 0,
    facts(_owner, { size }) {
      this.asked += 1;
      return Promise.resolve({
        kind: "missing",
        start: this.asked * 1_000_000,
        end: size,
        usedMs: 10,
      });
    },
    fit: never,
    page: never,
  };
}

const slow = {
  code: "media_unreachable",
  subject: "slow",
};

test("a server that lets a look at its file wait is given up after half a minute", async () => {
  const reader = hungry();
  const file = { contentType: "video/mp4", size: 5_000_000 };
  const sample = new Uint8Array(100);
  const looking = readFacts(
    { reader, owner: "a" },
    { file, bytes: { ...NO_CHUNKS, read: never }, sample },
  );
  const failed = expect(looking).rejects.toMatchObject(slow);
  await vi.advanceTimersByTimeAsync(30_000);
  await failed;
  expect(reader.asked).toBe(1);
});

test("a file that always wants another part is given up after a bounded number of bytes", async () => {
  const reader = hungry();
  const file = { contentType: "video/mp4", size: 500_000_000 };
  let fetched = 0;
  const read = (first: number, last: number) => {
    fetched += last - first + 1;
    return Promise.resolve(new Uint8Array(last - first + 1));
  };
  const facts = await readFacts(
    { reader, owner: "a" },
    { file, bytes: { ...NO_CHUNKS, read }, sample: new Uint8Array(100) },
  );
  expect(facts).toMatchObject({ width: null, durationSeconds: null });
  expect(fetched).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(reader.asked).toBeLessThanOrEqual(24);
});

test("all readings of a file have the CPU time of one", async () => {
  const limited = createMediaReader({ facts: FACTS_LIMITS, fit: FIT_LIMITS });
  const used: number[] = [];
  const reader: MediaReader = {
    facts(owner, file, soFar) {
      used.push(soFar.usedMs);
      // The third reading would be the first for the limited reader, and has no time left.
      if (used.length > 2) return limited.facts(owner, file, soFar);
      const usedMs = FACTS_LIMITS.cpuMs / 2;
      const start = used.length * 1_000_000;
      return Promise.resolve({ kind: "missing", start, end: start + 1, usedMs });
    },
    fit: never,
    page: never,
  };
  const file = { contentType: "video/mp4", size: 5_000_000 };
  const read = (first: number, last: number) => Promise.resolve(new Uint8Array(last - first + 1));
  const reading = readFacts(
    { reader, owner: "a" },
    { file, bytes: { ...NO_CHUNKS, read }, sample: new Uint8Array(100) },
  );
  await expect(reading).rejects.toMatchObject({ code: "media_rejected", reason: "time" });
  expect(used).toEqual([0, FACTS_LIMITS.cpuMs / 2, FACTS_LIMITS.cpuMs]);
});

test("a reader that takes too long is not blamed on the file's server", async () => {
  const reader: MediaReader = { facts: never, fit: never, page: never };
  const file = { contentType: "video/mp4", size: 100 };
  const sampled = { file, bytes: { ...NO_CHUNKS, read: never }, sample: new Uint8Array(100) };
  const reading = readFacts({ reader, owner: "a" }, { ...sampled, leftMs: () => 15_000 });
  const failed = expect(reading).rejects.toMatchObject({
    code: "media_unreachable",
    subject: "busy",
  });
  await vi.advanceTimersByTimeAsync(15_000);
  await failed;
});

test("the time that a reader takes is not that of the file's server", async () => {
  const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  let asked = 0;
  const reader: MediaReader = {
    async facts() {
      asked += 1;
      await after(16_000);
      const start = asked * 600_000;
      if (asked <= 3) return { kind: "missing", start, end: start + 1, usedMs: 10 };
      const facts = { width: 320, height: 240, durationSeconds: 3, image: null };
      return { kind: "facts", facts, usedMs: 10 };
    },
    fit: never,
    page: never,
  };
  const read = async (first: number, last: number) => {
    await after(9_000);
    return new Uint8Array(last - first + 1);
  };
  const file = { contentType: "video/mp4", size: 5_000_000 };
  const sampled = { file, bytes: { ...NO_CHUNKS, read }, sample: new Uint8Array(100) };
  const reading = readFacts({ reader, owner: "a" }, sampled);
  const facts = expect(reading).resolves.toMatchObject({ durationSeconds: 3 });
  await vi.advanceTimersByTimeAsync(4 * 16_000 + 3 * 9_000);
  await facts;
});

/** A server without ranges, whose answers are cut off when five seconds have passed. */
function cutAfterFiveSeconds(bytes: Uint8Array): Dialler & { readonly opened: string[] } {
  const opened: string[] = [];
  return {
    opened,
    request: never,
    open({ url }) {
      opened.push(url);
      const until = performance.now() + 5_000;
      async function* chunks(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < bytes.length; at += 65_536) {
          if (performance.now() >= until) throw new HttpFailure("in_doubt", "timeout");
          yield bytes.subarray(at, at + 65_536);
        }
      }
      const headers = { "content-length": `${bytes.length}` };
      return Promise.resolve({ status: 200, headers, chunks, cancel: () => undefined });
    },
  };
}

test("a transfer that ends while the file is read is begun again", async () => {
  const bytes = Buffer.alloc(2_000_000);
  bytes.write("\0\0\0\x14ftypisom\0\0\0\0isom", "latin1");
  const dialler = cutAfterFiveSeconds(bytes);
  let asked = 0;
  const reader: MediaReader = {
    async facts(_owner, { size }) {
      asked += 1;
      vi.advanceTimersByTime(6_000);
      const start = asked * 600_000;
      if (start < size) return { kind: "missing", start, end: start + 1, usedMs: 10 };
      const facts = { width: 320, height: 240, durationSeconds: 3, image: null };
      return { kind: "facts", facts, usedMs: 10 };
    },
    fit: never,
    page: never,
  };
  const url = "https://files.example.test/film.mp4";
  const limits = { bytesMax: 10_000_000, readBy: { reader, owner: "a" } };
  expect(await openMedia(dialler, url, limits)).toMatchObject({ durationSeconds: 3 });
  // Once for its beginning, and once for each part.
  expect(dialler.opened).toHaveLength(4);
});

test("an image that does not come is given up after a minute", async () => {
  const file: MediaFile = {
    contentType: "image/jpeg",
    size: 1_000,
    width: 10,
    height: 10,
    durationSeconds: null,
    version: "one",
    read: never,
    close: () => Promise.resolve(),
    async *chunks() {
      yield Buffer.from("\xff\xd8\xff", "latin1");
      await never();
    },
  };
  const target = { types: [], bytesMax: 1, plays: [], turnsByExif: false };
  const fitting = fitImage(file, target, { reader: hungry(), owner: "a" });
  const failed = expect(fitting).rejects.toMatchObject(slow);
  await vi.advanceTimersByTimeAsync(60_000);
  await failed;
});

test("a hundred files whose servers answer late are checked long before the host ends the process", async () => {
  const functionTimeoutMs = 300_000;
  let calls = 0;
  const outbound: Dialler = {
    request: never,
    /** Redirects to another address after most of the time that a call has. */
    open({ url, timeoutMs = 0 }) {
      calls += 1;
      return new Promise((resolve, reject) => {
        const headers = { location: `${url}0` };
        const redirect = {
          status: 302,
          headers,
          chunks: NO_CHUNKS.chunks,
          cancel: () => undefined,
        };
        if (timeoutMs > 4_600) setTimeout(() => resolve(redirect), 4_600);
        else setTimeout(() => reject(new HttpFailure("in_doubt", "timeout")), timeoutMs);
      });
    },
  };
  const addresses = Array.from({ length: 100 }, (_, index) => {
    return { url: `https://files.example.test/${index}?`, field: "mediaUrls" };
  });
  const connections = { config: { publishing: { networkTimeoutMs: 30_000 } }, outbound };
  const startedAt = performance.now();
  let checkedMs = Infinity;
  const checking = checkMedia({ connections }, "plt_1", addresses).then((checked) => {
    checkedMs = performance.now() - startedAt;
    return checked;
  });
  await vi.advanceTimersByTimeAsync(2 * functionTimeoutMs);
  const { checks, found } = await checking;
  expect(checkedMs).toBeLessThan(functionTimeoutMs / 3);
  expect(checks.map(({ error }) => error)).toEqual(Array(100).fill("media_unreachable"));
  expect(found.get(addresses.at(-1)?.url ?? "")).toMatchObject({ subject: "unchecked" });
  expect(calls).toBeLessThan(100);
});
