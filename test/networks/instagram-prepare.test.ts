import { describe, expect, test } from "vitest";
import { instagram } from "../../src/shared/networks/instagram/index.ts";
import type { LegDraft, NetworkData } from "../../src/shared/networks/contract/draft.ts";
import type { LegToPublish } from "../../src/shared/networks/contract/visible-call.ts";
import { MediaFailure } from "../../src/shared/networks/contract/media.ts";
import { files } from "./legs.ts";
import { type Script, NOW, answer, image, lost, sentForm } from "./scripted-tools.ts";
import {
  FILE,
  GRAPH,
  LOOK,
  ago,
  anImage,
  at,
  container,
  error,
  leg,
  ofForm,
  state,
  tools,
} from "./instagram-script.ts";

const MEDIA = `POST ${GRAPH}/42/media`;
const CLIP = "https://files.example/b.mp4";

describe("preparing a post for Instagram", () => {
  const prepare = (
    http: NonNullable<Script["http"]>,
    draft: Partial<LegDraft> = {},
    overrides: Partial<LegToPublish> = {},
  ) => instagram.calls.publish.prepare(leg(draft, overrides), tools({ http }));

  test("makes an image's container as a form, and looks whether it is finished", async () => {
    const used = tools({
      http: { [MEDIA]: answer(200, { id: 1 }), [LOOK("1")]: state("FINISHED") },
    });
    const media = [{ url: "https://files.example/ä.jpg", altText: "A lake" }];
    const options = { collaborators: ["@a.b", "c"] };
    expect(await instagram.calls.publish.prepare(leg({ media, options }), used)).toEqual({
      kind: "ready",
      remote: ofForm("image", ["image"], {
        container: { id: "1", createdAt: NOW.toISOString(), isReady: false },
      }),
    });
    expect(sentForm(used.calls[0])).toEqual({
      image_url: "https://files.example/%C3%A4.jpg",
      alt_text: "A lake",
      caption: "Hello",
      collaborators: '["a.b","c"]',
    });
    expect(used.calls[0]?.headers).toMatchObject({
      authorization: "Bearer token",
      "content-type": "application/x-www-form-urlencoded",
    });
    expect(new URL(used.calls[1]?.url ?? "").searchParams.get("fields")).toBe("status_code,status");
  });

  test("a reel's cover is read, cleaned and made to fit like any other image", async () => {
    const cover = "https://a.example/cover.jpg";
    const draft = { media: files(CLIP), options: { coverUrl: cover } };
    const used = tools({
      http: { [MEDIA]: answer(200, { id: 1 }) },
      media: { [CLIP]: image({ contentType: "video/mp4" }), [cover]: image() },
    });
    used.fitImage = () => Promise.resolve({ ...image(), repairs: ["metadataRemoved"] });
    await instagram.calls.publish.prepare(leg(draft), used);
    expect(sentForm(used.calls[0])["cover_url"]).toBe(
      `https://relay.example.test/v1/media/public/${encodeURIComponent(cover)}`,
    );
  });

  test("a cover that is no picture ends the leg in words about the cover", async () => {
    const cover = "https://a.example/cover";
    const draft = { media: files(CLIP), options: { coverUrl: cover } };
    const clip = image({ contentType: "video/mp4" });
    const used = tools({ http: {}, media: { [CLIP]: clip, [cover]: clip } });
    expect(await instagram.calls.publish.prepare(leg(draft), used)).toMatchObject({
      kind: "rejected",
      failure: {
        code: "media_rejected",
        rule: "instagram.media.type",
        field: "platformOptions.instagram.coverUrl",
      },
    });
    expect(used.calls).toEqual([]);
  });

  test("hands over no address of an image that we can't have, in which a place may be", async () => {
    const failure = new MediaFailure("media_unreachable", "busy");
    const used = tools({ http: {}, media: { [FILE]: failure } });
    expect(await instagram.calls.publish.prepare(leg({ media: files(FILE) }), used)).toMatchObject({
      kind: "try_later",
      failure: { code: "media_unreachable" },
    });
    expect(used.calls).toEqual([]);
  });

  test.each<[string, Partial<LegDraft>, Record<string, string>]>([
    [
      "a reel",
      {
        media: [{ url: CLIP, altText: "not taken" }],
        options: { coverUrl: "https://a.example/ö.jpg", thumbOffsetMs: 0 },
      },
      {
        media_type: "REELS",
        video_url: CLIP,
        caption: "Hello",
        share_to_feed: "true",
        cover_url: "https://a.example/%C3%B6.jpg",
        thumb_offset: "0",
      },
    ],
    [
      "a reel outside the feed",
      { text: "", media: files(CLIP), options: { kind: "reel", shareToFeed: false } },
      { media_type: "REELS", video_url: CLIP, share_to_feed: "false" },
    ],
    [
      "a video in the feed, which is a reel",
      { media: files(CLIP), options: { kind: "feed" } },
      { media_type: "REELS", video_url: CLIP, caption: "Hello", share_to_feed: "true" },
    ],
    [
      "a story of an image",
      { media: [{ url: FILE, altText: "not taken" }], options: { kind: "story" } },
      { media_type: "STORIES", image_url: FILE },
    ],
    [
      "a story of a video",
      { media: files(CLIP), options: { kind: "story" } },
      { media_type: "STORIES", video_url: CLIP },
    ],
  ])("asks for %s", async (_what, draft, fields) => {
    const used = tools({
      http: { [MEDIA]: answer(200, { id: "1" }), [LOOK("1")]: state("FINISHED") },
    });
    await instagram.calls.publish.prepare(leg(draft), used);
    expect(sentForm(used.calls[0])).toEqual(fields);
  });

  test("makes a carousel when all its items are finished, each look once a turn", async () => {
    const used = tools({
      http: {
        [MEDIA]: ["1", "2", "3"].map((id) => answer(200, { id })),
        [LOOK("1")]: state("FINISHED"),
        [LOOK("2")]: [state("IN_PROGRESS"), state("FINISHED")],
        [LOOK("3")]: state("FINISHED"),
      },
    });
    const media = [
      { url: FILE, altText: "A lake" },
      { url: CLIP, altText: null },
    ];
    const kinds: string[] = [];
    let remote: NetworkData = {};
    for (let turn = 0; turn < 3; turn += 1) {
      const outcome = await instagram.calls.publish.prepare(leg({ media }, { remote }), used);
      kinds.push(outcome.kind);
      if ("remote" in outcome) remote = JSON.parse(JSON.stringify(outcome.remote)) as NetworkData;
    }
    expect(kinds).toEqual(["processing", "processing", "ready"]);
    expect(used.asked).toEqual([MEDIA, MEDIA, LOOK("1"), LOOK("2"), LOOK("2"), MEDIA, LOOK("3")]);
    const made = used.calls.filter(({ method }) => method === "POST").map(sentForm);
    expect(made).toEqual([
      { image_url: FILE, alt_text: "A lake", is_carousel_item: "true" },
      { video_url: CLIP, media_type: "VIDEO", is_carousel_item: "true" },
      { media_type: "CAROUSEL", children: "1,2", caption: "Hello" },
    ]);
    expect(remote).toMatchObject({ form: "carousel", container: { id: "3" } });
  });

  test("keeps the items that it made when a later one fails, and makes only the rest", async () => {
    const media = files(FILE, CLIP);
    const first = await prepare({ [MEDIA]: [answer(200, { id: "1" }), lost] }, { media });
    expect(first).toMatchObject({ kind: "try_later", remote: { children: [{ id: "1" }] } });
    if (first.kind !== "try_later" || first.remote === undefined) throw new Error("not kept");
    const used = tools({ http: { [MEDIA]: answer(200, { id: "2" }) } });
    const again = leg({ media }, { remote: first.remote });
    expect(await instagram.calls.publish.prepare(again, used)).toMatchObject({
      kind: "processing",
      remote: { children: [{ id: "1" }, { id: "2" }] },
    });
    expect(used.calls).toHaveLength(1);
  });

  test("names the item that is refused", async () => {
    expect(await prepare({ [MEDIA]: error(36001, 2207005) })).toMatchObject({
      failure: { mediaIndex: 0 },
    });
    const http = { [MEDIA]: [answer(200, { id: "1" }), error(36001, 2207005)] };
    expect(await prepare(http, { media: files(FILE, FILE) })).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected", mediaIndex: 1, rule: "instagram.media.imageType" },
    });
    const remote = ofForm("carousel", ["image", "video"], {
      children: [container("1", { isReady: true }), container("2")],
    });
    const broken = state("ERROR", "Error: Media upload has failed with error code 2207026");
    const media = files(FILE, CLIP);
    expect(await prepare({ [LOOK("2")]: broken }, { media }, { remote })).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected", mediaIndex: 1 },
    });
  });

  test("goes by the bytes of a file whose name does not tell", async () => {
    const bare = "https://files.example/download";
    const used = tools({
      http: { [MEDIA]: answer(200, { id: "1" }) },
      media: { [bare]: image({ contentType: "video/mp4" }) },
    });
    const outcome = await instagram.calls.publish.prepare(leg({ media: files(bare) }), used);
    expect(outcome).toMatchObject({ kind: "processing", remote: { form: "reel" } });
  });

  test("refuses a post without media, even when it comes this far", async () => {
    expect(await prepare({}, { media: [] })).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected", rule: "instagram.media.required" },
    });
  });

  test.each([
    [5, 3],
    [30, 8],
    [200, 50],
    [600, 60],
  ])("looks ever less often: after %s s again in %s s", async (age, seconds) => {
    const remote = ofForm("reel", ["video"], {
      container: container("1", { createdAt: ago(age).toISOString() }),
    });
    const http = { [LOOK("1")]: state("IN_PROGRESS") };
    expect(await prepare(http, { media: files(CLIP) }, { remote })).toMatchObject({
      kind: "processing",
      pollAfterSeconds: seconds,
    });
  });

  test.each([
    ["expired", state("EXPIRED")],
    ["failed for no told reason", state("ERROR", "Error")],
    ["failed at Instagram", state("ERROR", "error code 2207053")],
    ["could not be downloaded", state("ERROR", "error code 2207003")],
    ["has failed by its sentence alone", answer(200, { status: "Error: Media upload has failed" })],
    ["has expired by its sentence alone", answer(200, { status: "Expired: The container" })],
  ])("makes again a container that %s, twice at most", async (_what, look) => {
    const run = (restarts: number, restartedAt?: string) =>
      prepare({ [LOOK("1")]: look }, {}, { remote: { ...anImage, restarts, restartedAt } });
    const first = await run(0);
    expect(first).toMatchObject({ kind: "processing", remote: { restarts: 1 } });
    expect(first).not.toHaveProperty("remote.container");
    expect(await run(1, at(-60))).toMatchObject({ remote: { restarts: 2 } });
    expect(await run(2, at(-60))).toMatchObject({
      kind: "rejected",
      failure: {
        code: expect.stringMatching(/^media_(?:processing_failed|unreachable)$/) as string,
      },
    });
    expect(await run(2, at(-3600))).toMatchObject({ kind: "processing", remote: { restarts: 1 } });
  });

  describe("a container whose status Instagram refuses to show", () => {
    const refusals = [error(100, 33), error(10), error(100, undefined, 400, "unknown")];
    const aged = (seconds: number, form = "image", kinds = ["image"]) =>
      ofForm(form, kinds, { container: container("1", { createdAt: ago(seconds).toISOString() }) });

    test.each(refusals)("is published once it had time to finish (%#)", async (look) => {
      const http = { [LOOK("1")]: look };
      expect(await prepare(http, {}, { remote: aged(5) })).toMatchObject({ kind: "processing" });
      expect(await prepare(http, {}, { remote: aged(20) })).toMatchObject({
        kind: "ready",
        remote: { container: { id: "1" } },
      });
      const reel = (seconds: number) =>
        prepare(http, { media: files(CLIP) }, { remote: aged(seconds, "reel", ["video"]) });
      expect(await reel(20)).toMatchObject({ kind: "processing" });
      expect(await reel(120)).toMatchObject({ kind: "ready" });
    });

    test("is made again when it is as old as containers get", async () => {
      const outcome = await prepare(
        { [LOOK("1")]: error(100, 33) },
        {},
        { remote: aged(24 * 3600) },
      );
      expect(outcome).toMatchObject({ kind: "processing", remote: { restarts: 1 } });
      expect(outcome).not.toHaveProperty("remote.container");
    });
  });

  test("makes none again while an earlier call may have published it", async () => {
    const overrides = { remote: anImage, sentAt: ago(90) };
    expect(await prepare({ [LOOK("1")]: error(100, 33) }, {}, overrides)).toMatchObject({
      kind: "try_later",
    });
  });

  test("keeps a container whose status is not told", async () => {
    const http = { [MEDIA]: answer(200, { id: "1" }), [LOOK("1")]: lost };
    expect(await prepare(http)).toMatchObject({
      kind: "try_later",
      remote: { container: { id: "1" } },
    });
    const revoked = { ...http, [LOOK("1")]: error(190) };
    expect(await prepare(revoked)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });

  test("leaves the account linked that can't tell stories", async () => {
    const http = { [MEDIA]: error(10, undefined, 403, "The user is not an Instagram Business") };
    expect(await prepare(http, { options: { kind: "story" } })).toMatchObject({
      kind: "rejected",
      failure: { code: "invalid_request", rule: "instagram.story.account" },
    });
    expect(await prepare(http)).toMatchObject({ failure: { code: "account_restricted" } });
  });
});
