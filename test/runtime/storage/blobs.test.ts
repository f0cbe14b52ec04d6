import { randomBytes } from "node:crypto";
import { describe, expect, inject, test } from "vitest";
import {
  Blobs,
  type BlobContainer,
  FILES_CONTAINER,
  MissingBlob,
} from "../../../src/shared/runtime/storage/blobs.ts";
import { openBlobs } from "../../../src/shared/runtime/storage/tables.ts";

const account = () => ({
  kind: "connection_string" as const,
  connectionString: inject("azurite"),
});
const open = () => openBlobs(account(), FILES_CONTAINER);
const aName = (folder = "t") => `${folder}/${randomBytes(6).toString("hex")}`;

function put(address: string, body: string, headers: Record<string, string> = {}) {
  return fetch(address, {
    method: "PUT",
    headers: { "x-ms-blob-type": "BlockBlob", "content-type": "image/png", ...headers },
    body,
  });
}

async function aBlob(body: string, name = aName()) {
  const blobs = open();
  expect((await put(await blobs.createAddress(name, 60), body)).status).toBe(201);
  const stored = await blobs.find(name);
  if (stored === undefined) throw new Error("the blob is not there");
  return { blobs, name, stored };
}

describe("an address for creating", () => {
  test("creates one blob, once, and allows nothing else", async () => {
    const blobs = open();
    const name = aName();
    const address = await blobs.createAddress(name, 60);
    expect((await put(address, "first")).status).toBe(201);
    expect((await put(address, "second")).status).toBe(403);
    const block = `${address}&comp=block&blockid=${encodeURIComponent(btoa("block-01"))}`;
    expect((await fetch(block, { method: "PUT", body: "block" })).status).toBe(403);
    expect((await fetch(address)).status).toBe(403);
    expect((await fetch(address, { method: "DELETE" })).status).toBe(403);
    const other = address.replace(name, aName());
    expect((await put(other, "elsewhere")).status).toBe(403);
    expect(await blobs.find(name)).toMatchObject({ size: 5 });
  });

  test("may be used by a browser from any page", async () => {
    const address = await open().createAddress(aName(), 60);
    const asked = await fetch(address, {
      method: "OPTIONS",
      headers: {
        origin: "https://app.example.com",
        "access-control-request-method": "PUT",
        "access-control-request-headers": "x-ms-blob-type,content-type",
      },
    });
    expect(asked.status).toBe(200);
    expect(["*", "https://app.example.com"]).toContain(
      asked.headers.get("access-control-allow-origin"),
    );
  });

  test("ends in time", async () => {
    const address = await open().createAddress(aName(), -5);
    expect((await put(address, "late")).status).toBe(403);
  });
});

test("an address for reading answers with an attachment of the type and name that it was made for", async () => {
  const { blobs, name } = await aBlob("bytes");
  const shown = { seconds: 60, contentType: "image/png", filename: 'a "b"\u00e9\u{1f600}.png' };
  const address = await blobs.readAddress(name, shown);
  const answer = await fetch(address, { headers: { range: "bytes=1-2" } });
  expect(answer.status).toBe(206);
  expect(await answer.text()).toBe("yt");
  expect(answer.headers.get("content-type")).toBe("image/png");
  expect(answer.headers.get("content-disposition")).toBe(
    `attachment; filename="a _b____.png"; filename*=UTF-8''a%20%22b%22%C3%A9%F0%9F%98%80.png`,
  );
  expect((await put(address, "other")).status).toBe(403);
  expect((await fetch(address, { method: "DELETE" })).status).toBe(403);
});

test("parts are read in the version that was seen, and from nothing else", async () => {
  const { blobs, name, stored } = await aBlob("0123456789");
  const part = { first: 2, last: 5, etag: stored.etag };
  expect(Buffer.from(await blobs.read(name, part)).toString()).toBe("2345");
  await expect(blobs.read(name, { ...part, etag: '"0x1"' })).rejects.toThrow(MissingBlob);
  await expect(blobs.read(name, { ...part, first: 20, last: 21 })).rejects.toThrow(MissingBlob);
  await blobs.remove(name);
  await blobs.remove(name);
  expect(await blobs.find(name)).toBeUndefined();
  await expect(blobs.read(name, part)).rejects.toThrow(MissingBlob);
});

test("blobs of one beginning are removed, and others stay", async () => {
  const folder = randomBytes(6).toString("hex");
  const { blobs, name } = await aBlob("a", aName(folder));
  await aBlob("b", aName(folder));
  const other = await aBlob("c", aName(`${folder}x`));
  expect(await blobs.removePage(`${folder}/`)).toBe(2);
  expect(await blobs.removePage(`${folder}/`)).toBe(0);
  expect(await blobs.find(name)).toBeUndefined();
  expect(await blobs.find(other.name)).toEqual(other.stored);
});

test("an empty page of a list is not its end", async () => {
  const removed: string[] = [];
  async function* pages() {
    yield { segment: { blobItems: [] } };
    yield { segment: { blobItems: [{ name: "t/left" }] } };
  }
  const client = {
    listBlobsFlat: () => ({ byPage: pages }),
    getBlobClient: (name: string) => ({ deleteIfExists: () => void removed.push(name) }),
  };
  const blobs = new Blobs(() => Promise.resolve({ client } as unknown as BlobContainer));
  expect(await blobs.removePage("t/")).toBe(1);
  expect(removed).toEqual(["t/left"]);
});

test("storage that doesn't answer is an outage and no missing blob", async () => {
  const connectionString = inject("azurite").replace(/BlobEndpoint=[^;]+/, (endpoint) =>
    endpoint.replace(/:\d+/, ":9"),
  );
  const blobs = openBlobs({ kind: "connection_string", connectionString }, FILES_CONTAINER);
  await expect(blobs.find(aName())).rejects.toMatchObject({ code: "service_unavailable" });
  const range = { first: 0, last: 1, etag: "*" };
  await expect(blobs.read(aName(), range)).rejects.toMatchObject({ code: "service_unavailable" });
});
