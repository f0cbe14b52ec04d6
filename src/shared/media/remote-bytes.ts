import type { MediaFile } from "../networks/contract/media.ts";
import { MediaFailure } from "../networks/contract/media.ts";
import { HttpFailure } from "../runtime/http-call.ts";
import type { OpenedResponse } from "../runtime/outbound-body.ts";
import { mediaRequest, openResponse, toMediaFailure, unreachable, versionOf } from "./dialled.ts";
import type { Place } from "./dialled.ts";
import type { HeldMemory } from "./held-memory.ts";

/** The bytes of an opened file, wherever they are. */
export type RemoteBytes = Pick<MediaFile, "size" | "version" | "read" | "chunks" | "close">;

/** What is asked for at once, and so about what one transfer holds in memory. */
const PIECE_BYTES = 2 * 1024 * 1024;
/** A piece that broke off is asked for again; what breaks every time is down. */
const ATTEMPTS_MAX = 3;
/** For a whole file that can't be had in pieces. */
const STREAM_TIMEOUT_MS = 15 * 60_000;

interface Known {
  readonly size: number;
  readonly version: string | null;
  /** The file's first bytes, which are there already. */
  readonly sample: Uint8Array;
}

const changed = () =>
  new MediaFailure("media_unreachable", "the file changed while it was read", {
    reason: "changed",
  });

/** At most so many bytes of a body; the rest is left. Throws `MediaFailure` when it breaks off or `memory` is full. */
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

/** A file that had to be downloaded to be measured. */
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

/** A file that stays on its server: only its first bytes are there already. */
abstract class DistantBytes implements RemoteBytes {
  readonly size: number;
  readonly version: string | null;
  protected readonly place: Place;
  readonly #sample: Uint8Array;

  constructor(place: Place, { size, version, sample }: Known) {
    this.place = place;
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

/** A file on a server that knows ranges: every piece is a call of its own, and stands for itself. */
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
    const { dialler, url } = this.place;
    const wanted = last - first + 1;
    const answer = await dialler.request({
      ...mediaRequest("GET", url, {
        range: `bytes=${first}-${last}`,
        ...(version === null ? {} : { "if-range": version }),
      }),
      bytesMax: wanted,
      beyondMax: "cut",
    });
    // The whole file instead of the piece: its version is not the one that was asked for.
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
  /** What the last chunk had beyond what was wanted. */
  rest: Uint8Array;
}

const NOTHING = new Uint8Array();

/** A file on a server that only sends all of it: pieces are cut out of one transfer as it goes by. */
export class StreamedBytes extends DistantBytes {
  #cursor: Cursor | undefined;

  /** Forward is cheap; for what has gone by the transfer begins anew. */
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
    const { dialler, url } = this.place;
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
