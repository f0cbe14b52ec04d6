import { MediaFailure } from "../networks/media.ts";
import { BEGUN, type FileAnswer, type FileJob, type Piece } from "./file-job.ts";
import { fitBytes, loadImageLibrary } from "./fit-bytes.ts";
import { factsOf } from "./file-facts.ts";
import { loadVideoLibrary } from "./video-facts.ts";

/** Entry point of a reading process: an entry point of the build, too. Nothing else runs here, so it may block. */

interface Answer {
  readonly answer: FileAnswer;
  readonly bytes?: Uint8Array | undefined;
}

/** The bytes that a job announced, and nothing of the next. */
async function takeInput(length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    // Safe: a stream of bytes without an encoding gives out buffers.
    const chunk = process.stdin.read(Math.min(length - filled, 65_536)) as Buffer | null;
    const rest = chunk ?? (process.stdin.read() as Buffer | null);
    if (rest === null) await new Promise((resolve) => process.stdin.once("readable", resolve));
    else {
      bytes.set(rest, filled);
      filled += rest.length;
    }
  }
  return bytes;
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

/** What a job takes. Where it is not there, no file is at fault: the process ends without having begun. */
async function loadFor(job: FileJob): Promise<void> {
  const isImage = job.kind === "fit" || job.contentType.startsWith("image/");
  try {
    await (isImage ? loadImageLibrary() : loadVideoLibrary());
  } catch {
    process.exit(1);
  }
  process.send?.(BEGUN);
}

async function workOn(job: FileJob): Promise<Answer> {
  const input = await takeInput(job.bytes);
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

/** Whatever the readers stumble over is in the file: they are given nothing else. */
function refusalOf(error: unknown): Answer {
  const refusal = error instanceof MediaFailure ? error : undefined;
  const message = (refusal?.message ?? "the file can't be read").slice(0, 500);
  return { answer: { kind: "refused", reason: refusal?.reason ?? "damaged", message } };
}

async function answer(job: FileJob): Promise<void> {
  await loadFor(job);
  const { answer: answered, bytes } = await workOn(job).catch(refusalOf);
  process.send?.(answered);
  if (bytes !== undefined) process.stdout.write(bytes);
}

// Only its parent ends it: a signal to the whole group must not break off what the parent still waits for.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
// A read that nobody waits for any more may still fail.
process.on("unhandledRejection", () => undefined);
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
process.on("message", (job: FileJob) => void answer(job));
