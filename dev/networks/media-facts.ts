import { imageSize } from "image-size";

export interface PictureFacts {
  /** `jpg`, `png`, `gif`, `webp`, `bmp`, `tiff` … as the content says. */
  readonly type: string;
  readonly width: number;
  readonly height: number;
}

/** Undefined when the bytes are no picture. */
export function pictureFacts(bytes: Uint8Array): PictureFacts | undefined {
  try {
    const { type = "", width, height } = imageSize(bytes);
    return { type, width, height };
  } catch {
    return undefined;
  }
}

export interface VideoFacts {
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
}

interface Box {
  readonly type: string;
  readonly body: Buffer;
}

const BOXES_MAX = 10_000;

function* boxes(bytes: Buffer): Generator<Box> {
  let at = 0;
  for (let count = 0; count < BOXES_MAX && at + 8 <= bytes.length; count += 1) {
    const short = bytes.readUInt32BE(at);
    const wide = short === 1 && at + 16 <= bytes.length;
    const size = wide ? Number(bytes.readBigUInt64BE(at + 8)) : short;
    const end = short === 0 ? bytes.length : at + size;
    const header = wide ? 16 : 8;
    if (end < at + header || end > bytes.length) return;
    yield {
      type: bytes.toString("latin1", at + 4, at + 8),
      body: bytes.subarray(at + header, end),
    };
    at = end;
  }
}

function find(bytes: Buffer, type: string): Buffer | undefined {
  for (const box of boxes(bytes)) if (box.type === type) return box.body;
  return undefined;
}

function secondsOf(movieHeader: Buffer): number {
  const wide = movieHeader[0] === 1;
  const scale = movieHeader.readUInt32BE(wide ? 20 : 12);
  const length = wide ? Number(movieHeader.readBigUInt64BE(24)) : movieHeader.readUInt32BE(16);
  return scale === 0 ? 0 : length / scale;
}

/** Width and height of the track header, which are 0 for sound; a quarter turn in its matrix swaps them. */
function frameOf(trackHeader: Buffer): { width: number; height: number } {
  const matrix = trackHeader[0] === 1 ? 52 : 40;
  const width = trackHeader.readUInt32BE(matrix + 36) / 65_536;
  const height = trackHeader.readUInt32BE(matrix + 40) / 65_536;
  const turned = trackHeader.readInt32BE(matrix) === 0;
  return turned ? { width: height, height: width } : { width, height };
}

/** Undefined when the bytes are no MP4 or QuickTime file that can be played. */
export function videoFacts(bytes: Uint8Array): VideoFacts | undefined {
  try {
    const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const movie = find(file, "moov");
    const header = movie === undefined ? undefined : find(movie, "mvhd");
    if (movie === undefined || header === undefined) return undefined;
    for (const track of boxes(movie)) {
      const trackHeader = track.type === "trak" ? find(track.body, "tkhd") : undefined;
      const frame = trackHeader === undefined ? undefined : frameOf(trackHeader);
      if (frame !== undefined && frame.width > 0) return { seconds: secondsOf(header), ...frame };
    }
    return undefined;
  } catch (error) {
    // A header that ends too early.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
