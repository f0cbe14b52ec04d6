import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { fitImage } from "../../src/shared/media/fit-image.ts";
import { planFit } from "../../src/shared/media/fit-plan.ts";
import { mediaReader } from "../../src/shared/media/media-reader.ts";
import { SAMPLE_BYTES } from "../../src/shared/media/open-media.ts";
import { contentTypeOf } from "../../src/shared/media/content-type.ts";
import {
  type ImageTarget,
  type MediaFile,
  MediaFailure,
} from "../../src/shared/networks/contract/media.ts";
import { networkOf, type NetworkName } from "../../src/shared/networks/networks.ts";
import { opened } from "../networks/scripted-tools.ts";
import {
  animatedGif,
  animatedWebp,
  bitmapOf,
  bombPng,
  colorAt,
  exifWithPlace,
  flag,
  noisePng,
  photoWithPlace,
  pngChunk,
  pngWith,
  typeAndFrame,
  webpChunk,
  webpWith,
} from "./pictures.ts";

function fileOf(bytes: Uint8Array): MediaFile {
  return opened({ bytes, ...typeAndFrame(bytes) });
}

/** Returns what a check says beforehand of an image that it reads as a whole. */
async function planOf(bytes: Uint8Array, target: ImageTarget) {
  const contentType = contentTypeOf(bytes);
  const soFar = { pieces: [{ start: 0, bytes }], usedMs: 0 };
  const answer = await mediaReader.facts("a", { contentType, size: bytes.length }, soFar);
  const image = answer.kind === "facts" ? answer.facts.image : null;
  const plan = image === null ? undefined : planFit(image, target);
  if (plan?.kind === "refused") return plan.reason;
  return plan?.kind === "repair" ? plan.repairs : [];
}

const fit = (bytes: Uint8Array, target: ImageTarget) => fitImage(fileOf(bytes), target);

function targetOf(network: NetworkName, options: Readonly<Record<string, unknown>> = {}) {
  const image = networkOf(network).media?.({ text: "", media: [], options }, {}).image;
  if (image === undefined) throw new Error(`${network} has no target`);
  return image;
}

async function failureOf(work: Promise<unknown>): Promise<MediaFailure> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof MediaFailure) return failure;
  throw new Error("nothing was refused", { cause: failure });
}

const bluesky = targetOf("bluesky");
const instagram = targetOf("instagram");
const facebook = targetOf("facebook");
const linkedin = targetOf("linkedin");
const mastodon = targetOf("mastodon");

describe("an image that fits", () => {
  test.each([
    ["bluesky", bluesky],
    ["instagram", instagram],
    ["facebook", facebook],
    ["linkedin", linkedin],
    ["mastodon", mastodon],
  ])("stays as it is for %s, byte for byte", async (_name, target) => {
    const bytes = await flag(600, 400).jpeg().toBuffer();
    const fitted = await fit(bytes, target);
    expect(fitted.repairs).toEqual([]);
    expect(Buffer.from(fitted.bytes).equals(bytes)).toBe(true);
    expect(fitted).toMatchObject({ contentType: "image/jpeg", width: 600, height: 400 });
    expect(await planOf(bytes, target)).toEqual([]);
  });

  test("an image that fits and tells where it was taken loses that and nothing of the picture", async () => {
    const bytes = await photoWithPlace();
    const fitted = await fit(bytes, bluesky);
    expect(fitted.repairs).toEqual(["metadataRemoved"]);
    expect((await sharp(fitted.bytes).metadata()).exif).toBeUndefined();
    const pixels = (image: Uint8Array) => sharp(image).raw().toBuffer();
    expect((await pixels(fitted.bytes)).equals(await pixels(bytes))).toBe(true);
  });

  test.each([
    [
      "png",
      flag()
        .withExif({ IFD3: { GPSLatitudeRef: "N" } })
        .png(),
    ],
    [
      "webp",
      flag()
        .withExif({ IFD3: { GPSLatitudeRef: "N" } })
        .webp(),
    ],
  ])("a %s that fits and tells its place loses that too", async (_type, picture) => {
    const fitted = await fit(await picture.toBuffer(), bluesky);
    expect(fitted.repairs).toContain("metadataRemoved");
    expect((await sharp(fitted.bytes).metadata()).exif).toBeUndefined();
    expect(await colorAt(fitted.bytes, 0.1, 0.9)).toBe("red");
  });
});

const XMP = `<x:xmpmeta><exif:GPSLatitude>51,30.0N</exif:GPSLatitude></x:xmpmeta>`;
const keyed = (keyword: string, ...rest: readonly (string | Uint8Array)[]) =>
  Buffer.concat([keyword, "\0", ...rest].map((part) => Buffer.from(part)));

/** The ways in which a PNG tells its place, each of which may stand behind the picture. */
const PNG_PLACES: Readonly<Record<string, () => Promise<Buffer>>> = {
  EXIF: async () => pngChunk("eXIf", await exifWithPlace()),
  XMP: () =>
    Promise.resolve(pngChunk("iTXt", keyed("XML:com.adobe.xmp", "\0\0", "en\0", "\0", XMP))),
  "packed XMP": () => {
    const text = keyed("XML:com.adobe.xmp", "\u0001\0", "en\0", "\0", deflateSync(XMP));
    return Promise.resolve(pngChunk("iTXt", text));
  },
  "a JPEG's block as text": async () => {
    const block = Buffer.concat([Buffer.from("Exif\0\0"), await exifWithPlace()]);
    const text = `\nexif\n${block.length}\n${block.toString("hex")}\n`;
    return pngChunk("zTXt", keyed("Raw profile type exif", "\0", deflateSync(text)));
  },
};

describe("a place that is told behind the picture", () => {
  const pixels = (image: Uint8Array) => sharp(image).raw().toBuffer();

  test.each(Object.entries(PNG_PLACES))(
    "a place behind the picture of a PNG as %s is left out",
    async (_way, chunk) => {
      const plain = await noisePng(300, 200);
      const bytes = pngWith(plain, await chunk());
      expect(bytes.length).toBeGreaterThan(SAMPLE_BYTES);
      for (const target of [bluesky, mastodon, linkedin, facebook]) {
        const fitted = await fit(bytes, target);
        expect([fitted.contentType, fitted.repairs]).toEqual(["image/png", ["metadataRemoved"]]);
        expect(Buffer.from(fitted.bytes).equals(plain)).toBe(true);
        // Facebook would fetch the file itself if it seemed to fit.
        expect(await planOf(bytes, target)).toEqual(["metadataRemoved"]);
      }
    },
  );

  test("a place that is told behind the picture of a PNG is left out together with all other words", async () => {
    const words = pngChunk("tEXt", keyed("Comment", "a flag"));
    const plain = await noisePng(30, 20);
    const fitted = await fit(pngWith(plain, words), bluesky);
    expect(fitted.repairs).toEqual(["metadataRemoved"]);
    expect(Buffer.from(fitted.bytes).equals(plain)).toBe(true);
  });

  test.each([
    ["EXIF", async () => webpChunk("EXIF", await exifWithPlace())],
    ["XMP", () => Promise.resolve(webpChunk("XMP ", Buffer.from(`${XMP} `)))],
  ])("a place that is told behind the picture of a WebP as %s is left out", async (_way, chunk) => {
    const plain = await flag(600, 400).withIccProfile("p3").webp({ lossless: true }).toBuffer();
    const bytes = webpWith(plain, await chunk());
    const fitted = await fit(bytes, bluesky);
    expect([fitted.contentType, fitted.repairs]).toEqual(["image/webp", ["metadataRemoved"]]);
    const { exif, xmp, icc } = await sharp(fitted.bytes).metadata();
    expect([exif, xmp, icc === undefined]).toEqual([undefined, undefined, false]);
    expect((await pixels(fitted.bytes)).equals(await pixels(bytes))).toBe(true);
  });

  test("a place that is told behind the picture of a WebP that moves is left out, and it goes on moving where it does", async () => {
    const bytes = webpWith(await animatedWebp(), webpChunk("EXIF", await exifWithPlace()));
    const fitted = await fit(bytes, { ...mastodon, plays: ["image/webp"] });
    expect([fitted.contentType, fitted.repairs]).toEqual(["image/webp", ["metadataRemoved"]]);
    const { pages, exif } = await sharp(fitted.bytes).metadata();
    expect([pages, exif]).toEqual([2, undefined]);
  });

  test("a place that is told behind the picture in a damaged chunk does not stop the picture", async () => {
    const broken = pngChunk("zTXt", keyed("Raw profile type exif", "\0", "not packed at all"));
    const bytes = pngWith(await noisePng(30, 20), broken);
    expect((await fit(bytes, bluesky)).repairs).toEqual(["metadataRemoved"]);
  });
});

describe("a photo that was taken with the camera turned", () => {
  // With any orientation, a viewer sees the same before and after.
  test.each([1, 2, 3, 4, 5, 6, 7, 8])("looks the same at orientation %i", async (orientation) => {
    const bytes = await flag().withMetadata({ orientation }).jpeg({ quality: 95 }).toBuffer();
    const fitted = await fit(bytes, bluesky);
    expect(fitted.repairs).toEqual(orientation === 1 ? [] : ["rotated"]);
    const { width, height, orientation: left = 1 } = await sharp(fitted.bytes).metadata();
    expect(left).toBe(1);
    const isSideways = orientation >= 5;
    expect([width, height]).toEqual(isSideways ? [40, 60] : [60, 40]);
    expect([fitted.width, fitted.height]).toEqual([width, height]);
    for (const [x, y] of [
      [0.1, 0.1],
      [0.9, 0.1],
      [0.1, 0.9],
      [0.9, 0.9],
      [0.5, 0.05],
      [0.05, 0.5],
    ] as const)
      expect(await colorAt(fitted.bytes, x, y)).toBe(await colorAt(bytes, x, y));
    expect(await planOf(bytes, bluesky)).toEqual(fitted.repairs);
  });

  test("a photo that was taken with the camera turned is left to a network that turns it itself, also when the rest of its EXIF has to go", async () => {
    const turned = await flag().withMetadata({ orientation: 6 }).jpeg().toBuffer();
    expect((await fit(turned, mastodon)).repairs).toEqual([]);
    const place = { IFD3: { GPSLatitudeRef: "N" }, IFD0: { Orientation: "6" } };
    const told = await flag().withExif(place).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const fitted = await fit(told, mastodon);
    expect(fitted.repairs).toEqual(["metadataRemoved"]);
    expect((await sharp(fitted.bytes).metadata()).orientation).toBe(6);
    expect(await colorAt(fitted.bytes, 0.95, 0.2)).toBe(await colorAt(told, 0.95, 0.2));
  });
});

describe("what a network does not take", () => {
  test("WebP becomes JPEG where there is none", async () => {
    const bytes = await flag(600, 400).webp({ lossless: true }).toBuffer();
    for (const target of [instagram, linkedin, facebook]) {
      const fitted = await fit(bytes, target);
      expect(fitted).toMatchObject({ contentType: "image/jpeg", repairs: ["converted"] });
      expect(await colorAt(fitted.bytes, 0.1, 0.9)).toBe("red");
      expect(await planOf(bytes, target)).toEqual(["converted"]);
    }
    expect((await fit(bytes, bluesky)).repairs).toEqual([]);
  });

  test("what shines through is white in a JPEG", async () => {
    const clear = {
      create: { width: 400, height: 400, channels: 4 as const, background: "#0000" },
    };
    const bytes = await sharp(clear).png().toBuffer();
    const fitted = await fit(bytes, instagram);
    expect(fitted.repairs).toEqual(["converted", "flattened"]);
    expect(await colorAt(fitted.bytes, 0.5, 0.5)).toBe("white");
  });

  test("what a GIF doesn't cover is white in a JPEG", async () => {
    const whole = await animatedGif(60, 40);
    // The canvas becomes larger than its frames. The first one is below the middle then.
    const gif = Buffer.from(whole);
    gif.writeUInt16LE(120, 6);
    gif.writeUInt16LE(80, 8);
    const frameAt = gif.indexOf(Buffer.from([0x2c, 0, 0, 0, 0, 60, 0, 40, 0]));
    gif.writeUInt16LE(30, frameAt + 1);
    gif.writeUInt16LE(40, frameAt + 3);
    const fitted = await fit(gif, instagram);
    expect(fitted).toMatchObject({
      repairs: expect.arrayContaining(["stilled", "converted", "flattened"]),
    });
    for (const [x, y] of [
      [0.5, 0.25],
      [0.1, 0.75],
      [0.9, 0.75],
    ] as const)
      expect(await colorAt(fitted.bytes, x, y)).toBe("white");
    expect(await colorAt(fitted.bytes, 0.5, 0.75)).toBe("red");
  });

  test("a PNG of 16 bits becomes a JPEG of 8", async () => {
    const bytes = await flag(400, 400).toColorspace("rgb16").png().toBuffer();
    expect((await sharp(bytes).metadata()).depth).toBe("ushort");
    const fitted = await fit(bytes, instagram);
    expect((await sharp(fitted.bytes).metadata()).depth).toBe("uchar");
    expect(await colorAt(fitted.bytes, 0.9, 0.9)).toBe("blue");
  });

  test("colors of print become those of screens", async () => {
    const bytes = await flag(400, 400).toColorspace("cmyk").jpeg().toBuffer();
    expect((await sharp(bytes).metadata()).space).toBe("cmyk");
    const fitted = await fit(bytes, bluesky);
    expect(fitted.repairs).toEqual(["converted"]);
    expect(await sharp(fitted.bytes).metadata()).toMatchObject({ space: "srgb", channels: 3 });
    expect(await colorAt(fitted.bytes, 0.1, 0.9)).toBe("red");
  });

  test("colors of a wide profile become sRGB when the image is made again", async () => {
    const bytes = await flag(400, 400).withIccProfile("p3").png().toBuffer();
    const fitted = await fit(bytes, instagram);
    expect((await sharp(fitted.bytes).metadata()).icc).toBeUndefined();
    expect(await colorAt(fitted.bytes, 0.1, 0.9)).toBe("red");
  });

  test.each(["linkedin", "mastodon"] as const)(
    "an animation goes to %s as it is",
    async (network) => {
      const bytes = await animatedGif();
      const fitted = await fit(bytes, targetOf(network));
      expect(fitted.repairs).toEqual([]);
      expect(Buffer.from(fitted.bytes).equals(bytes)).toBe(true);
    },
  );

  // On Bluesky a GIF that is alone is published as a video; this is what becomes of the others.
  test.each([
    ["a GIF", "facebook", animatedGif],
    ["a GIF", "bluesky", animatedGif],
    ["a WebP", "bluesky", animatedWebp],
  ] as const)("%s is a still picture on %s, where no image moves", async (_type, network, make) => {
    const target = targetOf(network);
    const bytes = await make(400, 400);
    const fitted = await fit(bytes, target);
    expect(fitted.repairs).toEqual(["stilled", "converted"]);
    expect((await sharp(fitted.bytes).metadata()).pages ?? 1).toBe(1);
    expect(await colorAt(fitted.bytes, 0.5, 0.5)).toBe("red");
    expect(await planOf(bytes, target)).toEqual(fitted.repairs);
  });

  test("an animated GIF of more pixels than Mastodon takes is refused, and a still one is converted", async () => {
    const target = targetOf("mastodon");
    expect((await fit(await animatedGif(1280, 720), target)).repairs).toEqual([]);
    const failure = await failureOf(fit(await animatedGif(1281, 720), target));
    expect(failure).toMatchObject({ code: "media_rejected", reason: "pixels" });
    const still = await flag(1281, 720).gif().toBuffer();
    const fitted = await fit(still, target);
    expect([fitted.contentType, fitted.width, fitted.height]).toEqual(["image/jpeg", 1281, 720]);
  });

  test("an animation that is too large is refused, not stilled", async () => {
    const small = { ...mastodon, bytesMax: 50 };
    const failure = await failureOf(fit(await animatedGif(), small));
    expect(failure).toMatchObject({ code: "media_rejected", reason: "animation" });
  });

  test.each([
    ["too wide", 1_000, 400],
    ["too tall", 400, 1_000],
  ])("an image %s for Instagram's feed is refused, never cropped", async (_name, width, height) => {
    const bytes = await flag(width, height).jpeg().toBuffer();
    expect(await failureOf(fit(bytes, instagram))).toMatchObject({ reason: "ratio" });
    expect(await planOf(bytes, instagram)).toBe("ratio");
    const story = targetOf("instagram", { kind: "story" });
    expect((await fit(bytes, story)).repairs).toEqual([]);
  });

  test.each([
    ["4:5", 800, 1_000],
    ["1.91:1", 1_910, 1_000],
    ["1.91:1, rounded", 1_080, 566],
  ])("the shape %s is just right for Instagram", async (_name, width, height) => {
    expect((await fit(await flag(width, height).jpeg().toBuffer(), instagram)).repairs).toEqual([]);
  });

  test("what is made for Instagram is as wide as Instagram shows it", async () => {
    const wide = await fit(await flag(3_000, 2_000).png().toBuffer(), instagram);
    expect(wide).toMatchObject({ width: 1_440, height: 960, repairs: ["converted", "resized"] });
    const narrow = await fit(await flag(100, 100).png().toBuffer(), instagram);
    expect(narrow).toMatchObject({ width: 320, height: 320 });
  });

  test("an opaque PNG above a megabyte goes to Facebook as a JPEG, a clear one stays", async () => {
    const opaque = await noisePng(700, 600);
    expect(await fit(opaque, facebook)).toMatchObject({
      contentType: "image/jpeg",
      repairs: ["converted"],
    });
    const clear = await sharp(opaque).ensureAlpha(0.5).png({ compressionLevel: 0 }).toBuffer();
    expect((await fit(clear, facebook)).repairs).toEqual([]);
  });

  test("an image of too many pixels is made smaller in its own shape", async () => {
    const target = { ...linkedin, pixelsMax: 10_000 };
    const fitted = await fit(await flag(400, 100).jpeg().toBuffer(), target);
    expect(fitted).toMatchObject({ width: 200, height: 50, repairs: ["resized"] });
  });
});

describe("an image with too many bytes", () => {
  test("an image with too many bytes of 30 MB of noise comes below Bluesky's limit, the same each time", async () => {
    const bytes = await noisePng(3_400, 3_000);
    expect(bytes.length).toBeGreaterThan(30_000_000);
    const fitted = await fit(bytes, bluesky);
    expect(fitted.bytes.length).toBeLessThanOrEqual(2_000_000);
    expect(fitted.bytes.length).toBeGreaterThan(1_000_000);
    expect(fitted.repairs).toEqual(["converted", "recompressed", "resized"]);
    expect((fitted.width ?? 0) / (fitted.height ?? 1)).toBeCloseTo(3_400 / 3_000, 2);
    expect(typeAndFrame(fitted.bytes)).toMatchObject({
      width: fitted.width,
      height: fitted.height,
    });
    const again = await fit(bytes, bluesky);
    expect(Buffer.from(again.bytes).equals(fitted.bytes)).toBe(true);
  }, 180_000);

  test("an image with too many bytes is refused beyond what is downloaded at all", async () => {
    const huge = { ...fileOf(await flag().jpeg().toBuffer()), size: 60_000_000 };
    expect(await failureOf(fitImage(huge, bluesky))).toMatchObject({ reason: "size" });
  });
});

describe("what is no image to work with", () => {
  test.each<[string, () => Promise<Uint8Array> | Uint8Array, string]>([
    ["a bomb", () => bombPng(30_000, 30_000), "pixels"],
    [
      "a cut JPEG",
      async () => (await flag(600, 400).jpeg().toBuffer()).subarray(0, 2_000),
      "damaged",
    ],
    ["a cut PNG", async () => (await noisePng(60, 40)).subarray(0, 2_000), "damaged"],
    ["a bare header", () => Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), "damaged"],
    ["HTML that calls itself a picture", () => Buffer.from("<!doctype html><title>No"), "type"],
    [
      "a script in a drawing",
      () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      "type",
    ],
  ])("%s is refused", async (_name, make, reason) => {
    for (const target of [bluesky, instagram]) {
      const failure = await failureOf(fit(await make(), target));
      expect(failure).toMatchObject({ code: "media_rejected", reason });
    }
  });

  test("a type that can't be read is left to a network that takes it", async () => {
    const bitmap = bitmapOf(10, 4);
    expect((await fit(bitmap, facebook)).repairs).toEqual([]);
    const longer = Buffer.concat([bitmap, Buffer.from("a film")]);
    const fitted = await fit(longer, facebook);
    expect(fitted.repairs).toEqual(["extrasRemoved"]);
    expect(Buffer.from(fitted.bytes).equals(bitmap)).toBe(true);
    expect(await failureOf(fit(bitmap, bluesky))).toMatchObject({ reason: "imageType" });
  });
});

test("no more images are held at a time than memory allows", async () => {
  const bytes = await flag(400, 400).png().toBuffer();
  let reading = 0;
  let most = 0;
  const watched = (): MediaFile => ({
    ...fileOf(bytes),
    size: 30_000_000,
    async *chunks() {
      reading += 1;
      most = Math.max(most, reading);
      await new Promise((resolve) => setImmediate(resolve));
      yield bytes;
      reading -= 1;
    },
  });
  await Promise.allSettled(Array.from({ length: 8 }, () => fitImage(watched(), instagram)));
  expect(most).toBe(4);
});
