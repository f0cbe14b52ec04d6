import { describe, expect, test } from "vitest";
import { linkedin } from "../../src/shared/networks/linkedin/index.ts";
import { MediaFailure } from "../../src/shared/networks/contract/media.ts";
import { files } from "./legs.ts";
import { NOW, answer, image, sentJson } from "./scripted-tools.ts";
import {
  CLIP,
  DAY_MS,
  FILE,
  PAPER,
  REST,
  SECOND,
  ago,
  asset,
  begun,
  denied,
  later,
  leg,
  organization,
  tools,
  uploaded,
} from "./linkedin-script.ts";
import { LOOK, UPLOADS, available, prepare, script } from "./linkedin-uploads.ts";

const initialized = (kind: string, name: string, uploadUrl = `${UPLOADS}/${name}?sig=1`) =>
  answer(200, { value: { uploadUrl, [kind]: `urn:li:${kind}:${name}` } });
const oneImage = {
  [`POST ${REST}/images`]: initialized("image", "A"),
  [`PUT ${UPLOADS}/A`]: answer(201),
};

describe("preparing a LinkedIn post", () => {
  test("preparing a LinkedIn post has nothing to do without files", async () => {
    expect(await prepare({}, { media: [] })).toEqual({ kind: "ready", remote: begun });
  });

  test("uploads each image with the token, in the order of the draft, and once", async () => {
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
    const outcome = await linkedin.calls.publish.prepare(leg(draft, { credentials }), scripted);
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
    expect(
      await linkedin.calls.publish.prepare(leg(draft, { credentials, remote }), again),
    ).toEqual({
      kind: "ready",
      remote,
    });
    expect(again.calls).toEqual([]);
  });

  test("publishes images that a member's token can't look at right away, and later each time they are not ready", async () => {
    const scripted = tools({
      ...script,
      http: {
        [`POST ${REST}/images`]: [initialized("image", "A"), initialized("image", "B")],
        [`PUT ${UPLOADS}/A`]: answer(201),
        [`PUT ${UPLOADS}/B`]: answer(201),
        [LOOK("image", "A")]: denied,
      },
    });
    const draft = { media: files(FILE, SECOND) };
    let outcome = await linkedin.calls.publish.prepare(leg(draft), scripted);
    expect(outcome.kind).toBe("ready");
    const waits: number[] = [];
    const notReady = answer(400, { code: "MEDIA_ASSET_WAITING_UPLOAD" });
    for (let round = 0; round < 4 && outcome.kind === "ready"; round += 1) {
      const { remote } = outcome;
      const http = { [`POST ${REST}/posts`]: notReady, [LOOK("image", "A")]: denied };
      const posted = await linkedin.calls.publish.perform(
        leg(draft, { remote, sentAt: NOW }),
        tools({ http }),
      );
      if (posted.kind !== "prepare_again") throw new Error(`not refused: ${posted.kind}`);
      expect(posted).toMatchObject({ isProof: true, pollAfterSeconds: 0 });
      const waiting = await prepare(http, draft, { remote: posted.remote });
      if (waiting.kind !== "processing") throw new Error(`not waiting: ${waiting.kind}`);
      waits.push(waiting.pollAfterSeconds);
      outcome = await prepare({}, draft, { remote: waiting.remote });
    }
    expect(waits).toEqual([3, 6, 12, 12]);
  });

  test("looks once per step at a file that LinkedIn still works on", async () => {
    const working = answer(200, { status: "PROCESSING" });
    const http = { ...oneImage, [LOOK("image", "A")]: working };
    const first = await prepare(http);
    const remote = uploaded(asset("image", "A", false));
    expect(first).toEqual({ kind: "processing", remote, pollAfterSeconds: 3, isPoll: true });
    const scripted = tools({ http: { [LOOK("image", "A")]: [working, available] } });
    const look = () =>
      linkedin.calls.publish.prepare(leg({ media: files(FILE) }, { remote }), scripted);
    expect(await look()).toMatchObject({ kind: "processing" });
    expect(scripted.calls).toHaveLength(1);
    expect(await look()).toEqual({ kind: "ready", remote: uploaded(asset("image", "A")) });
  });

  test("uploads again a file that failed, once; a retry by hand, later, does so again", async () => {
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
    expect(await linkedin.calls.publish.prepare(leg(draft, again), tomorrow)).toMatchObject({
      kind: "processing",
    });
  });

  test("uploads nothing again for a post that may be there already", async () => {
    const failed = { [LOOK("image", "A")]: answer(200, { status: "PROCESSING_FAILED" }) };
    const remote = uploaded(asset("image", "A", false));
    const draft = { media: files(FILE) };
    expect(await prepare(failed, draft, { remote, sentAt: ago(60) })).toMatchObject({
      kind: "rejected",
    });
  });

  test("uploads the picture of a link card, not beside media", async () => {
    const link = { url: "https://a.example", title: "A", thumbnailUrl: FILE };
    const scripted = tools({ ...script, http: { ...oneImage, [LOOK("image", "A")]: available } });
    const outcome = await linkedin.calls.publish.prepare(leg({ options: { link } }), scripted);
    expect(outcome).toEqual({ kind: "ready", remote: uploaded(asset("image", "A")) });
    const beside = { ...oneImage, [LOOK("image", "A")]: available };
    const both = await prepare(beside, { media: files(SECOND), options: { link } });
    expect(both).toMatchObject({ kind: "ready", remote: { assets: [asset("image", "A")] } });
  });

  test("uploads a document in one piece", async () => {
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
    expect(await prepare(http, { media: files(PAPER) })).toMatchObject({ kind: "processing" });
  });

  test("keeps what it uploaded when a later file fails", async () => {
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

  test.each([
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
    const outcome = await linkedin.calls.publish.prepare(leg({ media: files(FILE) }), scripted);
    expect(outcome).toMatchObject({ kind: "try_later" });
    expect(scripted.calls).toHaveLength(1);
  });

  test.each([
    [new MediaFailure("media_unreachable", "404"), "try_later", { code: "media_unreachable" }],
    [new MediaFailure("media_rejected", "big"), "rejected", { rule: "linkedin.media.size" }],
    [image({ bytes: Buffer.alloc(20_000_001) }), "rejected", { rule: "linkedin.media.size" }],
    [image({ width: 6200, height: 5900 }), "rejected", { rule: "linkedin.media.pixels" }],
    [image({ contentType: "image/webp" }), "rejected", { rule: "linkedin.media.type" }],
    [image({ contentType: "video/quicktime" }), "rejected", { rule: "linkedin.media.type" }],
  ])("refuses what LinkedIn would (%#)", async (file, kind, failure) => {
    const outcome = await linkedin.calls.publish.prepare(
      leg({ media: files(FILE) }),
      tools({ media: { [FILE]: file } }),
    );
    expect(outcome).toMatchObject({ kind, failure: { mediaIndex: 0, ...failure } });
  });

  test("refuses a video among images, whatever their names", async () => {
    const given = { [FILE]: image(), [SECOND]: image({ contentType: "video/mp4" }) };
    const outcome = await linkedin.calls.publish.prepare(
      leg({ media: files(SECOND, FILE) }),
      tools({ media: given }),
    );
    expect(outcome).toMatchObject({
      kind: "rejected",
      failure: { rule: "linkedin.media.mixed", mediaIndex: 0 },
    });
  });
});
