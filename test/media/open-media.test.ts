import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { probeMedia } from "../../src/shared/media/probe-media.ts";
import { MediaFailure } from "../../src/shared/networks/contract/media.ts";
import type { Outbound } from "../../src/shared/runtime/outbound.ts";
import { FILES_HOST, outboundTo, ranged, serveFiles, whole } from "./file-server.ts";
import type { FileServer, Serve } from "./file-server.ts";
import { flag, noise } from "./pictures.ts";

const LARGE = noise(10_000_000);
LARGE.write("\xff\xd8\xff", "latin1");
const MEGABYTE = 1_000_000;

let clip: Buffer;
let padded: Buffer;
let photo: Buffer;
let server: FileServer;
let outbound: Outbound;

/** The clip with its index behind everything else, as most cameras leave it. */
function withPadding(bytes: Buffer, size: number): Buffer {
  const padding = Buffer.alloc(size);
  padding.writeUInt32BE(size, 0);
  padding.write("free", 4, "latin1");
  const length = bytes.readUInt32BE(0);
  return Buffer.concat([bytes.subarray(0, length), padding, bytes.subarray(length)]);
}

const chunked =
  (bytes: Uint8Array): Serve =>
  (_request, response) => {
    response.write(bytes.subarray(0, 1_000));
    response.end(bytes.subarray(1_000));
  };

const redirect =
  (location: string): Serve =>
  (_request, response) =>
    void response.writeHead(302, { location }).end();

const noHead =
  (serve: Serve): Serve =>
  (request, response) =>
    request.method === "HEAD" ? void response.writeHead(405).end() : serve(request, response);

/** Breaks off the first two times that anything but the beginning is asked for. */
function shaky(bytes: Uint8Array): Serve {
  let left = 2;
  return (request, response) => {
    const isStart = request.headers.range?.startsWith("bytes=0-") === true;
    if (isStart || left === 0) return ranged(bytes)(request, response);
    left -= 1;
    request.socket.destroy();
  };
}

let tag = 0;
const changing: Serve = (request, response) => {
  tag += 1;
  ranged(Buffer.from(LARGE).fill(tag, 500, 600), `"${tag}"`)(request, response);
};

const endless: Serve = (request, response) => {
  response.writeHead(200, { "content-type": "image/jpeg" });
  if (request.method === "HEAD") return void response.end();
  const write = (): void => {
    if (!response.destroyed) response.write(LARGE, write);
  };
  write();
};

beforeAll(async () => {
  clip = await readFile(new URL("../../sandbox/media/clip.mp4", import.meta.url));
  padded = withPadding(clip, 3 * MEGABYTE);
  photo = await flag(600, 400).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  server = await serveFiles({
    "/photo.jpg": ranged(photo),
    "/whole.jpg": whole(photo),
    "/chunked.jpg": chunked(photo),
    "/no-head.jpg": noHead(ranged(photo)),
    "/moved.jpg": redirect(`https://${FILES_HOST}/photo.jpg`),
    "/inside.jpg": redirect("http://127.0.0.2:80/latest/meta-data"),
    "/loopback.jpg": redirect("https://localhost/"),
    "/circle.jpg": redirect("/circle.jpg"),
    "/clip.mp4": ranged(padded, '"clip"', "text/plain"),
    "/whole.mp4": whole(padded),
    "/large": ranged(LARGE),
    "/large-whole": whole(LARGE),
    "/large-chunked": chunked(LARGE),
    "/shaky": shaky(LARGE),
    "/dead": (request, response) =>
      request.headers.range?.startsWith("bytes=0-") === true
        ? ranged(LARGE)(request, response)
        : void request.socket.destroy(),
    "/changing": changing,
    "/weak": ranged(LARGE, 'W/"weak"'),
    "/short": (_request, response) => {
      response.writeHead(200, { "content-length": LARGE.length });
      response.write(LARGE.subarray(0, MEGABYTE), () => response.destroy());
    },
    "/wrong-range": (_request, response) => {
      response.writeHead(206, { "content-range": "bytes 5-9/10" }).end("later");
    },
    "/no-total": (_request, response) => {
      response.writeHead(206, { "content-range": "bytes 0-9/*" }).end("0123456789");
    },
    "/empty": (_request, response) => void response.writeHead(416).end(),
    "/page.jpg": whole(Buffer.from("<!doctype html><title>Sign in</title>")),
    "/endless": endless,
    "/silent": () => undefined,
  });
  outbound = outboundTo(server);
});
afterAll(async () => {
  await outbound.close();
  await server.close();
});

const at = (path: string) => `https://${FILES_HOST}/${path}`;
const open = (path: string, bytesMax = 100 * MEGABYTE) =>
  openMedia(outbound, at(path), { bytesMax });

async function all(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

async function failureOf(work: Promise<unknown>): Promise<MediaFailure> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof MediaFailure) return failure;
  throw new Error("nothing failed", { cause: failure });
}

describe("a file that is opened", () => {
  test.each(["photo.jpg", "whole.jpg", "chunked.jpg", "no-head.jpg", "moved.jpg"])(
    "%s tells what it is by its first bytes, upright",
    async (name) => {
      const file = await open(name);
      expect(file).toMatchObject({
        contentType: "image/jpeg",
        size: photo.length,
        width: 400,
        height: 600,
      });
      expect((await all(file.chunks())).equals(photo)).toBe(true);
    },
  );

  test.each(["clip.mp4", "whole.mp4"])(
    "%s tells how long it plays, whatever its server calls it",
    async (name) => {
      const file = await open(name);
      expect(file).toMatchObject({ contentType: "video/mp4", width: 720, height: 1280 });
      expect(file.durationSeconds).toBeCloseTo(4, 0);
      await file.close();
    },
  );

  test("opening a video fetches its head and its index, not what lies between", async () => {
    const before = server.asked.length;
    await open("clip.mp4");
    const ranges = server.asked
      .slice(before)
      .map((line) => /bytes=(\d+)-(\d+)/.exec(line))
      .map((range) => Number(range?.[2]) - Number(range?.[1]) + 1);
    expect(ranges.reduce((sum, length) => sum + length, 0)).toBeLessThan(MEGABYTE);
  });

  test.each(["large", "large-whole", "large-chunked", "weak", "shaky"])(
    "%s is read in pieces, forwards and back, and as a whole",
    async (name) => {
      const file = await open(name);
      for (const [first, last] of [
        [0, 9],
        [500_000, 2_499_999],
        [2_500_000, 2_500_000],
        [9_000_000, 9_999_999],
        [130_000, 132_000],
      ] as const) {
        const bytes = await file.read(first, last);
        expect(LARGE.subarray(first, last + 1).equals(bytes)).toBe(true);
      }
      expect((await all(file.chunks())).equals(LARGE)).toBe(true);
      expect((await all(file.chunks())).equals(LARGE)).toBe(true);
      await file.close();
    },
  );

  test("a file that changes while it is read is given up", async () => {
    const file = await open("changing");
    const failure = await failureOf(all(file.chunks()));
    expect(failure).toMatchObject({ code: "media_unreachable", reason: "changed" });
  });

  test("a file that breaks off each time is unreachable", async () => {
    const file = await open("dead");
    const failure = await failureOf(file.read(MEGABYTE, 2 * MEGABYTE));
    expect(failure).toMatchObject({
      code: "media_unreachable",
      subject: "connectionLost",
    });
  });

  test("a file that ends too early is unreachable, and not a shorter file", async () => {
    const file = await open("short");
    expect(await failureOf(all(file.chunks()))).toMatchObject({ code: "media_unreachable" });
    expect(await failureOf(file.read(2 * MEGABYTE, 3 * MEGABYTE))).toMatchObject({
      code: "media_unreachable",
    });
  });

  test.each([
    ["large", MEGABYTE, "media_rejected", "larger than 1000000 bytes"],
    ["large-whole", MEGABYTE, "media_rejected", "larger than 1000000 bytes"],
    ["large-chunked", MEGABYTE, "media_rejected", "larger than 1000000 bytes"],
    [
      "missing.jpg",
      MEGABYTE,
      "media_unreachable",
      "The server answers with HTTP 404: it has no file at this URL.",
    ],
    [
      "inside.jpg",
      MEGABYTE,
      "media_unreachable",
      "The URL redirects to an address that is not https.",
    ],
    [
      "loopback.jpg",
      MEGABYTE,
      "media_unreachable",
      "The URL doesn't lead to a public address: its host name has to exist and be public.",
    ],
    [
      "circle.jpg",
      MEGABYTE,
      "media_unreachable",
      "The URL redirects more than 5 times. Use the URL that the redirects lead to.",
    ],
    [
      "wrong-range",
      MEGABYTE,
      "media_unreachable",
      "The server returned a different byte range than requested. It has to support range requests correctly, or not at all.",
    ],
    [
      "no-total",
      MEGABYTE,
      "media_unreachable",
      "The server returned a different byte range than requested. It has to support range requests correctly, or not at all.",
    ],
    [
      "empty",
      MEGABYTE,
      "media_unreachable",
      "The server answers with HTTP 416 instead of the file.",
    ],
    ["silent", MEGABYTE, "media_unreachable", "The server of the file did not answer in time."],
  ])("%s can't be opened", async (name, bytesMax, code, message) => {
    expect(await failureOf(open(name, bytesMax))).toMatchObject({ code, message });
  });

  test("a file that never ends and tells no size is given up after a bounded number of bytes", async () => {
    const failure = await failureOf(open("endless", 1_000 * MEGABYTE));
    expect(failure).toMatchObject({ code: "media_unreachable" });
  }, 180_000);
});

describe("a look at a file", () => {
  const config = { publishing: { networkTimeoutMs: 2_000 } };
  const probe = (name: string) => probeMedia({ config, outbound }, at(name));

  test.each(["photo.jpg", "whole.jpg", "chunked.jpg", "no-head.jpg", "moved.jpg"])(
    "finds out what %s is",
    async (name) => {
      expect(await probe(name)).toMatchObject({
        contentType: "image/jpeg",
        size: photo.length,
        width: 400,
        height: 600,
        image: { orientation: 6, hasMetadata: false },
      });
    },
  );

  test("asks for the beginning and for no more", async () => {
    const before = server.asked.length;
    await probe("large");
    expect(server.asked.slice(before)).toEqual(["GET /large bytes=0-131071"]);
  });

  test("finds out how long a video plays", async () => {
    const found = await probe("clip.mp4");
    expect(found).toMatchObject({ contentType: "video/mp4", size: padded.length, image: null });
    expect(found.durationSeconds).toBeCloseTo(4, 0);
  });

  test("takes no page for a picture", async () => {
    expect(await failureOf(probe("page.jpg"))).toMatchObject({
      code: "media_rejected",
      reason: "webPage",
    });
  });

  test.each(["inside.jpg", "circle.jpg", "silent", "missing.jpg", "endless"])(
    "a look at %s says that it can't be had",
    async (name) => {
      expect(await failureOf(probe(name))).toMatchObject({ code: "media_unreachable" });
    },
    20_000,
  );
});
