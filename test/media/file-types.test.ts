import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createNetworkTools } from "../../src/shared/connections/network-tools.ts";
import { mediaTypeOf } from "../../src/shared/media/image-facts.ts";
import { openWorld, type World } from "../connect/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

describe("the type of a file", () => {
  const bytes = (text: string) => Buffer.from(text, "latin1");

  test.each([
    ["\0\0\0\x18ftypisom", "video/mp4"],
    ["\0\0\0\x14ftypqt  ", "video/quicktime"],
    ["\0\0\0\x1cftypavif", "image/avif"],
    ["\0\0\0\x1cftypheic", "image/heic"],
    ["\x1a\x45\xdf\xa3", "video/webm"],
    ["RIFF\0\0\0\0WAVE", "audio/wav"],
    ["RIFF\0\0\0\0AVI ", "video/x-msvideo"],
    ["OggS\0", "audio/ogg"],
    ["ID3\x04", "audio/mpeg"],
    ["%PDF-1.7", "application/pdf"],
    [
      "PK\x03\x04 [Content_Types].xml PK\x03\x04 word/document.xml",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ],
    [
      "PK\x03\x04 [Content_Types].xml PK\x03\x04 ppt/presentation.xml",
      "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ],
    ["PK\x03\x04 [Content_Types].xml PK\x03\x04 xl/workbook.xml", "application/octet-stream"],
    ["<svg xmlns=", "application/octet-stream"],
    ["", "application/octet-stream"],
  ])("%j is %s", (text, contentType) => {
    expect(mediaTypeOf(bytes(text)).contentType).toBe(contentType);
  });

  test("a damaged picture has no size and stops nothing", () => {
    const damaged = mediaTypeOf(bytes("\x89PNG\r\n\x1a\n\0\0"));
    expect(damaged).toEqual({ contentType: "image/png", width: null, height: null });
  });

  test("a photo that lies on its side is measured as it is seen", () => {
    expect(mediaTypeOf(sidewaysPhoto())).toEqual({
      contentType: "image/jpeg",
      width: 30,
      height: 40,
    });
  });
});

/** The head of a JPEG of 40 × 30 whose EXIF says that it was taken with the camera upright. */
function sidewaysPhoto(): Buffer {
  const tiff = Buffer.from("4d4d002a00000008000101120003000000010006000000000000", "hex");
  const exif = Buffer.concat([Buffer.from("Exif\0\0"), tiff]);
  const length = Buffer.from([0, exif.length + 2]);
  const frame = Buffer.from("ffc0001108001e002803012200021101031101", "hex");
  return Buffer.concat([Buffer.from("ffd8ffe1", "hex"), length, exif, frame, Buffer.alloc(16)]);
}

describe("a network's tools with limits", () => {
  test("make no call once the time is over", async () => {
    const hasty = createNetworkTools(world.services, "bluesky", { callMs: 1000, totalMs: 0 });
    const url = "https://bsky.social/xrpc/com.atproto.server.describeServer";
    await expect(hasty.http({ method: "GET", url })).rejects.toMatchObject({
      delivery: "not_sent",
      reason: "timeout",
    });
  });

  test("end a call that takes too long", async () => {
    const hasty = createNetworkTools(world.services, "bluesky", { callMs: 100, totalMs: 1000 });
    const url = "https://media.sandbox.test/slow.jpg";
    await expect(hasty.http({ method: "GET", url })).rejects.toMatchObject({ reason: "timeout" });
  });
});
