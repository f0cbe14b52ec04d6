/** A message between a reading process and its parent: JSON followed by bytes. */
export interface Frame {
  readonly message: unknown;
  readonly bytes: Buffer;
}

export interface FrameLimits {
  /** Maximum length of the JSON in bytes. */
  readonly messageMax: number;
  readonly bytesMax: number;
}

/** The head has two lengths: that of the message and that of the bytes. */
const HEAD_BYTES = 8;

/** Makes the head and message of a frame. Exactly `length` bytes have to be written after it. */
export function frameHead(message: unknown, length: number): Buffer {
  const json = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(json.length, 0);
  head.writeUInt32BE(length, 4);
  return Buffer.concat([head, json]);
}

/** One part of a frame that is being received. */
class FramePart {
  readonly content: Buffer;
  #filled = 0;

  constructor(length: number) {
    this.content = Buffer.alloc(length);
  }

  get isWhole(): boolean {
    return this.#filled === this.content.length;
  }

  /** Takes the bytes that it needs from the chunk and returns the rest. */
  take(chunk: Buffer): Buffer {
    const taken = chunk.subarray(0, this.content.length - this.#filled);
    this.content.set(taken, this.#filled);
    this.#filled += taken.length;
    return chunk.subarray(taken.length);
  }
}

/** Assembles frames from chunks. The sender is not trusted, so nothing beyond the limits is stored or parsed. */
export class FrameReader {
  readonly #limits: FrameLimits;
  #head = new FramePart(HEAD_BYTES);
  #message: FramePart | undefined;
  #bytes: FramePart | undefined;

  constructor(limits: FrameLimits) {
    this.#limits = limits;
  }

  /** Adds a chunk and returns the frames that are now complete. @throws Error when one is too long or isn't JSON */
  push(chunk: Buffer): Frame[] {
    const frames: Frame[] = [];
    let rest = chunk;
    while (rest.length > 0) {
      rest = this.#take(rest);
      const frame = this.#finished();
      if (frame !== undefined) frames.push(frame);
    }
    return frames;
  }

  #take(chunk: Buffer): Buffer {
    if (!this.#head.isWhole) {
      const rest = this.#head.take(chunk);
      if (this.#head.isWhole) this.#open(this.#head.content);
      return rest;
    }
    if (this.#message?.isWhole === false) return this.#message.take(chunk);
    return this.#bytes?.take(chunk) ?? chunk;
  }

  #open(head: Buffer): void {
    const message = head.readUInt32BE(0);
    const bytes = head.readUInt32BE(4);
    const { messageMax, bytesMax } = this.#limits;
    if (message > messageMax || bytes > bytesMax) throw new RangeError("a frame is too long");
    this.#message = new FramePart(message);
    this.#bytes = new FramePart(bytes);
  }

  #finished(): Frame | undefined {
    const [message, bytes] = [this.#message, this.#bytes];
    if (message?.isWhole !== true || bytes?.isWhole !== true) return undefined;
    this.#head = new FramePart(HEAD_BYTES);
    this.#message = undefined;
    this.#bytes = undefined;
    const parsed: unknown = JSON.parse(message.content.toString("utf8"));
    return { message: parsed, bytes: bytes.content };
  }
}
