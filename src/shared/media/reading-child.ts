import { MediaFailure, type MediaFacts } from "../networks/contract/media.ts";
import { BEGUN, type FileAnswer, type FileJob, type Piece } from "./file-job.ts";
import { frameHead, FrameReader, type Frame } from "./frames.ts";
import { fitBytes, loadImageLibrary, refuseUnreadable } from "./fit-bytes.ts";
import { factsOfSample, mediaTypeOf } from "./image-facts.ts";

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
} as const;

function cutFrom(pieces: readonly Piece[], { start, end }: Range): Uint8Array | undefined {
  const piece = pieces.find((one) => one.start <= start && end <= one.start + one.bytes.length);
  return piece?.bytes.subarray(start - piece.start, end - piece.start);
}

/** Returns the number when it is valid: the sums of a damaged table may not be. */
const valid = (value: number | null | undefined) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;

const loadLibrary = () => import("mediabunny");

/** Loads the video library. Rejects when the installation is broken. */
export function loadVideoLibrary(): Promise<unknown> {
  return loadLibrary();
}

/**
 * Reads a video's length and its frame as it is seen from some of its bytes, or returns which others are needed.
 * Unknown values are null. Hostile files may fill the memory or never end, so it runs in a process that can be stopped.
 */
export async function videoFacts(
  { size }: Pick<MediaFacts, "size">,
  pieces: readonly Piece[],
): Promise<FileAnswer> {
  const { CustomSource, Input, MATROSKA, MP4, QTFF, WEBM } = await loadLibrary();
  let missing: Range | undefined;
  const source = new CustomSource({
    getSize: () => size,
    read(start, end) {
      const wanted = { start, end: Math.min(end, size) };
      const bytes = cutFrom(pieces, wanted);
      if (bytes !== undefined) return bytes;
      missing ??= wanted;
      throw new RangeError("not there yet");
    },
    handleUnhandledError: () => undefined,
  });
  const input = new Input({ source, formats: [MP4, QTFF, MATROSKA, WEBM] });
  try {
    const durationSeconds = await input.getDurationFromMetadata();
    const track = await input.getPrimaryVideoTrack();
    const width = await track?.getDisplayWidth();
    const height = await track?.getDisplayHeight();
    if (missing === undefined)
      return {
        ...UNKNOWN,
        durationSeconds: valid(durationSeconds),
        width: valid(width),
        height: valid(height),
      };
  } catch {
    // Damaged, incomplete or of another type: a network may still take it.
  } finally {
    input.dispose();
  }
  return missing === undefined ? UNKNOWN : { kind: "missing", ...missing };
}

/** Longer images are not decoded here, since reading facts has to be fast. */
const DECODED_BYTES_MAX = 131_072;

type File = Pick<MediaFacts, "contentType" | "size">;

/**
 * Reads the facts of a file from some of its bytes, which include the first. Runs in a process that may be stopped.
 * @throws MediaFailure for an image that can't be decoded
 */
export async function factsOf(file: File, pieces: readonly Piece[]): Promise<FileAnswer> {
  if (!file.contentType.startsWith("image/")) return videoFacts(file, pieces);
  const sample = pieces.find(({ start }) => start === 0)?.bytes ?? new Uint8Array();
  const isWhole = sample.length === file.size && file.size <= DECODED_BYTES_MAX;
  await refuseUnreadable(sample, file.contentType, isWhole);
  const { width, height } = mediaTypeOf(sample);
  const image = factsOfSample({ ...file, width, height, durationSeconds: null }, sample);
  return { kind: "facts", width, height, durationSeconds: null, image };
}

/** The program of a reading process, and an entry of the build. Nothing else runs here, so it may block. */

interface Answer {
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

/** Loads a job's library. When that fails, the file is not the cause: the process ends before the job begins. */
async function loadFor(job: FileJob): Promise<void> {
  const isImage = job.kind === "fit" || job.contentType.startsWith("image/");
  try {
    await (isImage ? loadImageLibrary() : loadVideoLibrary());
  } catch {
    process.exit(1);
  }
  send(BEGUN);
}

async function workOn(job: FileJob, input: Buffer): Promise<Answer> {
  if (job.kind === "facts") {
    const { contentType, size, pieces } = job;
    return { answer: await factsOf({ contentType, size }, piecesOf(pieces, input)) };
  }
  const { bytes, isUntouched, ...fitted } = await fitBytes(input, job.target);
  const made = isUntouched ? null : bytes;
  return {
    answer: {
      kind: "fitted",
      ...fitted,
      repairs: [...fitted.repairs],
      bytes: made?.length ?? null,
    },
    bytes: made ?? undefined,
  };
}

/** Turns an error into a refusal of the file, the only input of the readers. */
function refusalOf(error: unknown): Answer {
  const refusal = error instanceof MediaFailure ? error : undefined;
  const message = (refusal?.message ?? "the file can't be read").slice(0, 500);
  return { answer: { kind: "refused", reason: refusal?.reason ?? "damaged", message } };
}

async function answer({ message, bytes: input }: Frame): Promise<void> {
  // Safe: its parent sends nothing else.
  const job = message as FileJob;
  await loadFor(job);
  const { answer: answered, bytes } = await workOn(job, input).catch(refusalOf);
  send(answered, bytes);
}

const jobs = new FrameReader({ messageMax: 1024 * 1024, bytesMax: 64 * 1024 * 1024 });
// Only its parent ends it: a signal to the process group must not interrupt a job that the parent awaits.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
// A read that is no longer awaited may still fail.
process.on("unhandledRejection", () => undefined);
process.stdout.on("error", () => undefined);
process.stdin.on("data", (chunk: Buffer) => {
  for (const frame of jobs.push(chunk)) void answer(frame);
});
process.stdin.on("close", () => process.kill(process.pid, "SIGKILL"));
