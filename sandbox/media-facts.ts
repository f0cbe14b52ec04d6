export interface PictureFacts {
  /** `jpg`, `png`, `gif`, `webp`, `bmp`, `tiff`, `avif` or `heic`, as the content says. */
  readonly type: string;
  /** As it is shown: a photo that was taken sideways is turned. 0 when only the type is known. */
  readonly width: number;
  readonly height: number;
  /** Pictures of an animation. */
  readonly frames: number;
}

/*
 * What the sandbox says of a file is measured here, byte by byte from the formats' specifications, and with no library of
 * the relay's: a file that the relay reads wrongly is then refused by the sandbox.
 */

type Read = (bytes: Buffer) => PictureFacts | undefined;

/** Exif 2.32, 4.6.4: a value of 5 to 8 is a picture on its side. */
const isSideways = (orientation: number | undefined): boolean =>
  orientation !== undefined && orientation >= 5 && orientation <= 8;

function shown(
  type: string,
  stored: readonly [width: number, height: number],
  { orientation, frames = 1 }: { orientation?: number | undefined; frames?: number } = {},
): PictureFacts {
  const [width, height] = isSideways(orientation) ? stored.toReversed() : stored;
  return { type, width: width ?? 0, height: height ?? 0, frames };
}

/** TIFF 6.0, section 2: the numbers of the first directory by their tags. */
function tiffTags(tiff: Buffer): ReadonlyMap<number, number> {
  const isLittle = tiff.toString("latin1", 0, 2) === "II";
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const long = (at: number) => (isLittle ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));
  const directory = long(4);
  const SHORT = 3;
  return new Map(
    Array.from({ length: short(directory) }, (_, index) => {
      const at = directory + 2 + index * 12;
      return [short(at), short(at + 2) === SHORT ? short(at + 8) : long(at + 8)] as const;
    }),
  );
}
const TIFF_WIDTH = 256;
const TIFF_HEIGHT = 257;
const TIFF_ORIENTATION = 274;

function exifOrientation(segment: Buffer): number | undefined {
  if (segment.toString("latin1", 0, 6) !== "Exif\0\0") return undefined;
  try {
    return tiffTags(segment.subarray(6)).get(TIFF_ORIENTATION);
  } catch {
    // Damaged metadata: the picture is shown as it is stored.
    return undefined;
  }
}

/** ITU T.81, annex B: markers with their lengths up to the frame header. */
const readJpeg: Read = (jpeg) => {
  let orientation: number | undefined;
  for (let at = 2; at + 4 <= jpeg.length;) {
    if (jpeg[at] !== 0xff) return undefined;
    const marker = jpeg[at + 1] ?? 0;
    if (marker === 0xff || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      at += marker === 0xff ? 1 : 2;
      continue;
    }
    const end = at + 2 + jpeg.readUInt16BE(at + 2);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return shown("jpg", [jpeg.readUInt16BE(at + 7), jpeg.readUInt16BE(at + 5)], { orientation });
    if (marker === 0xe1) orientation ??= exifOrientation(jpeg.subarray(at + 4, end));
    at = end;
  }
  return undefined;
};

/** PNG, third edition, 5.3 and 11.3.3.1: chunks, and how many frames an animation has. */
const readPng: Read = (png) => {
  let frames = 1;
  for (let at = 8; at + 12 <= png.length; at += 12 + png.readUInt32BE(at)) {
    const name = png.toString("latin1", at + 4, at + 8);
    if (name === "acTL") frames = png.readUInt32BE(at + 8);
    if (name === "IDAT") break;
  }
  return shown("png", [png.readUInt32BE(16), png.readUInt32BE(20)], { frames });
};

/** GIF89a, sections 18 to 26. */
const readGif: Read = (gif) => {
  const tableOf = (flags: number) => (flags >= 0x80 ? 3 << ((flags & 7) + 1) : 0);
  let at = 13 + tableOf(gif.readUInt8(10));
  let frames = 0;
  while (at < gif.length && gif[at] !== 0x3b) {
    const isImage = gif[at] === 0x2c;
    if (!isImage && gif[at] !== 0x21) break;
    if (isImage) frames += 1;
    at += isImage ? 11 + tableOf(gif[at + 9] ?? 0) : 2;
    while (at < gif.length && gif[at] !== 0) at += 1 + (gif[at] ?? 0);
    at += 1;
  }
  return shown("gif", [gif.readUInt16LE(6), gif.readUInt16LE(8)], { frames: Math.max(1, frames) });
};

/** WebP container specification: a lossy, a lossless or an extended file. */
const readWebp: Read = (webp) => {
  const frames = webp.toString("latin1").split("ANMF").length - 1;
  switch (webp.toString("latin1", 12, 16)) {
    case "VP8 ":
      return shown("webp", [webp.readUInt16LE(26) & 0x3fff, webp.readUInt16LE(28) & 0x3fff]);
    case "VP8L": {
      const bits = webp.readUInt32LE(21);
      return shown("webp", [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1]);
    }
    case "VP8X":
      return shown("webp", [webp.readUIntLE(24, 3) + 1, webp.readUIntLE(27, 3) + 1], {
        frames: Math.max(1, frames),
      });
    default:
      return undefined;
  }
};

const readTiff: Read = (tiff) => {
  const tags = tiffTags(tiff);
  const size = [tags.get(TIFF_WIDTH) ?? 0, tags.get(TIFF_HEIGHT) ?? 0] as const;
  return shown("tiff", size, { orientation: tags.get(TIFF_ORIENTATION) });
};

/** By the first bytes of a file, in hexadecimal. */
const PICTURES: readonly { readonly head: RegExp; readonly read: Read }[] = [
  { head: /^ffd8ff/, read: readJpeg },
  { head: /^89504e470d0a1a0a/, read: readPng },
  { head: /^47494638(?:37|39)61/, read: readGif },
  { head: /^52494646.{8}57454250/, read: readWebp },
  {
    head: /^424d/,
    read: (bmp) => shown("bmp", [bmp.readInt32LE(18), Math.abs(bmp.readInt32LE(22))]),
  },
  { head: /^(?:49492a00|4d4d002a)/, read: readTiff },
  { head: /^.{8}66747970617669(?:66|73)/, read: () => shown("avif", [0, 0]) },
  { head: /^.{8}66747970(?:686569|686576|6d696631)/, read: () => shown("heic", [0, 0]) },
];

/** Undefined when the bytes are no picture. */
export function pictureFacts(bytes: Uint8Array): PictureFacts | undefined {
  const file = bufferOf(bytes);
  const head = file.toString("hex", 0, 16);
  return untilItEnds(() => PICTURES.find((picture) => picture.head.test(head))?.read(file));
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Returns undefined for a file that ends too early. */
function untilItEnds<Facts>(read: () => Facts | undefined): Facts | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

export interface VideoFacts {
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  /** As the sample entries name them: `avc1`, `hvc1`, `mp4a` … */
  readonly codec: string;
  readonly audioCodec: string | null;
  readonly framesPerSecond: number;
  /** Bits of the pictures alone. 0 when the file has no table of their sizes. */
  readonly bitsPerSecond: number;
  /** ITU-T H.264, annex A: 122 and 244 are profiles with other chroma subsamplings than 4:2:0. */
  readonly h264Profile: number | null;
  /** Whether its main brand is QuickTime's. */
  readonly isQuickTime: boolean;
}

interface Box {
  readonly type: string;
  readonly body: Buffer;
}

const BOXES_MAX = 10_000;

/** ISO/IEC 14496-12, 4.2. */
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

/** The first box under a path of types. */
function find(bytes: Buffer, ...path: readonly string[]): Buffer | undefined {
  let found: Buffer | undefined = bytes;
  for (const type of path) {
    if (found === undefined) return undefined;
    found = [...boxes(found)].find((box) => box.type === type)?.body;
  }
  return found;
}

/** A header with a time scale and a length, after two or more numbers: `mvhd` and `mdhd`. */
function secondsOf(header: Buffer): { scale: number; seconds: number } {
  const wide = header[0] === 1;
  const scale = header.readUInt32BE(wide ? 20 : 12);
  const length = wide ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  return { scale, seconds: scale === 0 ? 0 : length / scale };
}

/** Width and height of the track header, which are 0 for sound; a quarter turn in its matrix swaps them. */
function frameOf(trackHeader: Buffer): { width: number; height: number } {
  const matrix = trackHeader[0] === 1 ? 52 : 40;
  const width = trackHeader.readUInt32BE(matrix + 36) / 65_536;
  const height = trackHeader.readUInt32BE(matrix + 40) / 65_536;
  const turned = trackHeader.readInt32BE(matrix) === 0;
  return turned ? { width: height, height: width } : { width, height };
}

interface Track {
  readonly number: number;
  readonly width: number;
  readonly height: number;
  readonly kind: string;
  readonly codec: string;
  readonly scale: number;
  readonly seconds: number;
  /** How long it is shown, in the film's time scale. */
  readonly shown: number;
  readonly samples: number;
  readonly sampleBytes: number;
  readonly h264Profile: number | null;
}

function trackOf(track: Buffer): Track | undefined {
  const header = find(track, "tkhd");
  const mediaHeader = find(track, "mdia", "mdhd");
  if (header === undefined || mediaHeader === undefined) return undefined;
  const table = find(track, "mdia", "minf", "stbl", "stsd");
  const times = find(track, "mdia", "minf", "stbl", "stts");
  const runs = times === undefined ? 0 : times.readUInt32BE(4);
  let samples = 0;
  for (let run = 0; run < runs; run += 1) samples += times?.readUInt32BE(8 + run * 8) ?? 0;
  const sizes = find(track, "mdia", "minf", "stbl", "stsz");
  let sampleBytes = sizes === undefined ? 0 : sizes.readUInt32BE(4) * sizes.readUInt32BE(8);
  if (sizes !== undefined && sampleBytes === 0)
    for (let at = 12; at + 4 <= sizes.length; at += 4) sampleBytes += sizes.readUInt32BE(at);
  const configuration = table?.indexOf("avcC") ?? -1;
  return {
    sampleBytes,
    h264Profile: configuration < 0 ? null : (table?.[configuration + 5] ?? null),
    ...frameOf(header),
    ...secondsOf(mediaHeader),
    number: header.readUInt32BE(header[0] === 1 ? 20 : 12),
    shown: header[0] === 1 ? Number(header.readBigUInt64BE(28)) : header.readUInt32BE(20),
    kind: find(track, "mdia", "hdlr")?.toString("latin1", 8, 12) ?? "",
    codec: table?.toString("latin1", 12, 16) ?? "",
    samples,
  };
}

const HAS_BASE = 0x1;
const HAS_DESCRIPTION = 0x2;
const HAS_DURATION = 0x8;
const RUN_HAS_OFFSET = 0x1;
const RUN_HAS_FIRST_FLAGS = 0x4;
const RUN_HAS_DURATIONS = 0x100;
const RUN_FIELDS = [256, 512, 1024, 2048];

/** Length and number of a track's samples in movie fragments (ISO/IEC 14496-12, 8.8), in the track's time scale. */
function fragmentsOf(
  file: Buffer,
  movie: Buffer,
  track: number,
): { length: number; count: number } {
  let [length, count] = [0, 0];
  const extended = find(movie, "mvex");
  const usual =
    extended === undefined
      ? undefined
      : [...boxes(extended)].find(
          ({ type, body }) => type === "trex" && body.readUInt32BE(4) === track,
        );
  for (const { type, body } of boxes(file)) {
    if (type !== "moof") continue;
    for (const part of boxes(body)) {
      const header = part.type === "traf" ? find(part.body, "tfhd") : undefined;
      if (header?.readUInt32BE(4) !== track) continue;
      const flags = header.readUIntBE(1, 3);
      const at = 8 + (flags & HAS_BASE ? 8 : 0) + (flags & HAS_DESCRIPTION ? 4 : 0);
      const each = flags & HAS_DURATION ? header.readUInt32BE(at) : usual?.body.readUInt32BE(12);
      for (const run of boxes(part.body)) {
        if (run.type !== "trun") continue;
        const runFlags = run.body.readUIntBE(1, 3);
        const samples = run.body.readUInt32BE(4);
        const start =
          8 + (runFlags & RUN_HAS_OFFSET ? 4 : 0) + (runFlags & RUN_HAS_FIRST_FLAGS ? 4 : 0);
        const width = RUN_FIELDS.filter((field) => (runFlags & field) !== 0).length * 4;
        count += samples;
        if ((runFlags & RUN_HAS_DURATIONS) === 0) length += samples * (each ?? 0);
        else
          for (let sample = 0; sample < samples; sample += 1)
            length += run.body.readUInt32BE(start + sample * width);
      }
    }
  }
  return { length, count };
}

/** Matroska and WebM, ASF, FLV, and MPEG with its headers. */
const OTHER_FILMS: readonly string[] = ["1a45dfa3", "3026b275", "464c5601", "000001ba"];
const PACKET_BYTES = 188;

/** Whether a file begins as a film of a format that is not measured here. */
export function isOtherFilm(bytes: Uint8Array): boolean {
  const head = bufferOf(bytes).subarray(0, 2 * PACKET_BYTES);
  const isPackets = head.toString("latin1", 0, 1) === "G" && head[PACKET_BYTES] === head[0];
  const isAvi = head.toString("latin1", 8, 12) === "AVI ";
  return isPackets || isAvi || OTHER_FILMS.includes(head.toString("hex", 0, 4));
}

/** Undefined when the bytes are no MP4 or QuickTime file that can be played. */
export function videoFacts(bytes: Uint8Array): VideoFacts | undefined {
  return untilItEnds(() => {
    const file = bufferOf(bytes);
    const movie = find(file, "moov");
    const header = find(file, "moov", "mvhd");
    if (movie === undefined || header === undefined) return undefined;
    const tracks = [...boxes(movie)].flatMap(({ type, body }) =>
      type === "trak" ? (trackOf(body) ?? []) : [],
    );
    // A cover is a track of one picture, and may be the first.
    const [picture] = tracks
      .filter(({ width, kind }) => width > 0 && kind !== "soun")
      .toSorted((one, other) => other.samples - one.samples);
    if (picture === undefined) return undefined;
    const later = fragmentsOf(file, movie, picture.number);
    const { scale, width, height, codec } = picture;
    const fragments = scale === 0 ? 0 : later.length / scale;
    const film = secondsOf(header);
    // Tracks of time codes and of a camera's data are not shown, and may be longer.
    const shown = Math.max(
      ...tracks
        .filter(({ kind }) => kind === "vide" || kind === "soun")
        .map((track) => track.shown),
    );
    const isStated = Number.isFinite(shown) && shown > 0 && film.scale > 0;
    const seconds = (isStated ? shown / film.scale : film.seconds) || fragments;
    const trackSeconds = Math.max(seconds, picture.seconds + fragments);
    return {
      seconds,
      width,
      height,
      codec,
      audioCodec: tracks.find(({ kind }) => kind === "soun")?.codec ?? null,
      framesPerSecond: trackSeconds === 0 ? 0 : (picture.samples + later.count) / trackSeconds,
      bitsPerSecond: picture.seconds === 0 ? 0 : (picture.sampleBytes * 8) / picture.seconds,
      h264Profile: picture.h264Profile,
      isQuickTime: find(file, "ftyp")?.toString("latin1", 0, 4) === "qt  ",
    };
  });
}
