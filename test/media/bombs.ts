import { deflateSync } from "node:zlib";
import { pngChunk } from "./pictures.ts";

/** A box as MP4 has it. */
function box(type: string, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, body]);
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, index * 4));
  return bytes;
}

/** The MP4 with another table instead of the first one of that name, and nothing behind its index. */
function withTable(mp4: Buffer, type: string, table: Buffer): Buffer {
  const at = mp4.indexOf(type, 0, "latin1") - 4;
  if (at < 0) throw new Error(`no ${type} in the file`);
  const length = mp4.readUInt32BE(at);
  const grown = table.length - length;
  const changed = Buffer.concat([mp4.subarray(0, at), table, mp4.subarray(at + length)]);
  for (const outer of outerBoxes(mp4, at))
    changed.writeUInt32BE(mp4.readUInt32BE(outer) + grown, outer);
  return changed;
}

const CONTAINERS: ReadonlySet<string> = new Set(["moov", "trak", "mdia", "minf", "stbl"]);

/** Where the boxes begin that a place of the file is inside of. */
function outerBoxes(mp4: Buffer, place: number): number[] {
  const found: number[] = [];
  let at = 0;
  while (at + 8 <= mp4.length && at < place) {
    const end = at + mp4.readUInt32BE(at);
    const isOuter = place < end && CONTAINERS.has(mp4.toString("latin1", at + 4, at + 8));
    if (isOuter) found.push(at);
    if (end <= at) break;
    at = isOuter ? at + 8 : end;
  }
  return found;
}

/** One run of so many samples, all alike: expanded, it fills any memory. */
export const endlessTimes = (mp4: Buffer): Buffer =>
  withTable(mp4, "stts", box("stts", words(0, 1, 0x7fff_ffff, 1)));

/** So many runs of so many samples. */
export function manyTimes(mp4: Buffer, runs: number, samples: number): Buffer {
  const entries = Array.from({ length: runs }, () => [samples, 1]).flat();
  return withTable(mp4, "stts", box("stts", words(0, runs, ...entries)));
}

/** So many empty boxes and nothing else, each of which is read by itself. */
export const emptyBoxes = (boxes: number): Buffer =>
  Buffer.concat([
    box("ftyp", Buffer.from("isom\0\0\0\0isom", "latin1")),
    ...Array.from({ length: boxes }, () => box("free")),
  ]);

/** Chunks by the thousand million: a reader that goes through them does not come back for a while. */
export const endlessChunks = (mp4: Buffer): Buffer =>
  withTable(mp4, "stsc", box("stsc", words(0, 2, 1, 1, 1, 0x7fff_ffff, 1, 1)));

/** An interlaced PNG of 16 bits that is a few megabytes long and more than a gigabyte when it is decoded. */
export function interlacedPng(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([16, 6, 0, 0, 1], 8);
  const rows = Buffer.alloc(Math.min(width * height * 8 + height * 2, 400_000_000));
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", head),
    pngChunk("IDAT", deflateSync(rows, { level: 1 })),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A drawing that takes minutes to paint, behind the first bytes of something else. */
export function drawing(disguise: "webp" | "avif" | "plain"): Buffer {
  const filters = Array.from(
    { length: 40 },
    () => '<feTurbulence baseFrequency="0.9" numOctaves="9"/>',
  );
  const body = `xmlns="http://www.w3.org/2000/svg" width="9000" height="9000"><filter id="f">${filters.join("")}</filter><rect width="9000" height="9000" filter="url(#f)"/></svg>`;
  const start = { webp: "<svg    WEBP='' ", avif: "<!--ftypavif--><svg ", plain: "<svg " }[
    disguise
  ];
  return Buffer.from(start + body);
}
