import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { BlobBytes } from "../../src/shared/files/bytes-store.ts";
import { multipartWithFile } from "../../src/shared/networks/contract/multipart.ts";
import type { BlobRange } from "../../src/shared/runtime/storage/blobs.ts";
import { openBlobs } from "../../src/shared/runtime/storage/tables.ts";
import { FILES_HOST, outboundTo, serveFiles, type Serve } from "../media/file-server.ts";
import { noise } from "../media/pictures.ts";

const MEGABYTE = 1024 * 1024;
/** What is asked of storage at a time. */
const PIECE_BYTES = 2 * MEGABYTE;
const FILE = noise(9 * MEGABYTE);
const ETAG = '"0x1"';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type Give = (response: ServerResponse, bytes: Buffer, nth: number) => void;

/** The file in storage, whose answers `give` sends. `asked` is the number of requests so far, `sent` of bytes. */
async function stored(give: Give) {
  const counted = { asked: 0, sent: 0 };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const range = /bytes=(\d+)-(\d+)/.exec(String(request.headers["x-ms-range"]));
    const [first, last] = [Number(range?.[1]), Number(range?.[2])];
    counted.asked += 1;
    const bytes = FILE.subarray(first, last + 1);
    counted.sent += bytes.length;
    response.writeHead(206, {
      etag: ETAG,
      "content-length": bytes.length,
      "content-range": `bytes ${first}-${last}/${FILE.length}`,
    });
    give(response, bytes, counted.asked);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const { port } = server.address() as AddressInfo;
  const connectionString = `DefaultEndpointsProtocol=http;AccountName=a;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:${port}/a`;
  const blobs = openBlobs({ kind: "connection_string", connectionString }, "media");
  const bytes = new BlobBytes(blobs, "p/f", { size: FILE.length, etag: ETAG });
  return { bytes, counted };
}

const whole: Give = (response, bytes) => void response.end(bytes);
const cut: Give = (response, bytes) =>
  void response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());

/** Sends the file in a form to a network that does this with it. */
async function sendTo(bytes: BlobBytes, serve: Serve) {
  const network = await serveFiles({ "/media": serve });
  const outbound = outboundTo(network);
  closing.push(
    () => network.close(),
    () => outbound.close(),
  );
  const file = { name: "file", filename: "film.mp4", contentType: "video/mp4", body: bytes };
  const form = multipartWithFile({}, file);
  const url = `https://${FILES_HOST}/media`;
  return outbound.request({ method: "POST", url, ...form, timeoutMs: 30_000 });
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function read(bytes: BlobBytes): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test("pieces that storage cuts in their middle are asked for again, and the file is whole", async () => {
  const { bytes, counted } = await stored((response, piece, nth) =>
    (nth % 2 === 1 ? cut : whole)(response, piece, nth),
  );
  expect(sha256(await read(bytes))).toBe(sha256(FILE));
  expect(counted.asked).toBe(2 * Math.ceil(FILE.length / PIECE_BYTES));
});

test("storage that cuts every answer is given up after three, and is no fault of the network", async () => {
  const { bytes, counted } = await stored(cut);
  const sent = sendTo(bytes, (request) => void request.resume());
  await expect(sent).rejects.toMatchObject({
    code: "media_unreachable",
    subject: "connectionLost",
    isStored: true,
  });
  expect(counted.asked).toBe(3);
});

test("of a file for a network that reads nothing for a while, what is read of storage waits with it", async () => {
  const size = 40 * MEGABYTE;
  let asked = 0;
  const read = async (_name: string, { first, last }: BlobRange) => {
    asked += last - first + 1;
    return Buffer.alloc(last - first + 1);
  };
  let taken = 0;
  let askedMeanwhile = 0;
  const answer = await sendTo(
    new BlobBytes({ read }, "p/f", { size, etag: ETAG }),
    (request, response) => {
      request.once("data", () => {
        request.pause();
        setTimeout(() => {
          askedMeanwhile = asked;
          request.resume();
        }, 300);
      });
      request.on("data", (chunk: Buffer) => (taken += chunk.length));
      request.on("end", () => response.end("{}"));
    },
  );
  expect(answer.status).toBe(200);
  expect(taken).toBeGreaterThan(size);
  // Two pieces, and what the connection itself holds on this machine.
  expect(askedMeanwhile).toBeLessThanOrEqual(2 * PIECE_BYTES + 12 * MEGABYTE);
});

test("the answer of a network that has not read the file counts, and the rest is not read", async () => {
  const { bytes, counted } = await stored(whole);
  const answer = await sendTo(bytes, (request, response) => {
    request.once("data", () => {
      request.pause();
      response.writeHead(413, { connection: "close" }).end('{"error":"too large"}');
    });
  });
  expect(answer.status).toBe(413);
  await delay(100);
  expect(counted.sent).toBeLessThan(FILE.length);
});
