import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { fitImage } from "../../src/shared/media/fit-image.ts";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { refusalError } from "../../src/shared/networks/contract/media-check.ts";
import type { ImageTarget } from "../../src/shared/networks/contract/media.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { inMemory } from "./in-memory.ts";
import { colorAt } from "./pictures.ts";
import { type Directory, tiffOf } from "./tiffs.ts";

const AT = "https://files.example.test/file.tif";
const open = (bytes: Uint8Array) =>
  openMedia(inMemory(bytes), AT, { bytesMax: 100_000_000, isThorough: true });
const TARGET: ImageTarget = {
  types: ["image/jpeg"],
  bytesMax: 2_000_000,
  plays: [],
  turnsByExif: false,
};

const SIZE = { width: 64, height: 48 };
type Tags = NonNullable<Directory["tags"]>;
type Pixel = readonly number[];

/** The left half of the picture has one color, the right half the other. */
function halves(left: Pixel, right: Pixel, tags: Tags): Buffer {
  const bits = tags[258] === 16 ? 16 : 8;
  const isPlanar = tags[284] === 2;
  const pixels = Array.from({ length: SIZE.width * SIZE.height }, (_none, index) =>
    index % SIZE.width < SIZE.width / 2 ? left : right,
  );
  const stored = (numbers: readonly number[]) =>
    bits === 8 ? Buffer.from(numbers) : Buffer.from(Uint16Array.from(numbers).buffer);
  const strips = isPlanar
    ? left.map((_sample, index) => stored(pixels.map((pixel) => pixel[index] ?? 0)))
    : [stored(pixels.flat())];
  return tiffOf([{ ...SIZE, strips, tags: { 277: left.length, ...tags } }]);
}

const deep = (pixel: Pixel) => pixel.map((value) => value * 257);
/** Red and blue in luma and differences of colors (Rec. 601), and in CIE L*a*b* relative to the white of print. */
const LUMA = { red: [76, 85, 255], blue: [29, 255, 107] };
const CIE = { red: [138, 81, 70], blue: [75, 68, 256 - 112] };
const ICC = { red: [138, 128 + 81, 128 + 70], blue: [75, 128 + 68, 128 - 112] };
const CIE_DEEP = {
  red: [35_580, 81 * 256, 70 * 256],
  blue: [19_380, 68 * 256, 65_536 - 112 * 256],
};
const SINGLE = { 530: [1, 1] };

describe("a TIFF keeps its colors", () => {
  test.each<readonly [string, Buffer]>([
    ["in luma, plane by plane", halves(LUMA.red, LUMA.blue, { 262: 6, 284: 2, ...SINGLE })],
    ["in luma, pixel by pixel", halves(LUMA.red, LUMA.blue, { 262: 6, ...SINGLE })],
    ["in luma of 16 bits", halves(deep(LUMA.red), deep(LUMA.blue), { 258: 16, 262: 6, ...SINGLE })],
    ["in CIELAB", halves(CIE.red, CIE.blue, { 262: 8 })],
    ["in CIELAB, plane by plane", halves(CIE.red, CIE.blue, { 262: 8, 284: 2 })],
    ["in CIELAB of 16 bits", halves(CIE_DEEP.red, CIE_DEEP.blue, { 258: 16, 262: 8 })],
    ["in ICCLAB", halves(ICC.red, ICC.blue, { 262: 9 })],
    ["with a saved selection", halves([230, 10, 10, 0], [10, 10, 230, 0], { 262: 2, 338: 0 })],
    ["with a channel that it doesn't describe", halves([230, 10, 10, 0], [10, 10, 230, 0], {})],
    [
      "with two saved selections",
      halves([230, 10, 10, 0, 0], [10, 10, 230, 0, 9], { 262: 2, 338: [0, 0] }),
    ],
    ["in RGB, plane by plane", halves([230, 10, 10], [10, 10, 230], { 262: 2, 284: 2 })],
  ])("%s", async (_name, bytes) => {
    const fitted = await fitImage(await open(bytes), TARGET);
    expect(fitted).toMatchObject({ contentType: "image/jpeg", repairs: ["converted"], ...SIZE });
    expect(await colorAt(fitted.bytes, 0.25, 0.5)).toBe("red");
    expect(await colorAt(fitted.bytes, 0.75, 0.5)).toBe("blue");
  });

  test("within a few levels, also where the colors of Lab change their sign", async () => {
    // A grey with opposing colors of -1 and of 1, which as bytes are far from each other.
    const bytes = halves([128, 255, 1], [128, 1, 255], { 262: 8 });
    const fitted = await fitImage(await open(bytes), { ...TARGET, edgeMax: 20 });
    const { channels } = await sharp(fitted.bytes).stats();
    for (const { min, max } of channels) expect([min > 110, max < 130]).toEqual([true, true]);
  });

  test("with the part of it that is transparent in white", async () => {
    const bytes = halves([230, 10, 10, 0], [10, 10, 230, 255], { 262: 2, 338: 2 });
    const fitted = await fitImage(await open(bytes), TARGET);
    expect(fitted.repairs).toEqual(["converted", "flattened"]);
    expect(await colorAt(fitted.bytes, 0.25, 0.5)).toBe("white");
  });
});

describe("a TIFF that is stored in a rare way", () => {
  const rgb = (tags: Tags) => halves([230, 10, 10], [10, 10, 230], { 262: 2, ...tags });
  const grey = (tags: Tags) => halves([200], [20], { 262: 1, ...tags });
  test.each<readonly [string, Buffer]>([
    ["the old form of JPEG", rgb({ 259: 6 })],
    ["Zstandard", rgb({ 259: 50_000 })],
    ["WebP", rgb({ 259: 50_001 })],
    ["12 bits a sample", rgb({ 258: 12 })],
    ["integers of 32 bits", rgb({ 258: 32 })],
    ["grey tones as floats", grey({ 258: 32, 339: 3 })],
    ["grey tones with a sign", grey({ 339: 2 })],
    ["floats of 16 bits", rgb({ 258: 16, 339: 3 })],
    ["grey and transparency plane by plane", halves([9, 9], [9, 9], { 262: 1, 284: 2, 338: 2 })],
    ["luma with fewer differences of colors, plane by plane", rgb({ 262: 6, 284: 2 })],
    ["inks that aren't those of print", halves([1, 1, 1, 1], [9, 9, 9, 9], { 262: 5, 332: 2 })],
    ["logarithmic light", rgb({ 262: 32_845 })],
    ["colors of faxes", rgb({ 262: 10 })],
  ])("is refused in words about that: %s", async (_name, bytes) => {
    await expect(open(bytes)).rejects.toMatchObject({ reason: "imageCoding" });
    const file = { ...(await open(rgb({}))), size: bytes.length, chunks: () => once(bytes) };
    await expect(fitImage(file, TARGET)).rejects.toMatchObject({ reason: "imageCoding" });
  });

  async function* once(bytes: Buffer) {
    yield await Promise.resolve(bytes);
  }

  test("is refused by every network by a rule of its own", () => {
    for (const network of NETWORK_NAMES)
      expect(
        refusalError(networkOf(network), "imageCoding", { field: "mediaUrls", mediaIndex: 0 }),
      ).toMatchObject({ rule: `${network}.media.imageCoding` });
  });

  test("with a strip that can't be decoded is refused and not published black", async () => {
    const bytes = rgb({ 259: 5 });
    await expect(open(bytes)).rejects.toMatchObject({ reason: "damaged" });
  });
});
