import { MediaFailure, type MediaFile } from "../networks/contract/media.ts";
import { tooLargeFile } from "../media/media-request.ts";
import type { OpenedMedia } from "../media/open-media.ts";
import { type RemoteBytes, withoutStart } from "../media/remote-bytes.ts";
import { AppError, invariant } from "../runtime/errors.ts";
import { type Blobs, MissingBlob } from "../runtime/storage/blobs.ts";
import type { UploadedFile } from "./file.ts";

/** Size of one request. A transfer has at most two of these in memory: one that is sent, and the next one. */
const PIECE_BYTES = 2 * 1024 * 1024;

/** Makes the failure of a file that can't be used. */
export const unusableFile = (fileRule: NonNullable<MediaFailure["fileRule"]> = "file.unusable") =>
  new MediaFailure("media_unreachable", `the file can't be used: ${fileRule}`, { fileRule });

/** Makes the failure of a file whose storage doesn't answer. A leg tries again. */
export function unreadableNow(cause: unknown): MediaFailure {
  const subject = "connectionLost";
  return new MediaFailure("media_unreachable", "storage doesn't answer", {
    subject,
    isStored: true,
    cause,
  });
}

/** The bytes of a blob, in the version that was seen when its upload was complete. */
export class BlobBytes implements RemoteBytes {
  readonly size: number;
  readonly version: string;
  readonly #blobs: Pick<Blobs, "read">;
  readonly #name: string;

  constructor(
    blobs: Pick<Blobs, "read">,
    name: string,
    { size, etag }: { readonly size: number; readonly etag: string },
  ) {
    this.size = size;
    this.version = etag;
    this.#blobs = blobs;
    this.#name = name;
  }

  /** Reads a part of the blob. @throws MediaFailure when it is gone, or storage doesn't answer */
  async read(first: number, last: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for (let at = first; at <= last; at += PIECE_BYTES) {
      const range = { first: at, last: Math.min(at + PIECE_BYTES - 1, last), etag: this.version };
      try {
        parts.push(await this.#blobs.read(this.#name, range));
      } catch (error) {
        if (error instanceof MissingBlob) throw unusableFile();
        if (error instanceof AppError) throw unreadableNow(error);
        throw error;
      }
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    for (let first = 0; first < this.size; first += PIECE_BYTES)
      yield await this.read(first, Math.min(first + PIECE_BYTES, this.size) - 1);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Opens a file that is ready, with the facts that were read when its upload was complete.
 * @throws MediaFailure when it is larger than `bytesMax`
 */
export function openStored(
  blobs: Pick<Blobs, "read">,
  name: string,
  { facts, etag, announced }: UploadedFile,
  bytesMax: number,
): OpenedMedia & MediaFile {
  invariant(facts !== null && etag !== null, "a file without facts is opened");
  if (facts.size > bytesMax) throw tooLargeFile(bytesMax);
  const whole = new BlobBytes(blobs, name, { size: announced.bytes, etag });
  // What precedes the header of a PDF isn't part of the document.
  const bytes = withoutStart(whole, announced.bytes - facts.size);
  return {
    ...facts,
    version: etag,
    ...(announced.filename === null ? {} : { name: announced.filename }),
    read: (first, last) => bytes.read(first, last),
    chunks: () => bytes.chunks(),
    close: () => bytes.close(),
  };
}
