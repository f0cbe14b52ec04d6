import { createHash } from "node:crypto";
import type { MediaFile } from "../networks/contract/media.ts";
import { badStatus, unreachable } from "../networks/contract/unreachable.ts";
import { HttpFailure, type HttpResponse } from "../runtime/http-call.ts";
import type { OpenedResponse } from "../runtime/outbound-body.ts";
import {
  isWholeFile,
  changeMark,
  mediaRequest,
  openResponse,
  partOf,
  toMediaFailure,
  type RemoteFile,
} from "./media-request.ts";
import type { HeldMemory } from "./file-memory.ts";

/** The bytes of an opened file, in memory or on their server. */
export type RemoteBytes = Pick<MediaFile, "size" | "version" | "read" | "chunks" | "close">;

/** Size of one request, which also limits a transfer's memory. */
const PIECE_BYTES = 2 * 1024 * 1024;
/** How often a piece is tried when its transfer breaks off. */
const ATTEMPTS_MAX = 3;
/** Servers that send whole blocks may begin up to this much earlier. */
const BEFORE_BYTES_MAX = 64 * 1024;
/** Maximum number of answers for one piece, from a server that sends less than requested. */
const PARTS_MAX = 32;
/** Time limit for a whole file from a server without ranges. The client has a limit of its own. */
const STREAM_TIMEOUT_MS = 15 * 60_000;

/** Tags of a file that are known to belong to the same bytes. A server with more names each answer differently. */
const MARKS_MAX = 64;

interface KnownFile {
  readonly size: number;
  /** The tag or date by which a part is only sent if the file is still the same, or null. */
  readonly validator: string | null;
  /** A value that changes with the file, or null when the server has none. */
  readonly mark: string | null;
  /** The file's first bytes, which are already in memory. */
  readonly sample: Uint8Array;
}

/** As many bytes as are read of a file that has a size. */
const VERSION_BYTES = 131_072;

/** Returns what tells a file from a later one at its address: its size and first bytes, as tags may change alone. */
function versionBy(size: number, sample: Uint8Array): string {
  return createHash("sha256").update(`${size} `).update(sample).digest("base64url");
}

const changed = () => unreachable("changed", { reason: "changed" });

/** Reads at most `bytesMax` bytes of a body. @throws MediaFailure when it breaks off or `memory` is full */
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

/** A file in memory, used when its server states no size. */
export class HeldBytes implements RemoteBytes {
  readonly #bytes: Uint8Array;
  readonly #memory: HeldMemory | undefined;

  constructor(bytes: Uint8Array, memory?: HeldMemory) {
    this.#bytes = bytes;
    this.#memory = memory;
  }

  get version(): string {
    return versionBy(this.size, this.#bytes.subarray(0, VERSION_BYTES));
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

/** Leaves out the first bytes of a file. */
export function withoutStart(bytes: RemoteBytes, start: number): RemoteBytes {
  if (start === 0) return bytes;
  return {
    size: bytes.size - start,
    version: bytes.version,
    read: (first, last) => bytes.read(first + start, last + start),
    async *chunks() {
      let left = start;
      for await (const chunk of bytes.chunks()) {
        const skipped = Math.min(left, chunk.length);
        left -= skipped;
        if (skipped < chunk.length) yield chunk.subarray(skipped);
      }
    },
    close: () => bytes.close(),
  };
}

/** A file on its server, with only its first bytes in memory. */
abstract class DistantBytes implements RemoteBytes {
  readonly size: number;
  protected readonly file: RemoteFile;
  protected readonly known: KnownFile;

  constructor(file: RemoteFile, known: KnownFile) {
    this.file = file;
    this.size = known.size;
    this.known = known;
  }

  get version(): string {
    return versionBy(this.size, this.known.sample);
  }

  async read(first: number, last: number): Promise<Uint8Array> {
    const { sample } = this.known;
    if (last < sample.length) return sample.subarray(first, last + 1);
    return this.fetch(first, last);
  }

  protected abstract fetch(first: number, last: number): Promise<Uint8Array>;
  abstract chunks(): AsyncGenerator<Uint8Array>;
  abstract close(): Promise<void>;
}

/**
 * A file on a server that supports ranges. Every piece is a call. When the server stops supporting ranges (RFC 9110,
 * 14.2), the file is read as a whole. Servers that take turns may have tags of their own, and some make a tag for each
 * answer. So a tag that is new says nothing yet: behind the piece that came with it, the first bytes are read again. If
 * they are others, the file was exchanged before or while the piece was read.
 */
export class RangedBytes extends DistantBytes {
  #whole: StreamedBytes | undefined;
  #validator = this.known.validator;
  readonly #marks = new Set([this.known.mark]);

  protected override async fetch(first: number, last: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let from = first;
    for (let answers = 0; from <= last; answers += 1) {
      const part = this.#whole === undefined ? await this.#askAgain(from, last) : undefined;
      if (part === undefined) {
        this.#whole ??= new StreamedBytes(this.file, this.known);
        return await this.#whole.read(first, last);
      }
      if (answers >= PARTS_MAX) throw unreachable("range");
      parts.push(part);
      from += part.length;
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  override async *chunks(): AsyncGenerator<Uint8Array> {
    for (let first = 0; first < this.size; first += PIECE_BYTES)
      yield await this.read(first, Math.min(first + PIECE_BYTES, this.size) - 1);
  }

  override async close(): Promise<void> {
    await this.#whole?.close();
  }

  async #askAgain(first: number, last: number): Promise<Uint8Array | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#ask(first, last);
      } catch (error) {
        if (!(error instanceof HttpFailure)) throw error;
        if (attempt >= ATTEMPTS_MAX) throw toMediaFailure(error);
      }
    }
  }

  /** Reads from `first` on, perhaps fewer bytes than requested. Undefined when the server sends no part. */
  async #ask(first: number, last: number): Promise<Uint8Array | undefined> {
    const validator = this.#validator;
    const bytesMax = last - first + 1 + BEFORE_BYTES_MAX;
    const answer = await this.#request({ first, last, bytesMax, validator });
    if (![200, 203, 206, 416].includes(answer.status)) throw badStatus(answer.status);
    if (!this.#hasSize(answer)) throw changed();
    // Whether an answer has a tag of the same bytes. A part may omit the tag that it was requested with.
    const mark = changeMark(answer);
    if (!(
      this.#marks.has(mark) ||
      answer.status === 416 ||
      (answer.status === 206 && mark === null)
    )) {
      if (!(await this.#beginsAsBefore())) throw changed();
      if (this.#marks.size < MARKS_MAX) this.#marks.add(changeMark(answer));
      if (answer.status !== 206 && validator !== null) {
        // The server sent the whole file since its tag is another one. Without a condition, it may send a part.
        this.#validator = null;
        return await this.#ask(first, last);
      }
    }
    const part = partOf(answer);
    const isPart = answer.status === 206 && answer.headers["content-encoding"] === undefined;
    if (!isPart || part === undefined || part.first > first || part.last < first) return undefined;
    const length = Math.min(bytesMax, part.last - part.first + 1);
    if (answer.body.length < length) throw new HttpFailure("in_doubt", "connection_lost");
    const bytes = answer.body.subarray(first - part.first, last - part.first + 1);
    return bytes.length === 0 ? undefined : bytes;
  }

  #request({
    first,
    last,
    bytesMax,
    validator = null,
  }: {
    readonly first: number;
    readonly last: number;
    readonly bytesMax: number;
    readonly validator?: string | null;
  }): Promise<HttpResponse> {
    const { dialler, url, cookies } = this.file;
    return dialler.request({
      ...mediaRequest(url, {
        range: `bytes=${first}-${last}`,
        ...(validator === null ? {} : { "if-range": validator }),
        ...cookies.headersFor(url),
      }),
      bytesMax,
      beyondMax: "cut",
    });
  }

  #hasSize(answer: HttpResponse): boolean {
    const { size } = this;
    if (answer.status === 416)
      return answer.headers["content-range"]?.replace(/\s/g, "").endsWith(`*/${size}`) === true;
    if (answer.status === 206) return (partOf(answer)?.size ?? size) === size;
    return Number(answer.headers["content-length"] ?? size) === size;
  }

  async #beginsAsBefore(): Promise<boolean> {
    const { sample } = this.known;
    const { length } = sample;
    const answer = await this.#request({ first: 0, last: length - 1, bytesMax: length });
    if (![200, 203, 206].includes(answer.status)) throw badStatus(answer.status);
    const isBeginning = answer.status !== 206 || partOf(answer)?.first === 0;
    const begin = answer.body.subarray(0, length);
    const isSame = Buffer.from(sample.subarray(0, begin.length)).equals(begin);
    return isBeginning && begin.length > 0 && isSame && this.#hasSize(answer);
  }
}

interface Cursor {
  readonly chunks: AsyncIterator<Uint8Array>;
  at: number;
  rest: Uint8Array;
}

const NOTHING = new Uint8Array();

/** A file on a server without ranges. Pieces are cut out of one transfer. */
export class StreamedBytes extends DistantBytes {
  #cursor: Cursor | undefined;

  /**
   * Reads forward in the open transfer, and starts a new one to read earlier bytes. A transfer that was left open may
   * have ended, because the time that a reader takes counts against its limit. It is then replaced once.
   */
  protected override async fetch(first: number, last: number): Promise<Uint8Array> {
    if (this.#cursor !== undefined) {
      const bytes = await this.#cut(first, last).catch(() => undefined);
      if (bytes !== undefined) return bytes;
      await this.close();
    }
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
      const chunk = await nextChunk(cursor);
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
      const chunk = await nextChunk(cursor);
      const skipped = Math.min(chunk.length, first - cursor.at);
      cursor.at += skipped;
      cursor.rest = chunk.subarray(skipped);
    }
    return cursor;
  }

  async #open(): Promise<AsyncIterable<Uint8Array>> {
    const request = { ...mediaRequest(this.file.url), timeoutMs: STREAM_TIMEOUT_MS };
    const { answer } = await openResponse(this.file, request);
    const isWhole = isWholeFile(answer);
    // One transfer is of one file, and its first bytes show of which, so the tag doesn't matter.
    const isSame = Number(answer.headers["content-length"]) === this.size;
    if (isWhole && isSame) return watched(answer, this.known.sample);
    answer.cancel();
    if (isWhole) throw changed();
    throw answer.status === 206 ? unreachable("range") : badStatus(answer.status);
  }
}

/** Passes on the bytes of a transfer that begins with these ones. @throws MediaFailure if it doesn't, or breaks off */
async function* watched(answer: OpenedResponse, begin: Uint8Array): AsyncGenerator<Uint8Array> {
  let at = 0;
  try {
    for await (const chunk of answer.chunks()) {
      const known = begin.subarray(at, at + chunk.length);
      if (!Buffer.from(known).equals(chunk.subarray(0, known.length))) throw changed();
      at += chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw toMediaFailure(error);
  }
}

async function nextChunk(cursor: Cursor): Promise<Uint8Array> {
  if (cursor.rest.length > 0) {
    const { rest } = cursor;
    cursor.rest = NOTHING;
    return rest;
  }
  const { value, done } = await cursor.chunks.next();
  if (done === true) throw unreachable("connection_lost");
  return value;
}
