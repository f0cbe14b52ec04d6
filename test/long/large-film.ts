import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request as openRequest } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { noise } from "../media/pictures.ts";

const CLIP = readFileSync(new URL("../../sandbox/media/clip.mp4", import.meta.url));
const BLOCK = noise(1_000_000);

/** The boxes of the clip: its type, its index (`moov`), and its pictures and sound (`mdat`), which come last. */
const INDEX_AT = 32;
const INDEX_BYTES = CLIP.readUInt32BE(INDEX_AT);
const CONTENT_AT = CLIP.indexOf("mdat") - 4;

/** A film of four seconds whose content is followed by noise: as long as is asked for, and nobody has it in memory. */
export interface LargeFilm {
  readonly bytes: number;
  readonly sha256: string;
  chunks(): Iterable<Buffer>;
}

export function largeFilm(bytes: number, index: "first" | "last"): LargeFilm {
  const start = Buffer.from(CLIP);
  const movie = Buffer.from(CLIP.subarray(INDEX_AT, INDEX_AT + INDEX_BYTES));
  // The index says where in the file each picture is, so what stands in its place has its length.
  if (index === "last") start.write("free", INDEX_AT + 4);
  const end = index === "last" ? movie : Buffer.alloc(0);
  const noiseBytes = bytes - start.length - end.length;
  start.writeUInt32BE(start.length - CONTENT_AT + noiseBytes, CONTENT_AT);
  const chunks = function* () {
    yield start;
    for (let left = noiseBytes; left > 0; left -= BLOCK.length)
      yield left < BLOCK.length ? BLOCK.subarray(0, left) : BLOCK;
    yield end;
  };
  const hash = createHash("sha256");
  for (const chunk of chunks()) hash.update(chunk);
  return { bytes, sha256: hash.digest("hex"), chunks };
}

/** Sends a film to the address of an announced file, with the length that storage wants to know. */
export async function sendFilm(
  { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  film: LargeFilm,
): Promise<number | undefined> {
  const sent = openRequest(url, {
    method: "PUT",
    headers: { ...headers, "content-length": film.bytes },
  });
  const answered = once(sent, "response");
  await pipeline(Readable.from(film.chunks(), { objectMode: false }), sent);
  const [answer] = await answered;
  answer.resume();
  return answer.statusCode;
}
