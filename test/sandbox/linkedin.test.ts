import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { parseLittleText } from "../../dev/networks/linkedin/little-text.ts";
import {
  DEMO_LINKEDIN_APP,
  DEMO_LINKEDIN_ORG_APP,
  DEMO_MEMBER,
  DEMO_ORGANIZATION,
  FRIEND_MEMBER,
} from "../../dev/networks/linkedin/state.ts";
import { useSandbox } from "./client.ts";
import type { CallOptions, Reply } from "./client.ts";

const at = useSandbox();
const API = "api.linkedin.com";
const WWW = "www.linkedin.com";
const CALLBACK = "http://localhost:7071/api/v1/connect/callback/linkedin";
const PERSON = `urn:li:person:${DEMO_MEMBER}`;
const ORGANIZATION = `urn:li:organization:${DEMO_ORGANIZATION}`;
const DAY_MS = 24 * 3_600_000;
const media = (name: string) =>
  readFileSync(new URL(`../../dev/networks/media/${name}`, import.meta.url));
const PHOTO = media("photo.jpg");
const CLIP = media("clip.mp4");
const VERSIONED = { "linkedin-version": "202609", "x-restli-protocol-version": "2.0.0" };

let member: string;
let organization: string;

beforeEach(() => {
  const { linkedin } = at.sandbox.networks;
  member = linkedin.issueToken().accessToken;
  organization = linkedin.issueToken({ as: "organization" }).accessToken;
});

const rest = (path: string, options: CallOptions = {}): Promise<Reply> =>
  at.call(API, `/rest${path}`, {
    token: member,
    ...options,
    headers: { ...VERSIONED, ...options.headers },
  });
const body = (change: Record<string, unknown> = {}) => ({
  author: PERSON,
  commentary: "Fresh bread",
  visibility: "PUBLIC",
  distribution: {
    feedDistribution: "MAIN_FEED",
    targetEntities: [],
    thirdPartyDistributionChannels: [],
  },
  lifecycleState: "PUBLISHED",
  isReshareDisabledByAuthor: false,
  ...change,
});
const post = (change: Record<string, unknown> = {}, token = member) =>
  rest("/posts", { token, json: body(change) });
const shown = () => at.sandbox.posts("linkedin");
const errorOf = ({ status, json }: Reply) => [status, json["code"]];

/** Sends bytes to an upload address. */
function put(url: string, bytes: Uint8Array, headers: Record<string, string>): Promise<Reply> {
  const { host, pathname, search } = new URL(url);
  return at.call(host, pathname + search, { method: "PUT", body: new Uint8Array(bytes), headers });
}

async function initialize(
  kind: "image" | "document",
  owner = PERSON,
  token = member,
): Promise<{ urn: string; url: string }> {
  const reply = await rest(`/${kind}s?action=initializeUpload`, {
    token,
    json: { initializeUploadRequest: { owner } },
  });
  const value = reply.json["value"] as Record<string, string>;
  return { urn: value[kind] ?? "", url: value["uploadUrl"] ?? "" };
}

async function upload(kind: "image" | "document", bytes: Uint8Array, owner = PERSON) {
  const token = owner === PERSON ? member : organization;
  const { urn, url } = await initialize(kind, owner, token);
  const reply = await put(url, bytes, { authorization: `Bearer ${token}` });
  expect(reply).toMatchObject({ status: 201, text: "" });
  return urn;
}

describe("consent", () => {
  const page = (change: Record<string, string> = {}) =>
    `/oauth/v2/authorization?${new URLSearchParams({
      response_type: "code",
      client_id: DEMO_LINKEDIN_APP.id,
      redirect_uri: CALLBACK,
      state: "the-state",
      scope: "openid profile w_member_social",
      ...change,
    }).toString()}`;
  const decide = async (form: Record<string, string>, change: Record<string, string> = {}) => {
    const reply = await at.call(null, page(change), { form });
    expect(reply.status).toBe(303);
    return new URL(reply.headers.get("location") ?? "").searchParams;
  };
  const token = (form: Record<string, string>) =>
    at.call(WWW, "/oauth/v2/accessToken", {
      form: {
        grant_type: "authorization_code",
        redirect_uri: CALLBACK,
        client_id: DEMO_LINKEDIN_APP.id,
        client_secret: DEMO_LINKEDIN_APP.secret,
        ...form,
      },
    });
  const code = async (change: Record<string, string> = {}) =>
    (await decide({ decision: "allow" }, change)).get("code") ?? "";
  const asOrganization = {
    client_id: DEMO_LINKEDIN_ORG_APP.id,
    scope: "w_organization_social r_organization_social rw_organization_admin",
  };
  const { id: client_id, secret: client_secret } = DEMO_LINKEDIN_ORG_APP;

  test("a member agrees, and the token names and posts for them", async () => {
    expect((await at.call(null, page())).text).toContain("Dana Demo");
    const answer = await decide({ decision: "allow" });
    expect(answer.get("state")).toBe("the-state");
    const reply = await token({ code: answer.get("code") ?? "" });
    expect(reply.json).toMatchObject({
      expires_in: 5_184_000,
      scope: "openid,profile,w_member_social",
      token_type: "Bearer",
    });
    expect(reply.json).not.toHaveProperty("refresh_token");
    member = String(reply.json["access_token"]);
    expect(member.length).toBeGreaterThan(1000);
    const me = await at.call(API, "/v2/userinfo", { token: member });
    expect(me.json).toMatchObject({ sub: DEMO_MEMBER, name: "Dana Demo" });
    expect(me.json).not.toHaveProperty("email");
    expect((await post()).status).toBe(201);
  });

  test.each([
    ["deny", "user_cancelled_authorize"],
    ["no_login", "user_cancelled_login"],
  ])("who presses %s is sent back with %s and the state", async (decision, error) => {
    const answer = await decide({ decision });
    expect([answer.get("error"), answer.get("state")]).toEqual([error, "the-state"]);
  });

  test("a scope of a product that the app has not ends at the app", async () => {
    const answer = await decide({}, { scope: "w_organization_social" });
    expect(answer.get("error")).toBe("unauthorized_scope_error");
  });

  test.each([
    ["an unknown app", { client_id: "x" }],
    ["no redirect address", { redirect_uri: "" }],
  ])("%s ends on an error page", async (_name, change) => {
    expect((await at.call(null, page(change))).status).toBe(400);
  });

  test.each([
    ["for another redirect address", { redirect_uri: `${CALLBACK}/` }, 400, "invalid_request"],
    ["with a wrong secret", { client_secret: "wrong" }, 401, "invalid_client"],
    ["of another app", { client_id, client_secret }, 400, "invalid_request"],
    ["with another grant type", { grant_type: "password" }, 400, "unsupported_grant_type"],
  ])("a code %s is refused", async (_name, change, status, error) => {
    const reply = await token({ code: await code(), ...change });
    expect(reply).toMatchObject({ status, json: { error } });
  });

  test("a code works once and for half an hour", async () => {
    const used = await code();
    expect((await token({ code: used })).status).toBe(200);
    expect((await token({ code: used })).status).toBe(400);
    const late = await code();
    at.sandbox.advance(30 * 60_000);
    expect((await token({ code: late })).status).toBe(400);
  });

  test("asking for other scopes ends the older tokens", async () => {
    const first = String((await token({ code: await code() })).json["access_token"]);
    await token({ code: await code({ scope: "openid profile email w_member_social" }) });
    expect(errorOf(await post({}, first))).toEqual([401, "REVOKED_ACCESS_TOKEN"]);
  });

  test("an approved app refreshes for a year, counted from the consent", async () => {
    const sent = { code: await code(asOrganization), client_id, client_secret };
    const { json } = await token(sent);
    expect(json).toMatchObject({ refresh_token_expires_in: 31_536_000 });
    const refresh = () =>
      token({
        grant_type: "refresh_token",
        refresh_token: String(json["refresh_token"]),
        client_id,
        client_secret,
      });
    at.sandbox.advance(100 * DAY_MS);
    const again = await refresh();
    expect(again.json).toMatchObject({ expires_in: 5_184_000 });
    expect(again.json["refresh_token_expires_in"]).toBeLessThan(266 * 24 * 3600);
    at.sandbox.advance(300 * DAY_MS);
    expect(await refresh()).toMatchObject({ status: 400, json: { error: "invalid_grant" } });
  });
});

describe("access", () => {
  test.each([
    ["no version", { "linkedin-version": "" }, [400, "VERSION_MISSING"]],
    ["a sunset version", { "linkedin-version": "202501" }, [426, "NONEXISTENT_VERSION"]],
    ["a version to come", { "linkedin-version": "203001" }, [426, "NONEXISTENT_VERSION"]],
    ["the first protocol", { "x-restli-protocol-version": "1.0.0" }, [400, "ILLEGAL_ARGUMENT"]],
  ])("%s is refused", async (_name, headers, error) => {
    expect(errorOf(await rest("/posts", { json: body(), headers }))).toEqual(error);
  });

  test("a URN in the path must be encoded", async () => {
    const { urn } = await initialize("image", ORGANIZATION, organization);
    const plain = await rest(`/images/${urn}`, { token: organization });
    expect(errorOf(plain)).toEqual([400, "ILLEGAL_ARGUMENT"]);
    const encoded = `/images/${encodeURIComponent(urn)}`;
    expect((await rest(encoded, { token: organization })).status).toBe(200);
  });

  const linkedin = () => at.sandbox.networks.linkedin;
  test.each([
    ["revoked", () => linkedin().revokeToken(), "REVOKED_ACCESS_TOKEN"],
    ["expired", () => linkedin().expireToken(), "EXPIRED_ACCESS_TOKEN"],
  ])("a token that was %s is a 401", async (_name, change, code) => {
    change();
    expect(errorOf(await post())).toEqual([401, code]);
  });

  test("a token lives sixty days", async () => {
    at.sandbox.advance(60 * DAY_MS);
    expect(errorOf(await post())).toEqual([401, "EXPIRED_ACCESS_TOKEN"]);
  });

  test("no token, and one that is none, are a 401", async () => {
    const none = await at.call(API, "/rest/posts", { json: body(), headers: VERSIONED });
    expect(errorOf(none)).toEqual([401, "EMPTY_ACCESS_TOKEN"]);
    expect(errorOf(await post({}, "nonsense"))).toEqual([401, "INVALID_ACCESS_TOKEN"]);
  });

  test.each([
    ["another member", `urn:li:person:${FRIEND_MEMBER}`],
    ["an organization, with a member's token", ORGANIZATION],
  ])("nobody posts as %s", async (_name, author) => {
    expect(errorOf(await post({ author }))).toEqual([403, "ACCESS_DENIED"]);
    expect(shown()).toHaveLength(0);
  });

  test("who lost the role posts no more for the organization", async () => {
    expect((await post({ author: ORGANIZATION }, organization)).status).toBe(201);
    linkedin().loseRole(DEMO_ORGANIZATION);
    const refused = await post({ author: ORGANIZATION, commentary: "x" }, organization);
    expect(errorOf(refused)).toEqual([403, "ACCESS_DENIED"]);
  });

  test("organizations are found by the member's role, names and all", async () => {
    linkedin().addOrganization({ name: "Baking Weekly", role: "ANALYST" });
    const find = "/organizationAcls?q=roleAssignee&state=APPROVED";
    const { json } = await rest(find, { token: organization });
    expect(json["elements"]).toMatchObject([
      { organization: ORGANIZATION, role: "ADMINISTRATOR", roleAssignee: PERSON },
      { role: "ANALYST", state: "APPROVED" },
    ]);
    const one = await rest(`/organizations/${DEMO_ORGANIZATION}`, { token: organization });
    expect(one.json).toMatchObject({ localizedName: "Demo Bakery Ltd", vanityName: "demo-bakery" });
    expect(errorOf(await rest(find))).toEqual([403, "ACCESS_DENIED"]);
    const userinfo = await at.call(API, "/v2/userinfo", { token: organization });
    expect(userinfo.status).toBe(403);
  });
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

describe("media", () => {
  test("an image is uploaded with the token and shown with its alt text", async () => {
    const id = await upload("image", PHOTO);
    const reply = await post({ content: { media: { id, altText: "A lake" } } });
    expect(reply.headers.get("x-restli-id")).toContain("urn:li:share:");
    expect(shown()).toMatchObject([
      { media: [{ kind: "image", alt: "A lake", bytes: PHOTO.length }] },
    ]);
  });

  test("several images are one post", async () => {
    const images = [
      { id: await upload("image", PHOTO), altText: "One" },
      { id: await upload("image", media("photo.png")) },
    ];
    expect((await post({ content: { multiImage: { images } } })).status).toBe(201);
    expect(shown()[0]?.media.map(({ mimeType }) => mimeType)).toEqual(["image/jpeg", "image/png"]);
  });

  test("a member's token can't look at an image, an organization's can", async () => {
    const own = await upload("image", PHOTO);
    const path = (urn: string) => `/images/${encodeURIComponent(urn)}`;
    expect(errorOf(await rest(path(own)))).toEqual([403, "ACCESS_DENIED"]);
    const { urn, url } = await initialize("image", ORGANIZATION, organization);
    const status = async () => (await rest(path(urn), { token: organization })).json["status"];
    expect(await status()).toBe("WAITING_UPLOAD");
    await put(url, PHOTO, { authorization: `Bearer ${organization}` });
    expect(await status()).toBe("AVAILABLE");
  });

  test("an image that was not uploaded yet can't be posted", async () => {
    const { urn: id } = await initialize("image");
    expect(errorOf(await post({ content: { media: { id } } }))).toEqual([
      400,
      "MEDIA_ASSET_WAITING_UPLOAD",
    ]);
  });

  test("an image of another owner can't be posted", async () => {
    const id = await upload("image", PHOTO, ORGANIZATION);
    expect(errorOf(await post({ content: { media: { id } } }))).toEqual([
      400,
      "INVALID_CONTENT_OWNERSHIP",
    ]);
  });

  test("a format that LinkedIn does not know fails in processing", async () => {
    const id = await upload("image", media("photo.webp"));
    expect(errorOf(await post({ content: { media: { id } } }))).toEqual([
      400,
      "MEDIA_ASSET_PROCESSING_FAILED",
    ]);
  });

  test("an upload without the token, with a wrong address or too late is refused", async () => {
    const { url } = await initialize("image");
    expect((await put(url, PHOTO, {})).status).toBe(401);
    const authorization = `Bearer ${member}`;
    expect((await put(url.replace("ut=", "ut=x"), PHOTO, { authorization })).status).toBe(403);
    at.sandbox.advance(3_600_000);
    expect(errorOf(await put(url, PHOTO, { authorization }))).toEqual([400, "EXPIRED_UPLOAD_URL"]);
  });

  test("a document needs a title and is shown by it", async () => {
    const id = await upload("document", Buffer.from("%PDF-1.4\n%%EOF\n"));
    expect(errorOf(await post({ content: { media: { id } } }))).toEqual([400, "MISSING_FIELD"]);
    const reply = await post({ content: { media: { id, title: "Price list" } } });
    expect(reply.headers.get("x-restli-id")).toContain("urn:li:ugcPost:");
    expect(shown()).toMatchObject([
      { media: [{ kind: "document", title: "Price list", mimeType: "application/pdf" }] },
    ]);
    expect((await at.call(null, "/")).text).toContain("Price list");
  });

  test("an article is shown as it was described: nothing is scraped", async () => {
    const thumbnail = await upload("image", PHOTO);
    const article = { source: "https://example.com/a", title: "A title", description: "About" };
    expect((await post({ content: { article: { ...article, thumbnail } } })).status).toBe(201);
    expect(shown()[0]?.card).toMatchObject({ url: "https://example.com/a", title: "A title" });
    expect(shown()[0]?.card?.imagePath).toContain("/_sandbox/blobs/");
  });

  describe("a video", () => {
    interface Instruction {
      readonly uploadUrl: string;
      readonly firstByte: number;
      readonly lastByte: number;
    }
    const start = async (fileSizeBytes: number) => {
      const initializeUploadRequest = {
        owner: PERSON,
        fileSizeBytes,
        uploadCaptions: false,
        uploadThumbnail: false,
      };
      const reply = await rest("/videos?action=initializeUpload", {
        json: { initializeUploadRequest },
      });
      return reply.json["value"] as {
        video: string;
        uploadToken: string;
        uploadInstructions: Instruction[];
      };
    };
    const octets = { "content-type": "application/octet-stream" };
    const send = async (file: Buffer) => {
      const started = await start(file.length);
      const etags: string[] = [];
      for (const { uploadUrl, firstByte, lastByte } of started.uploadInstructions) {
        const reply = await put(uploadUrl, file.subarray(firstByte, lastByte + 1), octets);
        expect(reply.status).toBe(200);
        etags.push(reply.headers.get("etag") ?? "");
      }
      return { ...started, etags };
    };
    const finalize = (video: string, uploadedPartIds: string[], uploadToken = "") =>
      rest("/videos?action=finalizeUpload", {
        json: { finalizeUploadRequest: { video, uploadToken, uploadedPartIds } },
      });
    const look = async (video: string) => (await rest(`/videos/${encodeURIComponent(video)}`)).json;

    test("goes up in one piece when it is small, is processed and posted", async () => {
      const { video, etags } = await send(CLIP);
      expect((await finalize(video, etags)).status).toBe(200);
      const content = { media: { id: video, title: "Clip" } };
      expect((await look(video))["status"]).toBe("PROCESSING");
      expect((await look(video))["status"]).toBe("PROCESSING");
      expect(await look(video)).toMatchObject({ status: "AVAILABLE", duration: 4000 });
      const reply = await post({ content });
      expect(reply.headers.get("x-restli-id")).toContain("urn:li:ugcPost:");
      expect(shown()).toMatchObject([{ media: [{ kind: "video", bytes: CLIP.length }] }]);
    });

    test("goes up in parts of 4 MB, and what is none fails in processing", async () => {
      const { video, uploadInstructions, etags } = await send(Buffer.alloc(9_000_000, 1));
      expect(uploadInstructions.map(({ firstByte, lastByte }) => [firstByte, lastByte])).toEqual([
        [0, 4_194_303],
        [4_194_304, 8_388_607],
        [8_388_608, 8_999_999],
      ]);
      expect(errorOf(await finalize(video, etags.toReversed()))).toEqual([400, "INVALID_VALUE"]);
      expect((await finalize(video, etags)).status).toBe(200);
      for (let count = 0; count < 2; count += 1) await look(video);
      expect(await look(video)).toMatchObject({
        status: "PROCESSING_FAILED",
        processingFailureReason: "The video format is not supported",
      });
    });

    test.each([
      ["with the token", { authorization: "Bearer x", ...octets }, CLIP, 400],
      ["as another type", { "content-type": "video/mp4" }, CLIP, 415],
      ["with a byte missing", octets, CLIP.subarray(1), 400],
    ])("is refused when sent %s", async (_name, headers, bytes, status) => {
      const { uploadInstructions } = await start(CLIP.length);
      const url = uploadInstructions[0]?.uploadUrl ?? "";
      expect((await put(url, bytes, headers)).status).toBe(status);
    });

    test("is not finished while a part is missing", async () => {
      const { video } = await start(CLIP.length);
      expect(errorOf(await finalize(video, ["made-up"]))).toEqual([400, "INVALID_VALUE"]);
    });

    test("may be hidden from a member's token by a switch", async () => {
      at.sandbox.networks.linkedin.allowMemberVideoReads(false);
      const { video } = await start(CLIP.length);
      expect(await look(video)).toMatchObject({ status: 403, code: "ACCESS_DENIED" });
    });
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
