import { pipeline, type Transform } from "node:stream";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import { HttpFailure } from "./http-call.ts";

const CODINGS = ["gzip", "deflate", "br", "zstd"] as const;
type Coding = (typeof CODINGS)[number];

/** A body with more codings than this is left as it is. */
const CODINGS_MAX = 3;
/** How much longer a coded body may be than its decoded form. Endless empty blocks decode to nothing. */
const OVERHEAD_BYTES_MAX = 1024 * 1024;
/** Decoders must support this window (RFC 9659, 3). A larger one takes up to 2 GiB. */
const ZSTD_WINDOW_LOG_MAX = 23;

/** Returns the codings of a body, the last one first. The list is empty if any of them is unknown (RFC 9110, 8.4). */
export function codingsOf(header: string): readonly Coding[] {
  const names = header.split(",").map((name) => name.trim().toLowerCase());
  const coded = names.filter((name) => name !== "" && name !== "identity");
  const codings = coded.flatMap((name) =>
    CODINGS.filter((coding) => coding === name.replace(/^x-/, "")),
  );
  return codings.length === coded.length && coded.length <= CODINGS_MAX ? codings.toReversed() : [];
}

function decoderOf(coding: Coding, first: Uint8Array): Transform {
  switch (coding) {
    case "gzip":
      return createGunzip();
    case "br":
      return createBrotliDecompress();
    case "zstd":
      return createZstdDecompress({
        params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
      });
    case "deflate":
      // Some servers omit the zlib header (RFC 9110, 8.4.1.2). The low half of its first byte is 8.
      return (first[0] ?? 0) % 16 === 8 ? createInflate() : createInflateRaw();
  }
}

const undecodableBody = (cause?: unknown) => new HttpFailure("in_doubt", "undecodable", { cause });

type Chunks = AsyncIterable<Uint8Array>;

/** Decodes a body. Only a few chunks are in memory at a time, however large the decoded body is. */
export function decodedBody(body: Chunks, codings: readonly Coding[]): Chunks {
  return codings.reduce((chunks, coding) => withoutCoding(chunks, coding), body);
}

async function* withoutCoding(body: Chunks, coding: Coding): AsyncGenerator<Uint8Array> {
  const source = body[Symbol.asyncIterator]();
  const begin = await source.next();
  if (begin.done === true) return;
  let failure: unknown;
  let decodedBytes = 0;
  async function* coded(): AsyncGenerator<Uint8Array> {
    let codedBytes = 0;
    try {
      for (let next = begin; next.done !== true; next = await source.next()) {
        codedBytes += next.value.length;
        if (codedBytes > decodedBytes + OVERHEAD_BYTES_MAX) throw undecodableBody();
        yield next.value;
      }
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      await source.return?.();
    }
  }
  const decoder = decoderOf(coding, begin.value);
  pipeline(coded(), decoder, () => undefined);
  try {
    for await (const chunk of decoder as AsyncIterable<Uint8Array>) {
      decodedBytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw failure ?? undecodableBody(error);
  } finally {
    decoder.destroy();
  }
}
