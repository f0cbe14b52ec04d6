import { describe, expect, test } from "vitest";
import { ORGANIZATION, PERSON, PHOTO, errorOf, media, useLinkedIn } from "./linkedin-calls.ts";

let member: string;
let organization: string;

const { at, rest, post, shown, put, initialize, upload } = useLinkedIn((fresh) => {
  ({ member, organization } = fresh);
});

const CLIP = media("clip.mp4");

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
