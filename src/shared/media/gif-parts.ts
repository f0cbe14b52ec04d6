import type { PictureParts } from "./parts.ts";

const HEADER_BYTES = 13;
const TRAILER = 0x3b;
const IMAGE = 0x2c;
const EXTENSION = 0x21;
const GRAPHIC_CONTROL = 0xf9;
const APPLICATION = 0xff;
/** How often an animation repeats (in both spellings), and the color profile. */
const KEPT_APPLICATIONS: readonly string[] = ["NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012"];
const IMAGE_BYTES = 10;

const tableBytes = (flags: number) => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));

/** Finds the end of a chain of sub-blocks. The result is undefined when the file ends before it. */
function endOfBlocks(gif: Buffer, start: number): number | undefined {
  let at = start;
  for (;;) {
    const length = gif[at];
    if (length === undefined) return undefined;
    at += length + 1;
    if (length === 0) return at;
  }
}

/** Finds the end of the block at a position, or undefined when it is no block or not complete. */
function endOfBlock(gif: Buffer, at: number): number | undefined {
  if (gif[at] === EXTENSION) return endOfBlocks(gif, at + 2);
  if (gif[at] !== IMAGE) return undefined;
  return endOfBlocks(gif, at + IMAGE_BYTES + tableBytes(gif[at + 9] ?? 0) + 1);
}

function isKept(gif: Buffer, at: number): boolean {
  if (gif[at] === IMAGE || gif[at + 1] === GRAPHIC_CONTROL) return true;
  const name = gif.toString("latin1", at + 3, at + 14);
  return gif[at + 1] === APPLICATION && KEPT_APPLICATIONS.includes(name);
}

/** Keeps a GIF's frames, how they are shown and how often, up to the trailer. */
export function gifParts(gif: Buffer): PictureParts {
  let at = HEADER_BYTES + tableBytes(gif[10] ?? 0);
  const kept = [gif.subarray(0, at)];
  let frames = 0;
  let hasMetadata = false;
  for (;;) {
    if (gif[at] === TRAILER || at === gif.length) {
      // Some programs omit the trailer.
      kept.push(Buffer.from([TRAILER]));
      return { hasMetadata, hasExtras: at + 1 < gif.length, frames: Math.max(1, frames), kept };
    }
    const end = endOfBlock(gif, at);
    if (end === undefined || end > gif.length) {
      const isStrange = gif[at] !== EXTENSION && gif[at] !== IMAGE;
      return { hasMetadata, hasExtras: isStrange, frames: Math.max(1, frames), kept: null };
    }
    if (gif[at] === IMAGE) frames += 1;
    if (isKept(gif, at)) kept.push(gif.subarray(at, end));
    else hasMetadata = true;
    at = end;
  }
}

/** Where a frame is on the canvas. */
export interface GifFrame {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/**
 * Returns where the first frame of a GIF is if it covers only a part of the canvas. Around it, viewers show nothing.
 * Undefined if it covers everything, or isn't known.
 */
export function partialFrame(file: Uint8Array): GifFrame | undefined {
  const gif = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (gif.length < HEADER_BYTES) return undefined;
  let at = HEADER_BYTES + tableBytes(gif[10] ?? 0);
  while (gif[at] === EXTENSION) at = endOfBlocks(gif, at + 2) ?? gif.length;
  if (gif[at] !== IMAGE || at + IMAGE_BYTES > gif.length) return undefined;
  const [left, top] = [gif.readUInt16LE(at + 1), gif.readUInt16LE(at + 3)];
  const [right, bottom] = [left + gif.readUInt16LE(at + 5), top + gif.readUInt16LE(at + 7)];
  const isWhole =
    left === 0 && top === 0 && right >= gif.readUInt16LE(6) && bottom >= gif.readUInt16LE(8);
  return isWhole ? undefined : { left, top, right, bottom };
}
