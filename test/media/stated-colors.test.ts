import { readFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { fitImage } from "../../src/shared/media/fit-image.ts";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { shownPixels, statedColors } from "../../src/shared/media/stated-colors.ts";
import { networkOf, type NetworkName } from "../../src/shared/networks/networks.ts";
import { inMemory } from "./in-memory.ts";
import { pngChunk } from "./pictures.ts";

const caseFile = (name: string) => readFileSync(new URL(`cases/${name}`, import.meta.url));

async function fitted(bytes: Uint8Array, network: NetworkName) {
  const target = networkOf(network).media?.({ text: "", media: [], options: {} }, {}).image;
  if (target === undefined) throw new Error(`${network} takes no images`);
  const at = "https://files.example.test/picture";
  const file = await openMedia(inMemory(bytes), at, { bytesMax: 10_000_000, isThorough: true });
  return fitImage(file, target);
}

/** Red, green and blue of places, given in parts of the whole. */
async function colorsAt(image: Uint8Array, ...places: readonly (readonly [number, number])[]) {
  const { data, info } = await sharp(image).raw().toBuffer({ resolveWithObject: true });
  return places.map(([x, y]) => {
    const at =
      (Math.floor(info.height * y) * info.width + Math.floor(info.width * x)) * info.channels;
    return [...data.subarray(at, at + info.channels)];
  });
}

const near = (...values: readonly number[]) =>
  values.map((value) =>
    expect.toSatisfy((seen: number) => Math.abs(seen - value) <= 6, `near ${value}`),
  );

const PLACES = [
  [0.2, 0.2],
  [0.8, 0.2],
  [0.2, 0.8],
  [0.8, 0.8],
] as const;

/** A PNG of one grey or color, with chunks in front of its pixels. */
async function png(
  background: string | { r: number; g: number; b: number; alpha: number },
  ...chunks: readonly Buffer[]
): Promise<Buffer> {
  const channels = typeof background === "string" ? 3 : 4;
  const made = await sharp({ create: { width: 400, height: 400, channels, background } })
    .png()
    .toBuffer();
  return Buffer.concat([made.subarray(0, 33), ...chunks, made.subarray(33)]);
}

const longs = (...values: readonly number[]) => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
};
const gamma = (value: number) => pngChunk("gAMA", longs(value));
const codes = (primaries: number, transfer: number) =>
  pngChunk("cICP", Buffer.from([primaries, transfer, 0, 1]));
const OF_SCREENS = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000];
const WIDE = [31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000];
const places = (values: readonly number[]) => pngChunk("cHRM", longs(...values));

describe("a picture of high range", () => {
  test.each(["facebook", "instagram", "linkedin", "bluesky", "mastodon"] as const)(
    "is published on %s as an ordinary screen shows it",
    async (network) => {
      const { bytes, repairs } = await fitted(caseFile("bright.avif"), network);
      expect(repairs).toContain("converted");
      const [white, red, grey, black] = await colorsAt(bytes, ...PLACES);
      // White is a little darker than white, because highlights are brighter than that.
      expect([white, red, grey, black]).toEqual([
        near(240, 240, 240),
        near(255, 0, 0),
        near(127, 127, 127),
        near(0, 0, 0),
      ]);
    },
  );

  test("of the other standard has its white where that one has it", () => {
    const light = {
      transfer: { kind: "hlg" },
      primaries: statedColors("image/avif", caseFile("bright.avif"))?.primaries ?? [],
    } as const;
    const signal = (part: number) => Math.round(part * 65_535);
    const data = Uint16Array.from(
      [0, 0.38, 0.75, 1].flatMap((part) => [signal(part), signal(part), signal(part)]),
    );
    const [black, grey, white, highlight] = [0, 3, 6, 9].map(
      (at) => shownPixels({ data, channels: 3 }, light)[at],
    );
    expect([black, highlight]).toEqual([0, 255]);
    expect([grey, white]).toEqual([
      expect.toSatisfy((seen: number) => seen > 90 && seen < 125),
      ...near(240),
    ]);
  });

  test("keeps what shines through", async () => {
    const { bytes, contentType } = await fitted(
      await png({ r: 128, g: 128, b: 128, alpha: 0.5 }, codes(9, 16)),
      "linkedin",
    );
    expect(contentType).toBe("image/png");
    const [pixel] = await colorsAt(bytes, [0.5, 0.5]);
    expect(pixel?.[3]).toBe(128);
  });
});

describe("a picture with a wide range of colors", () => {
  test("that states them by codes has its colors on screens", async () => {
    const { bytes } = await fitted(caseFile("wide.avif"), "bluesky");
    expect(await colorsAt(bytes, [0.5, 0.5])).toEqual([near(255, 0, 0)]);
  });

  test("that states them by their places has them, too", async () => {
    const { bytes, repairs } = await fitted(
      await png("#ea3323", gamma(45_455), places(WIDE)),
      "linkedin",
    );
    expect(repairs).toEqual(["converted"]);
    expect(await colorsAt(bytes, [0.5, 0.5])).toEqual([near(255, 0, 0)]);
  });
});

describe("a PNG's gamma", () => {
  test("of linear light is applied where few readers would", async () => {
    for (const network of ["instagram", "mastodon"] as const) {
      const { bytes, repairs } = await fitted(await png("#404040", gamma(100_000)), network);
      expect(repairs).toContain("converted");
      expect(await colorsAt(bytes, [0.5, 0.5])).toEqual([near(137, 137, 137)]);
    }
  });

  test.each<[string, readonly Buffer[]]>([
    ["of screens", [gamma(45_455), places(OF_SCREENS)]],
    ["that means nothing", [gamma(0)]],
    [
      "of a picture that says that its colors are those of screens",
      [pngChunk("sRGB", Buffer.of(0)), gamma(100_000)],
    ],
    ["of a picture with the codes of screens", [codes(1, 13), gamma(100_000)]],
  ])("%s changes nothing", async (_what, chunks) => {
    const given = await png("#404040", ...chunks);
    const { bytes, repairs } = await fitted(given, "mastodon");
    expect([repairs, Buffer.from(bytes).equals(given)]).toEqual([[], true]);
    const jpeg = await fitted(given, "instagram");
    expect(await colorsAt(jpeg.bytes, [0.5, 0.5])).toEqual([near(64, 64, 64)]);
  });

  test("does not count where there is a profile", async () => {
    const grey = { create: { width: 40, height: 40, channels: 3, background: "#404040" } } as const;
    const made = await sharp(grey).withIccProfile("p3").png().toBuffer();
    const given = Buffer.concat([made.subarray(0, 33), gamma(100_000), made.subarray(33)]);
    expect(statedColors("image/png", given)).toBeUndefined();
  });
});

describe("the colors of an AVIF", () => {
  const box = (type: string, ...parts: readonly Uint8Array[]): Buffer => {
    const content = Buffer.concat(parts);
    return Buffer.concat([longs(content.length + 8), Buffer.from(type, "latin1"), content]);
  };
  const color = (primaries: number, transfer: number) =>
    box("colr", Buffer.from("nclx"), Buffer.from([0, primaries, 0, transfer, 0, 0, 0]));
  const meta = (
    item: number,
    links: readonly (readonly [number, number])[],
    ...properties: readonly Buffer[]
  ) =>
    box(
      "meta",
      longs(0),
      box("pitm", longs(0), Buffer.from([0, item])),
      box(
        "iprp",
        box("ipco", ...properties),
        box(
          "ipma",
          longs(0, links.length),
          ...links.map(([id, property]) => Buffer.from([0, id, 1, property])),
        ),
      ),
    );

  test("are those of its main picture, whatever others it has", () => {
    const both = [color(9, 16), color(1, 13)];
    const of = (item: number) =>
      statedColors(
        "image/avif",
        meta(
          item,
          [
            [1, 1],
            [2, 2],
          ],
          ...both,
        ),
      )?.transfer.kind;
    expect([of(1), of(2)]).toEqual(["pq", undefined]);
  });

  test("are those of its profile, if it has one", () => {
    const profile = box("colr", Buffer.from("prof"), longs(0));
    const link = Buffer.from([0, 1, 2, 1, 2]);
    const file = box(
      "meta",
      longs(0),
      box("pitm", longs(0), Buffer.from([0, 1])),
      box("iprp", box("ipco", color(9, 16), profile), box("ipma", longs(0, 1), link)),
    );
    expect(statedColors("image/avif", file)).toBeUndefined();
  });

  test.each([
    ["no properties", meta(1, [])],
    ["properties that aren't there", meta(1, [[1, 9]])],
    ["a cut list", meta(1, [[1, 1]], color(9, 16)).subarray(0, 60)],
  ])("stay those of screens with %s", (_what, file) => {
    expect(statedColors("image/avif", file)).toBeUndefined();
  });
});
