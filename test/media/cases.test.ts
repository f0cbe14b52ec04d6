import { readFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { fitImage } from "../../src/shared/media/fit-image.ts";
import { planFit } from "../../src/shared/media/fit-plan.ts";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { checkMediaFile } from "../../src/shared/media/probe-media.ts";
import type { MediaTargets } from "../../src/shared/networks/contract/media.ts";
import { networkOf, type NetworkName } from "../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { pairsOf } from "../setup/long-check.ts";
import { inMemory } from "./in-memory.ts";
import { WRITTEN } from "./writers.ts";
import { bitmapOf, flag, pngChunk, pngWith, webpChunk, webpWith } from "./pictures.ts";

const AT = "https://files.example.test/file";
const caseFile = (name: string) => readFileSync(new URL(`cases/${name}`, import.meta.url));
const open = (bytes: Uint8Array) =>
  openMedia(inMemory(bytes), AT, { bytesMax: 100_000_000, isThorough: true });

function targetsOf(network: NetworkName): MediaTargets {
  const targets = networkOf(network).media?.({ text: "", media: [], options: {} }, {});
  if (targets === undefined) throw new Error(`${network} takes no files`);
  return targets;
}

/** What a check says of a file, by the last word of each rule. */
async function told(bytes: Uint8Array, network: NetworkName): Promise<string> {
  const probe = await open(bytes);
  // A moving GIF that is alone becomes a video on Bluesky: this is what becomes of the others.
  const { moving: _moving, ...targets } = targetsOf(network);
  const found = checkMediaFile(networkOf(network), targets, {
    probe,
    field: "mediaUrls",
    mediaIndex: 0,
  });
  return found.map(({ rule }) => rule?.split(".").at(-1)).join(" ");
}

/** What publishing does to it. */
async function done(bytes: Uint8Array, network: NetworkName): Promise<string> {
  const fitting = fitImage(await open(bytes), targetsOf(network).image);
  return fitting.then(
    ({ repairs }) => repairs.join(" "),
    ({ reason }: { reason: string }) => reason,
  );
}

const place = "metadataRemoved extrasRemoved";
const inAll = (repairs: string) =>
  Object.fromEntries(NETWORK_NAMES.map((name) => [name, repairs])) as Record<NetworkName, string>;
const still = { ...inAll("stilled converted"), instagram: "stilled converted resized" };

/** Each case with what readers of each network are to be told. */
const CASES: Readonly<Record<string, Readonly<Record<NetworkName, string>>>> = {
  "motion-photo-place-in-both.jpg": inAll(place),
  "motion-photo-place-in-film.jpg": inAll(place),
  "animated.gif": { ...still, linkedin: "", mastodon: "" },
  "animated.png": { ...inAll("stilled"), instagram: still.instagram, mastodon: "" },
  "animated.webp": still,
  "cmyk.jpg": inAll("converted"),
  "arithmetic.jpg": { ...inAll("converted"), instagram: "converted resized" },
  "bright.avif": { ...inAll("converted"), instagram: "converted resized" },
  "wide.avif": { ...inAll("converted"), instagram: "converted resized" },
  "turned.png": { ...inAll("rotated"), instagram: "ratio" },
  "turned.webp": { ...inAll("converted rotated"), instagram: "ratio" },
  "transparent.png": { ...inAll(""), instagram: "converted flattened" },
};

describe("what validation says of a picture is what publishing does to it", () => {
  const rows = pairsOf(Object.entries(CASES), NETWORK_NAMES).map(
    ([[name, networks], network]) => [name, network, networks[network]] as const,
  );
  test.each(rows)("%s on %s: %s", async (name, network, right) => {
    const bytes = caseFile(name);
    expect([await told(bytes, network), await done(bytes, network)]).toEqual([right, right]);
  });

  test("a GIF of 251 frames is too long for LinkedIn, and one of 250 is not", async () => {
    const frame = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]);
    const head = Buffer.from("GIF89a\u0001\0\u0001\0\x80\0\0\0\0\0\xff\xff\xff", "latin1");
    const gif = (frames: number) =>
      Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.from([0x3b])]);
    for (const [frames, right] of [
      [250, ""],
      [251, "frames"],
    ] as const)
      expect([await told(gif(frames), "linkedin"), await done(gif(frames), "linkedin")]).toEqual([
        right,
        right,
      ]);
  });
});

describe("a JPEG of rare coding", () => {
  test("is sent as one that all programs show", async () => {
    const { bytes } = await fitImage(
      await open(caseFile("arithmetic.jpg")),
      targetsOf("bluesky").image,
    );
    expect(Buffer.from(bytes).includes(Buffer.from([0xff, 0xc0]))).toBe(true);
    expect((await sharp(bytes).metadata()).width).toBe(64);
  });

  test.each([
    ["without loss", [0xff, 0xc3], 8],
    ["in steps of size", [0xff, 0xc5], 8],
    ["of 12 bits", [0xff, 0xc1], 12],
  ])(
    "that can't be read is refused by its type and not as damaged: %s",
    async (_what, marker, bits) => {
      const jpeg = await flag().jpeg().toBuffer();
      const at = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
      Buffer.from(marker).copy(jpeg, at);
      jpeg[at + 4] = bits;
      for (const network of NETWORK_NAMES)
        expect([
          await told(jpeg, network).catch(({ reason }: { reason: string }) => reason),
          await done(jpeg, network).catch(({ reason }: { reason: string }) => reason),
        ]).toEqual(["imageCoding", "imageCoding"]);
    },
  );
});

test("a panorama to look around in is published flat, which is said", async () => {
  const xmp = `http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" GPano:ProjectionType="equirectangular"/></rdf:RDF></x:xmpmeta>`;
  const element = xmp.replace(
    / GPano:ProjectionType=.*?\/>/,
    "><GPano:ProjectionType>equirectangular</GPano:ProjectionType></rdf:Description>",
  );
  for (const text of [xmp, element]) {
    const panorama = withSegment(await flag(900, 500).jpeg().toBuffer(), 0xe1, text);
    const rules = "shownFlat metadataRemoved";
    expect([await told(panorama, "facebook"), await done(panorama, "facebook")]).toEqual([
      rules,
      rules,
    ]);
  }
  const photo = withSegment(
    await flag(900, 500).jpeg().toBuffer(),
    0xe1,
    xmp.replace("equirectangular", "perspective"),
  );
  expect(await told(photo, "facebook")).toBe("metadataRemoved");
});

const SECRET = "taken at 48.8584 N, 2.2945 E";

/** Pictures with something in them that is not the picture, in each way that the format has for it. */
const WITH_MORE: Readonly<Record<string, () => Promise<Buffer>>> = {
  "a JPEG with bytes behind its end": async () =>
    Buffer.concat([await flag().jpeg().toBuffer(), Buffer.from(SECRET)]),
  "a JPEG with a comment": async () => withSegment(await flag().jpeg().toBuffer(), 0xfe, SECRET),
  "a JPEG with an application's segment": async () =>
    withSegment(await flag().jpeg().toBuffer(), 0xe5, SECRET),
  "a JPEG with an index of further pictures": async () =>
    withSegment(await flag().jpeg().toBuffer(), 0xe2, `MPF\0${SECRET}`),
  "a JPEG with words of a picture agency": async () =>
    withSegment(await flag().jpeg().toBuffer(), 0xed, `Photoshop 3.0\0${SECRET}`),
  "a JPEG with a thumbnail in its first segment": async () =>
    withSegment(
      await flag().jpeg().toBuffer(),
      0xe0,
      `JFIF\0\u0001\u0001\0\0\u0001\0\u0001\u0003\u0003${SECRET}`,
    ),
  "a PNG with bytes behind its end": async () =>
    Buffer.concat([await flag().png().toBuffer(), Buffer.from(SECRET)]),
  "a PNG with a chunk of its program": async () =>
    pngWith(await flag().png().toBuffer(), pngChunk("prVt", Buffer.from(SECRET))),
  "a PNG with words": async () =>
    pngWith(await flag().png().toBuffer(), pngChunk("tEXt", Buffer.from(`Comment\0${SECRET}`))),
  "a GIF with bytes behind its end": async () =>
    Buffer.concat([caseFile("animated.gif"), Buffer.from(SECRET)]),
  "a GIF with a comment": () => {
    const gif = caseFile("animated.gif");
    const at = gif.indexOf("\x21\xff", "latin1");
    const comment = [Buffer.from([0x21, 0xfe, SECRET.length]), Buffer.from(`${SECRET}\0`)];
    return Promise.resolve(Buffer.concat([gif.subarray(0, at), ...comment, gif.subarray(at)]));
  },
  "a WebP with bytes behind its end": async () =>
    Buffer.concat([await flag().webp().toBuffer(), Buffer.from(SECRET)]),
  "a WebP with a chunk of its program": async () =>
    webpWith(
      await flag().withIccProfile("p3").webp().toBuffer(),
      webpChunk("PRVT", Buffer.from(SECRET)),
    ),
  "a WebP with words": async () =>
    webpWith(
      await flag().withIccProfile("p3").webp().toBuffer(),
      webpChunk("XMP ", Buffer.from(SECRET)),
    ),
  "a bitmap with bytes behind its end": () =>
    Promise.resolve(Buffer.concat([bitmapOf(9, 9), Buffer.from(SECRET)])),
};

function withSegment(jpeg: Buffer, marker: number, content: string): Buffer {
  const bytes = Buffer.from(content, "latin1");
  const length = bytes.length + 2;
  const head = Buffer.from([0xff, marker, length >> 8, length & 0xff]);
  return Buffer.concat([jpeg.subarray(0, 2), head, bytes, jpeg.subarray(2)]);
}

describe("nothing is published but the picture that is shown", () => {
  test.each(Object.entries(WITH_MORE))(
    "only the picture that is shown is published of %s",
    async (name, make) => {
      const bytes = await make();
      expect(bytes.includes(SECRET)).toBe(true);
      const network = name.startsWith("a bitmap") ? "facebook" : "bluesky";
      const file = await open(bytes);
      // Where nothing moves the result would be a still, which is encoded again anyway.
      const target = { ...targetsOf(network).image, plays: ["image/gif"] };
      const fitted = await fitImage(file, target);
      expect(Buffer.from(fitted.bytes).includes(SECRET)).toBe(false);
      expect(fitted.repairs).toHaveLength(1);
      expect(fitted.repairs[0]).toMatch(/^(?:metadata|extras)Removed$/);
      expect(fitted.contentType).toBe(file.contentType);
      if (name.startsWith("a bitmap")) return;
      const pixels = (image: Uint8Array) => sharp(image).raw().toBuffer();
      expect((await pixels(fitted.bytes)).equals(await pixels(bytes))).toBe(true);
      // What was made of it has nothing left to be removed.
      expect((await fitImage(await open(fitted.bytes), target)).repairs).toEqual([]);
    },
  );

  test("a picture's color profile keeps its effect in what is published", async () => {
    const bytes = await flag().withIccProfile("p3").jpeg().toBuffer();
    const fitted = await fitImage(
      await open(Buffer.concat([bytes, Buffer.from(SECRET)])),
      targetsOf("bluesky").image,
    );
    expect(Buffer.from(fitted.bytes).includes(SECRET)).toBe(false);
    expect((await sharp(fitted.bytes).metadata()).icc).toEqual((await sharp(bytes).metadata()).icc);
  });
});

const written = (name: string) => readFileSync(new URL(`written/${name}`, import.meta.url));

describe("a file that another program wrote", () => {
  test.each(WRITTEN)("$name is $contentType", async ({ name, contentType }) => {
    expect((await open(written(name))).contentType).toBe(contentType);
  });

  const images = WRITTEN.filter(({ contentType }) => contentType.startsWith("image/"));
  test.each(pairsOf(images, NETWORK_NAMES).map(([{ name }, network]) => [name, network] as const))(
    "%s is told about as it is published on %s",
    async (name, network) => {
      expect(await told(written(name), network)).toBe(await done(written(name), network));
    },
  );

  test("long before its directory is an old Word document all the same", async () => {
    // The directory of the short document goes behind a megabyte of the longer one's data.
    const short = written("words.doc");
    const at = (short.readUInt32LE(48) + 1) * 512;
    const head = Buffer.from(short.subarray(0, 512));
    head.writeUInt32LE(2_000, 48);
    const filling = Buffer.alloc(2_001 * 512 - 512);
    const bytes = Buffer.concat([head, filling, short.subarray(at, at + 2_048)]);
    expect((await open(bytes)).contentType).toBe("application/msword");
    const without = Buffer.concat([head, filling, Buffer.alloc(2_048)]);
    expect((await open(without)).contentType).toBe("application/octet-stream");
  });

  test("a film that does not state its length is of unknown length", async () => {
    const film = Buffer.from(written("ffmpeg.mov"));
    film.writeUInt32BE(0xffff_ffff, film.indexOf("mdhd") + 20);
    film.write("free", film.indexOf("elst"), "latin1");
    expect(await open(film)).toMatchObject({ durationSeconds: expect.closeTo(0.2, 1) });
    film.write("free", film.indexOf("stts"), "latin1");
    expect(await open(film)).toMatchObject({ width: 64, height: 48, durationSeconds: null });
  });

  test("a film without the box of its type is QuickTime, with its length and its frame", async () => {
    const film = written("ffmpeg.mov");
    for (const box of ["wide", "skip", "free", "mdat"]) {
      const bytes = Buffer.from(film);
      bytes.write(box, 4, "latin1");
      expect(await open(bytes), box).toMatchObject({
        contentType: "video/quicktime",
        width: 64,
        height: 48,
        durationSeconds: expect.closeTo(0.2, 1),
      });
    }
  });
});

describe("what is told about other types", () => {
  test.each([
    { pages: "one page", pageHeight: 400, expected: "converted" },
    { pages: "two pages", pageHeight: 200, expected: "converted extrasRemoved" },
  ])("a TIFF of $pages: $expected", async ({ pageHeight, expected }) => {
    const page = { raw: { width: 400, height: 400, channels: 3, pageHeight } } as const;
    const bytes = await sharp(await flag(400, 400).raw().toBuffer(), page)
      .tiff()
      .toBuffer();
    for (const network of ["bluesky", "mastodon"] as const)
      expect([await told(bytes, network), await done(bytes, network)]).toEqual([
        expected,
        expected,
      ]);
  });

  test("a bitmap with runs of pixels is passed on without what is behind them", async () => {
    const runs = Buffer.from([4, 1, 0, 1]);
    const head = Buffer.alloc(54 + 8);
    head.write("BM", "latin1");
    head.writeUInt32LE(head.length + runs.length, 2);
    head.writeUInt32LE(head.length, 10);
    head.writeUInt32LE(40, 14);
    head.writeInt32LE(4, 18);
    head.writeInt32LE(1, 22);
    head.writeUInt16LE(1, 26);
    head.writeUInt16LE(8, 28);
    head.writeUInt32LE(1, 30);
    head.writeUInt32LE(runs.length, 34);
    head.writeUInt32LE(2, 46);
    const bitmap = Buffer.concat([head, runs]);
    expect(await done(bitmap, "facebook")).toBe("");
    expect(await done(Buffer.concat([bitmap, Buffer.from(SECRET)]), "facebook")).toBe(
      "extrasRemoved",
    );
  });

  test("a HEIC is converted for a server that takes it too, since nothing can be left out of it", async () => {
    const heic = written("libheif.heic");
    const target = { ...targetsOf("mastodon").image, types: ["image/heic"] };
    const converted = { contentType: "image/jpeg", repairs: ["converted"] };
    expect(await fitImage(await open(heic), target)).toMatchObject(converted);
    const { image } = await open(heic);
    expect(image === null ? undefined : planFit(image, target)).toMatchObject(converted);
  });

  const avif = () => flag(400, 400);
  const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/">${SECRET}</x:xmpmeta>`;
  const behind = Buffer.from(`\0\0\0\x24free${SECRET}`, "latin1");
  test.each<readonly [string, () => Promise<Buffer>, string]>([
    ["an AVIF", () => avif().avif().toBuffer(), "converted"],
    ["with words", () => avif().withXmp(xmp).avif().toBuffer(), "converted metadataRemoved"],
    [
      "with a place",
      () =>
        avif()
          .withExif({ IFD3: { GPSLatitude: "48/1 51/1 30/1" } })
          .avif()
          .toBuffer(),
      "converted metadataRemoved",
    ],
    [
      "with more behind",
      async () => Buffer.concat([await avif().avif().toBuffer(), behind]),
      "converted",
    ],
    ["that moves", async () => written("avifenc-moving.avif"), "stilled converted"],
    ["that moves, by another", async () => written("ffmpeg-moving.avif"), "stilled converted"],
  ])("%s becomes a JPEG, also where AVIF is taken", async (_name, make, right) => {
    const bytes = await make();
    expect([await told(bytes, "bluesky"), await done(bytes, "bluesky")]).toEqual([right, right]);
    const target = { ...targetsOf("mastodon").image, types: ["image/avif", "image/jpeg"] };
    const fitted = await fitImage(await open(bytes), target);
    expect(fitted).toMatchObject({ contentType: "image/jpeg", repairs: right.split(" ") });
    expect(Buffer.from(fitted.bytes).includes(SECRET)).toBe(false);
  });
});
