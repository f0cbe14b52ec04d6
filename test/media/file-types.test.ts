import { describe, expect, test } from "vitest";
import { createNetworkTools } from "../../src/shared/connections/network-tools.ts";
import { contentTypeOf } from "../../src/shared/media/content-type.ts";
import { openWorld } from "../connections/world.ts";
import { typeAndFrame } from "./pictures.ts";
import { forFile } from "../setup/for-file.ts";

const world = forFile(() => openWorld());

describe("the type of a file", () => {
  const bytes = (text: string) => Buffer.from(text, "latin1");

  test.each([
    ["\0\0\0\x18ftypisom", "video/mp4"],
    ["\0\0\0\x14ftypqt  ", "video/quicktime"],
    ["\0\0\0\x1cftypavif", "image/avif"],
    ["\0\0\0\x1cftypheic", "image/heic"],
    ["\x1a\x45\xdf\xa3\x87\x42\x82\x84webm", "video/webm"],
    ["\x1a\x45\xdf\xa3\x8b\x42\x82\x88matroska", "video/x-matroska"],
    ["\x1a\x45\xdf\xa3", "video/x-matroska"],
    ["\0\0\0\x08wide\0\0\x10\0mdat", "video/quicktime"],
    ["\x10\0\0\0mdat", "video/quicktime"],
    ["\0\0\0\x01mdat\0\0\0\0\x10\0\0\0", "video/quicktime"],
    ["\0\0\x10\0skip", "video/quicktime"],
    ["\0\0\0\x14pnot............\0\0\x01\0moov", "video/quicktime"],
    ["\0\0\0\x08free\0\0\0\x18ftypisom\0\0\0\0isom", "video/mp4"],
    ["\0\0\0\x08free and some words", "application/octet-stream"],
    ["The free encyclopedia", "application/octet-stream"],
    ["\0\0\0\x1cftypmif1\0\0\0\0mif1avif", "image/avif"],
    ["\0\0\0\x1cftypmsf1\0\0\0\0msf1hevc", "image/heic"],
    ["\0\0\0\x18ftypmif1\0\0\0\0mif1", "image/heif"],
    ["\0\0\0\x1cftypcrx \0\0\0\x01crx isom", "image/x-canon-cr3"],
    ["\0\0\0\x18ftypjxl \0\0\0\0jxl ", "image/jxl"],
    ["\0\0\0\x0cJXL \r\n\x87\n", "image/jxl"],
    ["\0\0\0\x18ftyp3gg6", "video/3gpp"],
    ["\0\0\0\x18ftyp3ge6", "video/3gpp"],
    ["\0\0\0\x18ftypkddi", "video/3gpp2"],
    ["\0\0\0\x18ftypF4A ", "audio/mp4"],
    ["\0\0\0\x18ftypmqt ", "video/quicktime"],
    ["\0\0\0\x18ftypisml", "video/mp4"],
    ["\0\0\0\x18ftypSDV ", "video/mp4"],
    ["\0\0\0\x18ftyppana", "video/mp4"],
    ["\0\0\0\x18ftypavci", "image/avci"],
    ["\0\0\0\x18ftypXYZ1\0\0\0\0mp42", "video/mp4"],
    ["\0\0\0\x18ftypjp2 \0\0\0\0jp2 ", "application/octet-stream"],
    ["\0\0\0\x18ftyp3gp5\0\0\0\x013gp5", "video/3gpp"],
    ["\0\0\0\x18ftypM4A \0\0\0\0M4A ", "audio/mp4"],
    ["\0\0\0\x18ftypM4V \0\0\0\0M4V ", "video/mp4"],
    ["\0\0\x01\xba", "video/mpeg"],
    ["\0\0\x01\xb3", "video/mpeg"],
    ["\xff\xfb\x90\x64", "audio/mpeg"],
    ["\xff\xf3\x48\xc4", "audio/mpeg"],
    ["\xff\xfe\x41\0", "application/octet-stream"],
    ["\xff\xf1\x50\x80", "audio/aac"],
    ["ID3\x04\0\0\0\0\0\x02..fLaC", "audio/flac"],
    ["OggS..............\x80theora", "video/ogg"],
    ["FLV\x01", "video/x-flv"],
    ["II*\0\x10\0\0\0CR\x02", "image/x-canon-cr2"],
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
    expect(contentTypeOf(bytes(text))).toBe(contentType);
  });

  test("a damaged picture has no size and stops nothing", () => {
    const damaged = typeAndFrame(bytes("\x89PNG\r\n\x1a\n\0\0"));
    expect(damaged).toEqual({ contentType: "image/png", width: null, height: null });
  });

  test("a photo that lies on its side is measured as it is seen", () => {
    expect(typeAndFrame(sidewaysPhoto())).toEqual({
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
    const hasty = createNetworkTools(world.services.connections, "bluesky", {
      callMs: 1000,
      totalMs: 0,
    });
    const url = "https://bsky.social/xrpc/com.atproto.server.describeServer";
    await expect(hasty.http({ method: "GET", url })).rejects.toMatchObject({
      delivery: "not_sent",
      reason: "timeout",
    });
  });

  test("end a call that takes too long", async () => {
    const hasty = createNetworkTools(world.services.connections, "bluesky", {
      callMs: 100,
      totalMs: 1000,
    });
    const url = "https://media.sandbox.test/slow.jpg";
    await expect(hasty.http({ method: "GET", url })).rejects.toMatchObject({ reason: "timeout" });
  });
});
