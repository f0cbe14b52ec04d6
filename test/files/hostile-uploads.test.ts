import { readFileSync } from "node:fs";
import sharp from "sharp";
import { newId } from "../../src/shared/runtime/ids.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { aProfile, anApplication, dataOf, outcomeOf } from "../setup/factories.ts";
import { aPublisher, type Publisher, publisherOf, unique } from "../setup/publisher.ts";
import { announce, aPicture, send, tryUpload, upload } from "../setup/uploads.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay({ settings: { PUBLIC_BASE_URL: "https://relay.example.com/api" } });
let publisher: Publisher;
let picture: Buffer;
beforeAll(async () => {
  publisher = await aPublisher(relay, []);
  picture = await aPicture();
});

const HOUR_MS = 3_600_000;
const written = (name: string) => readFileSync(`test/media/written/${name}`);
const blobOf = (id: string) => {
  const { blobs, blobFolder } = relay.services.publishing.files.stores;
  return blobs.find(`${blobFolder(publisher.owner.platformId)}${id}`);
};
const complete = (id: string) => publisher.call("POST", `/v1/media/${id}/complete`);
const SVG =
  '<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>';
const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/** A box of an MP4 that claims to have this length. */
function box(type: string, content: Buffer, length = content.length + 8): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(length);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, content]);
}
const FILM_HEAD = box("ftyp", Buffer.from("isom\0\0\0\0isommp42", "latin1"));

test.each<[what: string, contentType: string, reason: string, bytes: () => Buffer]>([
  ["a picture", "video/mp4", "type", () => picture],
  ["a picture of another type", "image/png", "type", () => picture],
  ["an SVG with a DOCTYPE", "image/png", "type", () => Buffer.from(SVG)],
  ["a program", "image/jpeg", "type", () => Buffer.from("MZ\x90\0".padEnd(200), "latin1")],
  [
    "a page before a picture",
    "image/jpeg",
    "type",
    () => Buffer.concat([Buffer.from(SVG), picture]),
  ],
  ["a HEIC", "image/jpeg", "type", () => written("libheif.heic")],
  ["sound in a film's container", "video/mp4", "type", () => written("ffmpeg.m4a")],
  ["slides", DOCX, "type", () => written("pandoc.pptx")],
  ["a ZIP without a document", DOCX, "type", () => Buffer.from("PK\x03\x04 a.html", "latin1")],
  [
    "a script that begins as a GIF",
    "image/gif",
    "damaged",
    () => Buffer.from("GIF89a=1;/*".padEnd(99)),
  ],
  [
    "a film without an index",
    "video/mp4",
    "damaged",
    () => Buffer.concat([FILM_HEAD, box("mdat", Buffer.alloc(999))]),
  ],
  [
    "a film whose index claims to be 4 GB",
    "video/mp4",
    "damaged",
    () => Buffer.concat([FILM_HEAD, box("moov", Buffer.alloc(999), 0xffff_fff0)]),
  ],
])("%s announced as %s is refused for its %s", async (_what, contentType, reason, bytes) => {
  const answer = await tryUpload(publisher, bytes(), { contentType });
  expect(outcomeOf(answer)).toBe("422 media_rejected");
  expect(answer.body.error.details.reason).toBe(reason);
});

describe("headers of the uploader", () => {
  const put = async (headers: Record<string, string>) => {
    const file = dataOf(await announce(publisher, picture.length));
    const sent = await send(
      { upload: { ...file.upload, headers: { ...file.upload.headers, ...headers } } },
      picture,
    );
    expect(sent.status).toBe(201);
    return file.id as string;
  };

  test.each([
    ["x-ms-access-tier", "Archive"],
    ["x-ms-blob-content-encoding", "gzip"],
  ])("%s: %s, with which nobody could read it, refuse the file", async (name, value) => {
    const id = await put({ [name]: value });
    const answer = await complete(id);
    expect(outcomeOf(answer)).toBe("422 media_rejected");
    expect(answer.body.error.details.reason).toBe("damaged");
    expect(await blobOf(id)).toBeUndefined();
  });

  test("don't change what the address of its content answers", async () => {
    const id = await put({
      "x-ms-blob-content-type": "text/html",
      "x-ms-blob-content-disposition": "inline",
      "x-ms-blob-cache-control": "public, max-age=31536000",
      "x-ms-meta-owner": "another",
    });
    dataOf(await complete(id));
    const content = await publisher.call("GET", `/v1/media/${id}/content`);
    const { headers } = await fetch(content.headers.get("location") ?? "");
    expect(headers.get("content-type")).toBe("image/jpeg");
    expect(headers.get("content-disposition")).toMatch(/^attachment; /);
    expect(headers.get("cache-control")).toBe("private, max-age=300");
  });
});

describe("bytes that come after the file", () => {
  test("was deleted or refused are removed with the next walk, since they count for nobody", async () => {
    const deleted = dataOf(await announce(publisher, picture.length));
    expect((await publisher.call("DELETE", `/v1/media/${deleted.id}`)).status).toBe(204);
    const refused = dataOf(await announce(publisher, picture.length + 1));
    expect((await send(refused, picture)).status).toBe(201);
    expect(outcomeOf(await complete(refused.id))).toBe("422 media_rejected");
    for (const file of [deleted, refused]) {
      expect((await send(file, picture)).status).toBe(201);
      expect(await blobOf(file.id)).toBeDefined();
    }
    const kept = await upload(publisher, picture);
    relay.advance(4 * HOUR_MS + 6 * 60_000);
    await relay.runTimer("expire-files");
    for (const file of [deleted, refused]) expect(await blobOf(file.id)).toBeUndefined();
    expect(await blobOf(kept.id)).toBeDefined();
    expect(outcomeOf(await complete(refused.id))).toBe("422 media_rejected");
  });
});

describe("a file of somebody else", () => {
  test("is not found by another profile, application or platform, whatever is asked", async () => {
    const { id, url } = await upload(publisher, picture);
    const { application } = publisher;
    const sibling = publisherOf(relay, application, (await aProfile(relay, application)).id);
    const cousinOf = await anApplication(relay, application.platform);
    const cousin = publisherOf(relay, cousinOf, (await aProfile(relay, cousinOf)).id);
    for (const other of [sibling, cousin, await aPublisher(relay, [])]) {
      const asked = [
        ["GET", `/v1/media/${id}`],
        ["GET", `/v1/media/${id}/content`],
        ["POST", `/v1/media/${id}/complete`],
        ["DELETE", `/v1/media/${id}`],
      ] as const;
      for (const [method, path] of asked)
        expect([method, path, outcomeOf(await other.call(method, path))]).toEqual([
          method,
          path,
          "404 not_found",
        ]);
      const draft = {
        text: unique("another's file"),
        platforms: ["bluesky", "mastodon"],
        mediaUrls: [url],
        platformOptions: { mastodon: { mediaUrls: [url, url] } },
      };
      const { platforms } = dataOf(await other.call("POST", "/v1/posts/validate", { body: draft }));
      for (const network of ["bluesky", "mastodon"])
        expect(platforms[network].errors).toContainEqual(
          expect.objectContaining({ rule: `${network}.file.unusable`, code: "media_unreachable" }),
        );
    }
    expect(outcomeOf(await publisher.call("GET", `/v1/media/${id}`))).toBe("200");
  });

  test.each<[string, (url: string, id: string) => string]>([
    ["another case", (url, id) => url.replace(id, id.toUpperCase())],
    ["an escape in its id", (url) => url.replace("med_", "%6ded_")],
    ["an escaped slash", (url) => url.replace(/\/content$/, "%2Fcontent")],
    ["an escape in its path", (url) => url.replace("/v1/", "/%761/")],
    ["a path in capitals", (url) => url.replace("/v1/media/", "/V1/Media/")],
    ["two slashes", (url) => url.replace("/v1/", "//v1/")],
    ["a slash at its end", (url) => `${url}/`],
    ["a query", (url) => `${url}?download=1`],
    ["a fragment", (url) => `${url}#x`],
    ["no end", (url) => url.replace(/\/content$/, "")],
    ["another end", (url) => url.replace(/content$/, "complete")],
    ["steps back", (url) => `${url}/..`],
  ])("an address with %s is none of a file, and is not fetched", async (_what, change) => {
    const { id, url } = await upload(publisher, picture);
    const body = { text: "x", platforms: ["mastodon"], mediaUrls: [change(url, id)] };
    const answer = await publisher.call("POST", "/v1/posts/validate?media=true", { body });
    expect(outcomeOf(answer)).toBe("400 validation_failed");
    const codes = answer.body.error.details.issues.map(({ code }: { code: string }) => code);
    expect(codes).toEqual(["refused_url"]);
  });
});

test("a post names at most 50 different files, wherever it names them, and one of them any number of times", async () => {
  const urlOf = (id: string) => `https://relay.example.com/api/v1/media/${id}/content`;
  const platforms = ["facebook", "instagram", "linkedin", "bluesky", "mastodon"];
  const naming = (idOf: (index: number) => string) => {
    const options = platforms.map((network, at) => [
      network,
      { mediaUrls: Array.from({ length: 10 }, (_, index) => urlOf(idOf(at * 10 + index))) },
    ]);
    const body = { text: "x", platforms, mediaUrls: [urlOf(idOf(50))] };
    return { ...body, platformOptions: Object.fromEntries(options) as object };
  };
  const now = relay.clock.now();
  const ids = Array.from({ length: 51 }, () => newId("file", now));
  const many = await publisher.call("POST", "/v1/posts/validate", {
    body: naming((index) => ids[index] ?? ""),
  });
  expect(many.body.error.details.issues).toMatchObject([
    { path: "mediaUrls", code: "too_big", message: expect.stringContaining("50 different files") },
  ]);
  const one = await publisher.call("POST", "/v1/posts/validate", {
    body: naming(() => ids[0] ?? ""),
  });
  expect(outcomeOf(one)).toBe("200");
});

test("a preview is an image and nothing else, for its very address, until the file is deleted", async () => {
  const html = Buffer.from("<!doctype html><script>1</script>");
  const png = await sharp(picture).png().toBuffer();
  const file = await upload(publisher, Buffer.concat([png, html]), { contentType: "image/png" });
  const path = new URL(file.previewUrl).pathname.slice("/api".length);
  const shown = await relay.call("GET", path);
  expect(Object.fromEntries(shown.headers)).toMatchObject({
    "content-type": "image/jpeg",
    "content-disposition": "attachment",
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "private, max-age=300",
  });
  expect(Buffer.from(shown.body).includes("<script>")).toBe(false);
  const last = path.at(-1) === "A" ? "B" : "A";
  for (const other of [`${path}=`, `${path}.html`, `${path}.AAAA`, `${path.slice(0, -1)}${last}`])
    expect(outcomeOf(await relay.call("GET", other))).toBe("404 not_found");
  expect((await publisher.call("DELETE", `/v1/media/${file.id}`)).status).toBe(204);
  expect(outcomeOf(await relay.call("GET", path))).toBe("404 not_found");
});

describe("an announcement", () => {
  test.each(["..", "a/b", "a\\b", "a\u202egpj.exe", "\u2066a\u2069", "a\r\nb", "\ud800"])(
    "of a file called %j is refused",
    async (filename) => {
      const answer = await announce(publisher, 1, { filename });
      expect(answer.body.error.details.issues).toMatchObject([{ path: "filename" }]);
    },
  );

  test("names all of its problems in one answer, also the operator's limit", async () => {
    const body = { contentType: "image/jpg", bytes: 2 ** 31, filename: "../a", filname: "b" };
    const answer = await publisher.call("POST", "/v1/media", { body });
    const paths = answer.body.error.details.issues.map(({ path }: { path: string }) => path);
    expect(paths.toSorted()).toEqual(["bytes", "contentType", "filename", "filname"]);
  });

  test.each([0, -1, 1.5, "5", null, 5_242_880_001, 2 ** 53])(
    "of %j bytes is refused, with what is allowed",
    async (bytes) => {
      const answer = await publisher.call("POST", "/v1/media", {
        body: { contentType: "image/png", bytes },
      });
      expect(answer.body.error.details.issues).toMatchObject([
        { path: "bytes", message: expect.stringContaining("1") },
      ]);
    },
  );
});
