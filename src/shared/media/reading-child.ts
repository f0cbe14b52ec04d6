import { MediaFailure, type MediaFacts } from "../networks/contract/media.ts";
import { contentTypeOf } from "./content-type.ts";
import { BEGUN, type FileAnswer, type FileJob, type Piece } from "./file-job.ts";
import { filmFacts } from "./film-facts.ts";
import { filmSeconds } from "./film-length.ts";
import { frameHead, FrameReader, type Frame } from "./frames.ts";
import { fitBytes, loadImageLibrary, readImage } from "./fit-bytes.ts";
import { isHeif, loadHeifLibrary } from "./heif-picture.ts";

interface Range {
  readonly start: number;
  readonly end: number;
}

const UNKNOWN = {
  kind: "facts",
  width: null,
  height: null,
  durationSeconds: null,
  image: null,
  film: null,
} as const;

function cutFrom(pieces: readonly Piece[], { start, end }: Range): Uint8Array | undefined {
  const piece = pieces.find((one) => one.start <= start && end <= one.start + one.bytes.length);
  return piece?.bytes.subarray(start - piece.start, end - piece.start);
}

/** Returns a damaged file may have invalid sums, so only finite numbers from 0 on are accepted. */
const valid = (value: number | null | undefined) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;

const loadMediabunny = () => import("mediabunny");

export function loadVideoLibrary(): Promise<unknown> {
  return loadMediabunny();
}

const loadPages = () => import("./page-card.ts");

const NO_HEAD = new Uint8Array();
/** The box that names the type of a QuickTime file. */
const QUICKTIME_HEAD = Buffer.from("\0\0\0\x14ftypqt  \0\0\0\0qt  ", "latin1");

/** Returns the library expects this at the beginning of a QuickTime file, although the format doesn't require it. */
function missingHead(pieces: readonly Piece[]): Uint8Array {
  const first = cutFrom(pieces, { start: 0, end: 8 }) ?? NO_HEAD;
  return Buffer.from(first).toString("latin1", 4) === "ftyp" ? NO_HEAD : QUICKTIME_HEAD;
}

/** Types whose length is read from their boxes. */
const BOXED: ReadonlySet<string> = new Set(
  "video/mp4 video/quicktime video/3gpp video/3gpp2 audio/mp4".split(" "),
);

/**
 * Maximum number of pieces that are read for a video's facts. Usual files need a few hundred. The pieces are counted
 * because a limit of time or memory would give another result at each reading.
 */
const READS_MAX = 50_000;

/**
 * Reads the length and visible frame size of a video from some of its bytes, or returns which others are needed.
 * Unknown values are null. A hostile file may fill the memory or never end: run this in a process that can be stopped.
 * @throws MediaFailure for a file with too many pieces
 */
export async function videoFacts(
  { contentType, size }: Pick<MediaFacts, "contentType" | "size">,
  pieces: readonly Piece[],
): Promise<FileAnswer> {
  const { CustomSource, Input, MATROSKA, MP4, QTFF, WEBM } = await loadMediabunny();
  let missing: Range | undefined;
  let reads = 0;
  const head = contentType === "video/quicktime" ? missingHead(pieces) : NO_HEAD;
  const source = new CustomSource({
    getSize: () => size + head.length,
    // Everything is in memory. A cache would have an entry per piece, which takes more memory than the file.
    maxCacheSize: 0,
    read(start, end) {
      reads += 1;
      if (reads > READS_MAX) throw new RangeError("too many pieces");
      const at = Math.max(0, start - head.length);
      const wanted = { start: at, end: Math.min(end - head.length, size) };
      const isInHead = wanted.end <= at;
      const bytes = isInHead ? NO_HEAD : cutFrom(pieces, wanted);
      if (bytes !== undefined)
        return start < head.length ? Buffer.concat([head, bytes]).subarray(start, end) : bytes;
      missing ??= wanted;
      throw new RangeError("not there yet");
    },
    handleUnhandledError: () => undefined,
  });
  const readFilm = (start: number, end: number) => {
    reads += 1;
    if (reads > READS_MAX) throw new RangeError("too many pieces");
    const bytes = cutFrom(pieces, { start, end });
    if (bytes !== undefined) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    missing ??= { start, end };
    throw new RangeError("not there yet");
  };
  const input = new Input({ source, formats: [MP4, QTFF, MATROSKA, WEBM] });
  // On its own, because the library reads no encrypted film.
  let film: Extract<FileAnswer, { kind: "facts" }>["film"] = null;
  try {
    const found = BOXED.has(contentType) ? filmFacts(size, readFilm) : null;
    if (found !== null)
      film = { ...found, frameRate: valid(found.frameRate), bitRate: valid(found.bitRate) };
  } catch {
    // Bytes are missing, or its tables lead out of it.
  }
  try {
    const track = await input.getPrimaryVideoTrack();
    const [width, height] = [await track?.getDisplayWidth(), await track?.getDisplayHeight()];
    const isBoxed = BOXED.has(contentType);
    // This expands the tables of samples as players do, so that a film whose tables fill the memory is refused.
    const stated = await input.getDurationFromMetadata();
    const seconds = isBoxed ? filmSeconds(size, readFilm) : stated;
    if (missing === undefined)
      return {
        ...UNKNOWN,
        film,
        durationSeconds: valid(seconds),
        width: valid(width),
        height: valid(height),
      };
  } catch {
    // The file is damaged, incomplete or of another type. A network may still accept it.
  } finally {
    input.dispose();
  }
  if (reads > READS_MAX)
    throw new MediaFailure("media_rejected", "many pieces", { reason: "time" });
  return missing === undefined ? { ...UNKNOWN, film } : { kind: "missing", ...missing };
}

/** Maximum size of an image that is read as a whole for its facts. */
const WHOLE_BYTES_MAX = 8 * 1024 * 1024;

type FactsJob = Pick<Extract<FileJob, { kind: "facts" }>, "contentType" | "size" | "isThorough">;

/**
 * Reads the facts of a file from some of its bytes, including the first, or returns which other bytes are needed. This
 * runs in a process that may be stopped.
 * @throws MediaFailure for an image that can't be decoded
 */
export async function factsOf(job: FactsJob, pieces: readonly Piece[]): Promise<FileAnswer> {
  const { contentType, size } = job;
  if (!contentType.startsWith("image/")) return videoFacts(job, pieces);
  const bytes = pieces.find(({ start }) => start === 0)?.bytes ?? new Uint8Array();
  const image = await readImage(job, bytes);
  if (bytes.length < size && size <= WHOLE_BYTES_MAX && job.isThorough)
    return { kind: "missing", start: bytes.length, end: size };
  const [width, height] = [image.width || null, image.height || null];
  return { kind: "facts", width, height, durationSeconds: null, image, film: null };
}

/** The program of a reading process, and an entry of the build. Nothing else runs here, so it may block. */

interface ReadingAnswer {
  readonly answer: FileAnswer;
  readonly bytes?: Uint8Array | undefined;
}

function piecesOf(
  lengths: readonly { readonly start: number; readonly length: number }[],
  bytes: Buffer,
): readonly Piece[] {
  let at = 0;
  return lengths.map(({ start, length }) => {
    const piece = { start, bytes: bytes.subarray(at, at + length) };
    at += length;
    return piece;
  });
}

function send(message: unknown, bytes: Uint8Array = new Uint8Array()): void {
  process.stdout.write(frameHead(message, bytes.length));
  process.stdout.write(bytes);
}

async function workOn(job: FileJob, input: Buffer): Promise<ReadingAnswer> {
  if (job.kind === "facts") return { answer: await factsOf(job, piecesOf(job.pieces, input)) };
  if (job.kind === "page") {
    const { readPageCard } = await loadPages();
    const { card = null, next = null } = readPageCard({ ...job, body: input });
    return {
      answer: {
        kind: "page",
        card: card === null ? null : { ...card, imageUrls: [...card.imageUrls] },
        next,
      },
    };
  }
  const { bytes, ...fitted } = await fitBytes(input, job.target);
  const made = bytes === input ? undefined : bytes;
  const stated = { repairs: [...fitted.repairs], bytes: made?.length ?? null };
  return { answer: { kind: "fitted", ...fitted, ...stated }, bytes: made };
}

/** Turns an error into a refusal of the file, because the readers have no other input. */
function readingRefusal(error: unknown): ReadingAnswer {
  const refusal = error instanceof MediaFailure ? error : undefined;
  const message = (refusal?.message ?? "the file can't be read").slice(0, 500);
  return { answer: { kind: "refused", reason: refusal?.reason ?? "damaged", message } };
}

async function answerJob({ message, bytes: input }: Frame): Promise<void> {
  // Safe: the parent sends nothing else.
  const job = message as FileJob;
  // Loads a job's library. When that fails, the process ends before the job begins and the file isn't blamed.
  const isImage = job.kind === "fit" || job.contentType.startsWith("image/");
  try {
    if (job.kind === "page") await loadPages();
    else await (isImage ? loadImageLibrary() : loadVideoLibrary());
    const contentType = job.kind === "fit" ? contentTypeOf(input) : job.contentType;
    if (isHeif(contentType)) await loadHeifLibrary();
  } catch {
    process.exit(1);
  }
  send(BEGUN);
  const { answer: answered, bytes } = await workOn(job, input).catch(readingRefusal);
  send(answered, bytes);
}

const jobs = new FrameReader({ messageMax: 1024 * 1024, bytesMax: 64 * 1024 * 1024 });
// Only the parent ends this process. A signal to the process group must not interrupt a job that the parent awaits.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
// A read that nothing awaits any more may still fail.
process.on("unhandledRejection", () => undefined);
process.stdout.on("error", () => undefined);
process.stdin.on("data", (chunk: Buffer) => {
  for (const frame of jobs.push(chunk)) void answerJob(frame);
});
process.stdin.on("close", () => process.kill(process.pid, "SIGKILL"));
