import { describe, expect, test } from "vitest";
import { linkedin } from "../../src/shared/networks/linkedin/index.ts";
import type { HttpRequest } from "../../src/shared/runtime/http-call.ts";
import type { NetworkData } from "../../src/shared/networks/contract/draft.ts";
import { files } from "./legs.ts";
import {
  NOW,
  answer,
  image,
  lost,
  refusedToConnect,
  sentBytes,
  sentJson,
} from "./scripted-tools.ts";
import { CLIP, REST, asset, denied, leg, member, tools, uploaded } from "./linkedin-script.ts";
import { LOOK, UPLOADS, available, prepare, script } from "./linkedin-uploads.ts";

describe("preparing a LinkedIn post", () => {
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

    test("goes up range by range, without the token, and is put together by its receipts", async () => {
      const scripted = tools({
        ...script,
        http: {
          ...videos(),
          ...parts,
          [LOOK("video", "V")]: answer(200, { status: "PROCESSING" }),
        },
      });
      expect(await linkedin.calls.publish.prepare(leg(draft), scripted)).toEqual({
        kind: "processing",
        remote: uploaded(asset("video", "V", false)),
        pollAfterSeconds: 10,
        isPoll: true,
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

    test("stores each receipt but the last as it comes, and goes on with the next part after a crash", async () => {
      const kept: NetworkData[] = [];
      const scripted = {
        ...tools({ ...script, http: { ...videos(), ...parts, [LOOK("video", "V")]: available } }),
        keepRemote(remote: NetworkData) {
          kept.push(JSON.parse(JSON.stringify(remote)) as NetworkData);
          return Promise.resolve(true);
        },
      };
      expect(await linkedin.calls.publish.prepare(leg(draft), scripted)).toMatchObject({
        kind: "ready",
      });
      expect(kept).toHaveLength(2);
      const goneOn = await Promise.all(
        kept.map(async (remote) => {
          const next = tools({
            ...script,
            http: { ...videos(), ...parts, [LOOK("video", "V")]: available },
          });
          await linkedin.calls.publish.prepare(leg(draft, { remote }), next);
          return next.asked;
        }),
      );
      const end = [`POST ${REST}/videos`, LOOK("video", "V")];
      expect(goneOn).toEqual([
        [PART(1), PART(2), ...end],
        [PART(2), ...end],
      ]);
    });

    test("leaves the leg to the worker that has it now", async () => {
      const scripted = {
        ...tools({ ...script, http: { ...videos(), ...parts } }),
        keepRemote: () => Promise.resolve(false),
      };
      await linkedin.calls.publish.prepare(leg(draft), scripted);
      expect(scripted.asked).toEqual([`POST ${REST}/videos`, PART(0)]);
    });

    test.each([
      ["a part", { ...videos(), ...parts, [PART(1)]: answer(400, { message: "Upload is over" }) }],
      ["its end", { ...videos(answer(400, { message: "Upload is over" })), ...parts }],
    ])(
      "begins again where an upload of an earlier worker is refused (%s), and ends where its own is",
      async (_what, http) => {
        const begun = await prepare({ ...videos(), ...parts, [PART(1)]: lost }, draft);
        if (begun.kind !== "try_later" || begun.remote === undefined) throw new Error("not kept");
        const { remote } = begun;
        expect(await prepare(http, draft, { remote })).toMatchObject({
          kind: "processing",
          remote: { assets: [] },
        });
        expect(await prepare(http, draft)).toMatchObject({ kind: "rejected" });
      },
    );

    test("goes on where it broke off", async () => {
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
      expect(await linkedin.calls.publish.prepare(leg(draft, { remote }), scripted)).toMatchObject({
        kind: "processing",
        pollAfterSeconds: 30,
      });
      expect(scripted.asked).toEqual([PART(1), PART(2), `POST ${REST}/videos`, LOOK("video", "V")]);
    });

    test("a video is only put together when all that failed was putting it together", async () => {
      const first = await prepare({ ...videos(answer(503)), ...parts }, draft);
      if (first.kind !== "try_later" || first.remote === undefined) throw new Error("not kept");
      const { remote } = first;
      const scripted = tools({ http: { ...videos(), [LOOK("video", "V")]: available } });
      expect(await linkedin.calls.publish.prepare(leg(draft, { remote }), scripted)).toEqual({
        kind: "ready",
        remote: uploaded(asset("video", "V")),
      });
    });

    test("leaves off in time for its lease, and goes on", async () => {
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
      const outcome = await linkedin.calls.publish.prepare(leg(draft), scripted);
      expect(outcome).toMatchObject({ kind: "processing", pollAfterSeconds: 1 });
      expect(scripted.asked).toEqual([`POST ${REST}/videos`, PART(0), PART(1)]);
    });

    test.each([
      ["the file changed", { media: { [CLIP]: image({ contentType: "video/mp4" }) } }, {}],
      ["the addresses ran out", script, { [PART(1)]: answer(400, { code: "EXPIRED_UPLOAD_URL" }) }],
    ])("starts over when %s", async (_what, given, http) => {
      const first = await prepare({ ...videos(), ...parts, [PART(1)]: lost }, draft);
      if (first.kind !== "try_later" || first.remote === undefined) throw new Error("not kept");
      const { remote } = first;
      const outcome = await linkedin.calls.publish.prepare(
        leg(draft, { remote }),
        tools({ ...given, http }),
      );
      expect(outcome).toMatchObject({ kind: "processing", remote: { assets: [] } });
    });

    test.each([
      [answer(200, "", {}), "try_later", "network_unavailable"],
      [answer(503, ""), "try_later", "network_unavailable"],
      [refusedToConnect, "try_later", "network_unavailable"],
    ])("a video is not there without its first receipt (%#)", async (reply, kind, code) => {
      const outcome = await prepare({ ...videos(), [PART(0)]: reply }, draft);
      expect(outcome).toMatchObject({ kind, failure: { code } });
    });

    test.each([401, 403])(
      "begins again where the address refuses a part (%s), which says nothing of the account",
      async (status) => {
        const refused = answer(status, { message: "The signature has ended" });
        const outcome = await prepare({ ...videos(), [PART(0)]: refused }, draft);
        expect(outcome).toMatchObject({ kind: "processing", remote: { assets: [] } });
      },
    );
  });
});
