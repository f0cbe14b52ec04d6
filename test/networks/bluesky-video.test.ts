import { describe, expect, test } from "vitest";
import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../../sandbox/bluesky/state.ts";
import type { Sandbox } from "../../sandbox/server.ts";
import { bluesky } from "../../src/shared/networks/bluesky/index.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import type { LinkedAccount } from "../../src/shared/networks/contract/link.ts";
import type { NetworkApp } from "../../src/shared/networks/contract/settings.ts";
import { HttpFailure, type HttpRequest } from "../../src/shared/runtime/http-call.ts";
import { publishedBy, walkLeg, type SandboxTools } from "./sandbox-leg.ts";
import { decideAt } from "./sandbox-links.ts";
import { answer } from "./scripted-tools.ts";
import { useSandboxTools } from "./use-sandbox-tools.ts";

const LOCAL: NetworkApp = { id: "http://localhost:7071/api", secret: "", version: "" };

let sandbox: Sandbox;
let tools: SandboxTools;

useSandboxTools((fresh) => {
  ({ sandbox, tools } = fresh);
}, LOCAL);

const clip: Partial<LegDraft> = {
  text: "See it rise",
  media: [{ url: "https://media.sandbox.test/clip.mp4", altText: "Dough in the oven" }],
};

async function linkByPassword(): Promise<LinkedAccount> {
  const form = { identifier: DEMO_HANDLE, appPassword: DEMO_APP_PASSWORD };
  const outcome = await bluesky.link.alternative.signIn(form, tools);
  if (outcome.kind === "failed") throw new Error(outcome.code);
  return outcome.linked;
}

async function linkByOAuth(): Promise<LinkedAccount> {
  const redirectUri = `${LOCAL.id}/v1/connect/callback/bluesky`;
  const asked = { redirectUri, state: "unused", codeChallenge: "unused" };
  const started = await bluesky.link.start({ identifier: DEMO_HANDLE }, asked, tools);
  if (started.kind === "failed") throw new Error(started.code);
  const back = await decideAt(started.url, tools);
  const params = Object.fromEntries(back.searchParams);
  const callback = { params, codeVerifier: "unused", redirectUri, flow: started.flow };
  const outcome = await bluesky.link.finish(callback, tools);
  if (outcome.kind === "failed") throw new Error(outcome.code);
  return outcome.linked;
}

const calls = () =>
  sandbox
    .requests()
    .filter(({ status }) => status !== 401)
    .map(({ route }) => route);
const callsTo = (route: string) => calls().filter((called) => called === route).length;

function shownVideo() {
  const [post, ...others] = sandbox.posts("bluesky");
  expect(others).toEqual([]);
  expect(post).toMatchObject({ text: clip.text, edits: 0 });
  return post?.media;
}

describe.each([
  ["an app password", linkByPassword],
  ["OAuth", linkByOAuth],
])("a video of an account that was linked by %s", (_way, link) => {
  test("goes through the video service, one look at a time, and is shown with its description", async () => {
    const linked = await link();
    sandbox.fault("bluesky", "uploadVideo", "processing:2");
    const walk = await walkLeg(bluesky, linked, clip, tools);
    publishedBy(walk);
    expect(walk.steps).toEqual([
      "prepare processing",
      "prepare processing",
      "prepare processing",
      "prepare ready",
      "perform done",
    ]);
    expect(callsTo("uploadVideo")).toBe(1);
    expect(callsTo("uploadBlob")).toBe(0);
    expect(shownVideo()).toMatchObject([{ kind: "video", alt: "Dough in the oven" }]);
  });

  test("a video is made of a moving GIF, which goes on moving", async () => {
    const linked = await link();
    const url = "https://media.sandbox.test/animation.gif";
    const walk = await walkLeg(
      bluesky,
      linked,
      { ...clip, media: [{ url, altText: "Dough" }] },
      tools,
    );
    publishedBy(walk);
    expect([callsTo("uploadVideo"), callsTo("uploadBlob")]).toEqual([1, 0]);
    expect(shownVideo()).toMatchObject([{ kind: "video", alt: "Dough" }]);
    expect(walk.leg.remote["record"]).toMatchObject({
      embed: { $type: "app.bsky.embed.video", presentation: "gif" },
    });
  });

  test.each([
    ["video/quicktime", "mov"],
    ["video/webm", "webm"],
    ["video/mpeg", "mpeg"],
  ])("a video is made of %s, by its bytes", async (contentType, extension) => {
    const linked = await link();
    const asOpened: typeof tools = {
      ...tools,
      openMedia: async (url, limits) => ({ ...(await tools.openMedia(url, limits)), contentType }),
    };
    const uploads: HttpRequest[] = [];
    asOpened.http = (request) => {
      if (request.url.includes("uploadVideo")) uploads.push(request);
      return tools.http(request);
    };
    publishedBy(await walkLeg(bluesky, linked, clip, asOpened));
    expect(uploads).toMatchObject([
      {
        url: expect.stringMatching(new RegExp(`name=\\w+\\.${extension}$`)) as string,
        headers: { "content-type": contentType },
      },
    ]);
    expect(callsTo("uploadBlob")).toBe(0);
    expect(shownVideo()).toMatchObject([{ kind: "video" }]);
  });

  test("a video that was handed over before is not worked on again", async () => {
    const linked = await link();
    publishedBy(await walkLeg(bluesky, linked, { ...clip, text: "First" }, tools));
    const again = await walkLeg(bluesky, linked, { ...clip, text: "Second" }, tools);
    expect(again.steps).toEqual(["prepare ready", "perform done"]);
    expect(sandbox.posts("bluesky")).toHaveLength(2);
  });
});

const CLOSED = { error: "uploads_disabled", message: "Uploading is disabled at the moment" };

const AUDIENCE =
  'invalid token: invalid token audience "did:web:new.example", should be the user\'s PDS DID "did:web:old.example"';

describe("a video that the service does not make playable", () => {
  test.each([
    ["could not read", "uploadVideo", "media_rejected", "media_rejected"],
    ["has no room for today", "getUploadLimits", "quota_exceeded", "quota_exceeded"],
    [
      "does not take from an unconfirmed account",
      "getUploadLimits",
      "account_restricted",
      "account_restricted",
    ],
  ])("a video that %s ends the leg as the service says", async (_what, route, fault, code) => {
    const linked = await linkByOAuth();
    sandbox.fault("bluesky", route, `fail:${fault}`);
    const { outcome } = await walkLeg(bluesky, linked, clip, tools);
    expect(outcome).toMatchObject({ kind: "rejected", failure: { code, mediaIndex: 0 } });
    expect(sandbox.posts("bluesky")).toEqual([]);
  });

  test("a video that is too large for the account's own server is told by its size", async () => {
    const linked = await linkByOAuth();
    const failureCode = "pds_upload_unsupported_blob_size";
    const job = { jobId: "d0", did: "did:plc:x", state: "JOB_STATE_FAILED", failureCode };
    sandbox.fault("bluesky", "getJobStatus", {
      status: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jobStatus: job }),
      isAfter: false,
    });
    const { outcome } = await walkLeg(bluesky, linked, clip, tools);
    const failure = { code: "media_rejected", rule: "bluesky.media.size", mediaIndex: 0 };
    expect(outcome).toMatchObject({ kind: "rejected", failure });
    expect(sandbox.posts("bluesky")).toEqual([]);
  });

  test.each([
    ["an error", 400, { error: "invalid_token", message: AUDIENCE }],
    ["an empty job", 400, { jobStatus: { jobId: "", state: "", did: "", message: AUDIENCE } }],
    ["a refusal", 401, { error: "invalid token", message: AUDIENCE }],
  ])(
    "goes to the account's own server where the service wants another audience: %s",
    async (...given) => {
      const [, status, body] = given;
      const linked = await linkByPassword();
      const http = (request: HttpRequest) =>
        request.url.includes("/app.bsky.video.uploadVideo")
          ? Promise.resolve(answer(status, body))
          : tools.http(request);
      publishedBy(await walkLeg(bluesky, linked, clip, { ...tools, http }));
      expect(callsTo("uploadBlob")).toBe(1);
      expect(shownVideo()).toMatchObject([{ kind: "video" }]);
    },
  );

  test.each([
    ["uploadVideo", 400, CLOSED],
    ["getUploadLimits", 200, { canUpload: false, ...CLOSED }],
    ["getUploadLimits", 200, { canUpload: false, message: "Failed to get user's upload stats" }],
  ])("goes to the account's own server while the service takes none: %s %s", async (...given) => {
    const [call, status, body] = given;
    const linked = await linkByPassword();
    const http = (request: HttpRequest) =>
      request.url.includes(`/app.bsky.video.${call}`)
        ? Promise.resolve(answer(status, body))
        : tools.http(request);
    publishedBy(await walkLeg(bluesky, linked, clip, { ...tools, http }));
    expect(callsTo("uploadBlob")).toBe(1);
  });

  test("ends the leg where the service does not take this account's videos", async () => {
    const linked = await linkByPassword();
    const http = (request: HttpRequest) =>
      request.url.includes("/app.bsky.video.getUploadLimits")
        ? Promise.resolve(
            answer(200, { canUpload: false, message: "User is not allowed to upload videos" }),
          )
        : tools.http(request);
    const { outcome } = await walkLeg(bluesky, linked, clip, { ...tools, http });
    expect(outcome).toMatchObject({ kind: "rejected", failure: { code: "account_restricted" } });
  });

  test.each([
    [
      "an address that is not confirmed",
      401,
      { jobStatus: { did: "", error: "unconfirmed_email", jobId: "", state: "" } },
      "account_restricted",
    ],
    [
      "a file that is no video",
      200,
      { jobId: "j1", state: "JOB_STATE_FAILED", failureCode: "validation_failure" },
      "media_rejected",
    ],
  ])("ends the leg for %s, and is not handed over again", async (_what, status, body, code) => {
    const linked = await linkByPassword();
    let uploads = 0;
    const http = (request: HttpRequest) => {
      if (!request.url.includes("/app.bsky.video.uploadVideo")) return tools.http(request);
      uploads += 1;
      return Promise.resolve(answer(status, body));
    };
    const { outcome } = await walkLeg(bluesky, linked, clip, { ...tools, http });
    expect(outcome).toMatchObject({ kind: "rejected", failure: { code, mediaIndex: 0 } });
    expect(uploads).toBe(1);
  });

  test("a video that the service does not make playable is handed over again once, if the service could not process it", async () => {
    const linked = await linkByPassword();
    sandbox.fault("bluesky", "uploadVideo", "fail:media_processing_failed", 2);
    const { outcome } = await walkLeg(bluesky, linked, clip, tools);
    const failure = { code: "media_processing_failed", mediaIndex: 0 };
    expect(outcome).toMatchObject({ kind: "rejected", failure });
    sandbox.fault("bluesky", "uploadVideo", "fail:media_processing_failed");
    publishedBy(await walkLeg(bluesky, linked, clip, tools));
    expect(callsTo("uploadVideo")).toBe(4);
    shownVideo();
  });

  test("a video that the service does not make playable is handed over again when the service lost the job", async () => {
    const linked = await linkByPassword();
    sandbox.fault("bluesky", "getJobStatus", "fail:invalid_request");
    const walk = await walkLeg(bluesky, linked, clip, tools);
    publishedBy(walk);
    expect(callsTo("uploadVideo")).toBe(2);
    shownVideo();
  });

  test("a video that the service does not make playable is asked for again by the job's id where a status leaves that empty", async () => {
    const linked = await linkByPassword();
    sandbox.fault("bluesky", "uploadVideo", "processing:2");
    let looks = 0;
    const http = (request: HttpRequest) => {
      if (!request.url.includes("/app.bsky.video.getJobStatus")) return tools.http(request);
      looks += 1;
      const working = { jobStatus: { jobId: "", state: "JOB_STATE_ENCODING" } };
      return looks === 1 ? Promise.resolve(answer(200, working)) : tools.http(request);
    };
    publishedBy(await walkLeg(bluesky, linked, clip, { ...tools, http }));
    expect(callsTo("uploadVideo")).toBe(1);
    expect(looks).toBeGreaterThan(1);
  });

  test("goes straight to the server when that lost what the service had put there", async () => {
    const linked = await linkByPassword();
    sandbox.fault("bluesky", "putRecord", "fail:media_processing_failed");
    const walk = await walkLeg(bluesky, linked, clip, tools);
    publishedBy(walk);
    expect(walk.steps.slice(-3)).toEqual([
      "perform prepare_again",
      "prepare ready",
      "perform done",
    ]);
    expect(callsTo("uploadBlob")).toBe(1);
  });

  test("a video that the service does not make playable is refused when only the account's own server is left and that takes no file so large", async () => {
    const linked = { ...(await linkByPassword()), limits: { blobBytesMax: 1000 } };
    const http = (request: HttpRequest) =>
      request.url.includes("/app.bsky.video.")
        ? Promise.resolve(answer(404, "Not Found"))
        : tools.http(request);
    const { outcome } = await walkLeg(bluesky, linked, clip, { ...tools, http });
    expect(outcome).toMatchObject({
      kind: "rejected",
      failure: { code: "media_rejected", rule: "bluesky.media.size" },
    });
  });

  test.each(["uploadVideo", "getUploadLimits", "getServiceAuth"])(
    "a video that is too large for the account's own server waits for a service that is away: %s",
    async (call) => {
      const linked = { ...(await linkByPassword()), limits: { blobBytesMax: 1000 } };
      for (const reply of [answer(503, "busy"), new HttpFailure("in_doubt", "timeout")]) {
        const http = (request: HttpRequest) =>
          !request.url.includes(call)
            ? tools.http(request)
            : reply instanceof HttpFailure
              ? Promise.reject(reply)
              : Promise.resolve(reply);
        const { steps } = await walkLeg(bluesky, linked, clip, { ...tools, http });
        expect(new Set(steps)).toEqual(new Set(["prepare try_later"]));
      }
      publishedBy(await walkLeg(bluesky, linked, clip, tools));
    },
  );

  test("a film of another type, which only the service can convert, waits while the service takes none", async () => {
    const linked = await linkByPassword();
    const asOpened: typeof tools = {
      ...tools,
      openMedia: async (url, limits) => ({
        ...(await tools.openMedia(url, limits)),
        contentType: "video/quicktime",
      }),
      http: (request) =>
        request.url.includes("/app.bsky.video.uploadVideo")
          ? Promise.resolve(answer(400, CLOSED))
          : tools.http(request),
    };
    const { steps } = await walkLeg(bluesky, linked, clip, asOpened);
    expect(new Set(steps)).toEqual(new Set(["prepare try_later"]));
  });
});
