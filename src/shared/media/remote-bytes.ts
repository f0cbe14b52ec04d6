import { type MediaFile, MediaFailure } from "../networks/contract/media.ts";
import { HttpFailure } from "../runtime/http-call.ts";
import type { OpenedResponse } from "../runtime/outbound-body.ts";
import {
  mediaRequest,
  openResponse,
  toMediaFailure,
  unreachable,
  versionOf,
  type RemoteFile,
} from "./dialled.ts";
import type { HeldMemory } from "./held-memory.ts";

/** The bytes of an opened file, in memory or on their server. */
export type RemoteBytes = Pick<MediaFile, "size" | "version" | "read" | "chunks" | "close">;

/** Size of one request, and so of a transfer's memory. */
const PIECE_BYTES = 2 * 1024 * 1024;
/** A piece that broke off is requested again, up to this many times in all. */
const ATTEMPTS_MAX = 3;
/** For a whole file from a server without ranges; whoever dials for it has a limit of its own. */
const STREAM_TIMEOUT_MS = 15 * 60_000;

interface Known {
  readonly size: number;
  readonly version: string | null;
  /** The file's first bytes, already in memory. */
  readonly sample: Uint8Array;
}

const changed = () =>
  new MediaFailure("media_unreachable", "the file changed while it was read", {
    reason: "changed",
  });

/** Reads at most so many bytes of a body. @throws MediaFailure when it breaks off or `memory` is full */
export async function takeUpTo(
  answer: OpenedResponse,
  bytesMax: number,
  memory?: HeldMemory,
): Promise<{ readonly bytes: Uint8Array; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of answer.chunks()) {
      length += chunk.length;
      memory?.take(chunk.length);
      chunks.push(chunk);
      if (length > bytesMax) break;
    }
  } catch (error) {
    throw toMediaFailure(error);
  }
  return { bytes: Buffer.concat(chunks).subarray(0, bytesMax), isWhole: length <= bytesMax };
}

/** A file in memory, because its server states no size. */
export class HeldBytes implements RemoteBytes {
  readonly #bytes: Uint8Array;
  readonly #memory: HeldMemory | undefined;
  readonly version = null;

  constructor(bytes: Uint8Array, memory?: HeldMemory) {
    this.#bytes = bytes;
    this.#memory = memory;
  }

  get size(): number {
    return this.#bytes.length;
  }

  read(first: number, last: number): Promise<Uint8Array> {
    return Promise.resolve(this.#bytes.subarray(first, last + 1));
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    yield this.#bytes;
  }

  close(): Promise<void> {
    this.#memory?.release();
    return Promise.resolve();
  }
}

/** A file that stays on its server, with its first bytes in memory. */
abstract class DistantBytes implements RemoteBytes {
  readonly size: number;
  readonly version: string | null;
  protected readonly file: RemoteFile;
  readonly #sample: Uint8Array;

  constructor(file: RemoteFile, { size, version, sample }: Known) {
    this.file = file;
    this.size = size;
    this.version = version;
    this.#sample = sample;
  }

  async read(first: number, last: number): Promise<Uint8Array> {
    if (last < this.#sample.length) return this.#sample.subarray(first, last + 1);
    return this.fetch(first, last);
  }

  protected abstract fetch(first: number, last: number): Promise<Uint8Array>;
  abstract chunks(): AsyncGenerator<Uint8Array>;
  abstract close(): Promise<void>;
}

/** A file on a server that supports ranges: every piece is a call of its own. */
export class RangedBytes extends DistantBytes {
  protected override async fetch(first: number, last: number): Promise<Uint8Array> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#ask(first, last);
      } catch (error) {
        if (!(error instanceof HttpFailure)) throw error;
        if (attempt >= ATTEMPTS_MAX) throw toMediaFailure(error);
      }
    }
  }

  override async *chunks(): AsyncGenerator<Uint8Array> {
    for (let first = 0; first < this.size; first += PIECE_BYTES)
      yield await this.read(first, Math.min(first + PIECE_BYTES, this.size) - 1);
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }

  async #ask(first: number, last: number): Promise<Uint8Array> {
    const { version, size } = this;
    const { dialler, url } = this.file;
    const wanted = last - first + 1;
    const answer = await dialler.request({
      ...mediaRequest("GET", url, {
        range: `bytes=${first}-${last}`,
        ...(version === null ? {} : { "if-range": version }),
      }),
      bytesMax: wanted,
      beyondMax: "cut",
    });
    // The server sends the whole file instead of the piece when its version is another one.
    if (answer.status === 200 || answer.status === 416) throw changed();
    if (answer.status !== 206) throw unreachable(`http_${answer.status}`);
    const isMeant = answer.headers["content-range"] === `bytes ${first}-${last}/${size}`;
    if (!isMeant || versionOf(answer) !== version) throw changed();
    if (answer.body.length !== wanted) throw new HttpFailure("in_doubt", "connection_lost");
    return answer.body;
  }
}

interface Cursor {
  readonly chunks: AsyncIterator<Uint8Array>;
  at: number;
  /** The unread rest of the last chunk. */
  rest: Uint8Array;
}

const NOTHING = new Uint8Array();

/** A file on a server without ranges: pieces are cut out of one transfer. */
export class StreamedBytes extends DistantBytes {
  #cursor: Cursor | undefined;

  /** Reads forward in the transfer under way; starts a new one to read bytes before its position. */
  protected override async fetch(first: number, last: number): Promise<Uint8Array> {
    try {
      return await this.#cut(first, last);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #cut(first: number, last: number): Promise<Uint8Array> {
    const cursor = await this.#cursorAt(first);
    const bytes = Buffer.alloc(last - first + 1);
    let filled = 0;
    while (filled < bytes.length) {
      const chunk = await next(cursor);
      const taken = chunk.subarray(0, bytes.length - filled);
      bytes.set(taken, filled);
      filled += taken.length;
      cursor.rest = chunk.subarray(taken.length);
    }
    cursor.at = last + 1;
    return bytes;
  }

  override async *chunks(): AsyncGenerator<Uint8Array> {
    let length = 0;
    for await (const chunk of await this.#open()) {
      length += chunk.length;
      if (length > this.size) throw changed();
      yield chunk;
    }
    if (length < this.size) throw unreachable("connection_lost");
  }

  override async close(): Promise<void> {
    const cursor = this.#cursor;
    this.#cursor = undefined;
    await cursor?.chunks.return?.();
  }

  async #cursorAt(first: number): Promise<Cursor> {
    if (this.#cursor === undefined || this.#cursor.at > first) {
      await this.close();
      const opened = await this.#open();
      this.#cursor = { chunks: opened[Symbol.asyncIterator](), at: 0, rest: NOTHING };
    }
    const cursor = this.#cursor;
    while (cursor.at < first) {
      const chunk = await next(cursor);
      const skipped = Math.min(chunk.length, first - cursor.at);
      cursor.at += skipped;
      cursor.rest = chunk.subarray(skipped);
    }
    return cursor;
  }

  async #open(): Promise<AsyncIterable<Uint8Array>> {
    const { dialler, url } = this.file;
    const request = { ...mediaRequest("GET", url), timeoutMs: STREAM_TIMEOUT_MS };
    const { answer } = await openResponse(dialler, request);
    const isSame =
      Number(answer.headers["content-length"]) === this.size && versionOf(answer) === this.version;
    if (answer.status === 200 && isSame) return watched(answer);
    answer.cancel();
    throw answer.status === 200 ? changed() : unreachable(`http_${answer.status}`);
  }
}

async function* watched(answer: OpenedResponse): AsyncGenerator<Uint8Array> {
  try {
    yield* answer.chunks();
  } catch (error) {
    throw toMediaFailure(error);
  }
}

async function next(cursor: Cursor): Promise<Uint8Array> {
  if (cursor.rest.length > 0) {
    const { rest } = cursor;
    cursor.rest = NOTHING;
    return rest;
  }
  const { value, done } = await cursor.chunks.next();
  if (done === true) throw unreachable("connection_lost");
  return value;
}
