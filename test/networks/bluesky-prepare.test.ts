import { describe, expect, test } from "vitest";
import { bluesky } from "../../src/shared/networks/bluesky/index.ts";
import { MediaFailure } from "../../src/shared/networks/contract/media.ts";
import { type HttpRequest, HttpFailure } from "../../src/shared/runtime/http-call.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import type { LegToPublish } from "../../src/shared/networks/contract/visible-call.ts";
import {
  type Script,
  NOW,
  answer,
  htmlPage,
  image,
  lost,
  refusedToConnect,
  scriptedTools,
  sentSize,
} from "./scripted-tools.ts";
import { DID, PDS, PLC, UPLOAD, documentAt, leg, rkey, xrpc } from "./bluesky-script.ts";

const RESOLVE = xrpc("GET", "com.atproto.identity.resolveHandle");

function blobOf(request: HttpRequest) {
  const mimeType = request.headers?.["content-type"] ?? "";
  const size = sentSize(request);
  return answer(200, { blob: { $type: "blob", ref: { $link: `bafk${size}` }, mimeType, size } });
}

async function preparedRecord(draft: Partial<LegDraft>, script: Script = {}) {
  const outcome = await bluesky.calls.publish.prepare(leg(draft), scriptedTools(script));
  if (outcome.kind !== "ready") throw new Error(`not ready: ${JSON.stringify(outcome)}`);
  return outcome.remote["record"] as Record<string, unknown>;
}

describe("preparing a Bluesky post", () => {
  test("settles the whole record, and never again", async () => {
    const tools = scriptedTools({
      http: {
        [RESOLVE]: (request) =>
          request.url.includes("alice.test")
            ? answer(200, { did: DID })
            : answer(400, { error: "InvalidRequest", message: "Unable to resolve handle" }),
        "GET https://nobody.test/.well-known/atproto-did": lost,
      },
    });
    const options = { langs: ["en"], labels: ["nudity"], linkCard: false };
    const draft = { text: "Hi @alice.test @nobody.test", options };
    const outcome = await bluesky.calls.publish.prepare(leg(draft), tools);
    expect(outcome).toMatchObject({
      kind: "ready",
      remote: {
        rkey,
        record: {
          $type: "app.bsky.feed.post",
          text: "Hi @alice.test @nobody.test",
          createdAt: NOW.toISOString(),
          langs: ["en"],
          labels: { $type: "com.atproto.label.defs#selfLabels", values: [{ val: "nudity" }] },
          facets: [{ index: { byteStart: 3, byteEnd: 14 } }],
        },
      },
    });
    if (outcome.kind !== "ready") return;
    const again = scriptedTools();
    expect(
      await bluesky.calls.publish.prepare(leg(draft, { remote: outcome.remote }), again),
    ).toEqual({ kind: "ready", remote: outcome.remote });
    expect(again.calls).toEqual([]);
  });

  test("takes a new key and the time of each attempt, until one may have published it", async () => {
    const first = await bluesky.calls.publish.prepare(leg(), scriptedTools());
    if (first.kind !== "ready") throw new Error("not ready");
    const later = new Date(NOW.getTime() + 3 * 86_400_000);
    const prepareLater = (overrides: Partial<LegToPublish>) =>
      bluesky.calls.publish.prepare(
        leg({}, { remote: first.remote, ...overrides }),
        scriptedTools({ now: later }),
      );
    const again = await prepareLater({});
    expect(again).toMatchObject({
      kind: "ready",
      remote: {
        createdAt: later.toISOString(),
        record: { text: "Hello", createdAt: later.toISOString() },
      },
    });
    if (again.kind !== "ready") return;
    expect(String(again.remote["rkey"]) > rkey).toBe(true);
    // Text and uploads of a record that was sent before are those of the former attempt.
    const absent = await prepareLater({ sentAt: NOW, isUnpublished: true });
    expect(absent).toEqual(again);
    expect(await prepareLater({ sentAt: NOW, isUnpublished: false })).toEqual(first);
  });

  test("makes images smaller for a server that refused the first ones as too large", async () => {
    const url = "https://files.example/a.jpg";
    const tools = scriptedTools({ http: { [UPLOAD]: blobOf }, media: { [url]: image() } });
    const asked: number[] = [];
    tools.fitImage = (_file, { bytesMax }) => {
      asked.push(bytesMax);
      return Promise.resolve({ ...image(), repairs: [] });
    };
    const draft = { media: [{ url, altText: null }] };
    const { remote } = leg();
    await bluesky.calls.publish.prepare(leg(draft), tools);
    const again = { ...remote, reuploadedAt: NOW.toISOString() };
    await bluesky.calls.publish.prepare(leg(draft, { remote: again }), tools);
    expect(asked).toEqual([2_000_000, 1_000_000]);
  });

  test("leaves a mention plain when the handle can't be resolved in time", async () => {
    const http = { [RESOLVE]: lost, "GET https://alice.test/.well-known/atproto-did": lost };
    const record = await preparedRecord({ text: "@alice.test" }, { http });
    expect(record["facets"]).toBeUndefined();
  });

  test("finds a mentioned handle that only its own domain resolves", async () => {
    const unknown = answer(400, { error: "InvalidRequest", message: "Unable to resolve handle" });
    const own = { "GET https://alice.test/.well-known/atproto-did": answer(200, DID) };
    const record = await preparedRecord(
      { text: "@alice.test" },
      { http: { [RESOLVE]: unknown, ...own } },
    );
    expect(record["facets"]).toMatchObject([{ features: [{ did: DID }] }]);
  });

  const names = (count: number) =>
    Array.from({ length: count }, (_, index) => `https://files.example/${index}.jpg`);
  const withFiles = (urls: readonly string[]): Script => ({
    http: { [UPLOAD]: (request) => blobOf(request) },
    media: Object.fromEntries(urls.map((url) => [url, image()])),
  });

  test.each([
    [1, "app.bsky.embed.images", "images"],
    [4, "app.bsky.embed.images", "images"],
    [5, "app.bsky.embed.gallery", "items"],
    [10, "app.bsky.embed.gallery", "items"],
  ])("shows %s images as %s", async (count, type, field) => {
    const urls = names(count);
    const media = urls.map((url, index) => ({ url, altText: index === 0 ? "A cat" : null }));
    const record = await preparedRecord({ media }, withFiles(urls));
    const embed = record["embed"] as Record<string, unknown>;
    expect(embed["$type"]).toBe(type);
    expect(embed[field]).toHaveLength(count);
    expect((embed[field] as unknown[])[0]).toMatchObject({
      alt: "A cat",
      aspectRatio: { width: 1200, height: 800 },
      image: { $type: "blob", mimeType: "image/jpeg", size: 7 },
    });
  });

  test("sends a video to the account's own server when that vouches for nobody", async () => {
    const url = "https://files.example/clip.mp4";
    const record = await preparedRecord(
      { media: [{ url, altText: "A clip" }] },
      {
        http: {
          [xrpc("GET", "com.atproto.server.getServiceAuth")]: answer(501, {
            error: "MethodNotImplemented",
          }),
          [UPLOAD]: (request) => blobOf(request),
        },
        media: { [url]: image({ contentType: "video/mp4", width: null, height: null }) },
      },
    );
    expect(record["embed"]).toEqual({
      $type: "app.bsky.embed.video",
      video: { $type: "blob", ref: { $link: "bafk7" }, mimeType: "video/mp4", size: 7 },
      alt: "A clip",
    });
  });

  const noService = {
    [xrpc("GET", "com.atproto.server.getServiceAuth")]: answer(501, {
      error: "MethodNotImplemented",
    }),
  };
  const animation = { ...image({ contentType: "image/gif" }), isMoving: true };

  test("shows a moving GIF as its first picture where no video can be made of it, and says so", async () => {
    const url = "https://files.example/a.gif";
    const tools = scriptedTools({
      http: { ...noService, [UPLOAD]: (request) => blobOf(request) },
      media: { [url]: animation },
    });
    let isMovingTaken: boolean | undefined;
    tools.fitImage = (_file, { plays }) => {
      isMovingTaken = plays.length > 0;
      return Promise.resolve({ ...image(), repairs: ["stilled"] });
    };
    const outcome = await bluesky.calls.publish.prepare(
      leg({ media: [{ url, altText: null }] }),
      tools,
    );
    expect(outcome).toMatchObject({
      remote: { record: { embed: { $type: "app.bsky.embed.images" } } },
    });
    expect(isMovingTaken).toBe(false);
  });

  test("refuses a MOV where no video service makes an MP4 of it", async () => {
    const url = "https://files.example/a.mov";
    const outcome = await bluesky.calls.publish.prepare(
      leg({ media: [{ url, altText: null }] }),
      scriptedTools({
        http: noService,
        media: { [url]: image({ contentType: "video/quicktime" }) },
      }),
    );
    expect(outcome).toMatchObject({ kind: "rejected", failure: { rule: "bluesky.media.type" } });
  });

  const big = (bytes: number) => image({ bytes: Buffer.alloc(bytes) });

  test.each([
    ["an image over 2 MB", big(2_000_001), {}, "bluesky.media.size"],
    [
      "an image over the server's own limit",
      big(1001),
      { blobBytesMax: 1000 },
      "bluesky.media.size",
    ],
    ["a PDF", image({ contentType: "application/pdf" }), {}, "bluesky.media.type"],
    ["an AVI video", image({ contentType: "video/x-msvideo" }), {}, "bluesky.media.type"],
  ])("refuses %s by its content", async (_what, file, limits, rule) => {
    const url = "https://files.example/a";
    const outcome = await bluesky.calls.publish.prepare(
      leg({ media: [{ url, altText: null }] }, { limits }),
      scriptedTools({ media: { [url]: file } }),
    );
    expect(outcome).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected", rule, mediaIndex: 0 },
    });
  });

  test("refuses a video among images, whatever their names", async () => {
    const urls = names(2);
    const script = withFiles(urls);
    const outcome = await bluesky.calls.publish.prepare(
      leg({ media: urls.map((url) => ({ url, altText: null })) }),
      scriptedTools({
        ...script,
        media: { ...script.media, [urls[1] ?? ""]: image({ contentType: "video/mp4" }) },
      }),
    );
    expect(outcome).toMatchObject({ kind: "rejected", failure: { rule: "bluesky.media.mixed" } });
  });

  test.each([
    [answer(413, { error: "PayloadTooLarge" }), "rejected", "media_rejected"],
    [answer(401, { error: "AccountTakedown" }), "rejected", "account_restricted"],
    [answer(400, { error: "ExpiredToken" }), "try_later", "network_unavailable"],
    [answer(429, { error: "RateLimitExceeded" }), "try_later", "rate_limited"],
    [answer(500, { error: "InternalServerError" }), "try_later", "network_unavailable"],
    [htmlPage(502), "try_later", "network_unavailable"],
    [answer(200, "no blob"), "try_later", "network_unavailable"],
    [lost, "try_later", "network_unavailable"],
    [refusedToConnect, "try_later", "network_unavailable"],
  ])("publishes nothing when an upload fails (%#)", async (reply, kind, code) => {
    const [url = ""] = names(1);
    const outcome = await bluesky.calls.publish.prepare(
      leg({ media: [{ url, altText: null }] }),
      scriptedTools({
        http: { [UPLOAD]: reply, [PLC]: documentAt(PDS) },
        media: { [url]: image() },
      }),
    );
    expect(outcome).toMatchObject({ kind, failure: { code } });
  });

  test.each([
    [new MediaFailure("media_unreachable", "404"), "try_later", "media_unreachable"],
    [new MediaFailure("media_rejected", "too large"), "rejected", "media_rejected"],
  ])("says that a file was not to be had (%#)", async (failure, kind, code) => {
    const [url = ""] = names(1);
    const outcome = await bluesky.calls.publish.prepare(
      leg({ media: [{ url, altText: null }] }),
      scriptedTools({ media: { [url]: failure } }),
    );
    expect(outcome).toMatchObject({ kind, failure: { code, mediaIndex: 0 } });
  });
});

describe("a Bluesky link card", () => {
  const PAGE = "GET https://example.com/post";
  const THUMB = "https://example.com/a.jpg";
  const text = "see https://example.com/post";
  const html = `<meta property="og:title" content="A post"><meta property="og:image" content="/a.jpg">`;
  const page = answer(200, html, { "content-type": "text/html; charset=utf-8" });
  const external = (record: Record<string, unknown>) =>
    (record["embed"] as { external?: unknown } | undefined)?.external;
  const upload = { [UPLOAD]: (request: HttpRequest) => blobOf(request) };

  test("a Bluesky link card is made of the first link's page", async () => {
    const record = await preparedRecord(
      { text },
      { http: { [PAGE]: page, ...upload }, media: { [THUMB]: image() } },
    );
    expect(external(record)).toMatchObject({
      uri: "https://example.com/post",
      title: "A post",
      description: "",
      thumb: { size: 7 },
    });
  });

  test("notes that the picture is the page's, and leaves it out once the server has refused it", async () => {
    const script = { http: { [PAGE]: page, ...upload }, media: { [THUMB]: image() } };
    const made = async (more: object) => {
      const tools = scriptedTools(script);
      const outcome = await bluesky.calls.publish.prepare(
        leg({ text }, { remote: { ...leg().remote, ...more } }),
        tools,
      );
      if (outcome.kind !== "ready") throw new Error(outcome.kind);
      const { record, foundPicture } = outcome.remote as {
        record: Record<string, unknown>;
        foundPicture?: string;
      };
      return {
        card: external(record),
        foundPicture,
        warnings: outcome.warnings,
        asked: tools.asked,
      };
    };
    expect(await made({})).toMatchObject({ card: { thumb: {} }, foundPicture: "sent" });
    const again = await made({ foundPicture: "left_out" });
    expect(again).toMatchObject({
      card: { title: "A post" },
      foundPicture: "left_out",
      warnings: ["bluesky.linkCard.picture"],
    });
    expect(again.card).not.toHaveProperty("thumb");
    expect(again.asked).toEqual([PAGE]);
  });

  test("follows the page where it moved", async () => {
    const record = await preparedRecord(
      { text },
      {
        http: {
          [PAGE]: answer(301, "", { location: "/moved" }),
          "GET https://example.com/moved": page,
          ...upload,
        },
        media: { [THUMB]: image() },
      },
    );
    expect(external(record)).toMatchObject({ uri: "https://example.com/post", title: "A post" });
  });

  test.each([
    ["a name that looks like a link", "I rewrote README.md, see https://example.com/post"],
    ["a link without a card", "https://example.com/none and https://example.com/post"],
    ["a link by http", "http://example.com/post"],
  ])("a Bluesky link card is that of the real link after %s", async (_what, written) => {
    const http = {
      [PAGE]: page,
      "GET https://README.md": lost,
      "GET https://example.com/none": answer(404, ""),
      ...upload,
    };
    const record = await preparedRecord({ text: written }, { http, media: { [THUMB]: image() } });
    expect(external(record)).toMatchObject({ title: "A post", thumb: { size: 7 } });
  });

  test("asks no more than four links for a card, and says that there is none", async () => {
    const many = [1, 2, 3, 4, 5].map((number) => `https://example.com/${number}`);
    const http = Object.fromEntries(many.map((url) => [`GET ${url}`, answer(404, "")]));
    const tools = scriptedTools({ http });
    expect(await bluesky.calls.publish.prepare(leg({ text: many.join(" ") }), tools)).toMatchObject(
      { kind: "ready", warnings: ["bluesky.linkCard.unread"] },
    );
    expect(tools.calls).toHaveLength(4);
  });

  test("shows the first of the page's pictures that can be used, also one by http", async () => {
    const pictures = ["/a.svg", "http://example.com/b.png"]
      .map((url) => `<meta property="og:image" content="${url}">`)
      .join("");
    const several = answer(200, `<title>T</title>${pictures}`, { "content-type": "text/html" });
    const record = await preparedRecord(
      { text },
      {
        http: { [PAGE]: several, ...upload },
        media: {
          "https://example.com/a.svg": image({ contentType: "image/svg+xml" }),
          "https://example.com/b.png": image({ contentType: "image/png" }),
        },
      },
    );
    expect(external(record)).toMatchObject({ thumb: { mimeType: "image/png" } });
  });

  test("says that the page's picture is missing, and that a mention names nobody", async () => {
    const http = {
      [PAGE]: page,
      [RESOLVE]: answer(400, { error: "InvalidRequest", message: "Unable to resolve handle" }),
      "GET https://nobody.test/.well-known/atproto-did": lost,
    };
    const media = { [THUMB]: new MediaFailure("media_unreachable", "404") };
    const outcome = await bluesky.calls.publish.prepare(
      leg({ text: `${text} @nobody.test` }),
      scriptedTools({ http, media }),
    );
    expect(outcome).toMatchObject({
      kind: "ready",
      warnings: ["bluesky.linkCard.picture", "bluesky.text.mention"],
    });
  });

  test("encodes the address of a card that has spaces or other scripts", async () => {
    const linkCard = { url: "https://pages.example.com/price list ä.html", title: "Prices" };
    expect(external(await preparedRecord({ options: { linkCard } }))).toMatchObject({
      uri: "https://pages.example.com/price%20list%20%C3%A4.html",
    });
  });

  test.each([
    ["is not there", answer(404, "")],
    ["does not answer", lost],
    ["may not be asked", new HttpFailure("not_sent", "blocked_address")],
    ["is too large", new HttpFailure("in_doubt", "too_large")],
    ["is no HTML", answer(200, "%PDF", { "content-type": "application/pdf" })],
    ["moves for ever", answer(302, "", { location: "/post" })],
    ["moves nowhere", answer(302, "", { location: "http://" })],
  ])("a Bluesky link card is left out when the page %s", async (_what, reply) => {
    expect(external(await preparedRecord({ text }, { http: { [PAGE]: reply } }))).toBeUndefined();
  });

  test.each([
    ["is not there", new MediaFailure("media_unreachable", "404"), upload],
    ["can't be made small enough", new MediaFailure("media_rejected", "too large"), upload],
    ["is no picture", image({ contentType: "video/mp4" }), upload],
    ["can't be uploaded", image(), { [UPLOAD]: lost }],
  ])("goes without its picture when that %s", async (_what, thumbnail, http) => {
    const record = await preparedRecord(
      { text },
      { http: { [PAGE]: page, ...http }, media: { [THUMB]: thumbnail } },
    );
    expect(external(record)).toEqual({
      uri: "https://example.com/post",
      title: "A post",
      description: "",
    });
  });

  test.each([
    ["of the page", { text }],
    [
      "that was given",
      {
        options: { linkCard: { url: "https://other.example", title: "Mine", thumbnailUrl: THUMB } },
      },
    ],
  ])("a link card's picture is made to fit: one %s", async (_whose, draft) => {
    const tools = scriptedTools({
      http: { [PAGE]: page, ...upload },
      media: { [THUMB]: image({ bytes: Buffer.alloc(3_000_000) }) },
    });
    const asked: number[] = [];
    tools.fitImage = (_file, { bytesMax }) => {
      asked.push(bytesMax);
      return Promise.resolve({ ...image(), repairs: ["recompressed"] });
    };
    const outcome = await bluesky.calls.publish.prepare(leg(draft), tools);
    if (outcome.kind !== "ready") throw new Error("not ready");
    expect(external(outcome.remote["record"] as Record<string, unknown>)).toMatchObject({
      thumb: { size: 7 },
    });
    expect(asked).toEqual([1_000_000]);
    await bluesky.calls.publish.prepare(leg(draft, { limits: { blobBytesMax: 400_000 } }), tools);
    expect(asked).toEqual([1_000_000, 400_000]);
  });

  test("a Bluesky link card can be turned off", async () => {
    expect(external(await preparedRecord({ text, options: { linkCard: false } }))).toBeUndefined();
  });

  test("a Bluesky link card can be given, and then no page is asked", async () => {
    const linkCard = { url: "https://other.example", title: "Mine", description: "D" };
    const record = await preparedRecord({ text, options: { linkCard } });
    expect(external(record)).toEqual({
      uri: "https://other.example",
      title: "Mine",
      description: "D",
    });
  });

  test.each([
    [new MediaFailure("media_unreachable", "404"), "try_later", "media_unreachable"],
    [image({ contentType: "text/html" }), "rejected", "media_rejected"],
  ])("a given card is not shown without its picture (%#)", async (thumbnail, kind, code) => {
    const linkCard = { url: "https://other.example", title: "Mine", thumbnailUrl: THUMB };
    const outcome = await bluesky.calls.publish.prepare(
      leg({ options: { linkCard } }),
      scriptedTools({ media: { [THUMB]: thumbnail } }),
    );
    expect(outcome).toMatchObject({ kind, failure: { code } });
  });
});
