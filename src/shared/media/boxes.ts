/** Reads the bytes from `start` (inclusive) to `end` (exclusive). @throws Error when they aren't known yet */
export type ReadBoxed = (start: number, end: number) => Buffer;

export interface Box {
  readonly type: string;
  /** Where its content begins and ends. */
  readonly start: number;
  readonly end: number;
}

/** More than any file has on one level, except for one in very many fragments. */
const BOXES_MAX = 10_000;
/** A table of more than this is not read. It would have more than half a million entries. */
const TABLE_BYTES_MAX = 4 * 1024 * 1024;
/** A film or picture in the ISO base media format, or a QuickTime film. */
export class BoxedFile {
  readonly #size: number;
  readonly #read: ReadBoxed;

  constructor(size: number, read: ReadBoxed) {
    this.#size = size;
    this.#read = read;
  }

  get size(): number {
    return this.#size;
  }

  bytes(start: number, end: number): Buffer {
    return end <= this.#size && end >= start ? this.#read(start, end) : Buffer.alloc(0);
  }

  *boxes(from: number, until: number): Generator<Box> {
    let at = from;
    for (let count = 0; count < BOXES_MAX && at + 8 <= until; count += 1) {
      const head = this.bytes(at, Math.min(at + 16, until));
      const short = head.readUInt32BE(0);
      const isLong = short === 1 && head.length >= 16;
      const length = isLong ? Number(head.readBigUInt64BE(8)) : short === 0 ? until - at : short;
      const start = at + (isLong ? 16 : 8);
      const end = Math.min(at + length, until);
      if (end < start) return;
      yield { type: head.toString("latin1", 4, 8), start, end };
      at = end;
    }
  }

  /** Returns the first box at a path below a box. */
  find(within: Pick<Box, "start" | "end">, ...path: readonly string[]): Box | undefined {
    const [type, ...rest] = path;
    for (const box of this.boxes(within.start, within.end)) {
      if (box.type !== type) continue;
      const found = rest.length === 0 ? box : this.find(box, ...rest);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  content({ start, end }: Box): Buffer {
    return end - start > TABLE_BYTES_MAX ? Buffer.alloc(0) : this.bytes(start, end);
  }
}
