import { readFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { fitImage } from "../../src/shared/media/fit-image.ts";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { checkMediaFile } from "../../src/shared/media/probe-media.ts";
import type { ImageTarget } from "../../src/shared/networks/contract/media.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { networkOf, type NetworkName } from "../../src/shared/networks/networks.ts";
import { inMemory } from "./in-memory.ts";
import {
  ALPHA,
  cropped,
  DEPTH,
  displayP3,
  GAIN_MAP,
  heic,
  mirrored,
  numbered,
  profiled,
  square,
  turnedLeft,
} from "./heics.ts";
import { colorAt } from "./pictures.ts";

const AT = "https://files.example.test/file";
const open = (bytes: Uint8Array) => openMedia(inMemory(bytes), AT, { bytesMax: 100_000_000 });
const target: ImageTarget = {
  types: ["image/jpeg"],
  bytesMax: 10_000_000,
  plays: [],
  turnsByExif: true,
};
const fitted = async (bytes: Uint8Array) => fitImage(await open(bytes), target);

function targetsOf(network: NetworkName) {
  const targets = networkOf(network).media?.({ text: "", media: [], options: {} }, {});
  if (targets === undefined) throw new Error(`${network} takes no files`);
  return targets;
}

const findings = async (bytes: Uint8Array, network: NetworkName) =>
  checkMediaFile(networkOf(network), targetsOf(network), {
    probe: await open(bytes),
    field: "mediaUrls",
    mediaIndex: 0,
  }).map(({ rule }) => rule?.split(".").at(-1));

/** Red, blue and white above green, red and blue. */
const GRID = {
  tiles: (["red", "blue", "white", "green", "red", "blue"] as const).map(square),
  columns: 3,
};

/** The colors of the cells of a picture, row by row. */
async function cells(bytes: Uint8Array, columns: number, rows: number): Promise<string> {
  const found = Array.from({ length: columns * rows }, (_none, index) =>
    colorAt(bytes, ((index % columns) + 0.5) / columns, (Math.floor(index / columns) + 0.5) / rows),
  );
  return (await Promise.all(found)).join(" ");
}

async function pixelAt(bytes: Uint8Array, x: number, y: number): Promise<readonly number[]> {
  return [
    ...(await sharp(bytes).extract({ left: x, top: y, width: 1, height: 1 }).raw().toBuffer()),
  ];
}

const closeTo = (numbers: readonly number[], tolerance = 3) =>
  numbers.map((number) =>
    expect.toSatisfy((found: number) => Math.abs(found - number) <= tolerance),
  );

describe("the picture of a HEIC", () => {
  test.each([
    ["as it is stored", [], 3, "red blue white green red blue"],
    ["turned to the left", [turnedLeft(1)], 2, "white blue blue red red green"],
    ["turned upside down", [turnedLeft(2)], 3, "blue red green white blue red"],
    ["turned to the right", [turnedLeft(3)], 2, "green red red blue blue white"],
    ["mirrored", [mirrored("sideways")], 3, "white blue red blue red green"],
    ["flipped", [mirrored("upside-down")], 3, "green red blue red blue white"],
    [
      "turned, then mirrored",
      [turnedLeft(1), mirrored("sideways")],
      2,
      "blue white red blue green red",
    ],
  ] as const)("is shown %s", async (_how, properties, columns, expected) => {
    const made = await fitted(heic({ ...GRID, properties }));
    const [width, height] = columns === 3 ? [192, 128] : [128, 192];
    expect(made).toMatchObject({
      contentType: "image/jpeg",
      width,
      height,
      repairs: ["converted"],
    });
    expect(await sharp(made.bytes).metadata()).toMatchObject({ width, height });
    expect(await cells(made.bytes, columns, 6 / columns)).toBe(expected);
  });

  test("is cropped to its frame, and tiles that reach beyond it are cut", async () => {
    const beyond = { ...GRID, width: 150, height: 100, properties: [turnedLeft(1)] };
    const turned = await fitted(heic(beyond));
    expect(turned).toMatchObject({ width: 100, height: 150 });
    expect(await colorAt(turned.bytes, 0.3, 0.05)).toBe("white");
    expect(await colorAt(turned.bytes, 0.3, 0.3)).toBe("blue");
    expect(await colorAt(turned.bytes, 0.9, 0.9)).toBe("green");
    // Its middle is 32 pixels to the left of the picture's, and 16 pixels below.
    const frame = [cropped(64, 64, [-32, 16]), turnedLeft(2)];
    const cut = await fitted(heic({ ...GRID, properties: frame }));
    expect(cut).toMatchObject({ width: 64, height: 64 });
    // Before it is turned: columns 32 to 96 and lines 48 to 112, where red, blue, green and red meet.
    expect(await colorAt(cut.bytes, 0.1, 0.1)).toBe("red");
    expect(await colorAt(cut.bytes, 0.9, 0.1)).toBe("green");
    expect(await colorAt(cut.bytes, 0.1, 0.95)).toBe("blue");
    expect(await colorAt(cut.bytes, 0.9, 0.95)).toBe("red");
  });

  test.each([
    ["a profile", async () => [profiled(await displayP3())]],
    ["numbers", () => Promise.resolve([numbered(12, 13)])],
  ])("has the colors of screens instead of those of %s", async (_what, properties) => {
    const tiles = [square("orange"), square("orange")];
    const plain = await fitted(heic({ tiles }));
    expect(await pixelAt(plain.bytes, 20, 90)).toEqual(closeTo([200, 100, 60]));
    const wide = await fitted(heic({ tiles, properties: await properties() }));
    expect(await pixelAt(wide.bytes, 20, 90)).toEqual(closeTo([215, 93, 46]));
    expect((await sharp(wide.bytes).metadata()).icc).toBeUndefined();
  });

  test("may be grey, or have ten bits", async () => {
    const grey = await fitted(heic({ tiles: [square("grey"), square("grey")] }));
    expect(await pixelAt(grey.bytes, 20, 90)).toEqual(closeTo([127, 127, 127]));
    const deep = await fitted(heic({ tiles: [square("deep")] }));
    expect(await pixelAt(deep.bytes, 32, 2)).toEqual(closeTo([250, 0, 5], 12));
    expect(await pixelAt(deep.bytes, 32, 61)).toEqual(closeTo([5, 0, 250], 12));
    // 58 % of the signal are white there, and more is a highlight.
    const bright = await fitted(heic({ tiles: [square("deep")], properties: [numbered(1, 16)] }));
    const [red = 0] = await pixelAt(bright.bytes, 32, 30);
    expect(red).toBeGreaterThan(170);
  });

  test("is laid on white where it is transparent, and not changed where it isn't", async () => {
    const tiles = [square("red")];
    const half = heic({ tiles, auxiliary: { [ALPHA]: square("grey") } });
    expect((await open(half)).image).toMatchObject({ hasAlpha: true, hasExtras: false });
    const made = await fitted(half);
    expect(made.repairs).toEqual(["converted", "flattened"]);
    expect(await pixelAt(made.bytes, 20, 20)).toEqual(closeTo([255, 128, 128]));
    const opaque = heic({ tiles, auxiliary: { [ALPHA]: square("white") } });
    expect((await open(opaque)).image).toMatchObject({ hasAlpha: false });
    expect((await fitted(opaque)).repairs).toEqual(["converted"]);
  });

  test("is the primary one, and nothing else of the file is published", async () => {
    const secret = "taken at home";
    const bytes = heic({
      ...GRID,
      others: [square("white"), square("green")],
      thumbnail: square("white"),
      auxiliary: { [DEPTH]: square("grey"), [GAIN_MAP]: square("grey") },
      exif: Buffer.from(`MM\0*${secret}`, "latin1"),
      xmp: `<x:xmpmeta xmlns:x="adobe:ns:meta/">${secret}</x:xmpmeta>`,
    });
    const repairs = ["converted", "metadataRemoved", "extrasRemoved"];
    for (const network of NETWORK_NAMES) {
      const { image } = targetsOf(network);
      const types = [...image.types, "image/heic"];
      const made = await fitImage(await open(bytes), { ...image, types });
      expect(made).toMatchObject({
        contentType: "image/jpeg",
        repairs: expect.arrayContaining(repairs),
      });
      expect(await cells(made.bytes, 3, 2)).toBe("red blue white green red blue");
      expect(Buffer.from(made.bytes).includes(secret)).toBe(false);
      const { exif, xmp, icc } = await sharp(made.bytes).metadata();
      expect({ exif, xmp, icc }).toEqual({});
      expect(await findings(bytes, network)).toEqual(expect.arrayContaining(repairs));
    }
  });

  test.each([
    [["heic", "mif1", "heic"], "image/heic"],
    [["heix", "mif1", "heix"], "image/heic"],
    [["mif1", "mif1", "miaf"], "image/heif"],
    [["msf1", "mif1", "heic", "hevc"], "image/heic"],
  ])("is found under the brands %j", async (brands, contentType) => {
    const bytes = heic({ ...GRID, brands });
    expect(await open(bytes)).toMatchObject({ contentType, width: 192, height: 128 });
    expect(await fitted(bytes)).toMatchObject({ contentType: "image/jpeg", width: 192 });
  });

  test.each(["gimp.heic", "libheif.heic"])("is what a program wrote: %s", async (name) => {
    const bytes = readFileSync(new URL(`written/${name}`, import.meta.url));
    expect(await open(bytes)).toMatchObject({ contentType: "image/heic", width: 48, height: 32 });
    expect(await fitted(bytes)).toMatchObject({ contentType: "image/jpeg", width: 48, height: 32 });
  });
});

describe("the facts of a HEIC", () => {
  const photo = square("photo");
  const large = {
    tiles: Array.from({ length: 48 }, () => ({
      ...photo,
      // Each tile is in the file, as a camera writes them.
      data: Buffer.from(photo.data),
    })),
    columns: 8,
    width: 4_032,
    height: 3_024,
    exif: Buffer.from("MM\0*where", "latin1"),
  };

  test("are known from the beginning of its file, upright", async () => {
    const bytes = heic({ ...large, properties: [turnedLeft(3)] });
    const asked: string[] = [];
    const dialler = inMemory(bytes);
    const counting = {
      ...dialler,
      open: (request: Parameters<typeof dialler.open>[0]) => {
        asked.push(request.headers?.["range"] ?? "all");
        return dialler.open(request);
      },
    };
    const opened = await openMedia(counting, AT, { bytesMax: 100_000_000 });
    expect(opened).toMatchObject({ width: 3_024, height: 4_032, size: bytes.length });
    expect(opened.image).toMatchObject({
      orientation: 1,
      frames: 1,
      isSeparable: false,
      hasMetadata: true,
      hasExtras: false,
    });
    expect(asked).toEqual(["bytes=0-131071"]);
  });

  test("tell that the end of its file is missing, however long it is", async () => {
    const cut = heic(large).subarray(0, -50_000);
    expect(cut.length).toBeGreaterThan(1_000_000);
    const refusal = { code: "media_rejected", reason: "damaged" };
    await expect(open(cut)).rejects.toMatchObject(refusal);
  });

  test("are unknown when they are at its end, and the picture is published", async () => {
    const bytes = heic({
      ...large,
      tiles: large.tiles.slice(0, 2),
      columns: 2,
      width: 1_000,
      height: 500,
      isMetadataLast: true,
    });
    expect(await open(bytes)).toMatchObject({ contentType: "image/heic" });
    expect(await fitted(bytes)).toMatchObject({ width: 1_000, height: 500 });
  });
});

describe("a HEIC is refused", () => {
  const whole = heic(GRID);
  test.each([
    ["that is cut off", () => whole.subarray(0, -40), "damaged"],
    [
      "without its tables",
      () => Buffer.concat([whole.subarray(0, 24), Buffer.alloc(400)]),
      "damaged",
    ],
    [
      "with a tile that isn't one",
      () =>
        heic({
          ...GRID,
          tiles: [...GRID.tiles.slice(1), { ...square("red"), data: Buffer.alloc(60, 7) }],
        }),
      "damaged",
    ],
    [
      "of another coding",
      () => Buffer.from(whole.toString("latin1").replaceAll("hvc1", "jpeg"), "latin1"),
      "imageCoding",
    ],
    [
      "of more pixels than can be decoded",
      () =>
        heic({
          tiles: Array.from({ length: 289 }, () => square("photo")),
          columns: 17,
          width: 8_700,
          height: 8_700,
        }),
      "pixels",
    ],
    [
      "of more pixels in one piece than the memory holds",
      () => heic({ tiles: [{ ...square("red"), width: 9_000, height: 7_000 }] }),
      "pixels",
    ],
  ])("%s", async (_what, make, reason) => {
    await expect(open(make()).then((file) => fitImage(file, target))).rejects.toMatchObject({
      code: "media_rejected",
      reason,
    });
  });
});
