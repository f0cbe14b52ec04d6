import { describe, expect, test } from "vitest";
import { blobContentId } from "../../dev/networks/bluesky/content-id.ts";
import type { Session } from "./bluesky-calls.ts";
import { PHOTO, POST, RKEY, useBluesky } from "./bluesky-calls.ts";

let session: Session;

const { at, speakIn, xrpc, put, upload } = useBluesky((fresh) => {
  session = fresh.session;
});

const OTHER_RKEY = "3mbd3542k2322";

describe("records", () => {
  test("the same content under the same key is answered alike and changes nothing", async () => {
    const first = await put(POST);
    expect(first.json).toMatchObject({
      uri: `at://${session.did}/app.bsky.feed.post/${RKEY}`,
      validationStatus: "valid",
    });
    expect(first.json["commit"]).toBeDefined();
    for (const reply of await Promise.all(Array.from({ length: 8 }, () => put({ ...POST })))) {
      expect(reply.json).toMatchObject({ uri: first.json["uri"], cid: first.json["cid"] });
      expect(reply.json["commit"]).toBeUndefined();
    }
    expect(at.sandbox.posts("bluesky")).toMatchObject([{ text: "Hello", edits: 0 }]);
  });

  test("other content under the same key changes the post, unless it must be new", async () => {
    await put(POST);
    const changed = { ...POST, text: "Other" };
    expect(await put(changed, { swapRecord: null })).toMatchObject({
      status: 400,
      json: { error: "InvalidSwap" },
    });
    expect((await put(changed)).status).toBe(200);
    expect(at.sandbox.posts()).toMatchObject([{ text: "Other", edits: 1 }]);
  });

  test("createRecord under a taken key is a bare 500, whatever the content", async () => {
    const create = () =>
      xrpc("com.atproto.repo.createRecord", {
        token: session.accessJwt,
        json: { repo: session.did, collection: POST.$type, rkey: RKEY, record: POST },
      });
    expect((await create()).status).toBe(200);
    expect(await create()).toMatchObject({
      status: 500,
      json: { error: "InternalServerError", message: "Internal Server Error" },
    });
  });

  test("a record is read by anyone, and a missing one is RecordNotFound", async () => {
    await put(POST);
    const path = `com.atproto.repo.getRecord?repo=${session.did}&collection=${POST.$type}&rkey=`;
    expect((await xrpc(path + RKEY)).json["value"]).toEqual(POST);
    expect(await xrpc(path + OTHER_RKEY)).toMatchObject({
      status: 400,
      json: { error: "RecordNotFound" },
    });
  });

  test("records are listed newest first, page by page", async () => {
    await put(POST);
    await put(POST, { rkey: OTHER_RKEY });
    const path = `com.atproto.repo.listRecords?repo=${session.did}&collection=${POST.$type}&limit=1`;
    const first = await xrpc(path);
    expect(first.json["records"]).toMatchObject([
      { uri: expect.stringContaining(OTHER_RKEY) as string },
    ]);
    const second = await xrpc(`${path}&cursor=${String(first.json["cursor"])}`);
    expect(second.json["records"]).toMatchObject([
      { uri: expect.stringContaining(RKEY) as string },
    ]);
  });

  test("nobody writes to another account or without a token", async () => {
    const foreign = await put(POST, { repo: "alice.test" });
    expect(foreign).toMatchObject({ status: 401, json: { error: "AuthenticationRequired" } });
    speakIn({ ...session, accessJwt: "" });
    expect((await put(POST)).status).toBe(401);
    expect(at.sandbox.posts()).toEqual([]);
  });

  const graphemes = (count: number) => "👩‍👩‍👧".repeat(count);
  test.each([
    ["no text", { text: undefined }, 'Missing required key "text" at $'],
    ["no date", { createdAt: undefined }, 'Missing required key "createdAt" at $'],
    ["a date without a zone", { createdAt: "2026-11-20T09:00:00" }, "$.createdAt"],
    [
      "301 graphemes",
      { text: "x".repeat(301) },
      "grapheme too big (maximum 300, got 301) at $.text",
    ],
    [
      "more than 3000 bytes",
      { text: graphemes(170) },
      "string too big (maximum 3000, got 3060) at $.text",
    ],
    ["four languages", { langs: ["en", "de", "fr", "es"] }, "$.langs"],
    ["a language that is none", { langs: ["en_US!"] }, "$.langs[0]"],
    ["another type", { $type: "app.bsky.feed.like" }, "Invalid $type"],
    ["an embed nobody shows", { embed: { $type: "app.example.embed" } }, "$.embed.$type"],
    [
      "an image without alt",
      { embed: { $type: "app.bsky.embed.images", images: [{ image: blobOf(1) }] } },
      'Missing required key "alt" at $.embed.images[0]',
    ],
    [
      "five images",
      {
        embed: {
          $type: "app.bsky.embed.images",
          images: Array.from({ length: 5 }, () => ({ alt: "", image: blobOf(1) })),
        },
      },
      "array too big (maximum 4, got 5) at $.embed.images",
    ],
    [
      "an image of more than 2 MB",
      {
        embed: { $type: "app.bsky.embed.images", images: [{ alt: "", image: blobOf(2_000_001) }] },
      },
      "blob too big (maximum 2000000, got 2000001) at $.embed.images[0].image",
    ],
    [
      "a gallery item without its ratio",
      {
        embed: {
          $type: "app.bsky.embed.gallery",
          items: [{ $type: "app.bsky.embed.gallery#image", alt: "", image: blobOf(1) }],
        },
      },
      'Missing required key "aspectRatio" at $.embed.items[0]',
    ],
    [
      "a card without a description",
      {
        embed: {
          $type: "app.bsky.embed.external",
          external: { uri: "https://a.test/", title: "" },
        },
      },
      'Missing required key "description" at $.embed.external',
    ],
  ])("a record with %s is refused", async (_name, change, message) => {
    const reply = await put({ ...POST, ...change });
    expect(reply).toMatchObject({ status: 400, json: { error: "InvalidRequest" } });
    expect(reply.json["message"]).toContain(message);
    expect(at.sandbox.posts()).toEqual([]);
  });

  test.each(["not-a-tid", "3MBD3542K2222", "zzzzzzzzzzzzz", "self"])(
    "the key %s is refused",
    async (rkey) => {
      expect(await put(POST, { rkey })).toMatchObject({
        status: 400,
        json: { error: "InvalidRequest" },
      });
    },
  );

  test("300 graphemes of several code points each are taken", async () => {
    expect((await put({ ...POST, text: "🇩🇪".repeat(300) })).status).toBe(200);
  });
});

function blobOf(size: number): Record<string, unknown> {
  const ref = { $link: blobContentId(Buffer.from("unknown")) };
  return { $type: "blob", ref, mimeType: "image/jpeg", size };
}

describe("facets", () => {
  const text = "Héllo 👋 see https://example.com/a?b=1. #café @alice.test";
  const facet = (byteStart: number, byteEnd: number, feature: Record<string, unknown>) => ({
    index: { byteStart, byteEnd },
    features: [feature],
  });
  const link = { $type: "app.bsky.richtext.facet#link", uri: "https://example.com/a?b=1" };
  const tag = { $type: "app.bsky.richtext.facet#tag", tag: "café" };
  const mention = { $type: "app.bsky.richtext.facet#mention", did: "did:plc:alice" };

  test("right ones make exactly their part of the text clickable", async () => {
    const facets = [facet(16, 41, link), facet(43, 49, tag), facet(50, 61, mention)];
    expect((await put({ ...POST, text, facets })).status).toBe(200);
    const [post] = at.sandbox.posts();
    expect(post?.segments).toEqual([
      { text: "Héllo 👋 see " },
      { text: "https://example.com/a?b=1", href: "https://example.com/a?b=1" },
      { text: ". " },
      { text: "#café", href: "https://bsky.app/hashtag/caf%C3%A9" },
      { text: " " },
      { text: "@alice.test", href: "https://bsky.app/profile/did:plc:alice" },
    ]);
  });

  test.each([
    [
      "a negative start",
      facet(-1, 4, link),
      "integer too small (minimum 0, got -1) at $.facets[0].index.byteStart",
    ],
    ["an end beyond the text", facet(50, 62, link), "$.facets[0].index"],
    ["an end before the start", facet(10, 10, link), "$.facets[0].index"],
    ["a cut character", facet(2, 5, link), "cuts a character"],
    ["no uri", facet(0, 1, { $type: link.$type }), '"uri"'],
    [
      "a mention that is no DID",
      facet(0, 1, { ...mention, did: "alice.test" }),
      "$.facets[0].features[0].did",
    ],
    [
      "a feature nobody knows",
      facet(0, 1, { $type: "app.example#x" }),
      "$.facets[0].features[0].$type",
    ],
  ])("one with %s is refused", async (_name, wrong, message) => {
    const reply = await put({ ...POST, text, facets: [wrong] });
    expect(reply.status).toBe(400);
    expect(reply.json["message"]).toContain(message);
  });

  test("overlapping ones are refused", async () => {
    const reply = await put({ ...POST, text, facets: [facet(16, 41, link), facet(40, 43, tag)] });
    expect(reply.json["message"]).toContain("overlaps");
  });
});

describe("files", () => {
  const images = (blob: unknown) => ({
    ...POST,
    embed: { $type: "app.bsky.embed.images", images: [{ image: blob, alt: "A lake" }] },
  });

  test("the same bytes get the same reference, judged by their content", async () => {
    const [first, second] = [await upload(), await upload(undefined, "application/octet-stream")];
    expect(first.json["blob"]).toEqual({
      $type: "blob",
      ref: { $link: blobContentId(PHOTO) },
      mimeType: "image/jpeg",
      size: PHOTO.length,
    });
    expect(second.json).toEqual(first.json);
  });

  test("a post shows the file with its alt text", async () => {
    const { blob } = (await upload()).json;
    expect((await put(images(blob))).status).toBe(200);
    const [post] = at.sandbox.posts();
    expect(post?.media).toMatchObject([{ kind: "image", alt: "A lake", bytes: PHOTO.length }]);
    const shown = await fetch(at.sandbox.url + (post?.media[0]?.path ?? ""));
    expect(Buffer.from(await shown.arrayBuffer()).equals(PHOTO)).toBe(true);
  });

  test("a file that was never uploaded, or was collected, is BlobNotFound", async () => {
    const { blob } = (await upload()).json;
    at.sandbox.networks.bluesky.collectTemporaryBlobs();
    expect(await put(images(blob))).toMatchObject({ status: 400, json: { error: "BlobNotFound" } });
    await upload();
    expect((await put(images(blob))).status).toBe(200);
    at.sandbox.networks.bluesky.collectTemporaryBlobs();
    expect((await put(images(blob), { rkey: OTHER_RKEY })).status).toBe(200);
  });

  test.each([
    ["type", { mimeType: "image/png" }, "InvalidMimeType"],
    ["size", { size: 1 }, "InvalidSize"],
  ])("a reference with another %s is refused", async (_name, change, error) => {
    const { blob } = (await upload()).json;
    expect(await put(images({ ...(blob as object), ...change }))).toMatchObject({
      status: 400,
      json: { error },
    });
  });

  test("more than 5 MiB is PayloadTooLarge", async () => {
    expect(await upload(new Uint8Array(5 * 1024 * 1024 + 1))).toMatchObject({
      status: 413,
      json: { error: "PayloadTooLarge" },
    });
    expect((await upload(new Uint8Array(5 * 1024 * 1024))).status).toBe(200);
  });
});

test("the app view knows a post and its author without a token", async () => {
  const { uri } = (await put(POST)).json;
  const path = `app.bsky.feed.getPosts?uris=${encodeURIComponent(String(uri))}`;
  const reply = await xrpc(path, {}, "public.api.bsky.app");
  expect(reply.json["posts"]).toMatchObject([
    { uri, record: POST, author: { handle: "demo.bsky.social" } },
  ]);
});

test("a method that the network does not have is told apart from a failure", async () => {
  expect(await xrpc("com.example.nothing")).toMatchObject({
    status: 501,
    json: { error: "MethodNotImplemented" },
  });
});
