import type { NetworkData } from "./draft.ts";
import type { LegFailure, PrepareOutcome, Rejected, TryLater } from "./outcome.ts";
import type { LegToPublish } from "./network.ts";
import type { NetworkTools } from "./tools.ts";

const CARRY_ON_SECONDS = 1;

/** A file of a leg that is of no more use at the network. */
export interface Broken {
  readonly kind: "broken";
  readonly failure: LegFailure;
  /** Whether the same file would fail again. */
  readonly isFinal?: boolean;
}

/** What making a file came to; `file` is what there is of one that is to go on later. */
export type Made<File> = File | Failed<File>;
type Failed<File> = (TryLater & { readonly file?: File }) | Rejected | Broken;

export interface Making<File> {
  readonly leg: LegToPublish;
  readonly mediaIndex: number;
  /** What an earlier run made of this file. */
  readonly begun: File | undefined;
}

/** How a network makes the files of a leg, one after another: uploads, containers, photos that nobody sees yet. */
interface Uploads<Remote, File> {
  readonly filesOf: (remote: Remote) => readonly File[];
  readonly withFiles: (remote: Remote, files: readonly File[]) => Remote;
  /** How many files the leg needs. */
  readonly count: (leg: LegToPublish) => number;
  readonly make: (making: Making<File>, remote: Remote, tools: NetworkTools) => Promise<Made<File>>;
  /** Whether a file is complete; absent: as soon as it is made. */
  readonly isWhole?: (file: File) => boolean;
  /** How long one run makes files; absent: until all are there. */
  readonly runMs?: number;
  /** Returns the state to begin again from with these files; undefined where the leg may not. */
  readonly restart: (remote: Remote, files: readonly File[], now: Date) => Remote | undefined;
  /** When it begins again; absent: at once. */
  readonly restartSeconds?: number;
}

/** Returns the outcome of a leg that goes on with its files in a later run. */
export function processing<Remote extends NetworkData>(remote: Remote, pollAfterSeconds: number) {
  return { kind: "processing", remote, pollAfterSeconds } as const;
}

/** Returns the outcome of a leg whose files the network works on: it is asked after these seconds at the latest. */
export function polling<Remote extends NetworkData>(remote: Remote, secondsMax: number) {
  return { ...processing(remote, secondsMax), isPoll: true } as const;
}

/** The leg is not ready: what `prepare` returns. */
export type NotReady = Exclude<PrepareOutcome, { kind: "ready" }>;

/** Makes the files that are missing, one after another. */
export async function makeFiles<Remote extends NetworkData, File extends object | string>(
  uploads: Uploads<Remote, File>,
  { leg, remote }: { readonly leg: LegToPublish; readonly remote: Remote },
  tools: NetworkTools,
): Promise<{ readonly files: readonly File[] } | NotReady> {
  const { filesOf, withFiles, isWhole = () => true, runMs = Infinity } = uploads;
  const until = tools.now().getTime() + runMs;
  const before = filesOf(remote);
  let files = before;
  for (let mediaIndex = 0; mediaIndex < uploads.count(leg); mediaIndex += 1) {
    const begun = files[mediaIndex];
    if (begun !== undefined && isWhole(begun)) continue;
    const state = withFiles(remote, files);
    const isOver = files !== before && tools.now().getTime() >= until;
    if (isOver) return processing(state, CARRY_ON_SECONDS);
    const made = await uploads.make({ leg, mediaIndex, begun }, state, tools);
    if (isFailed(made))
      return failedAt(uploads, { remote, before, files, mediaIndex, failed: made }, tools);
    // Safe: what did not fail is a file.
    const file = made as File;
    files = [...files.slice(0, mediaIndex), file];
    if (!isWhole(file)) return processing(withFiles(remote, files), CARRY_ON_SECONDS);
  }
  return { files };
}

function isFailed<File extends object | string>(made: Made<File>): made is Failed<File> {
  return typeof made === "object" && "failure" in made;
}

interface FailedAt<Remote, File> {
  readonly remote: Remote;
  /** What there was before this run, and what there is now. */
  readonly before: readonly File[];
  readonly files: readonly File[];
  readonly mediaIndex: number;
  readonly failed: Failed<File>;
}

/** Returns the outcome of a leg of which a file could not be made. What was got is kept where another try may follow. */
function failedAt<Remote extends NetworkData, File>(
  uploads: Uploads<Remote, File>,
  { remote, before, files, mediaIndex, failed }: FailedAt<Remote, File>,
  tools: NetworkTools,
): NotReady {
  if (failed.kind === "rejected") return failed;
  if (failed.kind === "broken")
    return startAgain(uploads, { remote, files, mediaIndex, broken: failed }, tools);
  const { file, ...later } = failed;
  const kept = file === undefined ? files : [...files.slice(0, mediaIndex), file];
  return kept === before ? later : { ...later, remote: uploads.withFiles(remote, kept) };
}

/** How far a network is with a file. */
export type FileState = "ready" | "working" | Broken;

interface Polled {
  readonly isReady: boolean;
}

/** Asks once for each file that the network still works on. */
export async function pollFiles<Remote extends NetworkData, File extends Polled>(
  uploads: Uploads<Remote, File>,
  {
    remote,
    look,
  }: {
    readonly remote: Remote;
    readonly look: (file: File, mediaIndex: number) => Promise<FileState | TryLater | Rejected>;
  },
  tools: NetworkTools,
): Promise<{ readonly files: readonly File[] } | NotReady> {
  const before = uploads.filesOf(remote);
  const files: File[] = [];
  for (const [mediaIndex, file] of before.entries()) {
    const state = file.isReady ? "ready" : await look(file, mediaIndex);
    if (typeof state !== "string") {
      if (state.kind !== "broken") return state;
      return startAgain(uploads, { remote, files: before, mediaIndex, broken: state }, tools);
    }
    files.push({ ...file, isReady: state === "ready" });
  }
  return { files };
}

interface StartAgain<Remote, File> {
  readonly remote: Remote;
  readonly files: readonly File[];
  readonly mediaIndex: number;
  readonly broken: Broken;
}

/** Begins a file again that the network could not use; ends the leg where that was tried before. */
export function startAgain<Remote extends NetworkData, File>(
  { restart, restartSeconds = CARRY_ON_SECONDS }: StartsAgain<Remote, File>,
  { remote, files, mediaIndex, broken: { failure, isFinal } }: StartAgain<Remote, File>,
  tools: NetworkTools,
): NotReady {
  const again =
    isFinal === true ? undefined : restart(remote, files.slice(0, mediaIndex), tools.now());
  return again === undefined ? { kind: "rejected", failure } : processing(again, restartSeconds);
}

type StartsAgain<Remote, File> = Pick<Uploads<Remote, File>, "restart" | "restartSeconds">;
