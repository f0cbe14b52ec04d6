import { describe, expect, test } from "vitest";
import { CREATOR_ACCOUNT, DEMO_ACCOUNT } from "../../dev/networks/instagram/state.ts";
import { useSandbox } from "./client.ts";
import { DAY_MS, GRAPH, MEDIA, codesOf, dataOf, errorOf, useInstagram } from "./instagram-calls.ts";

const { at, speakWith, graph, container, publish, made, image, status, shown, settle } =
  useInstagram();

describe("publishing", () => {
  test("an image is contained, published once and found in the list", async () => {
    const id = await image({ caption: "Crumb shot #bread https://example.com", alt_text: "Bread" });
    expect((await status(id)).status_code).toBe("FINISHED");
    expect(shown()).toHaveLength(0);
    const { id: mediaId } = (await publish(id)).json;
    expect((await status(id)).status_code).toBe("PUBLISHED");
    expect(codesOf(await publish(id))).toEqual([24, 2207006]);
    const fields = "id,caption,timestamp,permalink,media_type,shortcode";
    const [listed] = dataOf(await graph(`/${DEMO_ACCOUNT}/media?fields=${fields}&limit=10`));
    expect(listed).toMatchObject({ id: mediaId, media_type: "IMAGE" });
    const read = await graph(`/${String(mediaId)}?fields=permalink,shortcode,timestamp`);
    expect(read.json["permalink"]).toBe(listed?.["permalink"]);
    expect(shown()).toMatchObject([
      { id: mediaId, url: listed?.["permalink"], media: [{ kind: "image", alt: "Bread" }] },
    ]);
    const links = shown()[0]?.segments.filter(({ href }) => href !== undefined);
    expect(links?.map(({ text }) => text)).toEqual(["#bread"]);
    const { pathname } = new URL(String(listed?.["permalink"]));
    expect((await at.call("www.instagram.com", pathname)).text).toContain("Crumb shot");
  });

  test("a carousel shows its children, which can't be used again", async () => {
    const children = [
      await image({ is_carousel_item: "true", alt_text: "First" }),
      await made({
        media_type: "VIDEO",
        video_url: `${MEDIA}/clip.mp4`,
        is_carousel_item: "true",
      }),
    ];
    const form = { media_type: "CAROUSEL", children: children.join(","), caption: "Both" };
    expect(codesOf(await container(form))).toEqual([9007, 2207027]);
    expect(await settle(children[1] ?? "")).toBe(2);
    await publish(await made(form));
    expect(shown()).toMatchObject([
      {
        form: "carousel",
        text: "Both",
        media: [{ kind: "image", alt: "First" }, { kind: "video" }],
      },
    ]);
    expect((await container(form)).status).toBe(400);
  });

  test("a reel is processed before it can be published", async () => {
    const id = await made({
      media_type: "REELS",
      video_url: `${MEDIA}/clip.mp4`,
      caption: "A reel",
      share_to_feed: "true",
      thumb_offset: "1000",
    });
    expect(codesOf(await publish(id))).toEqual([9007, 2207027]);
    expect(await settle(id)).toBe(2);
    await publish(id);
    expect(shown()).toMatchObject([{ form: "reel", text: "A reel" }]);
    expect(shown()[0]?.url).toContain("/reel/");
  });

  test("stories of both kinds are listed for a day, and have no caption", async () => {
    const first = await image({ media_type: "STORIES", caption: "ignored" });
    const second = await made({ media_type: "STORIES", video_url: `${MEDIA}/clip.mp4` });
    await settle(second);
    for (const id of [first, second]) expect((await publish(id)).status).toBe(200);
    expect(dataOf(await graph(`/${DEMO_ACCOUNT}/stories?fields=id,permalink`))).toHaveLength(2);
    expect(dataOf(await graph(`/${DEMO_ACCOUNT}/media`))).toHaveLength(0);
    expect(shown()).toMatchObject([
      { form: "story", text: "" },
      { form: "story", text: "" },
    ]);
    at.sandbox.advance(DAY_MS);
    expect(dataOf(await graph(`/${DEMO_ACCOUNT}/stories`))).toHaveLength(0);
  });

  test("a creator has no stories", async () => {
    speakWith(at.sandbox.networks.instagram.issueToken({ userId: CREATOR_ACCOUNT }).accessToken);
    const form = { media_type: "STORIES", image_url: `${MEDIA}/portrait.jpg` };
    expect(errorOf(await graph(`/${CREATOR_ACCOUNT}/media`, { form }))["message"]).toContain(
      "not an Instagram Business",
    );
  });

  test("a container lives a day, published or not", async () => {
    const id = await image();
    at.sandbox.advance(DAY_MS);
    expect((await status(id)).status_code).toBe("EXPIRED");
    expect(codesOf(await publish(id))).toEqual([24, 2207008]);
  });

  test.each([
    ["a PNG", { image_url: `${MEDIA}/photo.png` }, [36001, 2207005]],
    ["a WebP", { image_url: `${MEDIA}/photo.webp` }, [36001, 2207005]],
    ["a file over 8 MiB", { image_url: `${MEDIA}/huge.jpg` }, [36000, 2207004]],
    ["text called image/jpeg", { image_url: `${MEDIA}/not-an-image.jpg` }, [9004, 2207052]],
    ["a missing file", { image_url: `${MEDIA}/missing.jpg` }, [9004, 2207052]],
    ["an address outside the sandbox", { image_url: "https://example.com/a.jpg" }, [9004, 2207052]],
    ["an address with umlauts", { image_url: `${MEDIA}/föto.jpg` }, [9004, 2207052]],
    ["no file", { caption: "only text" }, [100, undefined]],
    ["an unknown type", { media_type: "TEXT" }, [100, 2207023]],
    ["a lone VIDEO", { media_type: "VIDEO", video_url: `${MEDIA}/clip.mp4` }, [100, undefined]],
    [
      "a cover beyond the end",
      { media_type: "REELS", video_url: `${MEDIA}/clip.mp4`, thumb_offset: "9000" },
      [1, 2207057],
    ],
    ["a carousel of one", { media_type: "CAROUSEL", children: "1" }, [100, 2207028]],
    [
      "an alt text for a video",
      { media_type: "REELS", video_url: `${MEDIA}/clip.mp4`, alt_text: "x" },
      [100, undefined],
    ],
    [
      "an alt text of 1001 characters",
      { image_url: `${MEDIA}/photo.jpg`, alt_text: "x".repeat(1001) },
      [100, undefined],
    ],
  ])("%s is refused", async (_name, form, codes) => {
    const reply = await container(form);
    expect(reply.status).toBe(400);
    expect(codesOf(reply)).toEqual(codes);
  });

  test.each([
    ["2200 characters", "x".repeat(2200), 200, undefined],
    ["2201 characters", "x".repeat(2201), 400, 2207010],
    ["31 hashtags", "#a ".repeat(31), 400, 2207010],
    ["21 mentions", "@demo ".repeat(21), 400, 2207040],
  ])("a caption of %s", async (_name, caption, code, subcode) => {
    const reply = await container({ image_url: `${MEDIA}/photo.jpg`, caption });
    expect(reply.status).toBe(code);
    expect(errorOf(reply)["error_subcode"]).toBe(subcode);
  });

  test.each([
    ["can't be fetched", "/missing.mp4", "2207052"],
    ["is none", "/photo.jpg", "2207026"],
  ])("a video that %s ends in ERROR, with the code in the status", async (_name, path, subcode) => {
    const id = await made({ media_type: "REELS", video_url: MEDIA + path });
    await settle(id);
    expect(await status(id)).toMatchObject({
      status_code: "ERROR",
      status: `Error: Media upload has failed with error code ${subcode}`,
    });
    expect(codesOf(await publish(id))).toEqual([-1, 2207032]);
  });

  test("the quota of a day is told, and enforced once it is set", async () => {
    const { instagram } = at.sandbox.networks;
    await publish(await image());
    instagram.setQuotaUsed(DEMO_ACCOUNT, 48);
    const limit = async () =>
      dataOf(await graph(`/${DEMO_ACCOUNT}/content_publishing_limit?fields=quota_usage,config`))[0];
    expect(await limit()).toEqual({
      quota_usage: 49,
      config: { quota_total: 50, quota_duration: 86_400 },
    });
    expect((await publish(await image())).status).toBe(200);
    const over = await image();
    expect(codesOf(await publish(over))).toEqual([9, 2207042]);
    instagram.setQuotaTotal(100);
    expect((await publish(over)).status).toBe(200);
  });
});

describe("magic words", () => {
  test.each([
    ["text_too_long", [36004, 2207010]],
    ["text_invalid", [100, 2207040]],
    ["media_rejected", [36001, 2207005]],
    ["media_unreachable", [9004, 2207052]],
  ])("[fail:%s] is found when the container is made", async (code, codes) => {
    const reply = await container({
      image_url: `${MEDIA}/photo.jpg`,
      caption: `x [fail:${code}]`,
    });
    expect(codesOf(reply)).toEqual(codes);
  });

  test.each([
    ["network_unavailable", [2, undefined]],
    ["rate_limited", [80002, undefined]],
    ["quota_exceeded", [9, 2207042]],
    ["connection_needs_reauth", [190, 460]],
    ["permission_missing", [10, undefined]],
    ["account_restricted", [25, 2207050]],
    ["content_rejected", [4, 2207051]],
    ["invalid_request", [100, undefined]],
  ])("[fail:%s] is found when it is published", async (code, codes) => {
    const id = await image({ caption: `x [fail:${code}]` });
    expect(codesOf(await publish(id))).toEqual(codes);
    expect(shown()).toHaveLength(0);
  });

  test("[fail:media_processing_failed] shows in the container's status", async () => {
    const id = await image({ caption: "x [fail:media_processing_failed]" });
    expect((await status(id)).status_code).toBe("ERROR");
  });

  test("a story drops its caption and still hears its magic words", async () => {
    const id = await image({ media_type: "STORIES", caption: "x [fail:quota_exceeded]" });
    expect(codesOf(await publish(id))).toEqual([9, 2207042]);
  });

  test("[fail:media_rejected] is said of a video in its own words", async () => {
    const reply = await container({
      media_type: "REELS",
      video_url: `${MEDIA}/clip.mp4`,
      caption: "x [fail:media_rejected]",
    });
    expect(codesOf(reply)).toEqual([352, 2207026]);
  });

  test("[fail:network_unavailable:1] fails once, also when the container is made anew", async () => {
    const caption = "x [fail:network_unavailable:1]";
    expect((await publish(await image({ caption }))).status).toBe(500);
    expect((await publish(await image({ caption }))).status).toBe(200);
  });

  test("[processing:3] needs three looks", async () => {
    expect(await settle(await image({ caption: "x [processing:3]" }))).toBe(3);
  });

  test("[drop-answer] publishes and loses the answer; the container tells", async () => {
    const id = await image({ caption: "x [drop-answer]" });
    await expect(publish(id)).rejects.toThrow("fetch failed");
    expect((await status(id)).status_code).toBe("PUBLISHED");
    expect(shown()).toHaveLength(1);
  });

  test("[error-after] publishes behind an HTML 502 page", async () => {
    expect((await publish(await image({ caption: "x [error-after]" }))).status).toBe(502);
    expect(shown()).toHaveLength(1);
  });
});

test("accounts, tokens and posts are kept as JSON and read back", async () => {
  await publish(await image({ caption: "kept" }));
  const { instagram } = at.sandbox.networks;
  const dumped: unknown = JSON.parse(JSON.stringify(instagram.dump()));
  instagram.reset();
  expect(shown()).toHaveLength(0);
  instagram.restore(dumped);
  expect(shown()).toMatchObject([{ text: "kept" }]);
  expect((await graph("/me")).status).toBe(200);
});

describe("with limits enforced", () => {
  const strict = useSandbox({ enforceRateLimits: true });

  test("the fifty-first post of a day is refused, and the first one of the next is not", async () => {
    const issued = strict.sandbox.networks.instagram.issueToken();
    const call = (path: string, form: Record<string, string>) =>
      strict.call(GRAPH, `/v26.0/me${path}`, { token: issued.accessToken, form });
    const one = async () => {
      const { id } = (await call("/media", { image_url: `${MEDIA}/photo.jpg` })).json;
      return call("/media_publish", { creation_id: String(id) });
    };
    for (let count = 0; count < 50; count += 1) expect((await one()).status).toBe(200);
    expect(codesOf(await one())).toEqual([9, 2207042]);
    strict.sandbox.advance(DAY_MS);
    expect((await one()).status).toBe(200);
  });
});
