import type { Piece } from "./file-job.ts";

/** What is asked for at once: what comes next in a file is mostly wanted next. */
const PIECE_BYTES_MIN = 256 * 1024;

/** The parts of a file that are there already, each as long as they can be joined. */
export class KnownPieces {
  #pieces: readonly Piece[] = [];
  #length = 0;

  get pieces(): readonly Piece[] {
    return this.#pieces;
  }

  /** How many bytes have been added, those twice that came twice. */
  get length(): number {
    return this.#length;
  }

  /** The range to fetch so that `start` up to and without `end` is there, of a file that is `size` bytes long. */
  toFetch(
    start: number,
    end: number,
    size: number,
  ): { readonly start: number; readonly end: number } {
    const before = this.#pieces.find((one) => one.start <= start && start < endOf(one));
    const from = before === undefined ? start : Math.min(endOf(before), end);
    return { start: from, end: Math.min(size, Math.max(end, from + PIECE_BYTES_MIN)) };
  }

  add(piece: Piece): void {
    this.#length += piece.bytes.length;
    const joined: Piece[] = [];
    for (const next of [...this.#pieces, piece].toSorted(
      (left, right) => left.start - right.start,
    )) {
      const last = joined.at(-1);
      if (last === undefined || endOf(last) < next.start) joined.push(next);
      else if (endOf(next) > endOf(last)) joined.splice(-1, 1, join(last, next));
    }
    this.#pieces = joined;
  }
}

const endOf = ({ start, bytes }: Piece) => start + bytes.length;

function join(left: Piece, right: Piece): Piece {
  const beyond = right.bytes.subarray(endOf(left) - right.start);
  return { start: left.start, bytes: Buffer.concat([left.bytes, beyond]) };
}
