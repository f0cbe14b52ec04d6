/** Files that are as long and as large as a test wants, with headers alone: the sandbox plays and shows nothing. */

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const padded = (bytes: Buffer, size: number): Buffer =>
  Buffer.concat([bytes, Buffer.alloc(Math.max(0, size - bytes.length))]);

export function jpegOf(width: number, height: number, size = 0): Buffer {
  const start = Buffer.from("ffd8ffe000044142ffc0001108", "hex");
  const frame = Buffer.concat([start, u16(height), u16(width)]);
  return padded(Buffer.concat([frame, Buffer.from("03011100021101031101ffd9", "hex")]), size);
}

export function pngOf(width: number, height: number, size = 0): Buffer {
  const chunk = (name: string, body: Buffer) =>
    Buffer.concat([u32(body.length), Buffer.from(name, "latin1"), body, u32(0)]);
  const header = Buffer.concat([u32(width), u32(height), Buffer.from([8, 2, 0, 0, 0])]);
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  return padded(
    Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", Buffer.alloc(4))]),
    size,
  );
}

export function gifOf(width: number, height: number, frames = 1): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16LE(width, 0);
  size.writeUInt16LE(height, 2);
  const frame = Buffer.from("2c0000000001000100000202440100", "hex");
  return Buffer.concat([
    Buffer.from("GIF89a", "latin1"),
    size,
    Buffer.alloc(3),
    ...Array.from({ length: frames }, () => frame),
    Buffer.from([0x3b]),
  ]);
}

interface Video {
  readonly seconds?: number;
  readonly width?: number;
  readonly height?: number;
  readonly framesPerSecond?: number;
  readonly codec?: string;
  /** In a table of the pictures' sizes, which is left out otherwise. */
  readonly bitsPerSecond?: number;
  readonly brand?: string;
  readonly size?: number;
}

const SCALE = 1000;

/** A video of 9:16, 30 pictures a second and ten seconds, unless it is to be another. */
export function mp4Of(video: Video = {}): Buffer {
  const { seconds = 10, width = 720, height = 1280, framesPerSecond = 30 } = video;
  const { codec = "avc1", brand = "isom", size = 100_000 } = video;
  const box = (type: string, ...parts: readonly Buffer[]) => {
    const body = Buffer.concat(parts);
    return Buffer.concat([u32(body.length + 8), Buffer.from(type, "latin1"), body]);
  };
  const length = Math.round(seconds * SCALE);
  const samples = Math.round(seconds * framesPerSecond);
  const header = (tail: number) =>
    Buffer.concat([Buffer.alloc(12), u32(SCALE), u32(length), Buffer.alloc(tail)]);
  const track = Buffer.concat([
    Buffer.alloc(12),
    u32(1),
    Buffer.alloc(24),
    // The matrix that turns nothing.
    ...[0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map(u32),
    u32(width * 65_536),
    u32(height * 65_536),
  ]);
  const entry = Buffer.concat([Buffer.alloc(4), u32(1), u32(16), Buffer.from(codec, "latin1")]);
  const bytes = Math.floor(((video.bitsPerSecond ?? 0) * seconds) / 8 / samples);
  const table = box(
    "stbl",
    ...(bytes > 0 ? [box("stsz", Buffer.alloc(4), u32(bytes), u32(samples))] : []),
    box("stsd", entry, Buffer.alloc(8)),
    box("stts", Buffer.alloc(4), u32(1), u32(samples), u32(Math.round(SCALE / framesPerSecond))),
  );
  const media = box(
    "mdia",
    box("mdhd", header(4)),
    box("hdlr", Buffer.alloc(8), Buffer.from("vide", "latin1"), Buffer.alloc(13)),
    box("minf", table),
  );
  const whole = Buffer.concat([
    box("ftyp", Buffer.from(brand.padEnd(4), "latin1"), u32(0)),
    box("moov", box("mvhd", header(80)), box("trak", box("tkhd", track), media)),
  ]);
  const rest = Math.max(8, size - whole.length);
  return Buffer.concat([whole, box("mdat", Buffer.alloc(rest - 8))]);
}
