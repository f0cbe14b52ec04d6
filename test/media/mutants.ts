import { readFile } from "node:fs/promises";
import sharp from "sharp";
import { heic, square, turnedLeft } from "./heics.ts";
import { animatedGif, animatedWebp, flag, photoWithPlace } from "./pictures.ts";

/** Good files of every type that is looked into, small, so that many can be tried. */
export async function seedFiles(): Promise<Readonly<Record<string, Buffer>>> {
  const clip = await readFile("sandbox/media/clip.mp4");
  const picture = () => flag(120, 80);
  return {
    mp4: clip,
    mov: asQuickTime(clip),
    webm: webm(),
    jpeg: await photoWithPlace(120, 80),
    progressive: await picture().jpeg({ progressive: true }).toBuffer(),
    png: await picture().png().toBuffer(),
    interlaced: await picture().toColorspace("rgb16").png({ progressive: true }).toBuffer(),
    gif: await animatedGif(24, 16),
    webp: await animatedWebp(24, 16),
    lossless: await picture().webp({ lossless: true }).toBuffer(),
    avif: await picture().avif({ effort: 0 }).toBuffer(),
    tiff: await picture().tiff().toBuffer(),
    heic: heic({
      tiles: (["red", "blue", "white", "green"] as const).map(square),
      columns: 2,
      width: 100,
      height: 90,
      properties: [turnedLeft(1)],
      thumbnail: square("white"),
      exif: Buffer.from("MM\0*where", "latin1"),
    }),
    pdf: Buffer.from("%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"),
    bmp: Buffer.concat([Buffer.from("BM"), Buffer.alloc(60)]),
    jpegOfNoise: await sharp(Buffer.alloc(60 * 60 * 3, 7), {
      raw: { width: 60, height: 60, channels: 3 },
    })
      .jpeg()
      .toBuffer(),
  };
}

function asQuickTime(mp4: Buffer): Buffer {
  const mov = Buffer.from(mp4);
  mov.write("ftypqt  ", 4, "latin1");
  return mov;
}

const element = (id: string, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(id, "hex"), Buffer.from([0x80 | content.length]), content]);
const number = (id: string, value: number) => element(id, Buffer.from([value >> 8, value & 255]));

/** The head of a WebM: a track of 320 × 240 that plays for a minute. */
function webm(): Buffer {
  const head = element("1a45dfa3", element("4282", Buffer.from("webm")));
  const scale = element("2ad7b1", Buffer.from([0x0f, 0x42, 0x40]));
  const duration = Buffer.alloc(4);
  duration.writeFloatBE(60_000);
  const info = element("1549a966", Buffer.concat([scale, element("4489", duration)]));
  const frame = element("e0", Buffer.concat([number("b0", 320), number("ba", 240)]));
  const track = Buffer.concat([
    element("d7", Buffer.from([1])),
    element("73c5", Buffer.from([1])),
    element("83", Buffer.from([1])),
    element("86", Buffer.from("V_VP8")),
    frame,
  ]);
  const tracks = element("1654ae6b", element("ae", track));
  return Buffer.concat([head, element("18538067", Buffer.concat([info, tracks]))]);
}

/** Numbers between 0 and 1 that follow from the seed. */
function randomOf(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

/** Sizes and counts that parsers believe: none, one, nearly all, all, and what turns negative. */
const TELLING = [0, 1, 0x7f, 0xff, 0x7fff_ffff, 0xffff_ffff, 0x8000_0000, 0x0100_0000] as const;

/** From the name of a part: its length in front, and what it tells behind. */
const OFFSETS = [-4, 4, 8, 12] as const;

/** Where in a file the parsers look: its head, the names of its parts, anywhere. */
function placeIn(bytes: Buffer, random: () => number): number {
  const reach = random() < 0.6 ? Math.min(bytes.length, 2_048) : bytes.length;
  const near = Math.floor(random() * Math.max(1, reach - 4));
  if (random() < 0.5) return near;
  // Behind a name of four letters, as boxes and chunks have them.
  for (let at = near; at < Math.min(bytes.length - 8, near + 400); at += 1)
    if (/^[a-zA-Z]{4}$/.test(bytes.toString("latin1", at, at + 4)))
      return at + (OFFSETS[Math.floor(random() * OFFSETS.length)] ?? 0);
  return near;
}

/** The file with some of it changed as an attacker, or a bad disk, would. */
export function mutantOf(file: Buffer, seed: number): Buffer {
  const random = randomOf(seed);
  let bytes: Buffer = Buffer.from(file);
  const changes = 1 + Math.floor(random() * 4);
  for (let change = 0; change < changes; change += 1) bytes = changed(bytes, random);
  return bytes;
}

function changed(bytes: Buffer, random: () => number): Buffer {
  const at = Math.max(0, Math.min(bytes.length - 4, placeIn(bytes, random)));
  const kind = random();
  if (kind < 0.5 && bytes.length >= 4) {
    bytes.writeUInt32BE(TELLING[Math.floor(random() * TELLING.length)] ?? 0, at);
    return bytes;
  }
  if (kind < 0.7) {
    bytes[at] = Math.floor(random() * 256);
    return bytes;
  }
  if (kind < 0.8) return bytes.subarray(0, Math.max(16, Math.floor(random() * bytes.length)));
  const length = Math.floor(random() * Math.min(512, bytes.length - at));
  const piece = bytes.subarray(at, at + length);
  return kind < 0.9
    ? Buffer.concat([bytes.subarray(0, at), piece, piece, bytes.subarray(at + length)])
    : Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
}
