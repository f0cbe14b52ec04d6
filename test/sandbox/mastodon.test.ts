import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { countedLength } from "../../dev/networks/mastodon/text.ts";
import { useSandbox } from "./client.ts";
import type { Reply } from "./client.ts";

const at = useSandbox({ enforceRateLimits: true });
const STRICT = "mastodon.sandbox.test";
const LENIENT = "gotosocial.sandbox.test";
const file = (name: string) =>
  readFileSync(new URL(`../../dev/networks/media/${name}`, import.meta.url));
const PHOTO = file("photo.jpg");

let token: string;

function tokenFor(host: string, scopes?: readonly string[], username = "demo"): string {
  const grant = { host, username, ...(scopes === undefined ? {} : { scopes }) };
  return at.sandbox.networks.mastodon.issueToken(grant).accessToken;
}

interface PostOptions {
  readonly host?: string;
  readonly token?: string;
  readonly key?: string;
}

function post(json: Record<string, unknown>, options: PostOptions = {}): Promise<Reply> {
  return at.call(options.host ?? STRICT, "/api/v1/statuses", {
    token: options.token ?? token,
    json,
    ...(options.key === undefined ? {} : { headers: { "idempotency-key": options.key } }),
  });
}

interface UploadOptions extends PostOptions {
  readonly description?: string;
  readonly type?: string;
}

function upload(bytes: Uint8Array, options: UploadOptions = {}): Promise<Reply> {
  const form = new FormData();
  form.set(
    "file",
    new File([new Uint8Array(bytes)], "file", { type: options.type ?? "image/jpeg" }),
  );
  if (options.description !== undefined) form.set("description", options.description);
  return at.call(options.host ?? STRICT, "/api/v2/media", {
    token: options.token ?? token,
    body: form,
  });
}

async function mediaId(): Promise<string> {
  return String((await upload(PHOTO)).json["id"]);
}

beforeEach(() => {
  token = tokenFor(STRICT);
});

describe("an instance", () => {
  test.each(["/api/v1/instance", "/api/v2/instance"])("tells its limits at %s", async (path) => {
    expect((await at.call(STRICT, path)).json["configuration"]).toMatchObject({
      statuses: { max_characters: 500, max_media_attachments: 4, characters_reserved_per_url: 23 },
      media_attachments: { image_size_limit: 16_777_216, description_limit: 1500 },
    });
  });

  test("of any name is there, with accounts of its own", async () => {
    const other = "elsewhere.example";
    expect((await at.call(other, "/api/v2/instance")).json["domain"]).toBe(other);
    const reply = await post({ status: "from elsewhere" }, { host: other, token: tokenFor(other) });
    expect(reply.json["url"]).toMatch(/^https:\/\/elsewhere\.example\/@demo\/\d+$/);
  });

  test("takes no token of another instance", async () => {
    expect(await post({ status: "hi" }, { token: tokenFor("elsewhere.example") })).toMatchObject({
      status: 401,
      json: { error: "The access token is invalid" },
    });
  });
});

describe("a status", () => {
  test("is published with its text, link, mention and tag", async () => {
    const status = "Read https://example.com/a?b=1&c=2, @alice and @nobody #News\n\n<b>bold</b>";
    const reply = await post({ status, language: "en" });
    expect(reply).toMatchObject({ status: 200, json: { visibility: "public", language: "en" } });
    expect(reply.headers.get("x-ratelimit-limit")).toBe("300");
    expect(reply.headers.get("x-ratelimit-reset")).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(reply.json["content"]).toContain("&lt;b&gt;bold&lt;/b&gt;");
    const [published] = at.sandbox.posts("mastodon");
    expect(published?.text).toBe(status);
    expect(published?.segments.filter(({ href }) => href !== undefined)).toEqual([
      { text: "https://example.com/a?b=1&c=2", href: "https://example.com/a?b=1&c=2" },
      { text: "@alice", href: `https://${STRICT}/@alice` },
      { text: "#News", href: `https://${STRICT}/tags/news` },
    ]);
  });

  test("keeps its text when its HTML is read as text", async () => {
    const status =
      "Two paragraphs & a <tag>\nwith a break\n\nhttps://example.com/a/long/path/that/is/shortened?when=shown";
    const { content } = (await post({ status })).json;
    const text = String(content)
      .replaceAll("</p><p>", "\n\n")
      .replaceAll("<br />", "\n")
      .replaceAll(/<[^>]+>/g, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&");
    expect(text).toBe(status);
  });

  test("under one Idempotency-Key is published once within an hour, per account", async () => {
    const first = await post({ status: "once" }, { key: "leg-1" });
    const repeats = await Promise.all(
      [1, 2, 3].map(() => post({ status: "once" }, { key: "leg-1" })),
    );
    for (const repeat of repeats) expect(repeat.json["id"]).toBe(first.json["id"]);
    const alice = tokenFor(STRICT, undefined, "alice");
    const other = await post({ status: "once" }, { key: "leg-1", token: alice });
    expect(other.json["id"]).not.toBe(first.json["id"]);
    at.sandbox.advance(3_600_000);
    const late = await post({ status: "once" }, { key: "leg-1" });
    expect(late.json["id"]).not.toBe(first.json["id"]);
    expect(at.sandbox.posts().map(({ idempotencyKey }) => idempotencyKey)).toEqual(
      Array(3).fill("leg-1"),
    );
  });

  test.each([
    ["blank text", { status: " \n" }, "Validation failed: Text can't be blank"],
    [
      "501 characters",
      { status: "x".repeat(501) },
      "Validation failed: Text character limit of 500 exceeded",
    ],
    [
      "501 with its warning",
      { status: "x".repeat(490), spoiler_text: "y".repeat(11) },
      "limit of 500 exceeded",
    ],
    [
      "a visibility that is none",
      { status: "x", visibility: "everyone" },
      "not a valid visibility",
    ],
    ["unknown media", { status: "x", media_ids: ["1"] }, "Media 1 not found or already attached"],
    [
      "a date that is too near",
      { status: "x", scheduled_at: "2020-01-01T00:00:00Z" },
      "must be in the future",
    ],
  ])("with %s is a 422", async (_name, json, message) => {
    const reply = await post(json);
    expect(reply.status).toBe(422);
    expect(reply.json["error"]).toContain(message);
    expect(at.sandbox.posts()).toEqual([]);
  });

  test.each([
    ["Read https://example.com/a/very/long/path?x=1 by @alice@mastodon.example 👩‍👩‍👧", 40],
    ["example.com/not/shortened", 25],
    ["(https://example.com/in/parentheses)", 25],
    ["e\u0301 🇩🇪", 3],
  ])("%s counts as %s characters", (text, length) => {
    expect(countedLength(text)).toBe(length);
  });

  test("is read by its id and in its account's list, newest first", async () => {
    const first = await post({ status: "first" });
    const second = await post({ status: "second" });
    const account = (await at.call(STRICT, "/api/v1/accounts/verify_credentials", { token })).json;
    expect(account).toMatchObject({ username: "demo", url: `https://${STRICT}/@demo` });
    const list = await at.call(
      STRICT,
      `/api/v1/accounts/${String(account["id"])}/statuses?limit=20`,
    );
    expect(JSON.parse(list.text)).toMatchObject([
      { id: second.json["id"] },
      { id: first.json["id"] },
    ]);
    const one = await at.call(STRICT, `/api/v1/statuses/${String(first.json["id"])}`);
    expect(one.json["content"]).toBe("<p>first</p>");
    expect(await at.call(STRICT, "/api/v1/statuses/1")).toMatchObject({
      status: 404,
      json: { error: "Record not found" },
    });
  });

  test("that is private is shown to its author with the scope for it alone", async () => {
    const { id } = (await post({ status: "for followers", visibility: "private" })).json;
    const path = `/api/v1/statuses/${String(id)}`;
    expect((await at.call(STRICT, path)).status).toBe(404);
    expect((await at.call(STRICT, path, { token })).status).toBe(404);
    const reader = tokenFor(STRICT, ["read:statuses"]);
    expect((await at.call(STRICT, path, { token: reader })).status).toBe(200);
  });
});

describe("media", () => {
  test("an image is ready at once and carries its description", async () => {
    const reply = await upload(PHOTO, { description: "A lake" });
    expect(reply).toMatchObject({ status: 200, json: { type: "image", description: "A lake" } });
    expect(reply.json["url"]).toMatch(/^https:/);
    const { id } = reply.json;
    expect((await post({ media_ids: [id] })).status).toBe(200);
    expect(at.sandbox.posts()).toMatchObject([{ media: [{ alt: "A lake", bytes: PHOTO.length }] }]);
  });

  test.each([
    ["a video", "clip.mp4", "video/mp4", "video"],
    ["a GIF", "animation.gif", "image/gif", "gifv"],
  ])(
    "%s is processed: it can be looked at, and attached when it is ready",
    async (_name, name, type, kind) => {
      const reply = await upload(file(name), { type });
      expect(reply).toMatchObject({ status: 202, json: { type: kind, url: null } });
      const { id } = reply.json;
      const look = () => at.call(STRICT, `/api/v1/media/${String(id)}`, { token });
      expect(await post({ status: "too early", media_ids: [id] })).toMatchObject({
        status: 422,
        json: {
          error: "Cannot attach files that have not finished processing. Try again in a moment!",
        },
      });
      expect((await look()).status).toBe(206);
      expect((await look()).status).toBe(200);
      expect((await post({ status: "now", media_ids: [id] })).status).toBe(200);
      expect((await look()).status).toBe(404);
    },
  );

  test("a file is attached to one post only", async () => {
    const id = await mediaId();
    await post({ media_ids: [id] });
    const again = await post({ media_ids: [id] });
    expect(again).toMatchObject({ status: 422 });
    expect(again.json["error"]).toBe(`Media ${id} not found or already attached to another post`);
  });

  test("a file of another account is unknown", async () => {
    const id = await mediaId();
    const alice = tokenFor(STRICT, undefined, "alice");
    expect((await post({ media_ids: [id] }, { token: alice })).status).toBe(422);
    expect((await at.call(STRICT, `/api/v1/media/${id}`, { token: alice })).status).toBe(404);
  });

  test("five images, or a video among images, are refused", async () => {
    const ids = await Promise.all([1, 2, 3, 4, 5].map(() => mediaId()));
    expect((await post({ media_ids: ids })).json["error"]).toBe("Cannot attach more than 4 files");
    const video = await upload(file("clip.mp4"), { type: "video/mp4" });
    const mixed = await post({ media_ids: [ids[0], video.json["id"]] });
    expect(mixed.json["error"]).toBe(
      "Cannot attach a video to a post that already contains images",
    );
  });

  test.each([
    [
      "text called an image",
      Buffer.from("no image"),
      "image/jpeg",
      "File type of uploaded media could not be verified",
    ],
    [
      "a type it does not take",
      PHOTO,
      "application/pdf",
      "Validation failed: File content type is invalid",
    ],
    ["a JPEG called a PNG", PHOTO, "image/png", "not what they are reported to be"],
  ])("%s is refused", async (_name, bytes, type, message) => {
    const reply = await upload(bytes, { type });
    expect(reply.status).toBe(422);
    expect(reply.json["error"]).toContain(message);
  });

  test("a description that is too long, or no file at all, is refused", async () => {
    const long = await upload(PHOTO, { description: "x".repeat(1501) });
    expect(long.json["error"]).toContain("maximum is 1500 characters");
    const none = await at.call(STRICT, "/api/v2/media", { token, body: new FormData() });
    expect(none).toMatchObject({
      status: 422,
      json: { error: "Validation failed: File can't be blank" },
    });
  });

  test("the 31st upload within 30 minutes is refused until the time that the header says", async () => {
    for (let count = 0; count < 30; count += 1) expect((await upload(PHOTO)).status).toBe(200);
    const refused = await upload(PHOTO);
    expect(refused).toMatchObject({ status: 429, json: { error: "Too many requests" } });
    const reset = Date.parse(refused.headers.get("x-ratelimit-reset") ?? "");
    expect(reset).toBeGreaterThan(Date.now());
    at.sandbox.advance(30 * 60_000);
    expect((await upload(PHOTO)).status).toBe(200);
  });
});

describe("access", () => {
  test.each([
    ["posting without write:statuses", ["profile", "write:media"], () => post({ status: "x" })],
    ["uploading without write:media", ["profile", "write:statuses"], () => upload(PHOTO)],
    [
      "reading the account without profile",
      ["write:statuses"],
      () => at.call(STRICT, "/api/v1/accounts/verify_credentials", { token }),
    ],
  ])("%s is a 403", async (_name, scopes, run) => {
    token = tokenFor(STRICT, scopes);
    expect(await run()).toMatchObject({
      status: 403,
      json: { error: "This action is outside the authorized scopes" },
    });
  });

  test("a revoked token and a disabled account are told apart", async () => {
    at.sandbox.networks.mastodon.setDisabled(STRICT, "demo", true);
    expect(await post({ status: "x" })).toMatchObject({
      status: 403,
      json: { error: "Your login is currently disabled" },
    });
    at.sandbox.networks.mastodon.revokeTokens(STRICT);
    expect((await post({ status: "x" })).status).toBe(401);
  });
});

describe("a lenient compatible server", () => {
  const onLenient = () => ({ host: LENIENT, token: tokenFor(LENIENT) });

  test("ignores the Idempotency-Key: a repeat is a second post", async () => {
    const options = { ...onLenient(), key: "leg-1" };
    const [first, second] = [
      await post({ status: "x" }, options),
      await post({ status: "x" }, options),
    ];
    expect(second.json["id"]).not.toBe(first.json["id"]);
  });

  test("is done with a video at once, and has nothing to be looked at", async () => {
    const options = onLenient();
    const reply = await upload(file("clip.mp4"), { ...options, type: "video/mp4" });
    expect(reply.status).toBe(200);
    const { id } = reply.json;
    const look = await at.call(LENIENT, `/api/v1/media/${String(id)}`, { token: options.token });
    expect(look.status).toBe(404);
    expect(look.text).toContain("<h1>");
    expect((await post({ media_ids: [id] }, options)).status).toBe(200);
  });

  test("writes errors as an object, HTML or nothing", async () => {
    expect((await post({ status: "x" }, { host: LENIENT, token: "wrong" })).json["error"]).toEqual({
      code: 401,
      message: "The access token is invalid",
    });
    expect(await post({ status: "" }, onLenient())).toMatchObject({ status: 422, text: "" });
    expect((await at.call(LENIENT, "/.well-known/oauth-authorization-server")).text).toContain(
      "<h1>",
    );
  });

  test("checks neither scopes nor lengths, and publishes a scheduled post at once", async () => {
    const options = { host: LENIENT, token: tokenFor(LENIENT, ["profile"]) };
    const json = { status: "x".repeat(6000), scheduled_at: "2030-01-01T00:00:00Z" };
    expect((await post(json, options)).status).toBe(200);
    expect(at.sandbox.posts()).toHaveLength(1);
  });
});
