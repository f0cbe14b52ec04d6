import { describe, expect, test } from "vitest";
import { mastodon } from "../../src/shared/networks/mastodon/index.ts";
import { MediaFailure } from "../../src/shared/networks/contract/media.ts";
import type { HttpRequest } from "../../src/shared/runtime/http-call.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import type { LegToPublish } from "../../src/shared/networks/contract/visible-call.ts";
import { files } from "./legs.ts";
import {
  type Script,
  NOW,
  answer,
  htmlPage,
  image,
  lost,
  scriptedTools,
  sentMultipart,
} from "./scripted-tools.ts";
import { FILE, LOOK, ORIGIN, begun, credentials, leg, uploaded } from "./mastodon-script.ts";

const MEDIA = `POST ${ORIGIN}/api/v2/media`;
const CLIP = "https://files.example/b.mp4";

describe("preparing a Mastodon post", () => {
  const prepare = (
    script: Script,
    overrides: Partial<LegToPublish> = {},
    draft: Partial<LegDraft> = {},
  ) =>
    mastodon.calls.publish.prepare(
      leg({ media: files(FILE), ...draft }, overrides),
      scriptedTools(script),
    );
  const both = { [FILE]: image(), [CLIP]: image({ contentType: "video/mp4" }) };

  test("preparing a Mastodon post has nothing to do without files", async () => {
    expect(await prepare({}, {}, { media: [] })).toEqual({
      kind: "ready",
      remote: { ...begun, keepsKeys: true },
    });
  });

  test("uploads each file once, with its description, in the order of the draft", async () => {
    const requests: HttpRequest[] = [];
    const tools = scriptedTools({
      media: {
        [FILE]: image(),
        "https://files.example/c.png": image({ contentType: "image/png" }),
      },
      http: {
        [MEDIA]: (request: HttpRequest) => {
          requests.push(request);
          return answer(200, { id: String(requests.length) });
        },
      },
    });
    const media = [
      { url: FILE, altText: "A cat" },
      { url: "https://files.example/c.png", altText: null },
    ];
    const options = { focus: [{ x: -0.5, y: 1 }, null] };
    const outcome = await mastodon.calls.publish.prepare(leg({ media, options }), tools);
    const remote = { ...uploaded("1", "2"), keepsKeys: true };
    expect(outcome).toEqual({ kind: "ready", remote });
    const sent = await Promise.all(requests.map(sentMultipart));
    expect(sent.map((form) => form.get("focus"))).toEqual(["-0.5,1", null]);
    expect(sent[0]?.get("description")).toBe("A cat");
    expect(sent[1]?.has("description")).toBe(false);
    const file = sent[0]?.get("file");
    expect(file instanceof File && [file.name, file.type, file.size]).toEqual([
      expect.stringMatching(/^[0-9a-f]{24}-1\.jpeg$/),
      "image/jpeg",
      7,
    ]);
    const other = sent[1]?.get("file");
    expect(other instanceof File && other.name).toMatch(/-2\.png$/);
    if (outcome.kind !== "ready") return;
    const again = scriptedTools();
    expect(
      await mastodon.calls.publish.prepare(leg({ media }, { remote: outcome.remote }), again),
    ).toEqual(outcome);
    expect(again.calls).toEqual([]);
  });

  test("sends an alternative text of many lines in as many characters as it has", async () => {
    const altText = "A line of the menu.\n".repeat(75).trim();
    const requests: HttpRequest[] = [];
    const http = {
      [MEDIA]: (request: HttpRequest) => {
        requests.push(request);
        return answer(200, { id: "1" });
      },
    };
    await prepare({ media: both, http }, {}, { media: [{ url: FILE, altText }] });
    expect((await sentMultipart(requests[0])).get("description")).toBe(altText);
  });

  test("looks once per step at a file that the server still works on", async () => {
    const draft = { media: files(CLIP) };
    const script = {
      media: both,
      http: { [MEDIA]: answer(202, { id: "9", url: null }), [LOOK("9")]: answer(206, { id: "9" }) },
    };
    const first = await prepare(script, {}, draft);
    expect(first).toMatchObject({
      kind: "processing",
      remote: { media: [{ id: "9", isReady: false }] },
    });
    if (first.kind !== "processing") return;
    const tools = scriptedTools(script);
    const second = await mastodon.calls.publish.prepare(
      leg(draft, { remote: first.remote }),
      tools,
    );
    expect(second.kind).toBe("processing");
    expect(tools.asked).toEqual([LOOK("9")]);
    for (const reply of [answer(200, { id: "9" }), answer(404, { error: "Record not found" })]) {
      const ready = { ...script, http: { [LOOK("9")]: reply } };
      const third = await prepare(ready, { remote: first.remote }, draft);
      expect(third).toMatchObject({
        kind: "ready",
        remote: { media: [{ id: "9", isReady: true }] },
      });
    }
  });

  test.each([404, 501])("uploads to the older address where a newer one is %s", async (status) => {
    const older = `POST ${ORIGIN}/api/v1/media`;
    const http = {
      [MEDIA]: answer(status, { error: "Not Found" }),
      [older]: answer(200, { id: "9" }),
    };
    const outcome = await prepare({ media: both, http });
    expect(outcome).toMatchObject({ remote: { media: [{ id: "9", isReady: true }] } });
  });

  test("uploads again a file that failed, once; a retry by hand, later, does so again", async () => {
    const pending = { ...begun, media: [{ id: "9", kind: "video", isReady: false }] };
    const failed = { http: { [LOOK("9")]: answer(422, { error: "Error processing" }) } };
    const draft = { media: files(CLIP) };
    const first = await prepare(failed, { remote: pending }, draft);
    expect(first).toMatchObject({ kind: "processing", remote: { media: [] } });
    if (first.kind !== "processing") return;
    const again = { ...first.remote, media: pending.media };
    expect(await prepare(failed, { remote: again }, draft)).toMatchObject({
      kind: "rejected",
      failure: { code: "media_processing_failed", mediaIndex: 0 },
    });
    const later = { ...failed, now: new Date(NOW.getTime() + 3_600_000) };
    expect(await prepare(later, { remote: again }, draft)).toMatchObject({ kind: "processing" });
  });

  test.each([
    [answer(401, { error: "The access token is invalid" }), "rejected", "connection_needs_reauth"],
    [answer(503, { error: "busy" }), "try_later", "network_unavailable"],
    [lost, "try_later", "network_unavailable"],
  ])("looks again later when a look tells nothing (%#)", async (reply, kind, code) => {
    const pending = { ...begun, media: [{ id: "9", kind: "image", isReady: false }] };
    const outcome = await prepare({ http: { [LOOK("9")]: reply } }, { remote: pending });
    expect(outcome).toMatchObject({ kind, failure: { code } });
  });

  test("keeps what it uploaded when a later file fails", async () => {
    const second = "https://files.example/z.jpg";
    const script = {
      media: { [FILE]: image(), [second]: image() },
      http: { [MEDIA]: [answer(200, { id: "1" }), answer(429, { error: "Too many requests" })] },
    };
    const draft = { media: files(FILE, second) };
    const first = await prepare(script, {}, draft);
    expect(first).toMatchObject({ kind: "try_later", remote: uploaded("1") });
    if (first.kind !== "try_later" || first.remote === undefined) throw new Error("not kept");
    const limited = { ...script, http: { [MEDIA]: answer(429, { error: "Too many requests" }) } };
    expect(await prepare(limited, { remote: first.remote }, draft)).toMatchObject({
      kind: "try_later",
      failure: { code: "rate_limited", mediaIndex: 1 },
    });
    const tools = scriptedTools({ ...script, http: { [MEDIA]: answer(200, { id: "2" }) } });
    expect(
      await mastodon.calls.publish.prepare(leg(draft, { remote: first.remote }), tools),
    ).toEqual({
      kind: "ready",
      remote: { ...uploaded("1", "2"), keepsKeys: true },
    });
    expect(tools.asked).toEqual([MEDIA]);
  });

  test.each([
    [
      answer(422, { error: "Validation failed: File content type is invalid" }),
      "rejected",
      "media_rejected",
    ],
    [answer(413, ""), "rejected", "media_rejected"],
    [htmlPage(413), "rejected", "media_rejected"],
    [
      answer(500, { error: "Error processing thumbnail for uploaded media" }),
      "try_later",
      "media_processing_failed",
    ],
    [answer(200, "no id"), "try_later", "network_unavailable"],
  ])("publishes nothing when an upload fails (%#)", async (reply, kind, code) => {
    const outcome = await prepare({ media: both, http: { [MEDIA]: reply } });
    expect(outcome).toMatchObject({ kind, failure: { code } });
  });

  test.each([
    [new MediaFailure("media_unreachable", "404"), "try_later", { code: "media_unreachable" }],
    [new MediaFailure("media_rejected", "big"), "rejected", { rule: "mastodon.media.size" }],
    [image({ bytes: Buffer.alloc(1001) }), "rejected", { rule: "mastodon.media.size" }],
    [image({ width: 100, height: 100 }), "rejected", { rule: "mastodon.media.pixels" }],
    [image({ contentType: "image/png" }), "rejected", { rule: "mastodon.media.type" }],
  ])("refuses what the instance would (%#)", async (file, kind, failure) => {
    const limits = { imageBytesMax: 1000, imagePixelsMax: 9999, mediaTypes: ["image/jpeg"] };
    const outcome = await prepare({ media: { [FILE]: file } }, { limits });
    expect(outcome).toMatchObject({ kind, failure: { mediaIndex: 0, ...failure } });
  });

  test("refuses a video among images, whatever their names", async () => {
    const second = "https://files.example/z.jpg";
    const outcome = await prepare(
      {
        media: { [FILE]: image(), [second]: image({ contentType: "video/mp4" }) },
        http: { [MEDIA]: [answer(200, { id: "1" }), answer(202, { id: "2" })] },
      },
      {},
      { media: files(FILE, second) },
    );
    expect(outcome).toMatchObject({ kind: "rejected", failure: { rule: "mastodon.media.mixed" } });
  });

  test.each([
    ["takes two files for one", [answer(200, { id: "1" }), answer(200, { id: "1" })], 1],
    ["does not know what a file is", [answer(200, { id: "1", type: "unknown" })], 0],
  ])("makes no post when the server %s", async (_what, replies, mediaIndex) => {
    const second = "https://files.example/z.jpg";
    const outcome = await prepare(
      { media: { [FILE]: image(), [second]: image() }, http: { [MEDIA]: replies } },
      {},
      { media: files(FILE, second) },
    );
    expect(outcome).toMatchObject({
      kind: "rejected",
      failure: { code: "media_processing_failed", mediaIndex },
    });
  });
});

describe("what is noted before the visible call", () => {
  const LIST = `GET ${ORIGIN}/api/v1/accounts/42/statuses`;
  const LINKS = `GET ${ORIGIN}/.well-known/nodeinfo`;
  const INFO = `GET ${ORIGIN}/nodeinfo/2.0`;
  const rel = "http://nodeinfo.diaspora.software/ns/schema/2.0";
  const { software: _, ...unasked } = credentials;
  const elsewhere = { ...credentials, software: "another" };
  const at = (seconds: number) => new Date(NOW.getTime() - seconds * 1000).toISOString();
  const list = answer(200, [
    { id: "8", created_at: at(90) },
    { id: "9", created_at: at(60) },
  ]);
  const prepare = (http: NonNullable<Script["http"]>, overrides: Partial<LegToPublish>) =>
    mastodon.calls.publish.prepare(leg({}, overrides), scriptedTools({ http }));

  test("what is noted before the visible call is the account's list, where the server keeps no keys", async () => {
    const before = { newestAt: at(60), ids: ["8", "9"] };
    const expected = { kind: "ready", remote: { ...begun, keepsKeys: false, before } };
    expect(await prepare({ [LIST]: list }, { credentials: elsewhere })).toEqual(expected);
    const earlier = { ...begun, keepsKeys: true, before: { newestAt: null, ids: ["1"] } };
    const again = { credentials: elsewhere, remote: earlier };
    expect(await prepare({ [LIST]: list }, again)).toEqual(expected);
    const sent = { ...again, sentAt: NOW };
    expect(await prepare({}, sent)).toEqual({ kind: "ready", remote: earlier });
  });

  test("what is noted before the visible call is not had from a list that can't be read, and waited for where it may come", async () => {
    const refused = await prepare({ [LIST]: answer(403) }, { credentials: elsewhere });
    expect(refused).toEqual({ kind: "ready", remote: { ...begun, keepsKeys: false } });
    const later = await prepare({ [LIST]: lost }, { credentials: elsewhere });
    expect(later).toMatchObject({ kind: "try_later", failure: { code: "network_unavailable" } });
  });

  test.each<[string, NonNullable<Script["http"]>, boolean]>([
    ["Mastodon", { [INFO]: answer(200, { software: { name: "mastodon" } }) }, true],
    ["a fork of it", { [INFO]: answer(200, { software: { name: "Hometown" } }) }, true],
    ["another software", { [INFO]: answer(200, { software: { name: "pleroma" } }) }, false],
    ["nothing", { [INFO]: answer(200, {}) }, false],
    ["no document", { [LINKS]: answer(404) }, false],
    [
      "another server's document",
      { [LINKS]: answer(200, { links: [{ rel, href: "https://mastodon.example/nodeinfo/2.0" }] }) },
      false,
    ],
  ])("asks an account of before for its server's software: %s", async (_what, http, keepsKeys) => {
    const links = answer(200, { links: [{ rel, href: `${ORIGIN}/nodeinfo/2.0` }] });
    const known = { [LINKS]: links, [LIST]: list, ...http };
    expect(await prepare(known, { credentials: unasked })).toMatchObject({
      kind: "ready",
      remote: { keepsKeys },
    });
  });

  test("waits for a server that does not say what it runs", async () => {
    expect(await prepare({ [LINKS]: answer(503) }, { credentials: unasked })).toMatchObject({
      kind: "try_later",
    });
  });
});
