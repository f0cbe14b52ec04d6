import { describe, expect, test } from "vitest";
import { DEMO_PAGE } from "../../dev/networks/facebook/state.ts";
import { MEDIA, dataOf, errorOf, useFacebook } from "./facebook-calls.ts";

const { at, graph, post, feed, photo, shown } = useFacebook();

describe("posts", () => {
  test("a text goes live with the fields that were asked for", async () => {
    const reply = await graph(`/${DEMO_PAGE}/feed?fields=id,permalink_url`, {
      json: { message: "Fresh bread #today" },
    });
    const { id, permalink_url: url } = reply.json as { id: string; permalink_url: string };
    expect(id).toMatch(new RegExp(`^${DEMO_PAGE}_\\d+$`));
    expect(shown()).toMatchObject([{ id, url, text: "Fresh bread #today", card: null }]);
    expect((await at.call("www.facebook.com", new URL(url).pathname)).text).toContain(
      "Fresh bread",
    );
    const short = await at.call("www.facebook.com", `/${id}`);
    expect(short.headers.get("location")).toBe(url);
  });

  test("a link becomes a card, and form-encoded bodies are as good as JSON", async () => {
    const form = { message: "Read", link: "https://links.sandbox.test/article" };
    const reply = await graph(`/${DEMO_PAGE}/feed`, { form });
    expect(reply.status).toBe(200);
    expect(shown()[0]?.card?.title).toContain("lake at dawn");
  });

  test("photos are uploaded unseen and then shown in one post, with their alt texts", async () => {
    const ids = [
      await photo({ alt_text_custom: "A lake" }),
      await photo({ url: `${MEDIA}/photo-2.jpg` }),
    ];
    expect(shown()).toHaveLength(0);
    const attached_media = ids.map((id) => ({ media_fbid: id }));
    const { id } = (await feed({ message: "Two", attached_media })).json;
    expect(shown()).toMatchObject([{ id, media: [{ alt: "A lake" }, { alt: null }] }]);
    const fields =
      "id,message,created_time,permalink_url,attachments{media_type,target{id},subattachments{target{id}}}";
    const listed = dataOf(await graph(`/${DEMO_PAGE}/published_posts?fields=${fields}`));
    expect(listed).toMatchObject([
      {
        id,
        message: "Two",
        attachments: {
          data: [
            {
              media_type: "album",
              subattachments: { data: ids.map((photoId) => ({ target: { id: photoId } })) },
            },
          ],
        },
      },
    ]);
  });

  test("attached media may be written as Meta's form examples do", async () => {
    const form = { message: "One", "attached_media[0]": `{"media_fbid":"${await photo()}"}` };
    expect((await graph(`/${DEMO_PAGE}/feed`, { form })).status).toBe(200);
    expect(shown()[0]?.media).toHaveLength(1);
  });

  test("a photo is shown once and lives a day unshown", async () => {
    const attached_media = [{ media_fbid: await photo() }];
    expect((await feed({ attached_media })).status).toBe(200);
    expect(errorOf(await feed({ attached_media }))["error_subcode"]).toBe(1366051);
    const old = [{ media_fbid: await photo() }];
    at.sandbox.advance(24 * 3_600_000);
    expect(errorOf(await feed({ attached_media: old }))["code"]).toBe(100);
  });

  test.each([
    ["/missing.jpg", 324, 2069019],
    ["/not-an-image.jpg", 324, 2069019],
    ["/redirect-inside.jpg", 324, 2069019],
    ["/photo.webp", 100, 1366046],
    ["/huge.jpg", 100, 1366046],
  ])("%s is no photo for Facebook", async (path, number, subcode) => {
    const json = { url: MEDIA + path, published: false };
    const error = errorOf(await post(`/${DEMO_PAGE}/photos`, json));
    expect([error["code"], error["error_subcode"]]).toEqual([number, subcode]);
  });

  test("an address outside the sandbox is not dialled", async () => {
    const json = { url: "https://example.com/photo.jpg", published: false };
    expect(errorOf(await post(`/${DEMO_PAGE}/photos`, json))["code"]).toBe(324);
  });

  test.each([
    ["nothing", {}, 1349125],
    ["a link to Facebook itself", { link: "https://www.facebook.com/x" }, 1609008],
    ["a link that is none", { link: "nowhere" }, 2061006],
  ])("%s is refused", async (_name, json, subcode) => {
    expect(errorOf(await feed(json))["error_subcode"]).toBe(subcode);
  });

  test("a text beyond 63 206 characters is refused", async () => {
    expect((await feed({ message: "x".repeat(63_207) })).status).toBe(400);
    expect((await feed({ message: "x".repeat(63_206) })).status).toBe(200);
  });

  test("the same text again is a 506 for ten minutes, unless that is switched off", async () => {
    await feed({ message: "again" });
    expect(errorOf(await feed({ message: "again" }))["code"]).toBe(506);
    at.sandbox.advance(600_001);
    expect((await feed({ message: "again" })).status).toBe(200);
    at.sandbox.networks.facebook.refuseDuplicates(false);
    expect((await feed({ message: "again" })).status).toBe(200);
  });

  test("the list of posts starts where since says, and drafts are not in it", async () => {
    await feed({ message: "early" });
    at.sandbox.advance(60_000);
    const since = Math.floor((Date.now() + 59_000) / 1000);
    await feed({ message: "late" });
    await feed({ message: "draft", published: false });
    const listed = dataOf(await graph(`/${DEMO_PAGE}/published_posts?since=${since}`));
    expect(listed.map(({ message }) => message)).toEqual(["late"]);
    expect(shown()).toHaveLength(2);
  });

  test("an unknown field or object is refused in Graph's words", async () => {
    expect(errorOf(await graph("/me?fields=shoe_size"))["message"]).toContain(
      "nonexisting field (shoe_size)",
    );
    expect(errorOf(await graph("/123"))["error_subcode"]).toBe(33);
    expect(errorOf(await graph("/me?fields=id{"))["code"]).toBe(2500);
  });
});

test("an unshown photo may be asked for its fields at once", async () => {
  const reply = await graph(`/${DEMO_PAGE}/photos?fields=id,width,height`, {
    json: { url: `${MEDIA}/photo.jpg`, published: false },
  });
  expect(reply.json).toMatchObject({ width: 1200, height: 800 });
});
