import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { DEMO_PAGE } from "../../sandbox/facebook/state.ts";
import { DEMO_ACCOUNT } from "../../sandbox/instagram/state.ts";
import { DEMO_MEMBER } from "../../sandbox/linkedin/state.ts";
import { countedLength, countedText } from "../../sandbox/mastodon/counted-length.ts";
import type { Site } from "../../sandbox/network.ts";
import { route } from "../../sandbox/network.ts";
import { useSandbox } from "./client.ts";
import type { CallOptions, Reply } from "./client.ts";
import {
  LINKEDIN_HEADERS,
  blueskySession,
  instagramToken,
  linkedInToken,
  pageToken,
} from "./linked.ts";
import { gifOf, jpegOf, mp4Of, pngOf } from "./made-files.ts";

// The numbers are those of the networks' documents and sources, and on purpose none is imported.

const HOST = "made.sandbox.test";
const files = new Map<string, Buffer>();

/** Serves a file under an address that the networks fetch. */
function served(bytes: Buffer): string {
  const name = `file-${files.size}`;
  files.set(name, bytes);
  return `https://${HOST}/${name}`;
}

const site: Site = {
  name: "made",
  hosts: [HOST],
  routes: [
    route("GET /{name}", "made", ({ params }) => ({
      status: 200,
      body: files.get(params["name"] ?? "") ?? "",
    })),
  ],
  notFound: () => ({ status: 404 }),
};
const at = useSandbox({ sites: [site] });
const call = (...args: Parameters<typeof at.call>): Promise<Reply> => at.call(...args);

beforeEach(() => files.clear());

/** An é with accents: one character of an even number of bytes. */
const accented = (bytes: number): string => `é${"\u0301".repeat(bytes / 2 - 1)}`;

describe("Bluesky, by lexicons/app/bsky of bluesky-social/atproto", () => {
  const PDS = "pds.sandbox.test";
  let session: { did: string; token: string };

  beforeEach(async () => {
    session = await blueskySession(call);
  });

  const put = (fields: Readonly<Record<string, unknown>>) => {
    const $type = "app.bsky.feed.post";
    const record = { $type, text: "", createdAt: "2026-11-20T09:00:00Z", ...fields };
    const json = { repo: session.did, collection: $type, rkey: "3mbd3542k2222", record };
    return call(PDS, "/xrpc/com.atproto.repo.putRecord", { token: session.token, json });
  };

  async function blobOf(size: number, type: string): Promise<unknown> {
    const body = new Uint8Array(Buffer.alloc(size, "x"));
    const headers = { "content-type": type };
    const path = "/xrpc/com.atproto.repo.uploadBlob";
    return (await call(PDS, path, { token: session.token, body, headers })).json["blob"];
  }

  const facet = (byteStart: number, byteEnd: number) => ({
    index: { byteStart, byteEnd },
    features: [{ $type: "app.bsky.richtext.facet#link", uri: "https://example.com" }],
  });

  test.each([
    ["300 graphemes", { text: "👩🏽".repeat(300) }, { text: "👩🏽".repeat(301) }],
    [
      "3,000 bytes",
      { text: accented(10).repeat(300) },
      { text: accented(10).repeat(299) + accented(12) },
    ],
    ["3 languages", { langs: ["a", "b", "c"] }, { langs: ["a", "b", "c", "d"] }],
    ["tags of 64 graphemes", { tags: ["👩🏽".repeat(64)] }, { tags: ["a".repeat(65)] }],
    [
      "facets in the text's bytes",
      { text: "é a", facets: [facet(0, 2), facet(3, 4)] },
      { text: "é a", facets: [facet(3, 5)] },
    ],
    [
      "facets of whole characters",
      { text: "aé", facets: [facet(1, 3)] },
      { text: "aé", facets: [facet(0, 2)] },
    ],
  ])("takes %s and no more", async (_limit, taken, refused) => {
    expect((await put(refused)).status).toBe(400);
    expect((await put(taken)).status).toBe(200);
  });

  test.each([
    ["app.bsky.embed.images", "images", 4, 2_000_000],
    ["app.bsky.embed.gallery", "items", 20, 2_000_000],
  ])("takes %s of %s up to %d, of %d bytes each", async ($type, list, count, bytes) => {
    const item = (image: unknown) => ({
      ...(list === "items" ? { $type: `${$type}#image` } : {}),
      image,
      alt: "",
      aspectRatio: { width: 1, height: 1 },
    });
    const embed = (images: readonly unknown[]) => put({ embed: { $type, [list]: images } });
    const largest = item(await blobOf(bytes, "image/jpeg"));
    expect((await embed(Array.from({ length: count + 1 }, () => largest))).status).toBe(400);
    expect((await embed([item(await blobOf(bytes + 1, "image/jpeg"))])).status).toBe(400);
    expect((await embed(Array.from({ length: count }, () => largest))).status).toBe(200);
  });

  test("takes descriptions of videos of 1,000 graphemes", async () => {
    const video = await blobOf(100, "video/mp4");
    const embed = (alt: string) => put({ embed: { $type: "app.bsky.embed.video", video, alt } });
    expect((await embed("é".repeat(1001))).status).toBe(400);
    expect((await embed("é".repeat(1000))).status).toBe(200);
  });
});

describe("Mastodon, by its own source", () => {
  const INSTANCE = "mastodon.sandbox.test";
  const token = () =>
    at.sandbox.networks.mastodon.issueToken({ host: INSTANCE, username: "demo" }).accessToken;
  const post = (json: unknown) => call(INSTANCE, "/api/v1/statuses", { token: token(), json });
  const upload = (file: Buffer, type: string, description = "") => {
    const body = new FormData();
    body.set("file", new File([new Uint8Array(file)], "a", { type }));
    body.set("description", description);
    return call(INSTANCE, "/api/v2/media", { token: token(), body });
  };

  test("counts 1,162 texts as the server's own code does", () => {
    const path = new URL("../networks/mastodon-counts.jsonl", import.meta.url);
    const counted = readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as [text: string, length: number, counted: string]);
    expect(counted.length).toBeGreaterThan(1000);
    const others = counted.filter(
      ([text, length, as]) => countedText(text) !== as || countedLength(text, "") !== length,
    );
    expect(others).toEqual([]);
  });

  const url = `https://example.com/${"a".repeat(100)}`;

  test.each([
    ["500 characters", { status: "é".repeat(500) }, { status: "é".repeat(501) }],
    [
      "23 for an address",
      { status: `${url} ${"a".repeat(476)}` },
      { status: `${url} ${"a".repeat(477)}` },
    ],
    [
      "a mention without its host",
      { status: `@a@example.com ${"a".repeat(497)}` },
      { status: `@a@example.com ${"a".repeat(498)}` },
    ],
    [
      "the whole of an address in a warning",
      { spoiler_text: url, status: "a".repeat(380) },
      { spoiler_text: url, status: "a".repeat(381) },
    ],
  ])("counts %s", async (_limit, taken, refused) => {
    expect((await post(refused)).status).toBe(422);
    expect((await post(taken)).status).toBe(200);
  });

  test.each([
    ["image/png", pngOf(7680, 4320), pngOf(7681, 4320), "7681x4320 images are not supported"],
    ["image/gif", gifOf(1280, 720), gifOf(1281, 720), "1281x720 GIF files are not supported"],
    [
      "video/mp4",
      mp4Of({ width: 3840, height: 2160 }),
      mp4Of({ width: 3841, height: 2160 }),
      "3841x2160 videos are not supported",
    ],
    [
      "image/jpeg",
      jpegOf(10, 10, 16_777_216),
      jpegOf(10, 10, 16_777_217),
      "Validation failed: File must be less than 16 MB",
    ],
  ])("takes %s up to its limit", async (type, taken, refused, error) => {
    const reply = await upload(refused, type);
    expect([reply.status, reply.json["error"]]).toEqual([422, error]);
    expect((await upload(taken, type)).status).toBeLessThan(300);
  });

  test("takes four files, and descriptions of 1,500 code points", async () => {
    const photo = jpegOf(10, 10);
    expect((await upload(photo, "image/jpeg", "é".repeat(1501))).status).toBe(422);
    const ids: unknown[] = [];
    for (let index = 0; index < 5; index += 1)
      ids.push((await upload(photo, "image/jpeg", "🙂".repeat(1500))).json["id"]);
    expect((await post({ media_ids: ids })).status).toBe(422);
    expect((await post({ media_ids: ids.slice(1) })).status).toBe(200);
  });
});

describe("Instagram, by its reference of ig-user/media", () => {
  let token: string;
  const create = (form: Record<string, string>) =>
    call("graph.instagram.com", `/v26.0/${DEMO_ACCOUNT}/media`, { token, form });
  const status = async (id: unknown): Promise<unknown> => {
    const path = `/v26.0/${String(id)}?fields=status_code`;
    for (;;) {
      const { json } = await call("graph.instagram.com", path, { token });
      if (json["status_code"] !== "IN_PROGRESS") return json["status_code"];
    }
  };
  const image = (size?: number) => served(jpegOf(1080, 1080, size));

  beforeEach(async () => {
    token = await instagramToken(call);
  });

  test.each([
    ["2,200 characters", "a".repeat(2200), "a".repeat(2201)],
    ["30 hashtags", "#á1 ".repeat(30), "#á1 ".repeat(31)],
    ["20 mentions", "@a.b_c ".repeat(20), "@a.b_c ".repeat(21)],
  ])("takes captions of %s", async (_limit, taken, refused) => {
    expect((await create({ image_url: image(), caption: refused })).status).toBe(400);
    expect((await create({ image_url: image(), caption: taken })).status).toBe(200);
  });

  test("counts no sign within a word as a hashtag or a mention", async () => {
    const caption = "a#b c@d.e ".repeat(31);
    expect((await create({ image_url: image(), caption })).status).toBe(200);
  });

  test.each([
    ["4:5", jpegOf(1080, 1350), jpegOf(1080, 1353), 2_207_009],
    ["1.91:1", jpegOf(1910, 1000), jpegOf(1913, 1000), 2_207_009],
    ["8 MiB", jpegOf(1080, 1080, 8_388_608), jpegOf(1080, 1080, 8_388_609), 2_207_004],
    ["JPEG", jpegOf(1080, 1080), pngOf(1080, 1080), 2_207_005],
  ])("takes images up to %s", async (_limit, taken, refused, error_subcode) => {
    const reply = await create({ image_url: served(refused) });
    expect(reply.json).toMatchObject({ error: { error_subcode } });
    expect((await create({ image_url: served(taken) })).status).toBe(200);
  });

  test.each([
    ["REELS", "3 seconds", { seconds: 3 }, { seconds: 2.9 }],
    ["REELS", "15 minutes", { seconds: 900 }, { seconds: 901 }],
    ["STORIES", "60 seconds", { seconds: 60 }, { seconds: 61 }],
    ["REELS", "60 pictures a second", { framesPerSecond: 60 }, { framesPerSecond: 70 }],
    ["REELS", "1,920 columns", { width: 1920 }, { width: 1921 }],
    ["REELS", "25 megabits a second", { bitsPerSecond: 25_000_000 }, { bitsPerSecond: 25_100_000 }],
    ["REELS", "HEVC", { codec: "hvc1" }, { codec: "vp09" }],
  ])("takes %s of %s", async (media_type, _limit, taken, refused) => {
    const made = async (video: object) =>
      await status((await create({ media_type, video_url: served(mp4Of(video)) })).json["id"]);
    expect([await made(taken), await made(refused)]).toEqual(["FINISHED", "ERROR"]);
  });

  test("takes 400 containers within a day", async () => {
    const image_url = image();
    for (let index = 0; index < 400; index += 20) {
      const replies = await Promise.all(Array.from({ length: 20 }, () => create({ image_url })));
      expect(replies.map(({ status: code }) => code)).toEqual(replies.map(() => 200));
    }
    expect((await create({ image_url })).json).toMatchObject({
      error: { error_subcode: 2_207_042 },
    });
  });

  test("takes carousels of 2 to 10, descriptions of 1,000 and three collaborators", async () => {
    const ids: string[] = [];
    for (let index = 0; index < 11; index += 1) {
      const item = await create({ image_url: image(), is_carousel_item: "true" });
      ids.push(String(item.json["id"]));
    }
    const carousel = async (count: number): Promise<number> => {
      const children = ids.slice(0, count).join(",");
      return (await create({ media_type: "CAROUSEL", children })).status;
    };
    const counts = [await carousel(1), await carousel(11), await carousel(2), await carousel(10)];
    expect(counts).toEqual([400, 400, 200, 200]);
    const described = (alt_text: string) => create({ image_url: image(), alt_text });
    expect((await described("a".repeat(1001))).status).toBe(400);
    expect((await described("a".repeat(1000))).status).toBe(200);
    const withOthers = (collaborators: string) => create({ image_url: image(), collaborators });
    expect((await withOthers("a,b,c,d")).status).toBe(400);
    expect((await withOthers("a,b,c")).status).toBe(200);
  });
});

describe("Facebook, by its guides to photos, reels and stories", () => {
  let token: string;
  const page = (path: string, json: unknown) =>
    call("graph.facebook.com", `/v26.0/${DEMO_PAGE}/${path}`, { token, json });

  beforeEach(async () => {
    token = await pageToken(call);
  });

  test("takes texts of 63,206 characters", async () => {
    expect((await page("feed", { message: "a".repeat(63_207) })).status).toBe(400);
    expect((await page("feed", { message: "a".repeat(63_206) })).status).toBe(200);
  });

  test("takes photos of 10 MB", async () => {
    const photo = (size: number) =>
      page("photos", { url: served(jpegOf(10, 10, size)), published: false });
    const reply = await photo(10_000_001);
    expect(reply.json).toMatchObject({ error: { error_subcode: 1_366_046 } });
    expect((await photo(10_000_000)).status).toBe(200);
  });

  test.each([
    ["video_reels", "3 seconds", [{ seconds: 3 }, { seconds: 2.9 }], 1_363_128],
    ["video_reels", "90 seconds", [{ seconds: 90 }, { seconds: 91 }], 1_363_128],
    ["video_stories", "60 seconds", [{ seconds: 60 }, { seconds: 61 }], 1_363_128],
    ["video_reels", "9:16", [{ width: 720 }, { width: 800 }], 1_363_040],
    [
      "video_reels",
      "540 × 960 pixels",
      [
        { width: 540, height: 960 },
        { width: 539, height: 958 },
      ],
      1_363_127,
    ],
    ["video_reels", "24 pictures", [{ framesPerSecond: 24 }, { framesPerSecond: 20 }], 1_363_129],
    ["video_reels", "60 pictures", [{ framesPerSecond: 60 }, { framesPerSecond: 70 }], 1_363_129],
  ] as const)("takes %s of %s", async (edge, _limit, [taken, refused], error_subcode) => {
    const publish = async (video: object): Promise<Reply> => {
      const { video_id } = (await page(edge, { upload_phase: "start" })).json;
      const id = String(video_id);
      const headers = { authorization: `OAuth ${token}`, file_url: served(mp4Of(video)) };
      const options: CallOptions = { method: "POST", headers };
      await call("rupload.facebook.com", `/video-upload/v26.0/${id}`, options);
      await call("graph.facebook.com", `/v26.0/${id}?fields=status`, { token });
      const finish = { upload_phase: "finish", video_id: id, video_state: "PUBLISHED" };
      return await page(edge, finish);
    };
    expect((await publish(refused)).json).toMatchObject({ error: { error_subcode } });
    expect((await publish(taken)).json).toMatchObject({ success: true });
  });
});

describe("LinkedIn, by its pages on posts, images and videos", () => {
  const owner = `urn:li:person:${DEMO_MEMBER}`;
  let token: string;
  const rest = (path: string, json: unknown) =>
    call("api.linkedin.com", `/rest${path}`, { token, headers: LINKEDIN_HEADERS, json });
  const post = (commentary: string, content?: unknown) =>
    rest("/posts", {
      author: owner,
      commentary,
      visibility: "PUBLIC",
      distribution: { feedDistribution: "MAIN_FEED" },
      lifecycleState: "PUBLISHED",
      ...(content === undefined ? {} : { content }),
    });

  beforeEach(async () => {
    token = await linkedInToken(call);
  });

  async function uploaded(file: Buffer): Promise<string> {
    const initializeUploadRequest = { owner };
    const started = await rest("/images?action=initializeUpload", { initializeUploadRequest });
    const { image, uploadUrl } = started.json["value"] as { image: string; uploadUrl: string };
    const { host, pathname, search } = new URL(uploadUrl);
    await call(host, pathname + search, { method: "PUT", token, body: new Uint8Array(file) });
    return image;
  }

  test("takes documents of 300 pages", async () => {
    const show = async (pages: number): Promise<unknown> => {
      const initializeUploadRequest = { owner };
      const started = await rest("/documents?action=initializeUpload", { initializeUploadRequest });
      const { document: id, uploadUrl } = started.json["value"] as Record<string, string>;
      const { host, pathname, search } = new URL(uploadUrl ?? "");
      const body = Buffer.from(
        `%PDF-1.4\n<< /Type /Pages >>${"<< /Type /Page >>\n".repeat(pages)}`,
      );
      await call(host, pathname + search, { method: "PUT", token, body: new Uint8Array(body) });
      return (await post("Hello", { media: { id, title: "Pages" } })).json["code"];
    };
    expect(await show(301)).toBe("MEDIA_ASSET_PROCESSING_FAILED");
    expect(await show(300)).toBeUndefined();
  });

  test("takes 3,000 characters, of which escapes are none", async () => {
    const escaped = String.raw`\(`;
    expect((await post(escaped.repeat(3001))).status).toBe(400);
    expect((await post(escaped.repeat(3000))).status).toBe(201);
  });

  test.each([
    ["fewer than 36,152,320 pixels", pngOf(36_152_319, 1), pngOf(36_152_320, 1)],
    ["GIFs of 250 frames", gifOf(10, 10, 250), gifOf(10, 10, 251)],
    ["JPEG, PNG and GIF", jpegOf(10, 10), Buffer.from("BM".padEnd(40, "\u0001"))],
  ])("takes images of %s", async (_limit, taken, refused) => {
    const show = async (file: Buffer): Promise<unknown> =>
      (await post("Hello", { media: { id: await uploaded(file) } })).json["code"];
    expect(await show(refused)).toBe("MEDIA_ASSET_PROCESSING_FAILED");
    expect(await show(taken)).toBeUndefined();
  });

  test("takes 2 to 20 images, with descriptions of 4,086 characters", async () => {
    const id = await uploaded(jpegOf(10, 10));
    const several = (count: number) =>
      post(`${count}`, { multiImage: { images: Array.from({ length: count }, () => ({ id })) } });
    const statuses: number[] = [];
    for (const count of [1, 21, 2, 20]) statuses.push((await several(count)).status);
    expect(statuses).toEqual([400, 400, 201, 201]);
    const described = (altText: string) => post("Alt", { media: { id, altText } });
    expect((await described("a".repeat(4087))).status).toBe(400);
    expect((await described("a".repeat(4086))).status).toBe(201);
  });

  test.each([
    ["75 KB", { size: 75_000 }, { size: 74_999 }],
    ["3 seconds", { seconds: 3 }, { seconds: 2.9 }],
    ["30 minutes", { seconds: 1800 }, { seconds: 1801 }],
    ["MP4", { brand: "mp42" }, { brand: "qt" }],
  ])("takes videos of %s", async (_limit, taken, refused) => {
    const show = async (video: object): Promise<string | undefined> => {
      const file = mp4Of(video);
      const request = { owner, fileSizeBytes: file.length };
      const started = await rest("/videos?action=initializeUpload", {
        initializeUploadRequest: request,
      });
      const value = started.json["value"] as {
        video: string;
        uploadToken: string;
        uploadInstructions: { uploadUrl: string }[];
      };
      const { host, pathname, search } = new URL(value.uploadInstructions[0]?.uploadUrl ?? "");
      const { headers } = await call(host, pathname + search, {
        method: "PUT",
        body: new Uint8Array(file),
        headers: { "content-type": "application/octet-stream" },
      });
      const { video: urn, uploadToken } = value;
      const uploadedPartIds = [headers.get("etag")];
      await rest("/videos?action=finalizeUpload", {
        finalizeUploadRequest: { video: urn, uploadToken, uploadedPartIds },
      });
      let reply = await post("Hello", { media: { id: urn, title: "A" } });
      while (reply.json["code"] === "MEDIA_ASSET_WAITING_UPLOAD")
        reply = await post("Hello", { media: { id: urn, title: "A" } });
      return reply.json["code"] as string | undefined;
    };
    expect(await show(refused)).toBe("MEDIA_ASSET_PROCESSING_FAILED");
    expect(await show(taken)).toBeUndefined();
  });
});
