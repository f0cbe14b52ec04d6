import { describe, expect, test } from "vitest";
import { aProfile, dataOf } from "../setup/factories.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { forFile } from "../setup/for-file.ts";

const { relay, sandbox } = useSandboxedRelay();
const publisher = forFile(() => aPublisher(relay));

const get = (path: string, from = publisher) => from.call("GET", path);
const post = (path: string, body: unknown, from = publisher) => from.call("POST", path, { body });

const BLUESKY = { platforms: ["bluesky"] };
const MEDIA = "https://media.sandbox.test/photo.jpg";

/** A body, and the path of every field that has to be named. */
const BAD_BODIES: readonly (readonly [string, unknown, readonly string[]])[] = [
  ["no body", undefined, ["platforms"]],
  ["an empty object", {}, ["platforms"]],
  ["an array", [], ["body"]],
  ["no platform", { text: "x", platforms: [] }, ["platforms"]],
  ["an unknown platform", { text: "x", platforms: ["myspace"] }, ["platforms.0"]],
  ["a platform twice", { text: "x", platforms: ["bluesky", "bluesky"] }, ["platforms"]],
  ["platforms that are text", { text: "x", platforms: "bluesky" }, ["platforms"]],
  ["text that is a number", { ...BLUESKY, text: 1 }, ["text"]],
  ["text without end", { ...BLUESKY, text: "x".repeat(63_207) }, ["text"]],
  ["half a surrogate pair", { ...BLUESKY, text: "\ud83d" }, ["text"]],
  ["a NUL character", { ...BLUESKY, text: "a\u0000b" }, ["text"]],
  ["an http media URL", { ...BLUESKY, mediaUrls: ["http://a.test/b.jpg"] }, ["mediaUrls.0"]],
  [
    "a media URL with a password",
    { ...BLUESKY, mediaUrls: ["https://a:b@c.test/"] },
    ["mediaUrls.0"],
  ],
  ["21 media URLs", { ...BLUESKY, mediaUrls: Array(21).fill(MEDIA) }, ["mediaUrls"]],
  [
    "alt texts of another length",
    { ...BLUESKY, mediaUrls: [MEDIA], altTexts: ["a", "b"] },
    ["altTexts"],
  ],
  [
    "an alt text that is too long",
    { ...BLUESKY, mediaUrls: [MEDIA], altTexts: ["x".repeat(10_001)] },
    ["altTexts.0"],
  ],
  ["a naive time", { ...BLUESKY, scheduleAt: "2030-01-01T00:00:00" }, ["scheduleAt"]],
  [
    "options of another platform",
    { ...BLUESKY, platformOptions: { mastodon: {} } },
    ["platformOptions.mastodon"],
  ],
  [
    "options of no platform",
    { ...BLUESKY, platformOptions: { myspace: {} } },
    ["platformOptions.myspace"],
  ],
  [
    "an unknown option",
    { ...BLUESKY, platformOptions: { bluesky: { color: 1 } } },
    ["platformOptions.bluesky.color"],
  ],
  [
    "a wrong option",
    { ...BLUESKY, platformOptions: { bluesky: { langs: "en" } } },
    ["platformOptions.bluesky.langs"],
  ],
  ["an unknown field", { ...BLUESKY, text: "x", color: "red" }, ["color"]],
  ["a protected field", { ...BLUESKY, text: "x", status: "succeeded" }, ["status"]],
  ["metadata that is no text", { ...BLUESKY, metadata: { a: 1 } }, ["metadata.a"]],
  [
    "too many metadata names",
    {
      ...BLUESKY,
      metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`n${n}`, ""])),
    },
    ["metadata"],
  ],
  ["a long externalId", { ...BLUESKY, externalId: "x".repeat(256) }, ["externalId"]],
  [
    "everything at once",
    { text: 1, platforms: ["x"], mediaUrls: ["y"], scheduleAt: "z", color: 1 },
    ["text", "platforms.0", "mediaUrls.0", "scheduleAt", "color"],
  ],
];

describe.each(["/v1/posts", "/v1/posts/validate"])("POST %s with bad input", (path) => {
  test.each(BAD_BODIES)(
    "%s names every field, and writes and charges nothing",
    async (_, body, paths) => {
      const before = await publisher.balance();
      const answer = await relay.call("POST", path, {
        key: publisher.key,
        headers: { ...publisher.headers, "idempotency-key": "bad-input-key" },
        body,
      });
      expect(answer).toMatchObject({ status: 400, body: { error: { code: "validation_failed" } } });
      const { details, message, requestId } = answer.body.error;
      const named = details.issues.map((issue: { path: string }) => issue.path);
      expect(named).toEqual(expect.arrayContaining([...paths]));
      expect(message).not.toBe("");
      expect(answer.headers.get("x-request-id")).toBe(requestId);
      expect(await publisher.balance()).toEqual(before);
      expect(dataOf(await get("/v1/posts"))).toEqual([]);
    },
  );

  test("a day that is over everywhere is told both: it has no offset, and it is over", async () => {
    const codes = async (scheduleAt: string) => {
      const answer = await relay.call("POST", path, {
        key: publisher.key,
        headers: { ...publisher.headers, "idempotency-key": "bad-input-key" },
        body: { ...BLUESKY, scheduleAt },
      });
      const { issues } = answer.body.error.details;
      return issues.map((issue: { path: string; code: string }) => `${issue.path} ${issue.code}`);
    };
    const both = ["scheduleAt invalid_format", "scheduleAt out_of_range"];
    expect(await codes("2020-01-01")).toEqual(both);
    expect(await codes("2020-01-01T10:00")).toEqual(both);
    expect(await codes("2999-01-01")).toEqual(both.slice(0, 1));
    expect(await codes("soon")).toEqual(both.slice(0, 1));
  });

  test.each<[string, string | Uint8Array, string, number, string]>([
    ["half of a JSON text", '{"text":', "application/json", 400, "invalid_json"],
    [
      "bytes that are no UTF-8",
      new Uint8Array([0xff, 0xfe]),
      "application/json",
      400,
      "invalid_json",
    ],
    ["a form", "text=x", "application/x-www-form-urlencoded", 415, "unsupported_media_type"],
    ["no type", '{"text":"x"}', "", 415, "unsupported_media_type"],
    ["too much", `{"text":"${"x".repeat(262_144)}"}`, "application/json", 413, "payload_too_large"],
    [
      "a reach for the prototype",
      '{"__proto__":{"a":1}}',
      "application/json",
      400,
      "validation_failed",
    ],
    [
      "a deep nest",
      `${'{"a":'.repeat(50)}1${"}".repeat(50)}`,
      "application/json",
      400,
      "validation_failed",
    ],
  ])("refuses %s", async (...refused) => {
    const [, rawBody, type, status, code] = refused;
    const answer = await relay.call("POST", path, {
      key: publisher.key,
      headers: { ...publisher.headers, "idempotency-key": "bad-input-key", "content-type": type },
      rawBody,
    });
    expect(answer).toMatchObject({ status, body: { error: { code } } });
  });
});

describe("POST /v1/posts/validate", () => {
  test("costs one token, tells what each network says, and publishes nothing", async () => {
    const before = await publisher.balance();
    const text = "x".repeat(350);
    const answer = await post("/v1/posts/validate", {
      text,
      platforms: ["bluesky", "mastodon", "linkedin"],
    });
    expect(dataOf(answer)).toMatchObject({
      valid: false,
      tokensEstimate: 10,
      platforms: {
        bluesky: {
          valid: false,
          errors: [{ code: "text_too_long", rule: "bluesky.text.graphemes", field: "text" }],
          usedCharacters: 350,
          maxCharacters: 300,
          connection: { status: "active" },
        },
        mastodon: { valid: true, errors: [], maxCharacters: 500 },
        linkedin: { valid: false, connection: null },
      },
      media: [],
    });
    const after = await publisher.balance();
    expect(after.tokenBalance).toBe(before.tokenBalance - 1);
    expect(sandbox.posts().filter((found) => found.text.includes(text))).toEqual([]);
  });

  test("charges every call although the caller repeats its request id", async () => {
    const before = await publisher.balance();
    const headers = { ...publisher.headers, "x-request-id": "the-same-id-twice" };
    const call = { key: publisher.key, headers, body: { ...BLUESKY, text: "Hello" } };
    for (const _ of [1, 2]) dataOf(await relay.call("POST", "/v1/posts/validate", call));
    expect((await publisher.balance()).tokenBalance).toBe(before.tokenBalance - 2);
  });

  test("POST /v1/posts/validate with ?media=true looks at every file, for a token each", async () => {
    const before = await publisher.balance();
    const mediaUrls = [MEDIA, "https://media.sandbox.test/none.jpg"];
    const answer = await post("/v1/posts/validate?media=true", { ...BLUESKY, mediaUrls });
    expect(dataOf(answer)).toMatchObject({
      valid: false,
      media: [
        { url: mediaUrls[0], ok: true, contentType: "image/jpeg", bytes: expect.any(Number) },
        { url: mediaUrls[1], ok: false, error: "media_unreachable" },
      ],
    });
    expect((await publisher.balance()).tokenBalance).toBe(before.tokenBalance - 3);
  });

  test("?media=true looks at pictures that options name, too", async () => {
    const before = await publisher.balance();
    const [clip, none] = [
      "https://media.sandbox.test/clip.mp4",
      "https://media.sandbox.test/no.jpg",
    ];
    const [thumbnailUrl, coverUrl] = [clip, none];
    const card = { url: "https://example.com", title: "A page", thumbnailUrl };
    const answer = await post("/v1/posts/validate?media=true", {
      platforms: ["instagram", "linkedin", "bluesky"],
      text: unique("Covered"),
      platformOptions: {
        instagram: { mediaUrls: [clip], coverUrl },
        linkedin: { link: card },
        bluesky: { linkCard: card },
      },
    });
    const { valid, media, platforms } = dataOf(answer);
    expect([valid, media]).toMatchObject([
      false,
      [
        { url: clip, field: "platformOptions.instagram.mediaUrls", ok: true },
        { url: none, field: "platformOptions.instagram.coverUrl", ok: false },
      ],
    ]);
    expect(platforms).toMatchObject({
      instagram: {
        errors: expect.arrayContaining([
          expect.objectContaining({
            rule: "instagram.media.statusMissing",
            field: "platformOptions.instagram.coverUrl",
            mediaIndex: null,
          }),
        ]) as unknown,
      },
      linkedin: {
        errors: expect.arrayContaining([
          expect.objectContaining({
            rule: "linkedin.media.type",
            field: "platformOptions.linkedin.link.thumbnailUrl",
          }),
        ]) as unknown,
      },
      bluesky: {
        errors: expect.arrayContaining([
          expect.objectContaining({
            rule: "bluesky.media.type",
            field: "platformOptions.bluesky.linkCard.thumbnailUrl",
          }),
        ]) as unknown,
      },
    });
    expect((await publisher.balance()).tokenBalance).toBe(before.tokenBalance - 3);
  });

  test("POST /v1/posts/validate and the post speak the reader's language, and say so", async () => {
    const body = { text: "x".repeat(301), platforms: ["bluesky"] };
    const spoken = async (language: string) => {
      const headers = { "accept-language": language };
      const answer = await publisher.call("POST", "/v1/posts/validate", { body, headers });
      expect(answer.headers.get("vary")).toBe("Accept-Language");
      const { errors } = dataOf(answer).platforms.bluesky;
      return errors.find(({ code }: { code: string }) => code === "text_too_long");
    };
    const english = await spoken("ja, en;q=0.5");
    expect(english.message).toBe("The text has 301 characters. Bluesky allows 300.");
    const german = await spoken("de-CH, en;q=0.5");
    expect(german.message).toBe("Der Text hat 301 Zeichen. Bluesky erlaubt 300.");
    expect({ ...german, message: "", remediation: "" }).toEqual({
      ...english,
      message: "",
      remediation: "",
    });
  });

  test("a post that no network can take is refused in the reader's language, and the answer says so", async () => {
    const body = { text: "x".repeat(301), platforms: ["bluesky"] };
    const headers = { "accept-language": "fr", "idempotency-key": "in-french-please" };
    const answer = await publisher.call("POST", "/v1/posts", { body, headers });
    expect(answer).toMatchObject({ status: 422, body: { error: { code: "not_publishable" } } });
    expect(answer.headers.get("vary")).toBe("Accept-Language");
    const { errors } = answer.body.error.details.platforms.bluesky;
    expect(errors.map(({ message }: { message: string }) => message)).toContain(
      "Le texte compte 301 caractères. Bluesky en permet 300.",
    );
  });

  test("POST /v1/posts/validate with an empty wallet is refused before any work", async () => {
    const poor = await aPublisher(relay, []);
    const { tokenBalance } = await poor.balance();
    const usage = { session: poor.application.platform.session, body: { dailyTokenBudget: 0 } };
    dataOf(await relay.call("PATCH", "/v1/billing/limits", usage));
    const answer = await post("/v1/posts/validate", { ...BLUESKY, text: "x" }, poor);
    expect(answer).toMatchObject({
      status: 402,
      body: { error: { code: "daily_budget_reached", details: { budget: 0, required: 1 } } },
    });
    expect((await poor.balance()).tokenBalance).toBe(tokenBalance);
  });
});

describe("GET /v1/posts", () => {
  test("pages through a profile's posts, newest first, each once, and filters", async () => {
    const own = await aPublisher(relay, ["bluesky"]);
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const body = {
        text: unique("Listed"),
        platforms: index === 2 ? ["bluesky", "mastodon"] : ["bluesky"],
        externalId: `order-${index % 2}`,
        metadata: { index: String(index) },
      };
      ids.unshift((await own.accept(body)).id);
    }
    const seen: string[] = [];
    let cursor = "";
    for (let page = 0; page < 3; page += 1) {
      const answer = await get(`/v1/posts?limit=2${cursor}`, own);
      expect(answer.body.page).toMatchObject({ limit: 2, hasMore: page < 2 });
      seen.push(...dataOf(answer).map((found: { id: string }) => found.id));
      cursor = `&cursor=${answer.body.page.nextCursor}`;
    }
    expect(seen).toEqual(ids);
    const list = async (query: string) =>
      dataOf(await get(`/v1/posts?${query}`, own)).map((found: { id: string }) => found.id);
    expect(await list("externalId=order-1")).toEqual([ids[1], ids[3]]);
    expect(await list("platform=mastodon")).toEqual([ids[2]]);
    expect(await list("status=succeeded")).toEqual([]);
    await own.settle(ids[0] ?? "");
    expect(await list("status=succeeded&externalId=order-0")).toContain(ids[0]);
    const { createdAt } = dataOf(await get(`/v1/posts/${ids[2]}`, own));
    expect(await list(`from=${createdAt}`)).toEqual(ids.slice(0, 3));
    expect(await list(`to=${createdAt}`)).toEqual(ids.slice(3));
    expect(dataOf(await get(`/v1/posts/${ids[4]}`, own)).metadata).toEqual({ index: "0" });
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=two", "limit"],
    ["status=done", "status"],
    ["platform=myspace", "platform"],
    ["from=yesterday", "from"],
    ["color=red", "color"],
  ])("?%s is refused with the parameter's name", async (query, path) => {
    const answer = await get(`/v1/posts?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: "validation_failed" } } });
    expect(answer.body.error.details.issues[0].path).toBe(path);
  });

  test("refuses a cursor that was tampered with or belongs to another list", async () => {
    const own = await aPublisher(relay, ["bluesky"]);
    for (const _ of [1, 2]) await own.accept({ text: unique("Cursor"), ...BLUESKY });
    const { nextCursor } = (await get("/v1/posts?limit=1", own)).body.page;
    const tampered = `${nextCursor.slice(0, -2)}${nextCursor.endsWith("AA") ? "BB" : "AA"}`;
    const refused = { status: 400, body: { error: { code: "invalid_cursor" } } };
    expect(await get(`/v1/posts?cursor=${tampered}`, own)).toMatchObject(refused);
    expect(await get("/v1/posts?cursor=nonsense", own)).toMatchObject(refused);
    expect(await get(`/v1/posts?status=failed&cursor=${nextCursor}`, own)).toMatchObject(refused);
    expect(await get(`/v1/posts?cursor=${nextCursor}`, publisher)).toMatchObject(refused);
  });
});

describe("another profile's post", () => {
  test("another profile's post is not found, whether it exists or not, and can't be retried", async () => {
    const own = await publisher.accept({ text: unique("Own"), ...BLUESKY });
    const neighbor = await aProfile(relay, publisher.application);
    const headers = { "x-profile-id": neighbor.id };
    const bare = (answer: { body: { error: object } }) => ({ ...answer.body.error, requestId: "" });
    const call = { key: publisher.key, headers };
    const theirs = await relay.call("GET", `/v1/posts/${own.id}`, call);
    const none = await relay.call("GET", "/v1/posts/pst_01KJW4MGA9S2K1PDW2EX703RV9", call);
    expect(theirs.status).toBe(404);
    expect(bare(theirs)).toEqual(bare(none));
    expect((await relay.call("POST", `/v1/posts/${own.id}/retry`, call)).status).toBe(404);
    expect((await relay.call("GET", "/v1/posts/nonsense", call)).status).toBe(404);
  });
});

describe("POST /v1/posts/{id}/retry", () => {
  test("POST /v1/posts/{id}/retry of a network that is not the post's is 400, of a leg that did not fail 409", async () => {
    const own = await publisher.accept({ text: unique("Retry"), ...BLUESKY });
    const path = `/v1/posts/${own.id}/retry`;
    expect(await post(path, { platforms: ["mastodon"] })).toMatchObject({
      status: 400,
      body: { error: { details: { issues: [{ path: "platforms.0" }] } } },
    });
    const nothing = { status: 409, body: { error: { code: "nothing_to_retry" } } };
    expect(await post(path, { platforms: ["bluesky"] })).toMatchObject(nothing);
    expect(await post(path, undefined)).toMatchObject(nothing);
  });

  test("twice at once retries once and reserves once", async () => {
    const own = await aPublisher(relay, ["mastodon"]);
    const text = unique("Refused once");
    sandbox.fault("mastodon", "*", "fail:content_rejected");
    const { id } = await own.accept({ text, platforms: ["mastodon"] });
    expect((await own.settle(id)).status).toBe("failed");
    const answers = await Promise.all([1, 2, 3].map(() => post(`/v1/posts/${id}/retry`, {}, own)));
    expect(answers.map(({ status }) => status).filter((status) => status === 202)).toHaveLength(1);
    expect((await own.balance()).tokenReserved).toBe(10);
    const retried = await own.settle(id);
    expect(retried).toMatchObject({
      status: "succeeded",
      tokens: { reserved: 0, charged: 10, released: 10 },
      legs: [{ attempts: 2 }],
    });
  });
});
