import { describe, expect, it } from "vitest";
import { linkedin } from "../../src/shared/networks/linkedin/index.ts";
import { MediaFailure } from "../../src/shared/networks/media.ts";
import type {
  HttpRequest,
  LegDraft,
  LegToPublish,
  NetworkApp,
  NetworkData,
} from "../../src/shared/networks/network.ts";
import { HttpFailure } from "../../src/shared/networks/network.ts";
import type { Script } from "./scripted-tools.ts";
import {
  NOW,
  answer,
  htmlPage,
  image,
  lost,
  refusedToConnect,
  scriptedTools,
  sentBytes,
  sentJson,
} from "./scripted-tools.ts";

const REST = "https://api.linkedin.com/rest";
const TOKEN = "POST https://www.linkedin.com/oauth/v2/accessToken";
const USERINFO = "GET https://api.linkedin.com/v2/userinfo";
const ACLS = `GET ${REST}/organizationAcls`;
const ORGANIZATION = (id: number) => `GET ${REST}/organizations/${id}`;
const POST = `POST ${REST}/posts`;
const LIST = `GET ${REST}/posts`;
const UPLOADS = "https://www.linkedin.com/dms-uploads";
const LOOK = (kind: string, name: string) => `GET ${REST}/${kind}s/urn%3Ali%3A${kind}%3A${name}`;

const FILE = "https://files.example/a.jpg";
const SECOND = "https://files.example/b.png";
const CLIP = "https://files.example/c.mp4";
const PAPER = "https://files.example/d.pdf";

const DAY_MS = 24 * 3_600_000;
const later = (ms: number) => new Date(NOW.getTime() + ms);
const ago = (seconds: number) => later(-seconds * 1000);

const app: NetworkApp = {
  id: "member-app",
  secret: "member-secret",
  version: "202609",
  organizations: { id: "org-app", secret: "org-secret" },
};
const { organizations: _without, ...memberApp } = app;

const member = {
  author: "urn:li:person:AbC",
  kind: "member",
  accessToken: "token",
  accessExpiresAt: later(50 * DAY_MS).toISOString(),
};
const organization = { ...member, author: "urn:li:organization:7", kind: "organization" };
const renewable = {
  ...member,
  refreshToken: "refresh",
  refreshExpiresAt: later(300 * DAY_MS).toISOString(),
};
const begun: NetworkData = linkedin.begin();

function leg(draft: Partial<LegDraft> = {}, overrides: Partial<LegToPublish> = {}): LegToPublish {
  return {
    key: "leg-1",
    draft: { text: "Hello", media: [], options: {}, ...draft },
    account: {
      id: member.author,
      username: "Dana",
      displayName: "Dana",
      avatarUrl: null,
      url: "",
      kind: "member",
    },
    credentials: member,
    instanceUrl: null,
    limits: {},
    remote: begun,
    sentAt: null,
    ...overrides,
  };
}

const tools = (script: Script = {}) => scriptedTools({ app, ...script });
const files = (...urls: readonly string[]) => urls.map((url) => ({ url, altText: null }));
const asset = (kind: string, name: string, isReady = true) => ({
  urn: `urn:li:${kind}:${name}`,
  kind,
  isReady,
});
const uploaded = (...assets: readonly unknown[]): NetworkData => ({ ...begun, assets });
const URN = "urn:li:share:6844785523593134080";
const published = {
  kind: "published",
  networkPostId: URN,
  url: `https://www.linkedin.com/feed/update/${URN}/`,
};
const created = answer(201, "", { "x-restli-id": URN });
const duplicate = answer(422, { status: 422, message: `Content is a duplicate of ${URN}` });
const denied = answer(403, { serviceErrorCode: 100, code: "ACCESS_DENIED" });
const revoked = answer(401, { serviceErrorCode: 65601, code: "REVOKED_ACCESS_TOKEN" });
const notReady = answer(400, { code: "MEDIA_ASSET_WAITING_UPLOAD" });
const processingFailed = answer(400, { code: "MEDIA_ASSET_PROCESSING_FAILED" });

describe("linking a LinkedIn account", () => {
  const { link } = linkedin;
  const redirectUri = "https://relay.example/v1/connect/callback/linkedin";
  const oauth = { redirectUri, state: "state 1", codeChallenge: "challenge" };
  const grant = (scope: string, more: Record<string, unknown> = {}) =>
    answer(200, { access_token: "token", expires_in: 5_184_000, scope, ...more });
  const memberGrant = grant("openid,profile,w_member_social");
  const orgScopes = "w_organization_social r_organization_social rw_organization_admin";
  const acl = (id: number, role = "ADMINISTRATOR") => ({
    organization: `urn:li:organization:${id}`,
    role,
    roleAssignee: "urn:li:person:xyz",
    state: "APPROVED",
  });
  const named = (localizedName: string, vanityName: string) =>
    answer(200, { id: 1, localizedName, vanityName });
  const finish = async (
    kind: string,
    http: NonNullable<Script["http"]>,
    params: Readonly<Record<string, string>> = { code: "code-1", state: "state 1" },
  ) => {
    const scripted = tools({ http });
    const callback = { params, codeVerifier: "verifier", redirectUri, flow: { kind } };
    return { outcome: await link.finish(callback, scripted), scripted };
  };
  const finishOrganizations = (elements: readonly unknown[], http: Script["http"] = {}) =>
    finish("organization", {
      [TOKEN]: grant(orgScopes),
      [ACLS]: answer(200, { elements }),
      [ORGANIZATION(1)]: named("Bakery", "bakery"),
      [ORGANIZATION(2)]: named("Coffee", "coffee"),
      ...http,
    });

  it.each([
    ["", "member-app", "openid profile w_member_social"],
    ["member", "member-app", "openid profile w_member_social"],
    ["organization", "org-app", orgScopes],
  ])("as %j leads to LinkedIn in the name of the right app", async (kind, id, scope) => {
    const outcome = await link.start({ kind }, oauth, tools());
    if (outcome.kind !== "redirect") throw new Error("not started");
    const url = new URL(outcome.url);
    expect(url.origin + url.pathname).toBe("https://www.linkedin.com/oauth/v2/authorization");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: "code",
      client_id: id,
      redirect_uri: redirectUri,
      state: "state 1",
      scope,
    });
    expect(outcome.url).not.toMatch(/\+|secret/);
    expect(outcome.flow).toEqual({ kind: kind || "member" });
  });

  it("offers company pages only where their app is configured", async () => {
    const [field] = link.fields;
    expect(field?.isAsked(app)).toBe(true);
    expect(field?.isAsked(memberApp)).toBe(false);
    const without = tools({ app: memberApp });
    for (const [form, given] of [
      [{ kind: "organization" }, without],
      [{ kind: "myspace" }, tools()],
    ] as const)
      expect(await link.start(form, oauth, given)).toMatchObject({ code: "input_invalid" });
    expect(await link.start({}, oauth, without)).toMatchObject({ kind: "redirect" });
  });

  it("exchanges the code, in a form, and links the member", async () => {
    const { outcome, scripted } = await finish("member", {
      [TOKEN]: memberGrant,
      [USERINFO]: answer(200, {
        sub: "AbC",
        name: "Dana Demo",
        given_name: "Dana",
        picture: "https://media.licdn.example/dana.jpg",
      }),
    });
    expect(outcome).toEqual({
      kind: "linked",
      linked: {
        account: {
          id: "urn:li:person:AbC",
          username: "Dana Demo",
          displayName: "Dana Demo",
          avatarUrl: "https://media.licdn.example/dana.jpg",
          url: "",
          kind: "member",
        },
        credentials: { ...member, accessExpiresAt: later(60 * DAY_MS).toISOString() },
        instanceUrl: null,
        scopes: ["openid", "profile", "w_member_social"],
        limits: { kind: "member" },
        expiresAt: later(60 * DAY_MS).toISOString(),
      },
    });
    const [token, userinfo] = scripted.calls;
    expect(token?.headers?.["content-type"]).toBe("application/x-www-form-urlencoded");
    const form = token?.body;
    expect(typeof form === "string" && Object.fromEntries(new URLSearchParams(form))).toEqual({
      grant_type: "authorization_code",
      code: "code-1",
      redirect_uri: redirectUri,
      client_id: "member-app",
      client_secret: "member-secret",
    });
    expect(userinfo?.headers?.["authorization"]).toBe("Bearer token");
  });

  it("keeps a refresh token and tells when it ends, which is when the account must be linked again", async () => {
    const { outcome } = await finish("member", {
      [TOKEN]: grant("openid profile w_member_social", {
        refresh_token: "refresh",
        refresh_token_expires_in: 365 * 24 * 3600,
      }),
      [USERINFO]: answer(200, { sub: "AbC" }),
    });
    expect(outcome).toMatchObject({
      linked: {
        credentials: { refreshToken: "refresh" },
        expiresAt: later(365 * DAY_MS).toISOString(),
      },
    });
  });

  it("lets the user choose among the organisations that may be published for", async () => {
    const { outcome, scripted } = await finishOrganizations([
      acl(1),
      acl(2, "CONTENT_ADMINISTRATOR"),
      acl(3, "ANALYST"),
      acl(4, "DIRECT_SPONSORED_CONTENT_POSTER"),
      { ...acl(5), state: "REQUESTED" },
      { ...acl(6), organization: "urn:li:organizationBrand:6" },
      "nonsense",
    ]);
    if (outcome.kind !== "choose") throw new Error("no choice");
    expect(outcome.candidates).toEqual([
      { id: "1", label: "Bakery", hint: "bakery" },
      { id: "2", label: "Coffee", hint: "coffee" },
    ]);
    const roles = scripted.calls.find(({ url }) => url.includes("organizationAcls"));
    expect(roles?.url).toContain("q=roleAssignee&state=APPROVED");
    expect(roles?.headers).toMatchObject({
      authorization: "Bearer token",
      "linkedin-version": "202609",
      "x-restli-protocol-version": "2.0.0",
    });
    const flow = JSON.parse(JSON.stringify(outcome.flow)) as NetworkData;
    expect(await link.choose("2", flow)).toEqual({
      kind: "linked",
      linked: {
        account: {
          id: "urn:li:organization:2",
          username: "coffee",
          displayName: "Coffee",
          avatarUrl: null,
          url: "https://www.linkedin.com/company/coffee/",
          kind: "organization",
        },
        credentials: {
          author: "urn:li:organization:2",
          kind: "organization",
          accessToken: "token",
          accessExpiresAt: later(60 * DAY_MS).toISOString(),
        },
        instanceUrl: null,
        scopes: orgScopes.split(" "),
        limits: { kind: "organization" },
        expiresAt: later(60 * DAY_MS).toISOString(),
        grantId: "organizations of urn:li:person:xyz",
      },
    });
    expect(await link.choose("3", flow)).toMatchObject({ code: "input_invalid" });
  });

  it("asks nothing where there is one organisation, whatever its row calls it", async () => {
    const { organization: urn, ...rest } = acl(1);
    const { outcome } = await finishOrganizations([{ ...rest, organizationTarget: urn }]);
    expect(outcome).toMatchObject({ kind: "linked", linked: { account: { username: "bakery" } } });
  });

  it("offers an organisation by its number when its name can't be had", async () => {
    const { outcome } = await finishOrganizations([acl(1), acl(2)], {
      [ORGANIZATION(1)]: lost,
      [ORGANIZATION(2)]: answer(404, {}),
    });
    expect(outcome).toMatchObject({
      candidates: [{ label: "LinkedIn 1" }, { label: "LinkedIn 2" }],
    });
  });

  it("reads every page of a long list of organisations, but not for ever", async () => {
    const full = answer(200, { elements: Array.from({ length: 100 }, () => acl(1)) });
    const { scripted } = await finishOrganizations([], { [ACLS]: full });
    expect(scripted.asked.filter((name) => name === ACLS)).toHaveLength(3);
    expect(
      scripted.calls.map(({ url }) => url).filter((url) => url.includes("start=200")),
    ).toHaveLength(1);
  });

  it.each([
    [{ error: "user_cancelled_login" }, "access_denied"],
    [{ error: "user_cancelled_authorize" }, "access_denied"],
    [{ error: "unauthorized_scope_error" }, "network_unavailable"],
    [{ error: "something" }, "access_denied"],
    [{}, "input_invalid"],
  ])("tells about the callback %j", async (params, code) => {
    const { outcome, scripted } = await finish("member", {}, params);
    expect(outcome).toMatchObject({ kind: "failed", code });
    expect(scripted.calls).toEqual([]);
  });

  it.each([
    ["member", TOKEN, answer(400, { error: "invalid_request" }), "access_denied"],
    ["member", TOKEN, answer(401, { error: "invalid_client" }), "network_unavailable"],
    ["member", TOKEN, answer(429, ""), "rate_limited"],
    ["member", TOKEN, htmlPage(502), "network_unavailable"],
    ["member", TOKEN, lost, "network_unavailable"],
    ["member", TOKEN, grant("openid profile"), "permission_missing"],
    ["member", USERINFO, revoked, "access_denied"],
    ["member", USERINFO, denied, "permission_missing"],
    ["member", USERINFO, answer(200, { name: "nobody" }), "network_unavailable"],
    ["member", USERINFO, answer(429, { message: "APPLICATION DAY limit" }), "rate_limited"],
    ["member", USERINFO, lost, "network_unavailable"],
    ["organization", TOKEN, grant("w_organization_social"), "permission_missing"],
    ["organization", ACLS, denied, "permission_missing"],
    ["organization", ACLS, answer(426, {}), "network_unavailable"],
    ["organization", ACLS, lost, "network_unavailable"],
    ["organization", ACLS, answer(200, { elements: [] }), "nothing_to_choose"],
  ])("as a %s tells why it failed (%#)", async (kind, call, reply, code) => {
    const { outcome } = await finish(kind, {
      [TOKEN]: kind === "member" ? memberGrant : grant(orgScopes),
      [call]: reply,
    });
    expect(outcome).toMatchObject({ kind: "failed", code });
    expect(JSON.stringify(outcome)).not.toContain("secret");
  });

  it.each([
    [member, "client_id=member-app&client_secret=member-secret&token=token"],
    [organization, "client_id=org-app&client_secret=org-secret&token=token"],
  ])("can be undone, with the app that it was made with (%#)", async (credentials, body) => {
    for (const reply of [answer(200, ""), answer(404, ""), lost]) {
      const scripted = tools({ http: { "POST https://www.linkedin.com/oauth/v2/revoke": reply } });
      await linkedin.revoke(credentials, null, scripted);
      expect(scripted.calls[0]?.body).toBe(body);
    }
  });
});

describe("LinkedIn credentials", () => {
  const freshen = (credentials: NetworkData, script: Script = {}) => {
    const scripted = tools(script);
    return linkedin.freshen(credentials, null, scripted);
  };
  const ending = (minutes: number) => ({
    ...renewable,
    accessExpiresAt: later(minutes * 60_000).toISOString(),
  });
  const renewal = answer(200, { access_token: "new", expires_in: 5_184_000 });

  it.each([
    ["a fresh token", member],
    ["a fresh token that could be renewed", renewable],
    ["a token of the last week that can't be renewed", { ...ending(60), refreshToken: undefined }],
  ])("are left alone with %s", async (_what, credentials) => {
    const scripted = tools();
    expect(await linkedin.freshen(credentials, null, scripted)).toEqual({ kind: "usable" });
    expect(scripted.calls).toEqual([]);
  });

  it.each([
    ["no refresh token", { ...ending(9), refreshToken: undefined }],
    ["an ended refresh token", { ...ending(9), refreshExpiresAt: ago(1).toISOString() }],
  ])("need a new link at the end of the token with %s", async (_what, credentials) => {
    expect(await freshen(credentials)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });

  it("are renewed in the last week; the refresh token stays and ends no later", async () => {
    const scripted = tools({ http: { [TOKEN]: renewal } });
    expect(await linkedin.freshen(ending(6 * 24 * 60), null, scripted)).toEqual({
      kind: "refreshed",
      credentials: {
        ...renewable,
        accessToken: "new",
        accessExpiresAt: later(60 * DAY_MS).toISOString(),
      },
      expiresAt: renewable.refreshExpiresAt,
    });
    expect(scripted.calls[0]?.body).toBe(
      "grant_type=refresh_token&refresh_token=refresh&client_id=member-app&client_secret=member-secret",
    );
  });

  it("take a new refresh token when there is one", async () => {
    const reply = answer(200, {
      access_token: "new",
      expires_in: 100,
      refresh_token: "next",
      refresh_token_expires_in: 50,
    });
    expect(await freshen(ending(5), { http: { [TOKEN]: reply } })).toMatchObject({
      credentials: { refreshToken: "next", refreshExpiresAt: later(50_000).toISOString() },
      expiresAt: later(100_000).toISOString(),
    });
  });

  it.each([
    [answer(400, { error: "invalid_grant" }), "rejected", "connection_needs_reauth"],
    [answer(400, { error: "invalid_request" }), "rejected", "connection_needs_reauth"],
    [answer(401, { error: "invalid_client" }), "rejected", "app_misconfigured"],
    [answer(429, ""), "try_later", "rate_limited"],
    [htmlPage(502), "try_later", "network_unavailable"],
    [lost, "try_later", "network_unavailable"],
  ])("that can't be renewed serve until their end (%#)", async (reply, kind, code) => {
    const script = { http: { [TOKEN]: reply } };
    expect(await freshen(ending(60), script)).toEqual({ kind: "usable" });
    expect(await freshen(ending(5), script)).toMatchObject({ kind, failure: { code } });
  });

  it("of an organisation are renewed with its own app, and not without it", async () => {
    const credentials = { ...ending(5), kind: "organization" };
    const scripted = tools({ http: { [TOKEN]: renewal } });
    await linkedin.freshen(credentials, null, scripted);
    expect(scripted.calls[0]?.body).toContain("client_id=org-app&client_secret=org-secret");
    expect(await freshen(credentials, { app: memberApp })).toMatchObject({
      kind: "rejected",
      failure: { code: "app_misconfigured" },
    });
  });

  it("that LinkedIn refuses before their time are renewed once", async () => {
    const scripted = tools({ http: { [POST]: revoked, [TOKEN]: renewal } });
    const attempt = (credentials: NetworkData) =>
      linkedin.publish(leg({}, { credentials, sentAt: NOW }), scripted);
    expect(await attempt(renewable)).toMatchObject({ kind: "try_later", retryAfterSeconds: 0 });
    const fresh = await linkedin.freshen(renewable, null, scripted);
    if (fresh.kind !== "refreshed") throw new Error("not renewed");
    expect(await linkedin.freshen(fresh.credentials, null, scripted)).toEqual({ kind: "usable" });
    expect(await attempt(fresh.credentials)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });
});

describe("preparing a LinkedIn post", () => {
  const initialized = (kind: string, name: string, uploadUrl = `${UPLOADS}/${name}?sig=1`) =>
    answer(200, { value: { uploadUrl, [kind]: `urn:li:${kind}:${name}` } });
  const available = answer(200, { status: "AVAILABLE" });
  const script: Script = {
    media: {
      [FILE]: image(),
      [SECOND]: image({ contentType: "image/png" }),
      [CLIP]: image({ contentType: "video/mp4", bytes: Buffer.from("0123456789") }),
      [PAPER]: image({ contentType: "application/pdf" }),
    },
  };
  const prepare = (
    http: NonNullable<Script["http"]>,
    draft: Partial<LegDraft> = { media: files(FILE) },
    overrides: Partial<LegToPublish> = {},
  ) => linkedin.prepare(leg(draft, overrides), tools({ ...script, http }));
  const oneImage = {
    [`POST ${REST}/images`]: initialized("image", "A"),
    [`PUT ${UPLOADS}/A`]: answer(201),
  };

  it("has nothing to do without files", async () => {
    expect(await prepare({}, { media: [] })).toEqual({ kind: "ready", remote: begun });
  });

  it("uploads each image with the token, in the order of the draft, and once", async () => {
    const scripted = tools({
      ...script,
      http: {
        [`POST ${REST}/images`]: [initialized("image", "A"), initialized("image", "B")],
        [`PUT ${UPLOADS}/A`]: answer(201),
        [`PUT ${UPLOADS}/B`]: answer(201),
        [LOOK("image", "A")]: available,
        [LOOK("image", "B")]: available,
      },
    });
    const draft = { media: files(FILE, SECOND) };
    const credentials = organization;
    const outcome = await linkedin.prepare(leg(draft, { credentials }), scripted);
    const remote = uploaded(asset("image", "A"), asset("image", "B"));
    expect(outcome).toEqual({ kind: "ready", remote });
    const [initialize, put, , putSecond] = scripted.calls;
    expect(initialize?.url).toBe(`${REST}/images?action=initializeUpload`);
    expect(sentJson(initialize)).toEqual({
      initializeUploadRequest: { owner: organization.author },
    });
    expect(put?.headers).toEqual({ authorization: "Bearer token", "content-type": "image/jpeg" });
    expect(putSecond?.headers?.["content-type"]).toBe("image/png");
    const again = tools();
    expect(await linkedin.prepare(leg(draft, { credentials, remote }), again)).toEqual({
      kind: "ready",
      remote,
    });
    expect(again.calls).toEqual([]);
  });

  it("gives images that a member's token can't look at half a minute", async () => {
    const scripted = tools({
      ...script,
      http: {
        [`POST ${REST}/images`]: [initialized("image", "A"), initialized("image", "B")],
        [`PUT ${UPLOADS}/A`]: answer(201),
        [`PUT ${UPLOADS}/B`]: answer(201),
        [LOOK("image", "A")]: denied,
      },
    });
    const outcome = await linkedin.prepare(leg({ media: files(FILE, SECOND) }), scripted);
    expect(outcome).toMatchObject({ kind: "processing", pollAfterSeconds: 25 });
    if (outcome.kind !== "processing") return;
    const { remote } = outcome;
    const rest = await prepare({}, { media: files(FILE, SECOND) }, { remote });
    expect(rest).toMatchObject({ kind: "ready" });
  });

  it("looks once per step at a file that LinkedIn still works on", async () => {
    const working = answer(200, { status: "PROCESSING" });
    const http = { ...oneImage, [LOOK("image", "A")]: working };
    const first = await prepare(http);
    const remote = uploaded(asset("image", "A", false));
    expect(first).toEqual({ kind: "processing", remote, pollAfterSeconds: 3 });
    const scripted = tools({ http: { [LOOK("image", "A")]: [working, available] } });
    const look = () => linkedin.prepare(leg({ media: files(FILE) }, { remote }), scripted);
    expect(await look()).toMatchObject({ kind: "processing" });
    expect(scripted.calls).toHaveLength(1);
    expect(await look()).toEqual({ kind: "ready", remote: uploaded(asset("image", "A")) });
  });

  it("uploads a file anew that failed, once; a retry by hand, later, does so again", async () => {
    const remote = uploaded(asset("video", "V", false));
    const failed = answer(200, { status: "PROCESSING_FAILED", processingFailureReason: "codec" });
    const http = { [LOOK("video", "V")]: failed };
    const draft = { media: files(CLIP) };
    const first = await prepare(http, draft, { remote });
    expect(first).toMatchObject({ kind: "processing", remote: { assets: [] } });
    if (first.kind !== "processing") return;
    const again = { remote: { ...first.remote, assets: remote["assets"] } };
    expect(await prepare(http, draft, again)).toMatchObject({
      kind: "rejected",
      failure: { code: "media_processing_failed", mediaIndex: 0, note: "codec" },
    });
    const tomorrow = tools({ http, now: later(DAY_MS) });
    expect(await linkedin.prepare(leg(draft, again), tomorrow)).toMatchObject({
      kind: "processing",
    });
  });

  it("uploads nothing anew for a post that may be there already", async () => {
    const failed = { [LOOK("image", "A")]: answer(200, { status: "PROCESSING_FAILED" }) };
    const remote = uploaded(asset("image", "A", false));
    const draft = { media: files(FILE) };
    expect(await prepare(failed, draft, { remote, sentAt: ago(60) })).toMatchObject({
      kind: "rejected",
    });
  });

  it("uploads the picture of a link card, not beside media", async () => {
    const link = { url: "https://a.example", title: "A", thumbnailUrl: FILE };
    const scripted = tools({ ...script, http: { ...oneImage, [LOOK("image", "A")]: available } });
    const outcome = await linkedin.prepare(leg({ options: { link } }), scripted);
    expect(outcome).toEqual({ kind: "ready", remote: uploaded(asset("image", "A")) });
    const beside = { ...oneImage, [LOOK("image", "A")]: available };
    const both = await prepare(beside, { media: files(SECOND), options: { link } });
    expect(both).toMatchObject({ kind: "ready", remote: { assets: [asset("image", "A")] } });
  });

  it("uploads a document in one piece", async () => {
    const http = {
      [`POST ${REST}/documents`]: initialized("document", "D"),
      [`PUT ${UPLOADS}/D`]: answer(201),
      [LOOK("document", "D")]: answer(200, { status: "PROCESSING" }),
    };
    const draft = { media: files(PAPER), options: { documentTitle: "Report" } };
    expect(await prepare(http, draft)).toMatchObject({
      kind: "processing",
      pollAfterSeconds: 5,
      remote: { assets: [asset("document", "D", false)] },
    });
    expect(await prepare({}, { media: files(PAPER) })).toMatchObject({
      kind: "rejected",
      failure: { rule: "linkedin.document.title", mediaIndex: 0 },
    });
  });

  describe("a video", () => {
    const ranges = [
      { uploadUrl: `${UPLOADS}/V/0?sig=a`, firstByte: 0, lastByte: 3 },
      { uploadUrl: `${UPLOADS}/V/1?sig=b`, firstByte: 4, lastByte: 7 },
      { uploadUrl: `${UPLOADS}/V/2?sig=c`, firstByte: 8, lastByte: 9 },
    ];
    const videos = (finalized = answer(200)) => ({
      [`POST ${REST}/videos`]: (request: HttpRequest) =>
        request.url.endsWith("finalizeUpload")
          ? finalized
          : answer(200, {
              value: { video: "urn:li:video:V", uploadToken: "", uploadInstructions: ranges },
            }),
    });
    const PART = (index: number) => `PUT ${UPLOADS}/V/${index}`;
    const part = (index: number) => answer(200, "", { etag: `"tag-${index}"` });
    const parts = { [PART(0)]: part(0), [PART(1)]: part(1), [PART(2)]: part(2) };
    const draft = { media: files(CLIP) };

    it("goes up range by range, without the token, and is put together by its receipts", async () => {
      const scripted = tools({
        ...script,
        http: {
          ...videos(),
          ...parts,
          [LOOK("video", "V")]: answer(200, { status: "PROCESSING" }),
        },
      });
      expect(await linkedin.prepare(leg(draft), scripted)).toEqual({
        kind: "processing",
        remote: uploaded(asset("video", "V", false)),
        pollAfterSeconds: 10,
      });
      const [initialize, ...rest] = scripted.calls;
      expect(sentJson(initialize)).toEqual({
        initializeUploadRequest: {
          owner: member.author,
          fileSizeBytes: 10,
          uploadCaptions: false,
          uploadThumbnail: false,
        },
      });
      const sent = await Promise.all(
        rest.slice(0, 3).map(async (request) => {
          const { url, headers } = request;
          return { url, body: (await sentBytes(request)).toString(), headers };
        }),
      );
      const headers = { "content-type": "application/octet-stream" };
      expect(sent).toEqual([
        { url: ranges[0]?.uploadUrl, body: "0123", headers },
        { url: ranges[1]?.uploadUrl, body: "4567", headers },
        { url: ranges[2]?.uploadUrl, body: "89", headers },
      ]);
      expect(sentJson(rest[3])).toEqual({
        finalizeUploadRequest: {
          video: "urn:li:video:V",
          uploadToken: "",
          uploadedPartIds: ['"tag-0"', '"tag-1"', '"tag-2"'],
        },
      });
    });

    it("goes on where it broke off", async () => {
      const http = { ...videos(), ...parts, [PART(1)]: lost };
      const first = await prepare(http, draft);
      if (first.kind !== "try_later" || first.remote === undefined) throw new Error("not kept");
      const remote = JSON.parse(JSON.stringify(first.remote)) as NetworkData;
      const stuck = await prepare({ [PART(1)]: lost }, draft, { remote });
      expect(stuck).toMatchObject({ kind: "try_later", failure: { code: "network_unavailable" } });
      const scripted = tools({
        ...script,
        http: { ...videos(), ...parts, [LOOK("video", "V")]: denied },
      });
      expect(await linkedin.prepare(leg(draft, { remote }), scripted)).toMatchObject({
        kind: "processing",
        pollAfterSeconds: 30,
      });
      expect(scripted.asked).toEqual([PART(1), PART(2), `POST ${REST}/videos`, LOOK("video", "V")]);
    });

    it("is only put together when all that failed was putting it together", async () => {
      const first = await prepare({ ...videos(answer(503)), ...parts }, draft);
      if (first.kind !== "try_later" || first.remote === undefined) throw new Error("not kept");
      const { remote } = first;
      const scripted = tools({ http: { ...videos(), [LOOK("video", "V")]: available } });
      expect(await linkedin.prepare(leg(draft, { remote }), scripted)).toEqual({
        kind: "ready",
        remote: uploaded(asset("video", "V")),
      });
    });

    it("leaves off in time for its lease, and goes on", async () => {
      let at = NOW.getTime();
      const slow = (index: number) => () => {
        at += 25_000;
        return part(index);
      };
      const scripted = {
        ...tools({
          ...script,
          http: { ...videos(), [PART(0)]: slow(0), [PART(1)]: slow(1), [PART(2)]: slow(2) },
        }),
        now: () => new Date(at),
      };
      const outcome = await linkedin.prepare(leg(draft), scripted);
      expect(outcome).toMatchObject({ kind: "processing", pollAfterSeconds: 1 });
      expect(scripted.asked).toEqual([`POST ${REST}/videos`, PART(0), PART(1)]);
    });

    it.each([
      ["the file changed", { media: { [CLIP]: image({ contentType: "video/mp4" }) } }, {}],
      ["the addresses ran out", script, { [PART(1)]: answer(400, { code: "EXPIRED_UPLOAD_URL" }) }],
    ])("starts over when %s", async (_what, given, http) => {
      const first = await prepare({ ...videos(), ...parts, [PART(1)]: lost }, draft);
      if (first.kind !== "try_later" || first.remote === undefined) throw new Error("not kept");
      const { remote } = first;
      const outcome = await linkedin.prepare(leg(draft, { remote }), tools({ ...given, http }));
      expect(outcome).toMatchObject({ kind: "processing", remote: { assets: [] } });
    });

    it.each([
      [answer(200, "", {}), "try_later", "network_unavailable"],
      [answer(403, ""), "rejected", "invalid_request"],
      [answer(503, ""), "try_later", "network_unavailable"],
      [refusedToConnect, "try_later", "network_unavailable"],
    ])("is not there without its first receipt (%#)", async (reply, kind, code) => {
      const outcome = await prepare({ ...videos(), [PART(0)]: reply }, draft);
      expect(outcome).toMatchObject({ kind, failure: { code } });
    });
  });

  it("keeps what it uploaded when a later file fails", async () => {
    const draft = { media: files(FILE, SECOND) };
    const busy = answer(429, { message: "throttle APPLICATION MINUTE" });
    const http = { ...oneImage, [`POST ${REST}/images`]: [initialized("image", "A"), busy] };
    const first = await prepare(http, draft);
    expect(first).toMatchObject({
      kind: "try_later",
      remote: { assets: [asset("image", "A", false)] },
    });
    if (first.kind !== "try_later" || first.remote === undefined) throw new Error("not kept");
    const { remote } = first;
    expect(await prepare({ [`POST ${REST}/images`]: busy }, draft, { remote })).toMatchObject({
      kind: "try_later",
      failure: { code: "rate_limited", mediaIndex: 1 },
    });
  });

  it.each([
    "https://evil.example/upload",
    "https://linkedin.com.evil.example/upload",
    "https://evil-linkedin.com/upload",
    "http://www.linkedin.com/upload",
    "file:///etc/passwd",
    "nonsense",
  ])("sends neither file nor token to %s", async (address) => {
    const scripted = tools({
      ...script,
      http: { [`POST ${REST}/images`]: initialized("image", "A", address) },
    });
    const outcome = await linkedin.prepare(leg({ media: files(FILE) }), scripted);
    expect(outcome).toMatchObject({ kind: "try_later" });
    expect(scripted.calls).toHaveLength(1);
  });

  it.each([
    [revoked, "rejected", "connection_needs_reauth"],
    [denied, "rejected", "permission_missing"],
    [answer(426, { code: "NONEXISTENT_VERSION" }), "rejected", "app_misconfigured"],
    [answer(429, { message: "throttle MEMBER DAY" }), "rejected", "quota_exceeded"],
    [answer(413, ""), "rejected", "media_rejected"],
    [answer(415, ""), "rejected", "media_rejected"],
    [answer(409, ""), "try_later", "network_unavailable"],
    [htmlPage(502), "try_later", "network_unavailable"],
    [answer(200, "no address"), "try_later", "network_unavailable"],
    [lost, "try_later", "network_unavailable"],
    [refusedToConnect, "try_later", "network_unavailable"],
  ])("publishes nothing when an upload fails (%#)", async (reply, kind, code) => {
    expect(await prepare({ [`POST ${REST}/images`]: reply })).toMatchObject({
      kind,
      failure: { code },
    });
    const { status } = reply instanceof HttpFailure ? { status: 0 } : reply;
    if (status !== 200) {
      const http = { ...oneImage, [`PUT ${UPLOADS}/A`]: reply };
      expect(await prepare(http)).toMatchObject({ kind, failure: { code } });
    }
  });

  it.each([
    [revoked, "rejected", "connection_needs_reauth"],
    [answer(503, ""), "try_later", "network_unavailable"],
    [lost, "try_later", "network_unavailable"],
  ])("looks again later when a look tells nothing (%#)", async (reply, kind, code) => {
    const remote = uploaded(asset("image", "A", false));
    const http = { [LOOK("image", "A")]: reply };
    expect(await prepare(http, undefined, { remote })).toMatchObject({ kind, failure: { code } });
  });

  it.each([
    [new MediaFailure("media_unreachable", "404"), "try_later", { code: "media_unreachable" }],
    [new MediaFailure("media_rejected", "big"), "rejected", { rule: "linkedin.media.size" }],
    [image({ bytes: Buffer.alloc(20_000_001) }), "rejected", { rule: "linkedin.media.size" }],
    [image({ width: 6200, height: 5900 }), "rejected", { rule: "linkedin.media.pixels" }],
    [image({ contentType: "image/webp" }), "rejected", { rule: "linkedin.media.type" }],
    [image({ contentType: "video/quicktime" }), "rejected", { rule: "linkedin.media.type" }],
  ])("refuses what LinkedIn would (%#)", async (file, kind, failure) => {
    const outcome = await linkedin.prepare(
      leg({ media: files(FILE) }),
      tools({ media: { [FILE]: file } }),
    );
    expect(outcome).toMatchObject({ kind, failure: { mediaIndex: 0, ...failure } });
  });

  it("refuses a video among images, whatever their names", async () => {
    const given = { [FILE]: image(), [SECOND]: image({ contentType: "video/mp4" }) };
    const outcome = await linkedin.prepare(
      leg({ media: files(SECOND, FILE) }),
      tools({ media: given }),
    );
    expect(outcome).toMatchObject({
      kind: "rejected",
      failure: { rule: "linkedin.media.mixed", mediaIndex: 0 },
    });
  });
});

describe("publishing to LinkedIn", () => {
  const publish = (http: NonNullable<Script["http"]>, overrides: Partial<LegToPublish> = {}) =>
    linkedin.publish(leg({}, { sentAt: NOW, ...overrides }), tools({ http }));
  const sent = async (draft: Partial<LegDraft>, overrides: Partial<LegToPublish> = {}) => {
    const scripted = tools({ http: { [POST]: created } });
    expect(await linkedin.publish(leg(draft, overrides), scripted)).toEqual(published);
    return scripted.calls[0];
  };

  it("sends the same post each time, escaped as LinkedIn wants it", async () => {
    const ready = { text: "Launch (beta) #AI", options: { visibility: "CONNECTIONS" } };
    const request = await sent(ready);
    expect(await sent(ready, { sentAt: ago(60) })).toEqual(request);
    expect(sentJson(request)).toEqual({
      author: member.author,
      commentary: String.raw`Launch \(beta\) {hashtag|\#|AI}`,
      visibility: "CONNECTIONS",
      distribution: {
        feedDistribution: "MAIN_FEED",
        targetEntities: [],
        thirdPartyDistributionChannels: [],
      },
      lifecycleState: "PUBLISHED",
      isReshareDisabledByAuthor: false,
    });
    expect(request?.headers).toEqual({
      accept: "application/json",
      authorization: "Bearer token",
      "content-type": "application/json",
      "linkedin-version": "202609",
      "x-restli-protocol-version": "2.0.0",
    });
  });

  it.each<[string, Partial<LegDraft>, readonly unknown[], unknown]>([
    [
      "an image",
      { media: [{ url: FILE, altText: "A cat" }] },
      [asset("image", "A")],
      { media: { id: "urn:li:image:A", altText: "A cat" } },
    ],
    [
      "several images",
      {
        media: [
          { url: FILE, altText: null },
          { url: SECOND, altText: "B" },
        ],
      },
      [asset("image", "A"), asset("image", "B")],
      {
        multiImage: { images: [{ id: "urn:li:image:A" }, { id: "urn:li:image:B", altText: "B" }] },
      },
    ],
    [
      "a video",
      { media: [{ url: CLIP, altText: "ignored" }] },
      [asset("video", "V")],
      { media: { id: "urn:li:video:V" } },
    ],
    [
      "a document",
      { media: files(PAPER), options: { documentTitle: "Report" } },
      [asset("document", "D")],
      { media: { id: "urn:li:document:D", title: "Report" } },
    ],
    [
      "a link card",
      { options: { link: { url: "https://a.example", title: "A" } } },
      [],
      { article: { source: "https://a.example", title: "A" } },
    ],
    [
      "a link card with everything",
      {
        options: {
          link: { url: "https://a.example", title: "A", description: "d", thumbnailUrl: FILE },
        },
      },
      [asset("image", "A")],
      {
        article: {
          source: "https://a.example",
          title: "A",
          description: "d",
          thumbnail: "urn:li:image:A",
        },
      },
    ],
  ])("shows %s", async (_what, draft, assets, content) => {
    const request = await sent(draft, { remote: uploaded(...assets) });
    expect(sentJson(request)["content"]).toEqual(content);
  });

  it("sends nothing whose files are not there", async () => {
    await expect(linkedin.publish(leg({ media: files(FILE) }), tools())).rejects.toThrow();
  });

  it.each([
    ["a lost answer", lost],
    ["a 500", answer(500, { message: "oops" })],
    ["a 503", answer(503, { message: "Service Unavailable" })],
    ["a 409", answer(409, {})],
    ["a 502 of a proxy", htmlPage(502)],
    ["a 403 of a firewall", htmlPage(403)],
    ["a 201 that names no post", answer(201, "")],
    ["a 200", answer(200, "ok")],
  ])("is in doubt after %s", async (_what, reply) => {
    expect(await publish({ [POST]: reply })).toMatchObject({
      kind: "in_doubt",
      failure: { code: "outcome_unknown" },
      remote: { isRepeat: true, doubts: 1 },
    });
  });

  it.each([
    [refusedToConnect, "try_later", "network_unavailable"],
    [answer(429, { message: "throttle APPLICATION DAY" }), "try_later", "rate_limited"],
    [answer(429, { message: "throttle MEMBER DAY" }), "rejected", "quota_exceeded"],
    [revoked, "rejected", "connection_needs_reauth"],
    [denied, "rejected", "permission_missing"],
    [answer(426, { code: "NONEXISTENT_VERSION" }), "rejected", "app_misconfigured"],
    [answer(400, { code: "FIELD_LENGTH_TOO_LONG" }), "rejected", "text_too_long"],
    [answer(400, { code: "INVALID_VALUE_BLANK_FIELD" }), "rejected", "text_invalid"],
    [answer(400, { code: "INVALID_URN_ID" }), "rejected", "invalid_request"],
    [duplicate, "rejected", "duplicate_content"],
  ])("certainly did not happen (%#)", async (reply, kind, code) => {
    expect(await publish({ [POST]: reply })).toMatchObject({ kind, failure: { code } });
  });

  it("takes the duplicate that it meets after an unknown outcome for its own post", async () => {
    const doubtful = await publish({ [POST]: lost });
    if (doubtful.kind !== "in_doubt") throw new Error("not in doubt");
    const remote = doubtful.remote ?? {};
    expect(await publish({ [POST]: duplicate }, { remote })).toEqual(published);
  });

  it("does so after a crash, too, that left nothing but the time of sending", async () => {
    const sentAt = ago(120);
    const prepared = await linkedin.prepare(leg({}, { sentAt }), tools());
    if (prepared.kind !== "ready") throw new Error("not ready");
    const { remote } = prepared;
    expect(await publish({ [POST]: duplicate }, { remote, sentAt })).toEqual(published);
  });

  it("forgets the doubt of an attempt that was later told to have failed", async () => {
    const remote = { ...begun, isRepeat: true, doubts: 1 };
    const prepared = await linkedin.prepare(leg({}, { remote, sentAt: null }), tools());
    expect(prepared).toEqual({ kind: "ready", remote: begun });
  });

  it("waits for files that are not ready after all", async () => {
    const remote = uploaded(asset("image", "A"));
    const outcome = await linkedin.publish(
      leg({ media: files(FILE) }, { remote, sentAt: NOW }),
      tools({ http: { [POST]: notReady } }),
    );
    expect(outcome).toMatchObject({
      kind: "prepare_again",
      remote: uploaded(asset("image", "A", false)),
      failure: { code: "media_not_ready" },
      pollAfterSeconds: 10,
    });
  });

  it("uploads files anew that could not be processed, once, and never for a repeat", async () => {
    const run = (remote: NetworkData) =>
      linkedin.publish(
        leg({ media: files(FILE) }, { remote, sentAt: NOW }),
        tools({ http: { [POST]: processingFailed } }),
      );
    const first = await run(uploaded(asset("image", "A")));
    expect(first).toMatchObject({ kind: "prepare_again", remote: { assets: [] } });
    if (first.kind !== "prepare_again") return;
    const refused = { kind: "rejected", failure: { code: "media_processing_failed" } };
    const { assets } = uploaded(asset("image", "B")) as { assets: unknown };
    expect(await run({ ...first.remote, assets })).toMatchObject(refused);
    expect(await run({ ...uploaded(asset("image", "A")), isRepeat: true })).toMatchObject(refused);
  });
});

describe("an unknown outcome at LinkedIn", () => {
  const reconcile = (
    overrides: Partial<LegToPublish>,
    http: NonNullable<Script["http"]> = {},
    draft: Partial<LegDraft> = {},
  ) => linkedin.reconcile(leg({ text: "Hi (all) #AI", ...draft }, overrides), tools({ http }));

  it("is nothing when nothing was sent", async () => {
    const nothing = { kind: "may_publish", isAbsent: true };
    expect(await reconcile({})).toEqual(nothing);
    expect(await reconcile({ credentials: organization })).toEqual(nothing);
  });

  describe("of a member", () => {
    it.each([
      [29, 1, { kind: "ask_again", pollAfterSeconds: 30 }],
      [30, 1, { kind: "may_publish", isAbsent: false }],
      [30, 0, { kind: "may_publish", isAbsent: false }],
      [540, 1, { kind: "may_publish", isAbsent: false }],
      [541, 1, { kind: "unknowable", failure: { code: "outcome_unknown" } }],
      [60, 2, { kind: "unknowable", failure: { code: "outcome_unknown" } }],
    ])("after %s s and %s doubts", async (seconds, doubts, expected) => {
      const remote = { ...begun, isRepeat: doubts > 0, doubts };
      expect(await reconcile({ remote, sentAt: ago(seconds) })).toMatchObject(expected);
    });
  });

  describe("of an organisation", () => {
    const post = (overrides: Record<string, unknown> = {}) => ({
      id: URN,
      author: organization.author,
      commentary: String.raw`Hi \(all\) {hashtag|\#|AI}`,
      createdAt: ago(90).getTime(),
      lastModifiedAt: ago(90).getTime(),
      lifecycleState: "PUBLISHED",
      ...overrides,
    });
    const listed = (...elements: readonly unknown[]) => ({ [LIST]: answer(200, { elements }) });
    const ask = (
      http: NonNullable<Script["http"]>,
      overrides: Partial<LegToPublish> = {},
      draft: Partial<LegDraft> = {},
    ) => reconcile({ credentials: organization, sentAt: ago(100), ...overrides }, http, draft);

    it("is looked up among its posts", async () => {
      const scripted = tools({ http: listed(post()) });
      const sent = leg({ text: "Hi (all) #AI" }, { credentials: organization, sentAt: ago(100) });
      expect(await linkedin.reconcile(sent, scripted)).toEqual(published);
      expect(scripted.calls[0]?.url).toBe(
        `${REST}/posts?q=author&author=urn%3Ali%3Aorganization%3A7&start=0&count=10&sortBy=LAST_MODIFIED`,
      );
      expect(scripted.calls[0]?.headers).toMatchObject({ "x-restli-method": "FINDER" });
    });

    it.each([
      ["other words", post({ commentary: "Hi all" })],
      ["an older post", post({ createdAt: ago(300).getTime() })],
      ["a post that failed", post({ lifecycleState: "PUBLISH_FAILED" })],
      ["nonsense", { id: 1 }],
    ])("is not %s", async (_what, found) => {
      expect(await ask(listed(found))).toEqual({ kind: "may_publish", isAbsent: true });
    });

    it.each([
      ["an image", { media: { id: "urn:li:image:A" } }],
      ["several", { multiImage: { images: [{ id: "urn:li:image:X" }, { id: "urn:li:image:A" }] } }],
      ["a card's picture", { article: { source: "x", thumbnail: "urn:li:image:A" } }],
    ])("is the post with the same file (%s), whatever its words", async (_what, content) => {
      const remote = uploaded(asset("image", "A"));
      const twin = post({ id: "urn:li:share:1" });
      const found = await ask(listed(twin, post({ commentary: "", content })), { remote });
      expect(found).toEqual(published);
    });

    it("is waited for while the list may not show it yet", async () => {
      const early = await ask(listed(), { sentAt: ago(59) });
      expect(early).toMatchObject({ kind: "ask_again", failure: { code: "outcome_unknown" } });
      expect(await ask(listed(), { sentAt: ago(60) })).toEqual({
        kind: "may_publish",
        isAbsent: true,
      });
      expect(await ask(listed(post()), { sentAt: ago(5) })).toMatchObject({ kind: "ask_again" });
    });

    it("is looked for on later pages, but not for ever", async () => {
      const others = (age: number) =>
        answer(200, {
          elements: Array.from({ length: 10 }, () =>
            post({ commentary: "x", createdAt: ago(age).getTime(), lastModifiedAt: undefined }),
          ),
        });
      const second = { [LIST]: [others(10), answer(200, { elements: [post()] })] };
      expect(await ask(second)).toEqual(published);
      const scripted = tools({ http: { [LIST]: others(10) } });
      const sent = leg({}, { credentials: organization, sentAt: ago(100) });
      expect(await linkedin.reconcile(sent, scripted)).toEqual({
        kind: "may_publish",
        isAbsent: false,
      });
      expect(scripted.calls.map(({ url }) => /start=(\d+)/.exec(url)?.[1])).toEqual([
        "0",
        "10",
        "20",
      ]);
      const beyond = tools({ http: { [LIST]: others(900) } });
      expect(await linkedin.reconcile(sent, beyond)).toMatchObject({ isAbsent: true });
      expect(beyond.calls).toHaveLength(1);
    });

    it("that may not be listed is one of a member's", async () => {
      const http = { [LIST]: denied };
      expect(await ask(http)).toEqual({ kind: "may_publish", isAbsent: false });
      expect(await ask(http, { sentAt: ago(3600) })).toMatchObject({ kind: "unknowable" });
    });

    it.each([
      lost,
      refusedToConnect,
      htmlPage(502),
      answer(500, { message: "oops" }),
      answer(200, "ok"),
      answer(429, { message: "throttle" }, { "retry-after": "7" }),
    ])("is asked again when LinkedIn does not say (%#)", async (reply) => {
      expect(await ask({ [LIST]: reply })).toMatchObject({
        kind: "ask_again",
        failure: { code: "outcome_unknown" },
      });
    });

    it("is asked again with a renewed token", async () => {
      const credentials = { ...renewable, kind: "organization" };
      expect(await ask({ [LIST]: revoked }, { credentials })).toMatchObject({ kind: "ask_again" });
    });
  });
});
