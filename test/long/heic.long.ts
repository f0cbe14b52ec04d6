import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fitImage } from "../../src/shared/media/fit-image.ts";
import { openMedia } from "../../src/shared/media/open-media.ts";
import { codedIn, displayP3, heic, profiled, turnedLeft } from "../media/heics.ts";
import { inMemory } from "../media/in-memory.ts";
import { colorAt, flag } from "../media/pictures.ts";

/** What the cameras of phones give: 8,064 × 6,048 pixels, within the service's own limits of memory and time. */
const [WIDTH, HEIGHT] = [8_064, 6_048];
const TILE = 512;
const TIMES = { timeout: 600_000 };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "heic-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Codes a picture with Debian's `heif-enc`. */
async function codedByDebian(picture: Sharp, name: string): Promise<Buffer> {
  const [from, to] = [join(folder, `${name}.png`), join(folder, `${name}.heic`)];
  await picture.png({ compressionLevel: 1 }).toFile(from);
  const { status, stderr } = spawnSync("heif-enc", ["-p", "preset=ultrafast", from, "-o", to], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return readFile(to);
}

async function fitted(bytes: Buffer) {
  const at = "https://files.example.test/file";
  const file = await openMedia(inMemory(bytes), at, { bytesMax: 100_000_000 });
  const target = { types: ["image/jpeg"], bytesMax: 10_000_000, plays: [], turnsByExif: true };
  return fitImage(file, target);
}

const hasEncoder = spawnSync("heif-enc", ["--help"]).error === undefined;

test.skipIf(!hasEncoder)("48 megapixels in tiles are published, upright", TIMES, async () => {
  const [columns, rows] = [Math.ceil(WIDTH / TILE), Math.ceil(HEIGHT / TILE)];
  const { data, info } = await flag(WIDTH, HEIGHT)
    .extend({ right: columns * TILE - WIDTH, bottom: rows * TILE - HEIGHT })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const tiles = [];
  for (let index = 0; index < columns * rows; index += 1) {
    const left = (index % columns) * TILE;
    const top = Math.floor(index / columns) * TILE;
    const place = { left, top, width: TILE, height: TILE };
    const tile = sharp(data, { raw: info }).extract(place);
    tiles.push(codedIn(await codedByDebian(tile, `tile-${index}`)));
  }
  const properties = [profiled(await displayP3()), turnedLeft(1)];
  const made = await fitted(heic({ tiles, columns, width: WIDTH, height: HEIGHT, properties }));
  expect(made).toMatchObject({ contentType: "image/jpeg", width: HEIGHT, height: WIDTH });
  // The bar at the top is at the left then, the left half at the bottom.
  expect(await colorAt(made.bytes, 0.1, 0.5)).toBe("green");
  expect(await colorAt(made.bytes, 0.9, 0.1)).toBe("blue");
  expect(await colorAt(made.bytes, 0.9, 0.9)).toBe("red");
});

test.skipIf(!hasEncoder)("48 megapixels in one piece are published", TIMES, async () => {
  const made = await fitted(await codedByDebian(flag(WIDTH, HEIGHT), "whole"));
  expect(made).toMatchObject({ contentType: "image/jpeg", width: WIDTH, height: HEIGHT });
  expect(await colorAt(made.bytes, 0.1, 0.9)).toBe("red");
  expect(await colorAt(made.bytes, 0.9, 0.9)).toBe("blue");
});
