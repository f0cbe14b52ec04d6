import type { ReadRange } from "./office-type.ts";
import { type TiffCoding, tiffCoding, type TiffTags } from "./tiff-coding.ts";

/** What a TIFF file holds. Its first directory may be a thumbnail, and cameras' raw files have the same beginning. */
export interface TiffContent {
  /** The type of a camera's raw file, or null for a finished picture. */
  readonly rawType: string | null;
  /** Where the picture is: a page, or a directory below a page. */
  readonly picture: TiffPosition;
  /** The number of known pictures, thumbnails and masks. */
  readonly count: number;
  /** How the picture is stored. Undefined as long as that isn't known. */
  readonly coding: TiffCoding | undefined;
  /** The tag that says what the colors are, as the bytes of RGB would be there. Undefined if there is none. */
  readonly asRgb: { readonly at: number; readonly bytes: Uint8Array } | undefined;
}

interface TiffPosition {
  readonly page: number;
  /** Index among the directories below the page, or -1 for the page itself. */
  readonly subIfd: number;
}

const FIRST_PAGE: TiffPosition = { page: 0, subIfd: -1 };

interface Directory extends TiffPosition {
  readonly width: number;
  readonly height: number;
  readonly isReduced: boolean;
  readonly isMask: boolean;
  readonly isDng: boolean;
  readonly isRaw: boolean;
  readonly make: string;
  readonly below: readonly number[];
  readonly tags: () => Promise<TiffTags>;
  readonly asRgb: TiffContent["asRgb"];
  /** Offset of the next page, or 0. */
  readonly next: number;
}

/** Enough for pyramids and for the previews of a camera. Scans with more pages are published by their first page. */
const DIRECTORIES_MAX = 64;
const ENTRIES_MAX = 4_096;
/** A directory and its values are usually close together. */
const CHUNK_BYTES = 16_384;
/** Each read may be a call to the file's server. */
const READS_MAX = 32;
const MAKE_BYTES_MAX = 64;

/** Tags of TIFF 6.0, of its supplements, and of DNG 1.7. */
const TAG = {
  newSubfileType: 254,
  subfileType: 255,
  width: 256,
  height: 257,
  bits: 258,
  compression: 259,
  photometric: 262,
  make: 271,
  samples: 277,
  planes: 284,
  whitePoint: 318,
  tileWidth: 322,
  subIfds: 330,
  inkSet: 332,
  extraSamples: 338,
  sampleFormat: 339,
  coefficients: 529,
  subsampling: 530,
  blackWhite: 532,
  cfaPattern: 33_422,
  dngVersion: 50_706,
} as const;
/** Colors of the sensor's filter (TIFF/EP), and unfinished linear ones (DNG). */
const RAW_PHOTOMETRICS: readonly number[] = [32_803, 34_892];
/** Compressions of Sony, packed sensor data, Samsung, Nikon, Kodak and Pentax. */
const RAW_COMPRESSIONS: readonly number[] = [32_767, 32_769, 32_770, 34_713, 65_000, 65_535];
const RGB = 2;
const RAW_PHOTO = "image/x-raw";
/** Types by the name of the camera's maker. */
const RAW_BY_MAKE: readonly (readonly [make: RegExp, contentType: string])[] = [
  [/^nikon/i, "image/x-nikon-nef"],
  [/^sony/i, "image/x-sony-arw"],
  [/^pentax|^ricoh/i, "image/x-pentax-pef"],
  [/^samsung/i, "image/x-samsung-srw"],
  [/^hasselblad/i, "image/x-hasselblad-3fr"],
  [/^phase one|^leaf/i, "image/x-phaseone-iiq"],
  [/kodak/i, "image/x-kodak-dcr"],
  [/epson/i, "image/x-epson-erf"],
];

/** The type of fractions: two numbers. */
const RATIONAL = 5;
/** Bytes of one value, by its type. */
const VALUE_BYTES: Readonly<Record<number, number>> = {
  1: 1,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  6: 1,
  7: 1,
  13: 4,
  16: 8,
  18: 8,
};

/** Reads numbers and directories of one file. A position beyond the known bytes throws a `RangeError`. */
class TiffReader {
  readonly #isLittle: boolean;
  readonly #isBig: boolean;
  readonly #size: number;
  readonly #read: ReadRange;
  readonly #pieces: { readonly start: number; readonly end: number; readonly bytes: Buffer }[] = [];

  constructor(head: Buffer, size: number, read: ReadRange) {
    this.#isLittle = head[0] === 0x49;
    this.#isBig = this.number(head, 2, 2) === 43;
    this.#size = size;
    this.#read = read;
  }

  number(bytes: Buffer, at: number, length: number): number {
    if (length === 8) {
      const value = this.#isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at);
      return Number(value);
    }
    return this.#isLittle ? bytes.readUIntLE(at, length) : bytes.readUIntBE(at, length);
  }

  first(head: Buffer): number {
    return this.#isBig ? this.number(head, 8, 8) : this.number(head, 4, 4);
  }

  async #bytes(start: number, length: number): Promise<Buffer> {
    const end = start + length;
    if (end > this.#size) throw new RangeError("beyond the end");
    const known = this.#pieces.find((one) => one.start <= start && end <= one.end);
    if (known !== undefined) return known.bytes.subarray(start - known.start, end - known.start);
    if (this.#pieces.length >= READS_MAX) throw new RangeError("too many reads");
    const last = Math.min(Math.max(end, start + CHUNK_BYTES), this.#size) - 1;
    const read = await this.#read(start, last);
    if (read.length < length) throw new RangeError("not known");
    const bytes = Buffer.from(read.buffer, read.byteOffset, read.byteLength);
    this.#pieces.push({ start, end: start + bytes.length, bytes });
    return bytes.subarray(0, length);
  }

  async directory(at: number, position: TiffPosition): Promise<Directory> {
    const [countBytes, entryBytes, offsetBytes] = this.#isBig ? [8, 20, 8] : [2, 12, 4];
    const count = this.number(await this.#bytes(at, countBytes), 0, countBytes);
    if (count > ENTRIES_MAX) throw new RangeError("too many entries");
    const length = countBytes + count * entryBytes + offsetBytes;
    const bytes = await this.#bytes(at, length);
    const entries = new Map<number, () => Promise<readonly number[]>>();
    let asRgb: TiffContent["asRgb"];
    for (let index = 0; index < count; index += 1) {
      const entry = countBytes + index * entryBytes;
      const tag = this.number(bytes, entry, 2);
      // The first one of a tag counts, as for the library that decodes the picture.
      if (entries.has(tag)) continue;
      entries.set(tag, () => this.#values(bytes, entry, offsetBytes));
      const size = VALUE_BYTES[this.number(bytes, entry + 2, 2)] ?? 0;
      if (tag === TAG.photometric && (size === 2 || size === 4))
        asRgb = { at: at + entry + 4 + offsetBytes, bytes: this.#bytesOf(RGB, size) };
    }
    const values = async (tag: number) => (await entries.get(tag)?.()) ?? [];
    const value = async (tag: number, otherwise = 0) => (await values(tag))[0] ?? otherwise;
    const listed = async (tag: number, otherwise: readonly number[]) => {
      const found = await values(tag);
      return found.length > 0 ? found : otherwise;
    };
    const [flags, oldType] = [await value(TAG.newSubfileType), await value(TAG.subfileType)];
    return {
      ...position,
      width: await value(TAG.width),
      height: await value(TAG.height),
      isReduced: (flags & 1) === 1 || oldType === 2,
      isMask: (flags & 4) === 4,
      isDng: entries.has(TAG.dngVersion),
      isRaw:
        entries.has(TAG.cfaPattern) ||
        RAW_PHOTOMETRICS.includes(await value(TAG.photometric)) ||
        RAW_COMPRESSIONS.includes(await value(TAG.compression)),
      make: Buffer.from((await values(TAG.make)).slice(0, MAKE_BYTES_MAX)).toString("latin1"),
      below: await values(TAG.subIfds),
      asRgb,
      tags: async () => ({
        compression: await value(TAG.compression, 1),
        photometric: (await values(TAG.photometric))[0],
        samples: await value(TAG.samples, 1),
        bits: await listed(TAG.bits, [1]),
        formats: await listed(TAG.sampleFormat, [1]),
        extras: await values(TAG.extraSamples),
        isPlanar: (await value(TAG.planes)) === 2,
        isTiled: entries.has(TAG.tileWidth),
        inkSet: await value(TAG.inkSet, 1),
        subsampling: await listed(TAG.subsampling, [2, 2]),
        coefficients: await values(TAG.coefficients),
        blackWhite: await values(TAG.blackWhite),
        whitePoint: await values(TAG.whitePoint),
      }),
      next: this.number(bytes, length - offsetBytes, offsetBytes),
    };
  }

  #bytesOf(value: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    bytes[this.#isLittle ? 0 : length - 1] = value;
    return bytes;
  }

  async #values(bytes: Buffer, entry: number, offsetBytes: number): Promise<readonly number[]> {
    const type = this.number(bytes, entry + 2, 2);
    const size = VALUE_BYTES[type];
    if (size === undefined) return [];
    const stated = this.number(bytes, entry + 4, offsetBytes);
    const count = Math.min(stated, DIRECTORIES_MAX);
    const at = entry + 4 + offsetBytes;
    const isInline = stated * size <= offsetBytes;
    const source = isInline
      ? bytes.subarray(at, at + offsetBytes)
      : await this.#bytes(this.number(bytes, at, offsetBytes), count * size);
    return Array.from({ length: count }, (_, index) =>
      type === RATIONAL
        ? this.number(source, index * size, 4) / this.number(source, index * size + 4, 4)
        : this.number(source, index * size, size),
    );
  }
}

/** How much the shapes of a picture and its smaller copy may differ, because the copy's sides are rounded. */
const SHAPE_TOLERANCE = 0.05;

function isSmallerCopy(copy: Directory, { width, height }: Directory): boolean {
  const shape = (copy.width * height) / (copy.height * width);
  return width >= 2 * copy.width && Math.abs(shape - 1) <= SHAPE_TOLERANCE;
}

/**
 * Chooses the directory of the picture: the first one that isn't marked as reduced or as a mask. If that one is a
 * smaller copy of another, whose program left out the mark, the other is the picture.
 */
function pictureAmong(directories: readonly Directory[]): Directory | undefined {
  const sized = directories.filter(({ width, height }) => width > 0 && height > 0);
  const pictures = sized.filter(({ isReduced, isMask }) => !isReduced && !isMask);
  const candidates = pictures.length > 0 ? pictures : sized.filter(({ isMask }) => !isMask);
  const pages = candidates.filter(({ subIfd }) => subIfd < 0);
  const first = pages[0] ?? candidates[0];
  if (first === undefined) return directories.find(({ subIfd }) => subIfd < 0);
  const larger = candidates.filter((other) => isSmallerCopy(first, other));
  return larger.toSorted((one, two) => two.width - one.width)[0] ?? first;
}

/** Reports whether a file begins as a TIFF, in either byte order, classic or big. */
export function isTiff(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, 4)).toString("latin1");
  return ["II*\0", "MM\0*", "II+\0", "MM\0+"].includes(head);
}

/** The mark of Phase One's raw files, whose sensor data isn't in a directory. */
const PHASE_ONE = ["IIII", "MMMM"];

/**
 * Reads what a TIFF file holds from its directories, which may be anywhere in the file. `read` may return fewer bytes
 * than it was asked for when they aren't known. Directories that can't be read are left out.
 */
export async function tiffContent(
  bytes: Uint8Array,
  size: number,
  read: ReadRange,
): Promise<TiffContent> {
  const head = Buffer.from(bytes.subarray(0, 16));
  const nothing = { rawType: null, picture: FIRST_PAGE, count: 0 };
  if (head.length < 16) return { ...nothing, coding: undefined, asRgb: undefined };
  const reader = new TiffReader(head, size, read);
  // Reads all directories, as far as they are known: pages in their order, each followed by those below it.
  const first = reader.first(head);
  const found: Directory[] = [];
  const seen = new Set<number>();
  const add = async (at: number, position: TiffPosition): Promise<Directory | undefined> => {
    if (at === 0 || seen.has(at) || found.length >= DIRECTORIES_MAX) return undefined;
    seen.add(at);
    const directory = await reader.directory(at, position).catch((error: unknown) => {
      if (error instanceof RangeError) return undefined;
      throw error;
    });
    if (directory !== undefined) found.push(directory);
    return directory;
  };
  let at = first;
  for (let page = 0; at !== 0; page += 1) {
    const directory = await add(at, { page, subIfd: -1 });
    for (const [subIfd, below] of (directory?.below ?? []).entries())
      await add(below, { page, subIfd });
    at = directory?.next ?? 0;
  }
  const directories = found;
  const makes = directories.map(({ make }) => make);
  const isPhaseOne = PHASE_ONE.includes(head.toString("latin1", 8, 12));
  const isRaw = isPhaseOne || directories.some((directory) => directory.isRaw);
  const [, byMake = RAW_PHOTO] =
    RAW_BY_MAKE.find(([pattern]) => makes.some((make) => pattern.test(make))) ?? [];
  const isDng = directories.some((directory) => directory.isDng);
  const picture = pictureAmong(directories);
  const tags = await picture?.tags().catch((error: unknown) => {
    if (error instanceof RangeError) return undefined;
    throw error;
  });
  const { page, subIfd } = picture ?? FIRST_PAGE;
  return {
    rawType: isDng ? "image/x-adobe-dng" : isRaw ? byMake : null,
    picture: { page, subIfd },
    count: directories.length,
    coding: tags === undefined ? undefined : tiffCoding(tags),
    asRgb: picture?.asRgb,
  };
}
