import { type MediaFacts, MediaFailure } from "../networks/contract/media.ts";
import { withTimeLimit } from "../runtime/promises.ts";
import { unreachable } from "../networks/contract/unreachable.ts";
import { HeldMemory } from "./file-memory.ts";
import type { FactsAnswer, FileFacts, FileSoFar, ReadBy } from "./media-reader.ts";
import type { RemoteBytes } from "./remote-bytes.ts";
import type { Piece } from "./file-job.ts";

/** Minimum size of a request, since the bytes that follow are usually needed next. */
const PIECE_BYTES_MIN = 256 * 1024;

/** The parts of a file that are in memory. Adjacent ones are joined. */
class KnownPieces {
  #pieces: readonly Piece[] = [];
  #length = 0;

  get pieces(): readonly Piece[] {
    return this.#pieces;
  }

  /** How many bytes were added. Bytes that were added twice count twice. */
  get length(): number {
    return this.#length;
  }

  /**
   * Returns the range to fetch so that the bytes from `start` to `end` (exclusive) of a file of `size` bytes are known.
   */
  toFetch(start: number, end: number, size: number): Omit<Piece, "bytes"> & { end: number } {
    const before = this.#pieces.find((one) => one.start <= start && start < endOf(one));
    const from = before === undefined ? start : Math.min(endOf(before), end);
    return { start: from, end: Math.min(size, Math.max(end, from + PIECE_BYTES_MIN)) };
  }

  add(piece: Piece): void {
    this.#length += piece.bytes.length;
    const joined: Piece[] = [];
    for (const next of [...this.#pieces, piece].toSorted((one, two) => one.start - two.start)) {
      const last = joined.at(-1);
      if (last === undefined || endOf(last) < next.start) joined.push(next);
      else if (endOf(next) > endOf(last)) joined.splice(-1, 1, joinPieces(last, next));
    }
    this.#pieces = joined;
  }
}

const endOf = ({ start, bytes }: Piece) => start + bytes.length;

function joinPieces(left: Piece, right: Piece): Piece {
  const beyond = right.bytes.subarray(endOf(left) - right.start);
  return { start: left.start, bytes: Buffer.concat([left.bytes, beyond]) };
}

/** Index tables of long videos take a few megabytes. A file that needs more is left to the network's own check. */
const BYTES_MAX = 8 * 1024 * 1024;
/**
 * Each reading parses all known bytes again, within one limit of CPU time for all readings. A file that needs more
 * readings is left to the network's own check.
 */
const READINGS_MAX = 24;
/** Time limit of all calls to the file's server, because other files wait. */
const FETCH_MS_MAX = 30_000;

const UNKNOWN: FileFacts = { width: null, height: null, durationSeconds: null, image: null };

/** Types whose index is in boxes. Everything else about them may be unknown, but not that there is one. */
const BOXED = /^(?:video\/(?:mp4|quicktime|3gpp2?)|audio\/mp4)$/;

type File = Pick<MediaFacts, "contentType" | "size">;

/** Time limit for reading a whole image. After that, its first bytes have to be enough. */
const WHOLE_MS_MAX = 5_000;

export interface SampledFile {
  readonly file: File;
  readonly bytes: Pick<RemoteBytes, "size" | "read" | "chunks">;
  /** The file's first bytes. */
  readonly sample: Uint8Array;
  /** Whether the whole image is read, since its beginning doesn't show everything. The default is no. */
  readonly isThorough?: boolean;
  /** Milliseconds left for its readings. The default is the reader's own limits. */
  readonly leftMs?: (() => number) | undefined;
}

/**
 * Reads the facts of a file from a limited number of its bytes. It occupies no reader while it waits for the file's
 * server.
 * @throws MediaFailure
 */
export async function readFacts(readBy: ReadBy, sampled: SampledFile): Promise<FileFacts> {
  const { contentType } = sampled.file;
  // Types whose content is parsed. Other types are only recognized by their first bytes.
  if (!/^(?:image|video|audio)\//.test(contentType)) return UNKNOWN;
  const memory = new HeldMemory(readBy.owner);
  try {
    return contentType.startsWith("image/")
      ? await readImageFacts(readBy, sampled, memory)
      : await readVideoFacts(readBy, sampled, memory);
  } finally {
    memory.release();
  }
}

/** Reads the bytes in memory. @throws MediaFailure when that takes too long, which isn't the server's fault */
async function readBytes(
  { reader, owner }: ReadBy,
  { file, leftMs }: SampledFile,
  soFar: FileSoFar,
): Promise<FactsAnswer> {
  const reading = reader.facts(owner, file, soFar);
  if (leftMs === undefined) return await reading;
  return await withTimeLimit(leftMs(), reading, () => {
    throw unreachable("busy");
  });
}

async function readVideoFacts(
  readBy: ReadBy,
  sampled: SampledFile,
  memory: HeldMemory,
): Promise<FileFacts> {
  const { file, bytes, sample } = sampled;
  const known = new KnownPieces();
  known.add({ start: 0, bytes: sample });
  let [usedMs, fetchMs] = [0, FETCH_MS_MAX];
  for (let reading = 0; reading < READINGS_MAX; reading += 1) {
    const answer = await readBytes(readBy, sampled, { pieces: known.pieces, usedMs });
    usedMs += answer.usedMs;
    if (answer.kind === "facts") {
      const { film, width, durationSeconds } = answer.facts;
      const isRead = film !== undefined || width !== null || durationSeconds !== null;
      const isUnreadable = !isRead && BOXED.test(file.contentType);
      return { ...answer.facts, ...(isUnreadable ? { isUnreadable } : {}) };
    }
    const { start, end } = known.toFetch(answer.start, answer.end, file.size);
    if (end <= start || known.length + end - start > BYTES_MAX) return UNKNOWN;
    memory.take(end - start);
    const askedAt = performance.now();
    const fetched = await inTime(bytes.read(start, end - 1), askedAt + fetchMs);
    // Only time spent on the server counts, not the time of the readings.
    fetchMs -= performance.now() - askedAt;
    known.add({ start, bytes: fetched });
  }
  return UNKNOWN;
}

async function readImageFacts(
  readBy: ReadBy,
  sampled: SampledFile,
  memory: HeldMemory,
): Promise<FileFacts> {
  const { file, sample } = sampled;
  // Whether a GIF is animated decides what is done with it, and may not show before its second frame.
  const isThorough = sampled.isThorough === true || file.contentType === "image/gif";
  const soFar = { pieces: [{ start: 0, bytes: sample }], usedMs: 0 };
  const first = await readBytes(readBy, sampled, { ...soFar, isThorough });
  if (first.kind === "facts") return first.facts;
  const { usedMs } = first;
  const whole = await readWhole(sampled, memory);
  const pieces = whole === undefined ? soFar.pieces : [{ start: 0, bytes: whole }];
  const answer = await readBytes(readBy, sampled, { pieces, usedMs });
  return answer.kind === "facts" ? answer.facts : UNKNOWN;
}

/** Reads the whole image, or undefined when that takes too much time or memory. @throws MediaFailure if it changes */
async function readWhole(
  { file, bytes }: SampledFile,
  memory: HeldMemory,
): Promise<Uint8Array | undefined> {
  try {
    memory.take(file.size);
    return await readAll(bytes, performance.now() + WHOLE_MS_MAX);
  } catch (error) {
    const isUnavailable = error instanceof MediaFailure && error.code === "media_unreachable";
    if (isUnavailable && error.reason === null) return undefined;
    throw error;
  }
}

/** Reads a whole file into a buffer of the size that its server stated. @throws MediaFailure */
export async function readAll(
  file: Pick<RemoteBytes, "size" | "chunks">,
  until: number,
): Promise<Uint8Array> {
  const bytes = Buffer.alloc(file.size);
  const chunks = file.chunks()[Symbol.asyncIterator]();
  let filled = 0;
  try {
    for (;;) {
      const { value, done } = await inTime(chunks.next(), until);
      if (done === true) break;
      if (filled + value.length > bytes.length) throw unreachable("changed", { reason: "changed" });
      bytes.set(value, filled);
      filled += value.length;
    }
  } finally {
    // Not awaited, because a slow server would delay this too.
    void Promise.resolve(chunks.return?.()).catch(() => undefined);
  }
  if (filled < bytes.length) throw unreachable("connection_lost");
  return bytes;
}

/** Waits for a call to the file's server. @throws MediaFailure when it takes too long */
function inTime<T>(work: Promise<T>, until: number): Promise<T> {
  return withTimeLimit(Math.max(0, until - performance.now()), work, () => {
    throw unreachable("slow");
  });
}
