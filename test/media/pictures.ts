import { crc32 } from "node:zlib";
import sharp from "sharp";
import { contentTypeOf } from "../../src/shared/media/content-type.ts";
import { factsOfImage } from "../../src/shared/media/image-facts.ts";

/** Bytes that look like noise and are always the same: noise is what compresses worst. */
export function noise(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

export function noisePng(width: number, height: number): Promise<Buffer> {
  const raw = { width, height, channels: 3 as const };
  return sharp(noise(width * height * 3), { raw })
    .png({ compressionLevel: 0 })
    .toBuffer();
}

/** Left half red, right half blue, with a green bar at the top: tells how it is turned. */
export function flag(width = 60, height = 40) {
  const left = Math.floor(width / 2);
  const fill = (part: number, size: number, background: string) => ({
    create: { width: part, height: size, channels: 3 as const, background },
  });
  return sharp({ create: { width, height, channels: 3, background: "#ff0000" } })
    .composite([
      { input: fill(width - left, height, "#0000ff"), left, top: 0 },
      { input: fill(width, Math.floor(height / 4), "#00ff00"), left: 0, top: 0 },
    ])
    .removeAlpha();
}

export type Color = "red" | "green" | "blue" | "white" | "black" | "other";

const COLORS: Readonly<Record<string, Color>> = {
  "100": "red",
  "010": "green",
  "001": "blue",
  "111": "white",
  "000": "black",
};

/** What color a reader sees at a place, given in parts of the whole. */
export async function colorAt(image: Uint8Array, x: number, y: number): Promise<Color> {
  // As a viewer shows it: turned by its EXIF.
  const { data, info } = await sharp(image)
    .autoOrient()
    .toColorspace("srgb")
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const left = Math.min(info.width - 1, Math.floor(info.width * x));
  const top = Math.min(info.height - 1, Math.floor(info.height * y));
  const at = (top * info.width + left) * info.channels;
  const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3);
  const name = [red, green, blue].map((value) => (value > 150 ? "1" : value < 100 ? "0" : "?"));
  return COLORS[name.join("")] ?? "other";
}

const GPS = {
  IFD3: { GPSLatitudeRef: "N", GPSLatitude: "51/1 30/1 0/1", GPSLongitudeRef: "W" },
} as const;

/** A photo as a phone takes it: it tells where. */
export function photoWithPlace(width = 60, height = 40): Promise<Buffer> {
  return flag(width, height).withExif(GPS).jpeg().toBuffer();
}

const LENGTH_BYTES = 4;

/** A chunk as PNG has it. */
export function pngChunk(type: string, content: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const [length, check] = [Buffer.alloc(LENGTH_BYTES), Buffer.alloc(LENGTH_BYTES)];
  length.writeUInt32BE(content.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** The PNG with a chunk as its last but one: behind the picture. */
export function pngWith(png: Buffer, chunk: Buffer): Buffer {
  const end = png.length - pngChunk("IEND", Buffer.alloc(0)).length;
  return Buffer.concat([png.subarray(0, end), chunk, png.subarray(end)]);
}

/** A chunk as WebP has it. */
export function webpChunk(type: string, content: Uint8Array): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(content.length);
  const filling = Buffer.alloc(content.length % 2);
  return Buffer.concat([Buffer.from(type, "latin1"), length, content, filling]);
}

/** The WebP with a chunk at its end, where its metadata goes. */
export function webpWith(webp: Buffer, chunk: Buffer): Buffer {
  const file = Buffer.concat([webp, chunk]);
  file.writeUInt32LE(file.length - 8, 4);
  return file;
}

/** What a camera notes of a place, as a block of its own. */
export async function exifWithPlace(): Promise<Buffer> {
  const { exif } = await sharp(await photoWithPlace()).metadata();
  if (exif === undefined) throw new Error("the photo tells nothing");
  return exif.subarray("Exif\0\0".length);
}

/** Two frames, so that it moves. */
export async function animatedWebp(width = 8, height = 8): Promise<Buffer> {
  return sharp(await animatedGif(width, height), { animated: true })
    .webp()
    .toBuffer();
}

/** Two frames, so that it moves. */
export async function animatedGif(width = 8, height = 8): Promise<Buffer> {
  const frame = (background: string) =>
    sharp({ create: { width, height, channels: 3, background } })
      .png()
      .toBuffer();
  const frames = await Promise.all(["#ff0000", "#0000ff"].map(frame));
  return sharp(frames, { join: { animated: true } })
    .gif()
    .toBuffer();
}

/** A PNG of a few hundred bytes that claims to be of that size. */
export async function bombPng(width: number, height: number): Promise<Buffer> {
  const small = await sharp({ create: { width: 1, height: 1, channels: 3, background: "#fff" } })
    .png()
    .toBuffer();
  const bomb = Buffer.from(small);
  bomb.writeUInt32BE(width, 16);
  bomb.writeUInt32BE(height, 20);
  bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29);
  return bomb;
}

/** A bitmap of 24 bits a pixel, all black. */
export function bitmapOf(width: number, height: number): Buffer {
  const head = Buffer.alloc(54);
  const pixels = Buffer.alloc(Math.ceil((width * 24) / 32) * 4 * height);
  head.write("BM", "latin1");
  head.writeUInt32LE(head.length + pixels.length, 2);
  head.writeUInt32LE(head.length, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(width, 18);
  head.writeInt32LE(height, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(24, 28);
  return Buffer.concat([head, pixels]);
}

/** Returns the type of a file, and the frame of an image as far as its head shows it. */
export function typeAndFrame(bytes: Uint8Array) {
  const contentType = contentTypeOf(bytes);
  const image = { contentType, bytes, size: bytes.length, metadata: undefined };
  const { width, height } = factsOfImage(image);
  return { contentType, width: width || null, height: height || null };
}
