import { describe, expect, test } from "vitest";
import { facebook } from "../../src/shared/networks/facebook/index.ts";
import type { LegDraft, NetworkData } from "../../src/shared/networks/contract/draft.ts";
import type { LegToPublish } from "../../src/shared/networks/contract/visible-call.ts";
import { type FetchedMedia, MediaFailure } from "../../src/shared/networks/contract/media.ts";
import { files } from "./legs.ts";
import {
  type Script,
  NOW,
  answer,
  image,
  lost,
  opened,
  sentJson,
  sentMultipart,
} from "./scripted-tools.ts";
import {
  CLIP,
  FILE,
  GRAPH,
  LOOK,
  REELS,
  SECOND,
  ago,
  asPhotos,
  asReel,
  error,
  failed,
  leg,
  proof,
  status,
  tools,
  uploaded,
  working,
} from "./facebook-script.ts";

const PHOTOS = `POST ${GRAPH}/42/photos`;
const UPLOAD = "POST https://rupload.facebook.com/video-upload/v26.0/9";

describe("preparing photos for Facebook", () => {
  const prepare = (
    http: NonNullable<Script["http"]>,
    draft: Partial<LegDraft> = { media: files(FILE, SECOND) },
    overrides: Partial<LegToPublish> = {},
  ) => facebook.calls.publish.prepare(leg(draft, overrides), tools({ http }));

  test("makes them unpublished, with their descriptions", async () => {
    const used = tools({
      http: { [PHOTOS]: [answer(200, { id: "1" }), answer(200, { id: "2" })] },
    });
    const media = [
      { url: "https://files.example/ä b.jpg", altText: "A lake" },
      { url: SECOND, altText: null },
    ];
    expect(await facebook.calls.publish.prepare(leg({ media }), used)).toMatchObject({
      kind: "ready",
      remote: { form: "photos", photos: ["1", "2"], photosSince: NOW.toISOString() },
    });
    expect(used.calls.map(sentJson)).toEqual([
      {
        url: "https://files.example/%C3%A4%20b.jpg",
        published: false,
        alt_text_custom: "A lake",
        appsecret_proof: proof("page-token"),
      },
      { url: SECOND, published: false, appsecret_proof: proof("page-token") },
    ]);
    expect(used.calls[0]?.headers?.["authorization"]).toBe("Bearer page-token");
  });

  test("uploads one that had to be changed, unpublished, with its description", async () => {
    const used = tools({ http: { [PHOTOS]: answer(200, { id: "1" }) } });
    used.fitImage = () =>
      Promise.resolve({ ...image({ contentType: "image/png" }), repairs: ["converted"] });
    await facebook.calls.publish.prepare(leg({ media: [{ url: FILE, altText: "A lake" }] }), used);
    expect(Object.fromEntries(await sentMultipart(used.calls[0]))).toEqual({
      published: "false",
      alt_text_custom: "A lake",
      appsecret_proof: proof("page-token"),
      source: expect.objectContaining({ name: "photo.png" }) as File,
    });
  });

  test("keeps what it made when a later one fails, and makes only the rest", async () => {
    const first = await prepare({ [PHOTOS]: [answer(200, { id: "1" }), lost] });
    expect(first).toMatchObject({ kind: "try_later", remote: { photos: ["1"] } });
    if (first.kind !== "try_later" || first.remote === undefined) throw new Error("not kept");
    const used = tools({ http: { [PHOTOS]: answer(200, { id: "2" }) } });
    const again = leg({ media: files(FILE, SECOND) }, { remote: first.remote });
    expect(await facebook.calls.publish.prepare(again, used)).toMatchObject({
      kind: "ready",
      remote: { photos: ["1", "2"] },
    });
    expect(used.calls).toHaveLength(1);
  });

  test("keeps what is there, and makes all again when it is too old to be published", async () => {
    expect(await prepare({}, undefined, { remote: asPhotos })).toEqual({
      kind: "ready",
      remote: asPhotos,
    });
    const old = { ...asPhotos, photosSince: ago(21 * 3600).toISOString() };
    const http = { [PHOTOS]: [answer(200, { id: "3" }), answer(200, { id: "4" })] };
    expect(await prepare(http, undefined, { remote: old })).toMatchObject({
      kind: "ready",
      remote: { photos: ["3", "4"], photosSince: NOW.toISOString() },
    });
  });

  const unreadable = error(324, 2069019);

  test.each([
    ["can be read by us", false, "rejected", "media_rejected"],
    ["can't be read by us either", true, "try_later", "media_unreachable"],
  ] as const)(
    "judges a file that Facebook could not read: one that %s",
    async (_what, isGone, kind, code) => {
      const refuse = () => {
        if (isGone) used.openMedia = () => Promise.reject(gone);
        return unreadable;
      };
      const gone = new MediaFailure("media_unreachable", "gone");
      const used = tools({ http: { [PHOTOS]: refuse } });
      const outcome = await facebook.calls.publish.prepare(leg({ media: files(FILE) }), used);
      expect(outcome).toMatchObject({ kind, failure: { code, mediaIndex: 0 } });
    },
  );

  test("hands over no address of a photo that we can't have, in which a place may be", async () => {
    const failure = new MediaFailure("media_unreachable", "busy");
    const used = tools({ http: {}, media: { [FILE]: failure } });
    expect(await facebook.calls.publish.prepare(leg({ media: files(FILE) }), used)).toMatchObject({
      kind: "try_later",
      failure: { code: "media_unreachable" },
    });
    expect(used.calls).toEqual([]);
  });

  test("goes by the bytes of a file whose name does not tell", async () => {
    const bare = "https://files.example/download?id=1";
    const http = { [PHOTOS]: answer(200, { id: "1" }), [REELS]: answer(200, { video_id: "9" }) };
    const video = image({ contentType: "video/mp4", width: 1080, height: 1920 });
    const asked = (file: FetchedMedia, ...others: readonly string[]) =>
      facebook.calls.publish.prepare(
        leg({ media: files(...others, bare) }),
        tools({ http, media: { [bare]: file } }),
      );
    expect(await asked(video)).toMatchObject({ remote: { form: "reel" } });
    expect(await asked(image())).toMatchObject({ remote: { form: "photos" } });
    expect(await asked(video, FILE)).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected", rule: "facebook.media.mixed" },
    });
  });
});

describe("preparing a video for Facebook", () => {
  const draft = { media: files(CLIP) };
  const prepare = (
    http: NonNullable<Script["http"]>,
    remote: NetworkData = {},
    options: LegDraft["options"] = {},
    media: Script["media"] = {},
  ) =>
    facebook.calls.publish.prepare(leg({ ...draft, options }, { remote }), tools({ http, media }));
  const readable = { [CLIP]: image({ contentType: "video/mp4" }) };
  const begun = {
    form: "reel",
    photos: [],
    video: { id: "9", uploadUrl: "https://rupload.facebook.com/video-upload/v26.0/9" },
  };

  test("begins, hands over the address and looks: each kept before the next", async () => {
    const used = tools({
      http: {
        [REELS]: answer(200, { video_id: 9, upload_url: begun.video.uploadUrl }),
        [UPLOAD]: answer(200, { success: true }),
        [LOOK]: [status({ video_status: "uploading" }), uploaded],
      },
    });
    const kinds: string[] = [];
    let remote: NetworkData = {};
    for (let turn = 0; turn < 4; turn += 1) {
      const outcome = await facebook.calls.publish.prepare(leg(draft, { remote }), used);
      kinds.push(outcome.kind);
      if ("remote" in outcome) remote = JSON.parse(JSON.stringify(outcome.remote)) as NetworkData;
    }
    expect(kinds).toEqual(["processing", "processing", "processing", "ready"]);
    expect(used.asked).toEqual([REELS, UPLOAD, LOOK, LOOK]);
    expect(sentJson(used.calls[0])).toMatchObject({ upload_phase: "start" });
    expect(used.calls[1]?.headers).toMatchObject({
      authorization: "OAuth page-token",
      file_url: CLIP,
    });
  });

  test.each([
    "https://evil.example/upload",
    "http://rupload.facebook.com/video-upload/v26.0/9",
    "https://rupload.facebook.com.evil.example/9",
    undefined,
  ])("hands the page's token to no other host (%s)", async (upload_url) => {
    const outcome = await prepare({ [REELS]: answer(200, { video_id: "9", upload_url }) });
    expect(outcome).toMatchObject({ remote: { video: begun.video } });
  });

  test.each([
    ["had arrived after all", uploaded, "processing", { video: { id: "9" } }],
    [
      "had begun to arrive",
      status({ uploading_phase: { status: "in_progress", bytes_transfered: 5 } }),
      "processing",
      { video: { id: "9" } },
    ],
    [
      "never came",
      status({ uploading_phase: { status: "not_started" } }),
      "processing",
      { restartedAt: NOW.toISOString() },
    ],
  ])("looks before it hands over again what %s", async (_what, look, kind, remote) => {
    const refused = answer(400, { debug_info: { retriable: false, type: "InvalidRequestError" } });
    const outcome = await prepare({ [UPLOAD]: refused, [LOOK]: look }, begun);
    expect(outcome).toMatchObject({ kind, remote });
  });

  test("uploads once more what failed, and then gives up", async () => {
    const http = { [LOOK]: failed };
    const first = await prepare(http, asReel);
    expect(first).toEqual({
      kind: "processing",
      remote: { form: "reel", photos: [], restartedAt: NOW.toISOString() },
      pollAfterSeconds: 5,
    });
    const again = { ...asReel, restartedAt: ago(60).toISOString() };
    expect(await prepare(http, again, {}, readable)).toMatchObject({
      kind: "rejected",
      failure: { code: "media_processing_failed", mediaIndex: 0 },
    });
    const later = { ...asReel, restartedAt: ago(3600).toISOString() };
    expect(await prepare(http, later)).toMatchObject({ kind: "processing" });
  });

  test("says that a file is not to be had when we can't read it either", async () => {
    const again = { ...asReel, restartedAt: ago(60).toISOString() };
    expect(await prepare({ [LOOK]: failed }, again)).toMatchObject({
      kind: "rejected",
      failure: { code: "media_unreachable" },
    });
  });

  const tooLong = status({
    video_status: "error",
    processing_phase: { status: "error", error: { code: 1363128, message: "Too long" } },
  });

  test.each([
    ["upright, of 30 seconds", 1080, 1920, 30, undefined, "reel"],
    ["wide", 1920, 1080, 30, undefined, "video"],
    ["long", 1080, 1920, 120, undefined, "video"],
    ["small", 270, 480, 30, undefined, "video"],
    ["wide, and asked to be a reel", 1920, 1080, 30, "reel", "reel"],
  ] as const)(
    "makes a video that is %s a reel only where it can be one",
    async (...[, width, height, durationSeconds, kind, form]) => {
      const used = tools({ http: { [REELS]: answer(200, { video_id: "9" }) } });
      used.openMedia = () =>
        Promise.resolve({
          ...opened(image({ contentType: "video/mp4", width, height })),
          durationSeconds,
        });
      const options = kind === undefined ? {} : { kind };
      const outcome = await facebook.calls.publish.prepare(
        leg({ media: files("https://files.example/a"), options }),
        used,
      );
      expect(outcome).toMatchObject({ remote: { form } });
    },
  );

  test("takes for a feed video what is no reel, unless a reel was asked for", async () => {
    expect(await prepare({ [LOOK]: tooLong }, asReel)).toEqual({
      kind: "ready",
      remote: { form: "video", photos: [] },
      warnings: ["facebook.video.kind"],
    });
    expect(await prepare({ [LOOK]: tooLong }, asReel, { kind: "reel" }, readable)).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected", rule: "facebook.video.duration" },
    });
  });

  test.each([
    ["in work", working, "ready", undefined],
    ["unknown to us", error(100, 33), "try_later", "network_unavailable"],
    ["not for us to read", error(10, undefined, 403), "try_later", "network_unavailable"],
    ["told to nobody with this token", error(190), "rejected", "connection_needs_reauth"],
    ["not told", answer(503, ""), "try_later", "network_unavailable"],
    ["not told for now", error(4), "try_later", "rate_limited"],
  ])("goes by the status: %s", async (_what, look, kind, code) => {
    const outcome = await prepare({ [LOOK]: look }, asReel);
    expect(outcome).toMatchObject({ kind, ...(code === undefined ? {} : { failure: { code } }) });
  });

  test("uploads nothing for a feed video", async () => {
    expect(await prepare({}, {}, { kind: "feed" })).toEqual({
      kind: "ready",
      remote: expect.objectContaining({ form: "video" }),
    });
  });
});
