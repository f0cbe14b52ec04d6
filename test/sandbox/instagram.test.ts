import { beforeEach, describe, expect, test } from "vitest";
import {
  CREATOR_ACCOUNT,
  DEMO_ACCOUNT,
  DEMO_INSTAGRAM_APP,
  PERSONAL_ACCOUNT,
} from "../../dev/networks/instagram/state.ts";
import { useSandbox } from "./client.ts";
import type { CallOptions, Reply } from "./client.ts";

const at = useSandbox();
const GRAPH = "graph.instagram.com";
const CALLBACK = "http://localhost:7071/api/v1/connect/callback/instagram";
const SCOPE = "instagram_business_basic,instagram_business_content_publish";
const MEDIA = "https://media.sandbox.test";
const DAY_MS = 24 * 3_600_000;

let token: string;

beforeEach(() => {
  token = at.sandbox.networks.instagram.issueToken().accessToken;
});

const graph = (path: string, options: CallOptions = {}): Promise<Reply> =>
  at.call(GRAPH, `/v26.0${path}`, { token, ...options });
const container = (form: Record<string, string>): Promise<Reply> =>
  graph(`/${DEMO_ACCOUNT}/media`, { form });
const publish = (id: unknown): Promise<Reply> =>
  graph(`/${DEMO_ACCOUNT}/media_publish`, { form: { creation_id: String(id) } });
const made = async (form: Record<string, string>) => String((await container(form)).json["id"]);
const image = (form: Record<string, string> = {}) =>
  made({ image_url: `${MEDIA}/portrait.jpg`, ...form });
const status = async (id: string) =>
  (await graph(`/${id}?fields=status_code,status`)).json as { status_code: string; status: string };
const shown = () => at.sandbox.posts("instagram");

function errorOf(reply: Reply): Record<string, unknown> {
  return (reply.json["error"] ?? {}) as Record<string, unknown>;
}

function codesOf(reply: Reply): unknown[] {
  return [errorOf(reply)["code"], errorOf(reply)["error_subcode"]];
}

function dataOf(reply: Reply): Record<string, unknown>[] {
  return reply.json["data"] as Record<string, unknown>[];
}

/** Looks until the container is done; returns how often it was not. */
async function settle(id: string): Promise<number> {
  for (let look = 0; look < 20; look += 1)
    if ((await status(id)).status_code !== "IN_PROGRESS") return look;
  throw new Error("the container is never done");
}

describe("consent", () => {
  const page = (change: Record<string, string> = {}) =>
    `/oauth/authorize?${new URLSearchParams({
      client_id: DEMO_INSTAGRAM_APP.id,
      redirect_uri: CALLBACK,
      response_type: "code",
      state: "the-state",
      scope: SCOPE,
      ...change,
    }).toString()}`;
  const decide = async (form: Record<string, string>) => {
    const reply = await at.call(null, page(), { form });
    expect(reply.status).toBe(303);
    const location = reply.headers.get("location") ?? "";
    expect(location.endsWith("#_")).toBe(true);
    return new URL(location).searchParams;
  };
  const code = async (form: Record<string, string> = {}) =>
    (await decide({ decision: "allow", ...form })).get("code") ?? "";
  const exchange = (form: Record<string, string>) =>
    at.call("api.instagram.com", "/oauth/access_token", {
      form: {
        client_id: DEMO_INSTAGRAM_APP.id,
        client_secret: DEMO_INSTAGRAM_APP.secret,
        grant_type: "authorization_code",
        redirect_uri: CALLBACK,
        ...form,
      },
    });
  const longToken = (short: string) =>
    at.call(
      GRAPH,
      `/access_token?${new URLSearchParams({
        grant_type: "ig_exchange_token",
        client_secret: DEMO_INSTAGRAM_APP.secret,
        access_token: short,
      }).toString()}`,
    );

  test("a person agrees and the code becomes a token of sixty days", async () => {
    expect((await at.call(null, page())).text).toContain("@demo.bakery");
    const answer = await decide({ decision: "allow" });
    expect(answer.get("state")).toBe("the-state");
    const [short] = dataOf(await exchange({ code: answer.get("code") ?? "" }));
    expect(short).toMatchObject({ user_id: DEMO_ACCOUNT, permissions: SCOPE });
    const long = await longToken(String(short?.["access_token"]));
    expect(long.json).toMatchObject({ token_type: "bearer", expires_in: 5_184_000 });
    token = String(long.json["access_token"]);
    const me = await graph("/me?fields=user_id,username,name,account_type,profile_picture_url");
    expect(me.json).toMatchObject({
      user_id: DEMO_ACCOUNT,
      username: "demo.bakery",
      account_type: "BUSINESS",
    });
    expect(me.json["id"]).not.toBe(DEMO_ACCOUNT);
  });

  test("the flat shape of the exchange is a switch away", async () => {
    at.sandbox.networks.instagram.setTokenShape("flat");
    const reply = await exchange({ code: await code() });
    expect(reply.json).toMatchObject({ user_id: DEMO_ACCOUNT, permissions: SCOPE.split(",") });
    expect(reply.json).not.toHaveProperty("data");
  });

  test("who cancels is sent back with access_denied", async () => {
    const answer = Object.fromEntries(await decide({ decision: "deny" }));
    expect(answer).toMatchObject({ error: "access_denied", error_reason: "user_denied" });
  });

  test("an unticked permission is not granted", async () => {
    const [short] = dataOf(await exchange({ code: await code({ asked: "yes" }) }));
    expect(short).toMatchObject({ permissions: "instagram_business_basic" });
    token = String(short?.["access_token"]);
    expect(errorOf(await container({ image_url: `${MEDIA}/photo.jpg` }))["code"]).toBe(10);
  });

  test("a personal account's token is refused as no Instagram Business", async () => {
    const [short] = dataOf(await exchange({ code: await code({ account: PERSONAL_ACCOUNT }) }));
    token = String(short?.["access_token"]);
    const reply = await graph("/me?fields=user_id");
    expect(reply.status).toBe(403);
    expect(errorOf(reply)["message"]).toContain("not an Instagram Business");
  });

  test.each([
    ["a Facebook app id", { client_id: "120000000000001" }, "Invalid platform app"],
    ["a foreign http address", { redirect_uri: "http://example.com/" }, "Invalid redirect_uri"],
    ["a scope of old", { scope: "business_basic" }, "Invalid scope"],
    ["another response type", { response_type: "token" }, "Invalid response_type"],
  ])("%s ends on an error page", async (_name, change, message) => {
    const reply = await at.call(null, page(change));
    expect(reply.status).toBe(400);
    expect(reply.text).toContain(message);
  });

  test.each([
    ["for another redirect address", { redirect_uri: `${CALLBACK}/` }],
    ["with a wrong secret", { client_secret: "wrong" }],
    ["of another app", { client_id: "1" }],
    ["that nobody gave out", { code: "made-up" }],
    ["with another grant type", { grant_type: "password" }],
  ])("a code %s is refused", async (_name, change) => {
    const reply = await exchange({ code: await code(), ...change });
    expect(reply).toMatchObject({ status: 400, json: { error_type: "OAuthException", code: 400 } });
    expect(reply.json["error_message"]).not.toBe("");
  });

  test("a code works once and for an hour, and only as a form", async () => {
    const used = await code();
    const json = { client_id: DEMO_INSTAGRAM_APP.id, code: used };
    expect((await at.call("api.instagram.com", "/oauth/access_token", { json })).status).toBe(400);
    expect((await exchange({ code: used })).status).toBe(200);
    expect((await exchange({ code: used })).status).toBe(400);
    const late = await code();
    at.sandbox.advance(3_600_000);
    expect((await exchange({ code: late })).status).toBe(400);
  });

  test("a long-lived token is not exchanged again", async () => {
    expect((await longToken(token)).status).toBe(400);
  });

  test("Mastodon's page at the same path goes on working", async () => {
    const reply = await at.call("mastodon.sandbox.test", "/oauth/authorize?client_id=x");
    expect(reply.text).toContain("unknown client");
  });
});

describe("tokens", () => {
  const refresh = () =>
    at.call(GRAPH, `/refresh_access_token?grant_type=ig_refresh_token&access_token=${token}`);

  test("are refreshed when a day old, and not before", async () => {
    expect(errorOf(await refresh())["message"]).toContain("24 hours");
    at.sandbox.advance(DAY_MS);
    const reply = await refresh();
    expect(reply.json).toMatchObject({ expires_in: 5_184_000 });
    expect(reply.json["access_token"]).not.toBe(token);
  });

  test("end after sixty days, and are not refreshed then", async () => {
    at.sandbox.advance(60 * DAY_MS);
    expect(codesOf(await graph("/me"))).toEqual([190, 463]);
    expect(codesOf(await refresh())).toEqual([190, 463]);
  });

  const instagram = () => at.sandbox.networks.instagram;
  test.each([
    ["revoked", () => instagram().revokeToken(), [190, 460]],
    ["expired", () => instagram().expireToken(), [190, 463]],
    [
      "without the permission",
      () => instagram().declinePermission("instagram_business_content_publish"),
      [10, undefined],
    ],
    [
      "of a restricted account",
      () => instagram().restrictAccount(DEMO_ACCOUNT, true),
      [25, 2207050],
    ],
  ])("that are %s can't publish", async (_name, change, codes) => {
    change();
    expect(codesOf(await container({ image_url: `${MEDIA}/photo.jpg` }))).toEqual(codes);
  });

  test("are of no use on another account's path, nor with the id that belongs to the app", async () => {
    const form = { image_url: `${MEDIA}/photo.jpg` };
    const scoped = at.sandbox.networks.instagram.accounts[0]?.scopedId ?? "";
    for (const id of [CREATOR_ACCOUNT, scoped])
      expect(codesOf(await graph(`/${id}/media`, { form }))).toEqual([100, 33]);
    expect((await graph("/me/media", { form })).status).toBe(200);
  });

  test.each(["/v19.0/me", "/me", "/v99.0/me"])("a call to %s is refused", async (path) => {
    expect((await at.call(GRAPH, path, { token })).status).toBe(400);
  });
});

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
    token = at.sandbox.networks.instagram.issueToken({ userId: CREATOR_ACCOUNT }).accessToken;
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
