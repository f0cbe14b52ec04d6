import { describe, expect, test } from "vitest";
import { facebook } from "../../src/shared/networks/facebook/index.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import type { LegDraft, NetworkData } from "../../src/shared/networks/contract/draft.ts";
import { checkingRefusals, files } from "./legs.ts";
import {
  type Script,
  NOW,
  answer,
  htmlPage,
  image,
  lost,
  refusedToConnect,
  sentJson,
} from "./scripted-tools.ts";
import {
  CLIP,
  FEED_LIST,
  FILE,
  GRAPH,
  LOOK,
  POSTS,
  REELS,
  SECOND,
  STORIES,
  ago,
  asPhotos,
  asReel,
  asText,
  error,
  failed,
  leg,
  live,
  proof,
  tools,
  uploaded,
  working,
} from "./facebook-script.ts";

const FEED = `POST ${GRAPH}/42/feed`;
const VIDEOS = `POST ${GRAPH}/42/videos`;
const PHOTO_STORIES = `POST ${GRAPH}/42/photo_stories`;
const VIDEO_STORIES = `POST ${GRAPH}/42/video_stories`;

describe("publishing to Facebook", () => {
  const publish = (
    http: NonNullable<Script["http"]>,
    remote: NetworkData = asText,
    draft: Partial<LegDraft> = {},
    sentAt = NOW,
  ) => facebook.calls.publish.perform(leg(draft, { remote, sentAt }), tools({ http }));

  test("sends text and link in one call and reads the address with it", async () => {
    const created = answer(200, {
      id: "42_5",
      permalink_url: "https://www.facebook.com/42/posts/5",
    });
    const used = tools({ http: { [FEED]: created } });
    const ready = leg({ options: { link: "https://a.example" } }, { remote: asText, sentAt: NOW });
    expect(await facebook.calls.publish.perform(ready, used)).toEqual({
      kind: "done",
      externalId: "42_5",
      url: "https://www.facebook.com/42/posts/5",
    });
    expect(sentJson(used.calls[0])).toEqual({
      message: "Hello",
      link: "https://a.example",
      published: true,
      appsecret_proof: proof("page-token"),
    });
    expect(new URL(used.calls[0]?.url ?? "").search).toBe("?fields=id%2Cpermalink_url");
    expect(await publish({ [FEED]: answer(200, { id: "42_5" }) })).toMatchObject({
      url: "https://www.facebook.com/42_5",
    });
  });

  test("attaches the photos, and leaves a link out then", async () => {
    const used = tools({ http: { [FEED]: answer(200, { id: "42_5" }) } });
    const draft = { text: "", media: files(FILE, SECOND), options: { link: "https://a.example" } };
    await facebook.calls.publish.perform(leg(draft, { remote: asPhotos, sentAt: NOW }), used);
    expect(sentJson(used.calls[0])).toEqual({
      attached_media: [{ media_fbid: "1" }, { media_fbid: "2" }],
      published: true,
      appsecret_proof: proof("page-token"),
    });
  });

  test("finishes a reel, and is done when it can be seen", async () => {
    const used = tools({ http: { [REELS]: answer(200, { success: true }), [LOOK]: live } });
    const draft = { media: files(CLIP), options: { title: "Clip" } };
    const outcome = await facebook.calls.publish.perform(
      leg(draft, { remote: asReel, sentAt: NOW }),
      used,
    );
    expect(outcome).toEqual({
      kind: "done",
      externalId: "9",
      url: "https://www.facebook.com/reel/9/",
    });
    expect(sentJson(used.calls[0])).toEqual({
      upload_phase: "finish",
      video_id: "9",
      video_state: "PUBLISHED",
      description: "Hello",
      title: "Clip",
      appsecret_proof: proof("page-token"),
    });
  });

  const video = { form: "video", photos: [] };

  test.each<[string, NetworkData, string, unknown]>([
    ["a reel", asReel, REELS, { success: true }],
    ["a feed video", video, VIDEOS, { id: "9" }],
    [
      "a video story",
      { ...asReel, form: "video_story" },
      VIDEO_STORIES,
      { success: true, post_id: "6" },
    ],
  ])("keeps %s that is still in work in doubt, by its id", async (_what, remote, call, taken) => {
    for (const look of [working, uploaded, answer(503, ""), lost]) {
      const http = { [call]: answer(200, taken), [LOOK]: look };
      const outcome = await publish(http, remote, { media: files(CLIP) });
      expect(outcome).toMatchObject({ kind: "unknown", remote: { postedVideoId: "9" } });
    }
  });

  test("leaves open what became of a video whose status it may not read", async () => {
    const http = { [VIDEOS]: answer(200, { id: "9" }), [LOOK]: error(100, 33) };
    expect(await publish(http, video, { media: files(CLIP) })).toMatchObject({
      kind: "unknown",
      remote: { postedVideoId: "9" },
    });
  });

  test("begins again with a video that failed, once, and never with one in the feed", async () => {
    const draft = { media: files(CLIP) };
    const http = { [REELS]: answer(200, { success: true }), [LOOK]: failed };
    expect(await publish(http, asReel, draft)).toMatchObject({
      kind: "prepare_again",
      remote: { form: "reel", restartedAt: NOW.toISOString() },
    });
    const again = { ...asReel, restartedAt: ago(60).toISOString() };
    expect(await publish(http, again, draft)).toMatchObject({
      kind: "rejected",
      failure: { code: "media_processing_failed" },
    });
    const inFeed = { [VIDEOS]: answer(200, { id: "9" }), [LOOK]: failed };
    expect(await publish(inFeed, video, draft)).toMatchObject({ kind: "rejected" });
  });

  test("tells a story of a photo, with its address where the list has it", async () => {
    const story = { form: "photo_story", photos: ["1"] };
    const listed = { post_id: "6", media_id: "1", url: "https://facebook.com/stories/6" };
    const taken = answer(200, { success: true, post_id: "6" });
    const http = { [PHOTO_STORIES]: taken, [STORIES]: answer(200, { data: [listed] }) };
    expect(await publish(http, story)).toEqual({
      kind: "done",
      externalId: "6",
      url: "https://facebook.com/stories/6",
    });
    expect(await publish({ ...http, [STORIES]: lost }, story)).toEqual({
      kind: "done",
      externalId: "6",
      url: null,
    });
  });

  test.each([
    ["a lost answer", lost],
    ["a 500", error(2, undefined, 500)],
    ["a transient error", error(1)],
    ["a 500 with another code", error(506, undefined, 500)],
    ["a 502 of a proxy", htmlPage(502)],
    ["a 403 of a firewall", htmlPage(403)],
    ["a 200 that is none", answer(200, "ok")],
  ])("publishing to Facebook is in doubt after %s", async (_what, reply) => {
    expect(await publish({ [FEED]: reply })).toMatchObject({
      kind: "unknown",
      failure: { code: "outcome_unknown" },
    });
  });

  test.each([
    [refusedToConnect, "try_later", "network_unavailable"],
    [error(613), "try_later", "rate_limited"],
    [error(190, 460), "rejected", "connection_needs_reauth"],
    [error(200), "rejected", "permission_missing"],
    [error(368, 1346003), "rejected", "content_rejected"],
    [error(100, 1609005), "rejected", "link_rejected"],
    [error(506), "rejected", "duplicate_content"],
  ])("certainly did not happen (%#)", async (reply, kind, code) => {
    expect(await publish({ [FEED]: reply })).toMatchObject({ kind, failure: { code } });
  });

  test("publishes photos later that are not found", async () => {
    expect(await publish({ [FEED]: error(100, 33) }, asPhotos)).toMatchObject({
      kind: "prepare_again",
      remote: asPhotos,
      failure: { code: "media_not_ready" },
    });
  });

  describe("what Facebook calls a duplicate", () => {
    const network = checkingRefusals(networkOf("facebook"));
    const checked = (
      http: NonNullable<Script["http"]>,
      remote: NetworkData = asText,
      sentAt = NOW,
    ) => network.perform(leg({}, { remote, sentAt, isUnpublished: true }), tools({ http }));
    const listed = answer(200, { data: [{ id: "42_5", message: "Hello" }] });
    const empty = answer(200, { data: [] });
    const duplicate = error(506);

    test("what Facebook calls a duplicate is our own post, when an earlier call may have made it", async () => {
      const http = { [FEED]: duplicate, [POSTS]: listed };
      expect(await checked(http, asText, ago(90))).toMatchObject({
        kind: "done",
        externalId: "42_5",
      });
    });

    test("what Facebook calls a duplicate is somebody else's, when no list shows one of ours after a minute", async () => {
      const others = answer(200, {
        data: [{ id: "42_4", message: "Hello", created_time: ago(300).toISOString() }],
      });
      const http = { [FEED]: duplicate, [POSTS]: others, [FEED_LIST]: empty };
      const outcome = await checked(http);
      expect(outcome).toMatchObject({ kind: "unknown", pollAfterSeconds: 60 });
      const later = leg({}, { remote: asText, sentAt: ago(60) });
      expect(await network.find(later, tools({ http }))).toMatchObject({
        kind: "refused",
        failure: { code: "duplicate_content", networkCode: "506" },
      });
    });

    test("what Facebook calls a duplicate is ours by its photos, which nobody else has", async () => {
      const attachments = { data: [{ media_type: "photo", target: { id: "2" } }] };
      const found = answer(200, { data: [{ id: "42_5", attachments }] });
      const http = { [FEED]: error(100, 1366051), [POSTS]: found };
      expect(await checked(http, asPhotos)).toMatchObject({ kind: "done" });
    });

    test("what Facebook calls a duplicate is ours by the story's photo", async () => {
      const story = { form: "photo_story", photos: ["1"] };
      const stories = answer(200, { data: [{ post_id: "6", media_id: "1" }] });
      const http = { [PHOTO_STORIES]: error(100, 1366051), [STORIES]: stories };
      expect(await checked(http, story)).toMatchObject({ externalId: "6" });
      expect(await checked({ ...http, [STORIES]: empty }, story)).toMatchObject({
        kind: "unknown",
      });
    });
  });

  test("falls back to the feed only where a reel was not asked for", async () => {
    const http = { [REELS]: error(100, 1363040) };
    const draft = { media: files(CLIP) };
    expect(await publish(http, asReel, draft)).toMatchObject({
      kind: "prepare_again",
      remote: { form: "video" },
      pollAfterSeconds: 0,
    });
    const asked = { ...draft, options: { kind: "reel" } };
    expect(await publish(http, asReel, asked)).toMatchObject({
      kind: "rejected",
      failure: { rule: "facebook.video.ratio" },
    });
  });

  test("judges by our own look a feed video that Facebook can't fetch", async () => {
    const published = leg({ media: files(CLIP) }, { remote: video, sentAt: NOW });
    const http = { [VIDEOS]: error(389) };
    const media = { [CLIP]: image({ contentType: "video/mp4" }) };
    expect(await facebook.calls.publish.perform(published, tools({ http, media }))).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected" },
    });
    expect(await facebook.calls.publish.perform(published, tools({ http }))).toMatchObject({
      kind: "try_later",
      failure: { code: "media_unreachable" },
    });
  });
});
