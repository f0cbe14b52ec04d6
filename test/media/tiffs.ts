/** A directory of a TIFF: a picture of one color, or only its tags. */
export interface Directory {
  readonly width: number;
  readonly height: number;
  readonly color?: readonly [red: number, green: number, blue: number];
  /** The strips as they are stored, instead of a color. */
  readonly strips?: readonly Buffer[];
  /** Further tags as numbers (32 bits each) or as a text. They replace those that are made from the picture. */
  readonly tags?: Readonly<Record<number, number | string | readonly number[]>>;
  readonly below?: readonly Directory[];
}

export interface TiffForm {
  readonly isBigEndian?: boolean;
  /** Whether it has the form for files of more than 4 GB. */
  readonly isLarge?: boolean;
}

const TEXT = 2;
const LONG = 4;

/** Writes a TIFF with these pages: pixels first and directories at the end, as most programs do. */
export function tiffOf(pages: readonly Directory[], form: TiffForm = {}): Buffer {
  const { isBigEndian = false, isLarge = false } = form;
  const number = (value: number, length: number): Buffer => {
    const bytes = Buffer.alloc(length);
    bytes.writeUIntBE(value, Math.max(0, length - 6), Math.min(length, 6));
    return isBigEndian ? bytes : Buffer.from(bytes.toReversed());
  };
  const word = isLarge ? 8 : 4;
  const parts: Buffer[] = [];
  let at = 0;
  const write = (bytes: Buffer): number => {
    const padded = Buffer.concat([bytes, Buffer.alloc(bytes.length % 2)]);
    parts.push(padded);
    at += padded.length;
    return at - padded.length;
  };
  const stripsOf = ({ width, height, color = [0, 0, 0], strips }: Directory) =>
    strips ?? [Buffer.alloc(width * height * 3, Buffer.from(color))];
  /** Writes what a directory needs and returns its bytes, without the offset of the next one. */
  const directoryOf = (directory: Directory): Buffer => {
    const { width, height, tags = {}, below = [] } = directory;
    const strips = stripsOf(directory);
    const stripsAt = strips.map(write);
    const belowAt = below.map((one) => write(Buffer.concat([directoryOf(one), number(0, word)])));
    const all: Record<number, number | string | readonly number[]> = {
      256: width,
      257: height,
      258: 8,
      259: 1,
      262: 2,
      273: stripsAt,
      277: 3,
      278: height,
      279: strips.map(({ length }) => length),
      ...(belowAt.length > 0 ? { 330: belowAt } : {}),
      ...tags,
    };
    const entries = Object.entries(all).map(([tag, value]) => {
      const values =
        typeof value === "string"
          ? Buffer.from(`${value}\0`, "latin1")
          : Buffer.concat([value].flat().map((one) => number(one, 4)));
      const type = typeof value === "string" ? TEXT : LONG;
      const count = values.length / (type === TEXT ? 1 : 4);
      const inline = Buffer.concat([values, Buffer.alloc(word)]).subarray(0, word);
      const held = values.length <= word ? inline : number(write(values), word);
      return Buffer.concat([number(Number(tag), 2), number(type, 2), number(count, word), held]);
    });
    return Buffer.concat([number(entries.length, isLarge ? 8 : 2), ...entries]);
  };
  const order = Buffer.from(isBigEndian ? "MM" : "II");
  const head = isLarge
    ? [order, number(43, 2), number(8, 2), number(0, 2), number(0, 8)]
    : [order, number(42, 2), number(0, 4)];
  write(Buffer.concat(head));
  const links = [isLarge ? 8 : 4];
  const starts: number[] = [];
  for (const page of pages) {
    const directory = directoryOf(page);
    const start = write(Buffer.concat([directory, number(0, word)]));
    starts.push(start);
    links.push(start + directory.length);
  }
  const file = Buffer.concat(parts);
  for (const [index, start] of starts.entries()) number(start, word).copy(file, links[index] ?? 0);
  return file;
}

export const REDUCED = { 254: 1 } as const;
export const RED = [220, 20, 20] as const;
export const BLUE = [20, 20, 220] as const;
export const GREEN = [20, 200, 20] as const;

/** A camera's raw photo as its maker's programs write it: a small preview, and the sensor's data below it. */
export function rawPhoto(make: string, tags: Directory["tags"] = {}): Buffer {
  const sensor = { 254: 0, 258: 8, 262: 32_803, 277: 1, 279: 400 * 300 };
  return tiffOf([
    {
      width: 160,
      height: 120,
      color: RED,
      tags: { ...REDUCED, 271: make, ...tags },
      below: [{ width: 400, height: 300, tags: sensor }],
    },
  ]);
}
