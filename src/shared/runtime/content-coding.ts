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

/** A body that was coded more often than this is left as it is. */
const CODINGS_MAX = 3;
/** A coded body may be this much longer than what it decodes to: endless empty blocks decode to nothing. */
const OVERHEAD_BYTES_MAX = 1024 * 1024;
/** Decoders must allow this window (RFC 9659, 3), and a larger one takes up to 2 GiB. */
const ZSTD_WINDOW_LOG_MAX = 23;

function toCoding(name: string): Coding | undefined {
  return CODINGS.find((coding) => coding === name.replace(/^x-/, ""));
}

/** Returns the codings of a body, last one first; none where one of them can't be undone (RFC 9110, 8.4). */
export function codingsOf(header: string): readonly Coding[] {
  const names = header.split(",").map((name) => name.trim().toLowerCase());
  const coded = names.filter((name) => name !== "" && name !== "identity");
  const codings = coded.map(toCoding).filter((coding) => coding !== undefined);
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
      // Some servers leave out the zlib header (RFC 9110, 8.4.1.2); its first byte ends with 8.
      return (first[0] ?? 0) % 16 === 8 ? createInflate() : createInflateRaw();
  }
}

const undecodable = (cause?: unknown) => new HttpFailure("in_doubt", "undecodable", { cause });

type Chunks = AsyncIterable<Uint8Array>;

/** Returns a body without its codings. Holds a few chunks in memory, whatever the body decodes to. */
export function decoded(body: Chunks, codings: readonly Coding[]): Chunks {
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
        if (codedBytes > decodedBytes + OVERHEAD_BYTES_MAX) throw undecodable();
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
    throw failure ?? undecodable(error);
  } finally {
    decoder.destroy();
  }
}
