import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import type { FatedCall } from "../model/machine.ts";
import { aLinkedAccount, dataOf, outcomeOf } from "../setup/factories.ts";
import { forFile } from "../setup/for-file.ts";
import { aPublisher, type Publisher, unique } from "../setup/publisher.ts";
import { type Relay, startRelay } from "../setup/relay.ts";
import { runAround } from "../setup/replace-in.ts";
import { storedFiles } from "../setup/stored-files.ts";
import { saveLinked } from "../setup/stored.ts";
import { aFilm, announce, aPicture, send, upload } from "../setup/uploads.ts";

/** What was requested of storage since it was last emptied: reads, writes and transactions of tables, and calls to blobs. */
let requests: string[] = [];

/** What is written beside a request and comes in no order: rates, failed logins, when a key was used. */
const isBeside = ({ table, rowKeys }: FatedCall) =>
  table === "ratewindows" || (table === "keys" && rowKeys[0] === "U");

async function startCounted(): Promise<Relay> {
  const started = await startRelay({
    tableFault(call) {
      if (!isBeside(call)) requests.push(call.method === "GET" ? "read" : writeOf(call));
      return "pass";
    },
  });
  started.storage?.giveWholePages();
  runAround(started.services.publishing.files.stores.blobs, (name, run) => {
    // Addresses are signed here.
    if (!name.endsWith("Address")) requests.push(`blob ${name}`);
    return run();
  });
  return started;
}

const writeOf = ({ rowKeys }: FatedCall) => (rowKeys.length > 1 ? "transaction" : "write");

const relay = forFile(startCounted);
let own: Publisher;
beforeAll(async () => {
  own = await aPublisher(relay, []);
  await saveLinked(relay.services, own.owner, "bluesky", aLinkedAccount("one"));
  await post([]);
});

/** The reads that access needs: the version of cached rows for a read, and the rows themselves for a write. */
const ACCESS = { read: 1, write: 3 };

/** A little longer than the wallet is cached with the rest of the head. */
const WALLET_CACHED_MS = 2_050;

/** Returns what a request costs besides its access, in words. */
async function costOf(
  access: keyof typeof ACCESS | "cached",
  act: () => Promise<unknown>,
): Promise<readonly string[]> {
  // Access and head are cached for a while.
  await own.call("GET", "/v1/media?limit=1");
  requests = [];
  await act();
  const all = [...requests];
  for (let reads = access === "cached" ? 0 : ACCESS[access]; reads > 0; reads -= 1)
    all.splice(all.indexOf("read"), 1);
  return all;
}

const post = (mediaUrls: readonly string[]) =>
  own.accept({ text: unique("Counted"), platforms: ["bluesky"], mediaUrls });

async function aSentFile(bytes: Buffer, contentType: string): Promise<string> {
  const file = dataOf(await announce(own, bytes.length, { contentType }));
  await send(file, bytes);
  return file.id;
}

test("announcing a file takes a write and a transaction, and a read where the wallet isn't cached", async () => {
  await announce(own, 1);
  expect(await costOf("write", () => announce(own, 1))).toEqual(["write", "transaction"]);
  await wait(WALLET_CACHED_MS);
  expect(await costOf("write", () => announce(own, 1))).toEqual(["write", "read", "transaction"]);
});

const boxesOf = (film: Buffer): Buffer[] => {
  const boxes: Buffer[] = [];
  for (let at = 0; at < film.length; at += boxes.at(-1)?.length ?? film.length)
    boxes.push(film.subarray(at, at + film.readUInt32BE(at)));
  return boxes;
};

/** A film whose index comes last, behind more than is read at a time. */
function aFilmWithItsIndexLast(): Buffer {
  const boxes = boxesOf(aFilm(5_000_000));
  const isIndex = (box: Buffer) => box.toString("latin1", 4, 8) === "moov";
  return Buffer.concat([...boxes.filter((box) => !isIndex(box)), ...boxes.filter(isIndex)]);
}

/** A picture with bytes behind its end. */
const aLongPicture = (bytes: number) => {
  const picture = readFileSync("test/media/written/gimp.jpg");
  return Buffer.concat([picture, Buffer.alloc(bytes - picture.length)]);
};

describe("completing an upload takes three requests, and reads of its bytes", () => {
  test.each([
    ["a film", "video/mp4", () => aFilm(200_000), 2],
    ["a film whose index comes last", "video/mp4", aFilmWithItsIndexLast, 24],
    ["a small picture", "image/jpeg", () => readFileSync("test/media/written/ffmpeg.jpg"), 1],
    ["a picture of 7 MiB", "image/jpeg", () => aLongPicture(7 * 1024 * 1024), 5],
    ["a document", "application/pdf", () => readFileSync("test/media/written/inkscape.pdf"), 4],
    ["an HEIC", "image/heic", () => readFileSync("test/media/written/gimp.heic"), 4],
  ])("of %s", async (_what, contentType, make, readsMax) => {
    const id = await aSentFile(make(), contentType);
    let outcome = "";
    let isLate = false;
    const cost = await costOf("write", async () => {
      const begunAt = performance.now();
      outcome = outcomeOf(await own.call("POST", `/v1/media/${id}/complete`));
      isLate = performance.now() - begunAt > WALLET_CACHED_MS - 200;
    });
    expect(outcome).toBe("200");
    const reads = cost.filter((request) => request === "blob read").length;
    expect(reads).toBeLessThanOrEqual(readsMax);
    const others = cost.filter((request) => request !== "blob read");
    // Where starting a reader took long, the wallet is read again.
    const wallet = isLate && others.length === 4 ? ["read"] : [];
    expect(others).toEqual(["read", "blob find", ...wallet, "transaction"]);
    const again = () => own.call("POST", `/v1/media/${id}/complete`);
    // The version of access is read again, as nothing was written.
    expect(await costOf("write", again)).toEqual(["read", "read"]);
  });
});

test("reading files takes one request, and one for each file of an application's list", async () => {
  const bytes = await aPicture(8, 8);
  const { id } = await upload(own, bytes);
  await upload(own, bytes);
  for (const path of [`/v1/media/${id}`, `/v1/media/${id}/content`, "/v1/media?limit=2"])
    expect(await costOf("read", () => own.call("GET", path)), path).toEqual(["read"]);
  const list = () => relay.call("GET", "/v1/media?limit=2", { key: own.key });
  expect(await costOf("read", list)).toEqual(["read", "read", "read"]);
});

test("deleting a file takes a read, a transaction, and a removal where no post used it", async () => {
  const bytes = await aPicture(8, 8);
  const [unused, used] = [await upload(own, bytes), await upload(own, bytes)];
  await post([used.url]);
  const remove = (id: string) => costOf("write", () => own.call("DELETE", `/v1/media/${id}`));
  expect(await remove(unused.id)).toEqual(["read", "transaction", "blob remove"]);
  expect(await remove(used.id)).toEqual(["read", "transaction"]);
});

test("accepting a post with files takes a read for each of them more, and no write", async () => {
  const bytes = await aPicture(8, 8);
  const urls: string[] = [];
  for (let count = 0; count < 3; count += 1) urls.push((await upload(own, bytes)).url);
  const without = await costOf("cached", () => post([]));
  const first = await costOf("cached", () => post(urls));
  expect(first.toSorted()).toEqual([...without, "read", "read", "read"].toSorted());
  // They are kept until the same hour, so their rows stay as they are.
  const stored = () => storedFiles(relay, own.owner.platformId);
  const before = (await stored()).files;
  const second = await costOf("cached", () => post(urls));
  expect(second.toSorted()).toEqual(first.toSorted());
  expect((await stored()).files).toEqual(before);
});
