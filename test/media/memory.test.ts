import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { IS_EXACT, tolerated } from "../setup/bounds.ts";
import { FILES_HOST, serveFiles, type Serve } from "./file-server.ts";
import { noise } from "./pictures.ts";
import { forFile } from "../setup/for-file.ts";

const run = promisify(execFile);
const MEGABYTE = 1_000_000;
const SIZE = (IS_EXACT ? 300 : 200) * MEGABYTE;
/** V8 lets about 64 MB of freed buffers lie before it collects them: the rest is what is in hand. */
const GROWTH_MAX = 128 * MEGABYTE;
const SCRIPT = fileURLToPath(new URL("moving.ts", import.meta.url));
const FITTING = fileURLToPath(new URL("fitting.ts", import.meta.url));

/** Repeated over and over: no process holds the whole file, this one neither. */
const BLOCK = noise(MEGABYTE);

function* blocks(first: number, last: number): Generator<Buffer> {
  for (let at = first; at <= last;) {
    const from = at % BLOCK.length;
    const taken = Math.min(BLOCK.length - from, last - at + 1);
    yield BLOCK.subarray(from, from + taken);
    at += taken;
  }
}

async function give(response: Parameters<Serve>[1], first: number, last: number): Promise<void> {
  for (const block of blocks(first, last)) {
    if (response.destroyed) return;
    if (!response.write(block)) await new Promise((resolve) => response.once("drain", resolve));
  }
  response.end();
}

const inRanges: Serve = (request, response) => {
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
  const [first, last] = [Number(range?.[1]), Number(range?.[2])];
  response.writeHead(206, {
    etag: '"large"',
    "content-length": last - first + 1,
    "content-range": `bytes ${first}-${last}/${SIZE}`,
  });
  void give(response, first, last);
};

const inOne: Serve = (_request, response) => {
  response.writeHead(200, { "content-length": SIZE, etag: '"large"' });
  response.once("close", () => response.destroy());
  void give(response, 0, SIZE - 1);
};

const received = { length: 0, told: 0, sha256: "" };

const sink: Serve = (request, response) => {
  const hash = createHash("sha256");
  const told = Number(request.headers["content-length"]);
  let length = 0;
  let head: Buffer | undefined = Buffer.alloc(0);
  let left = SIZE;
  const take = (bytes: Buffer): void => {
    const content = bytes.subarray(0, left);
    left -= content.length;
    hash.update(content);
  };
  request.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (head === undefined) return take(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n", head.indexOf("filename"));
    if (end < 0) return;
    take(head.subarray(end + 4));
    head = undefined;
  });
  request.on("end", () => {
    const sha256 = left === 0 ? hash.digest("hex") : `${left} missing`;
    Object.assign(received, { length, told, sha256 });
    response.end("{}");
  });
};

const server = forFile(() =>
  serveFiles({ "/ranges.mp4": inRanges, "/one.mp4": inOne, "/sink": sink }),
);

test.each(["ranges.mp4", "one.mp4"])(
  `a video of ${SIZE / MEGABYTE} MB is passed on in bounded memory, byte for byte (%s)`,
  async (name) => {
    received.sha256 = "";
    const urls = [`https://${FILES_HOST}/${name}`, `https://${FILES_HOST}/sink`];
    const settings = JSON.stringify(server.settings);
    const { stdout } = await run(process.execPath, [SCRIPT, ...urls, settings], {
      timeout: 100_000,
    });
    const { status, size, before, most } = JSON.parse(stdout) as Record<string, number>;
    const growth = (most ?? Infinity) - (before ?? 0);
    // oxlint-disable-next-line no-console -- the figure is what this is for
    console.log(`${name}: grew by ${Math.round(growth / MEGABYTE)} MB`);
    expect({ status, size }).toEqual({ status: 200, size: SIZE });
    const sent = createHash("sha256");
    for (const block of blocks(0, SIZE - 1)) sent.update(block);
    expect(received.sha256).toBe(sent.digest("hex"));
    expect(received.length).toBe(received.told);
    expect(growth).toBeLessThan(GROWTH_MAX);
  },
  120_000,
);

test("two of the largest images are fitted at once in no more memory than the files themselves", async () => {
  const { stdout } = await run(process.execPath, [FITTING], { timeout: 100_000 });
  const { size, fitted, before, most, blockedMs } = JSON.parse(stdout);
  const growth = most - before;
  // oxlint-disable-next-line no-console -- the figures are what this is for
  console.log(
    `two images of ${size} bytes: grew by ${Math.round(growth / MEGABYTE)} MB, ${blockedMs} ms`,
  );
  expect(size).toBeGreaterThan(50 * MEGABYTE);
  for (const length of fitted) expect(length).toBeLessThanOrEqual(2 * MEGABYTE);
  expect(growth).toBeLessThan(2.5 * size);
  expect(blockedMs).toBeLessThan(tolerated(100));
}, 120_000);
