import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fileMemory } from "../../src/shared/media/file-memory.ts";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { readFacts } from "../../src/shared/media/read-facts.ts";
import { mediaReader } from "../../src/shared/media/media-reader.ts";
import { FILES_HOST, outboundTo, serveFiles, type FileServer, type Serve } from "./file-server.ts";
import { NO_CHUNKS } from "./in-memory.ts";
import { flag } from "./pictures.ts";

const MEGABYTE = 1024 * 1024;
const AT = `https://${FILES_HOST}`;

let files: FileServer;
const { promise: finish, resolve: finishAll } = Promise.withResolvers<void>();

/** Tells no size, sends much and lets wait for its end. */
const sizeless: Serve = (_request, response) => {
  response.writeHead(200).write("%PDF-");
  response.write(Buffer.alloc(20 * MEGABYTE), () => void finish.then(() => response.end()));
};

beforeAll(async () => {
  const photo = await flag(600, 400).jpeg().toBuffer();
  const small: Serve = (_request, response) => {
    response.writeHead(200).write(photo.subarray(0, 100));
    response.end(photo.subarray(100));
  };
  files = await serveFiles({ "/large.pdf": sizeless, "/small.jpg": small });
});
afterAll(() => files.close());

const ownedBy = (owner: string) => ({
  bytesMax: 100 * MEGABYTE,
  readBy: { reader: mediaReader, owner },
});

test("one customer's files whose servers tell no size leave room in memory for others", async () => {
  // Long enough for a slow machine to receive what the greedy customer may hold.
  const settings = { ...files.settings, NETWORK_TIMEOUT_MS: "30000" };
  const outbound = outboundTo({ ...files, settings });
  const opening = Array.from({ length: 12 }, () =>
    openMedia(outbound, `${AT}/large.pdf`, ownedBy("greedy")),
  );
  const settled = Promise.allSettled(opening);
  const refusals: unknown[] = [];
  for (const one of opening) void one.catch((error: unknown) => refusals.push(error));
  const isHeld = () => refusals.length >= 5 && fileMemory.total > 0;
  for (let look = 0; look < 3_000 && !isHeld(); look += 1) await delay(10);
  expect(fileMemory.total).toBeGreaterThan(0);
  const other = await openMedia(outbound, `${AT}/small.jpg`, ownedBy("other"));
  expect(other).toMatchObject({ contentType: "image/jpeg", width: 600 });
  await other.close();
  finishAll();
  const told = (await settled).map((one) =>
    one.status === "rejected" ? String(one.reason.message) : "opened",
  );
  expect(told.filter((each) => each === "Retry in a few minutes.").length).toBeGreaterThanOrEqual(
    5,
  );
  expect(fileMemory.total).toBeLessThanOrEqual(128 * MEGABYTE);
  for (const one of await settled) if (one.status === "fulfilled") await one.value.close();
  expect(fileMemory.total).toBe(0);
  await outbound.close();
}, 180_000);

test("pieces of files that are looked at count, and no longer than the look", async () => {
  const { promise: asked, resolve: answer } = Promise.withResolvers<Uint8Array>();
  const reader = {
    facts: () =>
      Promise.resolve({ kind: "missing", usedMs: 0, start: 1_000_000, end: 2_000_000 } as const),
    fit: () => Promise.reject(new Error("nothing to fit")),
    page: () => Promise.reject(new Error("no page")),
  };
  const file = { contentType: "video/mp4", size: 5_000_000 };
  const bytes = { ...NO_CHUNKS, read: () => asked };
  const looks = Array.from({ length: 200 }, () =>
    readFacts({ reader, owner: "greedy" }, { file, bytes, sample: new Uint8Array(100) }),
  );
  const settled = Promise.allSettled(looks);
  await delay(10);
  expect(fileMemory.total).toBeLessThanOrEqual(128 * MEGABYTE);
  answer(new Uint8Array(1_000_000));
  const refused = (await settled).filter(({ status }) => status === "rejected");
  expect(refused.length).toBeGreaterThan(60);
  expect(fileMemory.total).toBe(0);
});
