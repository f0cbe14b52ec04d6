import { describe, expect, test } from "vitest";
import { parseLittleText } from "../../dev/networks/linkedin/little-text.ts";
import { DEMO_MEMBER } from "../../dev/networks/linkedin/state.ts";
import { useSandbox } from "./client.ts";
import {
  API,
  DAY_MS,
  ORGANIZATION,
  PERSON,
  PHOTO,
  VERSIONED,
  WWW,
  body,
  errorOf,
  useLinkedIn,
} from "./linkedin-calls.ts";

let member: string;
let organization: string;

const { at, rest, post, shown, upload } = useLinkedIn((fresh) => {
  ({ member, organization } = fresh);
});

describe("little text", () => {
  const parse = (source: string) => parseLittleText(source, () => undefined);

  test.each([
    [String.raw`Launch \(beta\) {hashtag|\#|AI} a\_b \@x`, "Launch (beta) #AI a_b @x"],
    [String.raw`\\ \| \{ \} \[ \] \< \> \# \* \~`, String.raw`\ | { } [ ] < > # * ~`],
    ["https://example.com/a_b?c=~d#e@f end", "https://example.com/a_b?c=~d#e@f end"],
    [String.raw`{hashtag|\#|under\_score}`, "#under_score"],
    ["Hello @[Demo Bakery Ltd](urn:li:organization:1)!", "Hello Demo Bakery Ltd!"],
    ["line one\n\nline two 👋", "line one\n\nline two 👋"],
  ])("%s is read as %s", (source, text) => {
    expect(parse(source)).toMatchObject({ text, isTruncated: false });
  });

  test.each([
    ["Launch (beta)", "Launch "],
    ["an e-mail: a@b.c", "an e-mail: a"],
    ["snake_case", "snake"],
    ["a #tag", "a "],
    ["50 * 2", "50 "],
    [String.raw`a back\slash`, "a back"],
    ["{hashtag|#|x}", ""],
    ["@[Name](urn:li:share:1)", ""],
    ["https://example.com/a(b)", "https://example.com/a"],
    ["the end \\", "the end "],
  ])("%s is cut off after %j", (source, text) => {
    expect(parse(source)).toMatchObject({ text, isTruncated: true });
  });

  test("a text that is cut off shows so to readers and tests, and nowhere in the answer", async () => {
    const reply = await post({ commentary: "Now open (daily)" });
    expect(reply.status).toBe(201);
    const { json } = await at.call(null, "/_sandbox/posts?network=linkedin");
    expect(json["posts"]).toMatchObject([{ text: "Now open ", truncated: true }]);
    expect((await at.call(null, "/")).text).toContain("cut off");
  });

  test("hashtags, addresses and exact mentions are links", async () => {
    const commentary = String.raw`Hi @[Demo Bakery Ltd](${ORGANIZATION}) and @[demo bakery ltd](${ORGANIZATION}), see https://example.com/a. {hashtag|\#|Bread}`;
    await post({ commentary });
    const links = shown()[0]?.segments.filter(({ href }) => href !== undefined);
    expect(links?.map(({ text }) => text)).toEqual([
      "Demo Bakery Ltd",
      "https://example.com/a",
      "#Bread",
    ]);
    expect(shown()[0]?.truncated).toBe(false);
  });
});

describe("posts", () => {
  test("a text is answered by its URN alone and found at LinkedIn's address", async () => {
    const reply = await post({ visibility: "CONNECTIONS" });
    const urn = reply.headers.get("x-restli-id") ?? "";
    expect(reply).toMatchObject({ status: 201, text: "" });
    expect(urn).toMatch(/^urn:li:share:\d+$/);
    expect(shown()).toMatchObject([{ id: urn, text: "Fresh bread", visibility: "connections" }]);
    const path = `/feed/update/${encodeURIComponent(urn)}/`;
    expect((await at.call(WWW, path)).text).toContain("Fresh bread");
  });

  test("the same post again within ten minutes names the first one", async () => {
    const urn = (await post()).headers.get("x-restli-id") ?? "none";
    const again = await post();
    expect(again.status).toBe(422);
    expect(again.json["message"]).toContain(`Content is a duplicate of ${urn}`);
    expect(shown()).toHaveLength(1);
    at.sandbox.advance(600_001);
    expect((await post()).status).toBe(201);
  });

  test.each([
    ["without an author", { author: undefined }, "/author :: field is required"],
    ["with a field of old", { specificContent: {} }, "/specificContent :: unrecognized field"],
    ["with an unknown visibility", { visibility: "ALL" }, "/visibility :: value is not an enum"],
  ])("a body %s is a 422 that says so", async (_name, change, complaint) => {
    const reply = await post(change);
    expect(reply.status).toBe(422);
    expect(reply.json["message"]).toContain(complaint);
  });

  test.each([
    ["blank", { commentary: " " }, "INVALID_VALUE_BLANK_FIELD"],
    ["of 3 001 characters", { commentary: "x".repeat(3001) }, "FIELD_LENGTH_TOO_LONG"],
    ["as a draft", { lifecycleState: "DRAFT" }, "INVALID_VALUE"],
    ["by a share", { author: "urn:li:share:1" }, "INVALID_URN_TYPE"],
    [
      "with an unknown image",
      { content: { media: { id: "urn:li:image:none" } } },
      "INVALID_URN_ID",
    ],
    [
      "with a share for an image",
      { content: { media: { id: "urn:li:share:1" } } },
      "INVALID_URN_TYPE",
    ],
    ["with one image of several", { content: { multiImage: { images: [] } } }, "INVALID_VALUE"],
    [
      "with two kinds of content",
      {
        content: {
          media: { id: "urn:li:image:none" },
          article: { source: "https://example.com", title: "x" },
        },
      },
      "INVALID_VALUE",
    ],
  ])("a post %s is refused", async (_name, change, code) => {
    expect(errorOf(await post(change))).toEqual([400, code]);
  });

  test("escapes do not count towards the 3 000 characters", async () => {
    expect((await post({ commentary: String.raw`\_`.repeat(3000) })).status).toBe(201);
  });

  test("only an organization's posts are found by author, newest first", async () => {
    for (const commentary of ["one", "two"])
      await post({ author: ORGANIZATION, commentary }, organization);
    const find = (author: string, token = organization) =>
      rest(`/posts?q=author&author=${encodeURIComponent(author)}&count=10&sortBy=LAST_MODIFIED`, {
        token,
        headers: { "x-restli-method": "FINDER" },
      });
    const found = (await find(ORGANIZATION)).json["elements"] as Record<string, unknown>[];
    expect(found.map(({ commentary }) => commentary)).toEqual(["two", "one"]);
    expect(found[0]).toMatchObject({ author: ORGANIZATION, lifecycleState: "PUBLISHED" });
    const path = `/posts/${encodeURIComponent(String(found[0]?.["id"]))}`;
    expect((await rest(path, { token: organization })).json["commentary"]).toBe("two");
    expect((await find(PERSON)).status).toBe(403);
    expect((await find(PERSON, member)).status).toBe(403);
  });

  test("the hundred and fifty-first request of a UTC day is a 429, until midnight", async () => {
    at.sandbox.networks.linkedin.setQuotaUsed(DEMO_MEMBER, 149);
    expect((await post()).status).toBe(201);
    const refused = await post({ commentary: "one more" });
    expect(refused).toMatchObject({ status: 429, json: { serviceErrorCode: 101 } });
    expect(refused.json["message"]).toContain("MEMBER DAY");
    at.sandbox.advance(DAY_MS);
    expect((await post({ commentary: "one more" })).status).toBe(201);
  });
});

describe("magic words", () => {
  const say = (word: string) => post({ commentary: String.raw`x \[${word}\]` });

  test.each([
    ["network_unavailable", [503, undefined]],
    ["rate_limited", [429, "TOO_MANY_REQUESTS"]],
    ["quota_exceeded", [429, "TOO_MANY_REQUESTS"]],
    ["permission_missing", [403, "ACCESS_DENIED"]],
    ["text_too_long", [400, "FIELD_LENGTH_TOO_LONG"]],
    ["text_invalid", [400, "INVALID_VALUE_BLANK_FIELD"]],
    ["media_rejected", [415, undefined]],
    ["media_processing_failed", [400, "MEDIA_ASSET_PROCESSING_FAILED"]],
    ["invalid_request", [400, "INVALID_VALUE"]],
  ])(
    "[fail:%s], escaped as little text wants it, is said in LinkedIn's words",
    async (code, error) => {
      expect(errorOf(await say(`fail:${code.replaceAll("_", String.raw`\_`)}`))).toEqual(error);
      expect(shown()).toHaveLength(0);
    },
  );

  test("[fail:duplicate_content] names a post", async () => {
    const reply = await say(String.raw`fail:duplicate\_content`);
    expect(reply.status).toBe(422);
    expect(reply.json["message"]).toMatch(/duplicate of urn:li:share:\d+$/);
  });

  test("[fail:connection_needs_reauth] ends the token for good", async () => {
    await say(String.raw`fail:connection\_needs\_reauth`);
    expect(errorOf(await post())).toEqual([401, "REVOKED_ACCESS_TOKEN"]);
  });

  test("[drop-answer] publishes, and the repeat names what was published", async () => {
    await expect(say("drop-answer")).rejects.toThrow("fetch failed");
    const again = await say("drop-answer");
    expect(again.status).toBe(422);
    expect(again.json["message"]).toContain(shown()[0]?.id);
    expect(shown()).toHaveLength(1);
  });

  test("[error-after] publishes behind an HTML 502 page", async () => {
    expect((await say("error-after")).status).toBe(502);
    expect(shown()).toHaveLength(1);
  });

  test("[processing:2] makes an image wait for two attempts", async () => {
    const id = await upload("image", PHOTO);
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1)
      statuses.push(
        (await post({ content: { media: { id, altText: "x [processing:2]" } } })).status,
      );
    expect(statuses).toEqual([400, 400, 201]);
  });
});

test("members, tokens and posts are kept as JSON and read back", async () => {
  await post({ commentary: "kept" });
  const { linkedin } = at.sandbox.networks;
  const dumped: unknown = JSON.parse(JSON.stringify(linkedin.dump()));
  linkedin.reset();
  expect(shown()).toHaveLength(0);
  linkedin.restore(dumped);
  expect(shown()).toMatchObject([{ text: "kept" }]);
  expect((await at.call(API, "/v2/userinfo", { token: member })).status).toBe(200);
});

describe("with limits enforced", () => {
  const strict = useSandbox({ enforceRateLimits: true });

  test("the hundred and fifty-first request of a day is refused", async () => {
    const { accessToken: token } = strict.sandbox.networks.linkedin.issueToken();
    const one = (commentary: string) =>
      strict.call(API, "/rest/posts", { token, json: body({ commentary }), headers: VERSIONED });
    for (let count = 0; count < 150; count += 1)
      expect((await one(`number ${count}`)).status).toBe(201);
    expect((await one("one more")).status).toBe(429);
  });
});
