import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { DEMO_PAGE } from "../../dev/networks/facebook/state.ts";
import { MEDIA, dataOf, errorOf, useFacebook } from "./facebook-calls.ts";

let page: string;

const { at, graph, post, photo, shown } = useFacebook((fresh) => {
  page = fresh.page;
});

const CLIP = readFileSync(new URL("../../dev/networks/media/clip.mp4", import.meta.url));

describe("videos", () => {
  const start = async (edge = "video_reels") => {
    const { video_id: id, upload_url: url } = (
      await post(`/${DEMO_PAGE}/${edge}`, { upload_phase: "start" })
    ).json as { video_id: string; upload_url: string };
    return { id, url: new URL(url) };
  };
  const upload = (url: URL, headers: Record<string, string>, body?: Buffer) =>
    at.call(url.host, url.pathname, {
      method: "POST",
      headers: { authorization: `OAuth ${page}`, ...headers },
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
    });
  const status = async (id: string) =>
    (await graph(`/${id}?fields=status,permalink_url`)).json as {
      status: Record<string, string | Record<string, unknown>>;
      permalink_url?: string;
    };
  const finish = (id: string, more: Record<string, unknown> = {}, edge = "video_reels") =>
    post(`/${DEMO_PAGE}/${edge}`, {
      video_id: id,
      upload_phase: "finish",
      video_state: "PUBLISHED",
      description: "A reel",
      ...more,
    });
  const whole = { offset: "0", file_size: String(CLIP.length) };

  test("a reel is uploaded, finished, processed and only then seen", async () => {
    const { id, url } = await start();
    expect((await status(id)).status["video_status"]).toBe("uploading");
    expect((await upload(url, whole, CLIP)).json).toEqual({ success: true });
    expect((await status(id)).status["video_status"]).toBe("upload_complete");
    expect((await finish(id)).json).toMatchObject({ success: true });
    expect(shown()).toHaveLength(0);
    expect((await status(id)).status["video_status"]).toBe("processing");
    const ready = await status(id);
    expect(ready.status).toMatchObject({
      video_status: "ready",
      publishing_phase: { status: "complete", publish_status: "published" },
    });
    expect(ready.permalink_url).toBe(`/reel/${id}/`);
    expect(shown()).toMatchObject([
      { form: "reel", text: "A reel", media: [{ kind: "video", bytes: CLIP.length }] },
    ]);
    expect((await finish(id)).status).toBe(200);
    expect(shown()).toHaveLength(1);
  });

  test("Meta pulls a file by its address, and an upload goes on where it was cut", async () => {
    const pulled = await start();
    await upload(pulled.url, { file_url: `${MEDIA}/clip.mp4` });
    expect((await status(pulled.id)).status["video_status"]).toBe("upload_complete");
    const { id, url } = await start();
    await upload(url, whole, CLIP.subarray(0, 5000));
    expect((await status(id)).status["uploading_phase"]).toMatchObject({
      status: "in_progress",
      bytes_transfered: 5000,
    });
    const wrong = await upload(url, { ...whole, offset: "4000" }, CLIP.subarray(4000));
    expect(wrong).toMatchObject({
      status: 400,
      json: { debug_info: { type: "OffsetInvalidError" } },
    });
    await upload(url, { ...whole, offset: "5000" }, CLIP.subarray(5000));
    expect((await status(id)).status["video_status"]).toBe("upload_complete");
  });

  test("an upload wants the page's token as OAuth, and an address that can be fetched", async () => {
    const { id, url } = await start();
    const bearer = { authorization: `Bearer ${page}`, ...whole };
    expect((await upload(url, bearer, CLIP)).status).toBe(401);
    await upload(url, { file_url: `${MEDIA}/missing.mp4` });
    expect((await status(id)).status).toMatchObject({
      video_status: "upload_failed",
      uploading_phase: { status: "error" },
    });
    expect(errorOf(await finish(id))["code"]).toBe(6000);
  });

  test("what is no video ends in an error and is never seen", async () => {
    const { id, url } = await start();
    const text = Buffer.from("no video at all");
    await upload(url, { offset: "0", file_size: String(text.length) }, text);
    expect((await finish(id)).status).toBe(200);
    await status(id);
    expect((await status(id)).status).toMatchObject({
      video_status: "error",
      processing_phase: { status: "error" },
    });
    expect(shown()).toHaveLength(0);
  });

  test.each([
    ["media_processing_failed", 200, "error"],
    ["media_rejected", 400, "upload_complete"],
  ])("[fail:%s] in a reel's description", async (code, answer, state) => {
    const { id, url } = await start();
    await upload(url, whole, CLIP);
    expect((await finish(id, { description: `x [fail:${code}]` })).status).toBe(answer);
    for (let look = 0; look < 2; look += 1) await status(id);
    expect((await status(id)).status["video_status"]).toBe(state);
    expect(shown()).toHaveLength(0);
  });

  test("a video in the feed is one call", async () => {
    const reply = await graph(`/${DEMO_PAGE}/videos?fields=id,permalink_url`, {
      json: { file_url: `${MEDIA}/clip.mp4`, description: "A clip", title: "Clip" },
    });
    const { id } = reply.json as { id: string };
    await status(id);
    await status(id);
    expect(shown()).toMatchObject([{ text: "A clip", media: [{ title: "Clip" }] }]);
    const missing = await post(`/${DEMO_PAGE}/videos`, { file_url: `${MEDIA}/missing.mp4` });
    expect(errorOf(missing)["code"]).toBe(389);
  });

  test("stories of both kinds are listed with what they show", async () => {
    const photoId = await photo();
    const first = await post(`/${DEMO_PAGE}/photo_stories`, { photo_id: photoId });
    expect(first.json).toMatchObject({ success: true });
    const again = await post(`/${DEMO_PAGE}/photo_stories`, { photo_id: photoId });
    expect(errorOf(again)["error_subcode"]).toBe(1366051);
    const { id, url } = await start("video_stories");
    await upload(url, whole, CLIP);
    const { post_id } = (await finish(id, {}, "video_stories")).json;
    for (let look = 0; look < 2; look += 1) await status(id);
    const listed = dataOf(await graph(`/${DEMO_PAGE}/stories?since=1`));
    expect(listed).toMatchObject([
      { post_id, media_type: "video", media_id: id, status: "published" },
      { media_type: "photo", media_id: photoId },
    ]);
    expect(shown().map(({ form }) => form)).toEqual(["story", "story"]);
    at.sandbox.advance(24 * 3_600_000);
    expect(dataOf(await graph(`/${DEMO_PAGE}/stories`))[0]).toMatchObject({ status: "archived" });
  });

  test("the thirty-first reel of a day is refused, with the wait in the header", async () => {
    at.sandbox.networks.facebook.setQuotaUsed(DEMO_PAGE, 30);
    const { id, url } = await start();
    await upload(url, whole, CLIP);
    const refused = await finish(id);
    expect(errorOf(refused)["code"]).toBe(80001);
    const use = JSON.parse(refused.headers.get("x-business-use-case-usage") ?? "{}") as Record<
      string,
      Record<string, unknown>[]
    >;
    expect(use[DEMO_PAGE]?.[0]?.["estimated_time_to_regain_access"]).toBe(1440);
    at.sandbox.advance(24 * 3_600_000);
    expect((await finish(id)).status).toBe(200);
  });
});
