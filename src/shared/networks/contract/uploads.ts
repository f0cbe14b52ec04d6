import type { NetworkData } from "./draft.ts";
import type { LegFailure, PrepareOutcome, Rejection, TryLater } from "./outcome.ts";
import type { OwnLeg } from "./state.ts";
import type { NetworkTools } from "./tools.ts";

const CARRY_ON_SECONDS = 1;

/** A file of a leg that the network can't use any more. */
export interface Broken {
  readonly kind: "broken";
  readonly failure: LegFailure;
  /** Whether the same file would fail again. */
  readonly isFinal?: boolean;
}

/** The result of making a file. `file` is the state of one that continues later. */
export type MadeFile<File> = File | FileFailure<File>;
type FileFailure<File> = (TryLater & { readonly file?: File }) | Rejection | Broken;

export interface Making<File> {
  readonly mediaIndex: number;
  /** What an earlier run made of it. */
  readonly begun: File | undefined;
  /** Stores the file as far as it is made, for the next worker. Returns false when that one has the leg already. */
  readonly keep: (file: File) => Promise<boolean>;
}

type AnyLeg = Pick<OwnLeg<unknown, NetworkData>, "remote" | "tools">;

/** How a network makes the files of a leg, one after another: uploads, containers, photos that are not visible yet. */
interface Uploads<Leg extends AnyLeg, File> {
  readonly filesOf: (remote: Leg["remote"]) => readonly File[];
  readonly withFiles: (remote: Leg["remote"], files: readonly File[]) => Leg["remote"];
  readonly count: (leg: Leg) => number;
  readonly make: (leg: Leg, making: Making<File>) => Promise<MadeFile<File>>;
  /** Reports whether a file is complete. By default it is as soon as it is made. */
  readonly isWhole?: (file: File) => boolean;
  /** How long one run makes files. By default until all exist. */
  readonly runMs?: number;
  /** Returns the state to begin again from with these files, or undefined when the leg may not. */
  readonly restart: (leg: Leg, files: readonly File[]) => Leg["remote"] | undefined;
  /** When it begins again. The default is immediately. */
  readonly restartSeconds?: number;
}

/** Returns the outcome of a leg that continues with its files in a later run. */
export function processing<Remote extends NetworkData>(remote: Remote, pollAfterSeconds: number) {
  return { kind: "processing", remote, pollAfterSeconds } as const;
}

/** Returns the outcome of a leg whose files the network works on. It is asked again after at most these seconds. */
export function polling<Remote extends NetworkData>(remote: Remote, secondsMax: number) {
  return { ...processing(remote, secondsMax), isPoll: true } as const;
}

/** Returns the seconds until a file is looked at again that the network has: soon at first, then ever less often. */
export function lessAndLess(since: string, tools: NetworkTools): number {
  const ageSeconds = (tools.now().getTime() - Date.parse(since)) / 1000;
  return Math.min(Math.max(Math.round(ageSeconds / 4), 3), 60);
}

/** The leg is not ready. `prepare` returns this. */
export type NotReady = Exclude<PrepareOutcome, { kind: "ready" }>;

/** Makes the missing files, one after another. */
export async function makeFiles<Leg extends AnyLeg, File extends object | string>(
  uploads: Uploads<Leg, File>,
  leg: Leg,
): Promise<{ readonly files: readonly File[] } | NotReady> {
  const { filesOf, withFiles, isWhole = () => true, runMs = Infinity } = uploads;
  const { remote, tools } = leg;
  const until = tools.now().getTime() + runMs;
  const before = filesOf(remote);
  let files = before;
  for (let mediaIndex = 0; mediaIndex < uploads.count(leg); mediaIndex += 1) {
    const begun = files[mediaIndex];
    if (begun !== undefined && isWhole(begun)) continue;
    const state = withFiles(remote, files);
    const isOver = files !== before && tools.now().getTime() >= until;
    if (isOver) return processing(state, CARRY_ON_SECONDS);
    const finished = files.slice(0, mediaIndex);
    const keep = async (file: File) =>
      (await tools.keepRemote?.(withFiles(remote, [...finished, file]))) ?? true;
    const made = await uploads.make({ ...leg, remote: state }, { mediaIndex, begun, keep });
    if (isFailed(made)) return failedAt(uploads, leg, { before, files, mediaIndex, failed: made });
    // Safe: a result without a failure is a file.
    const file = made as File;
    files = [...finished, file];
    if (!isWhole(file)) return processing(withFiles(remote, files), CARRY_ON_SECONDS);
  }
  return { files };
}

function isFailed<File extends object | string>(made: MadeFile<File>): made is FileFailure<File> {
  return typeof made === "object" && "failure" in made;
}

interface FailedAt<File> {
  /** The files before this run, and the present ones. */
  readonly before: readonly File[];
  readonly files: readonly File[];
  readonly mediaIndex: number;
  readonly failed: FileFailure<File>;
}

/** Returns the outcome of a leg with a file that failed. Finished files are kept if another try may follow. */
function failedAt<Leg extends AnyLeg, File>(
  uploads: Uploads<Leg, File>,
  leg: Leg,
  { before, files, mediaIndex, failed }: FailedAt<File>,
): NotReady {
  if (failed.kind === "rejected") return failed;
  const made = files.slice(0, mediaIndex);
  if (failed.kind === "broken") return startAgain(uploads, leg, failed, made);
  const { file, ...later } = failed;
  const kept = file === undefined ? files : [...made, file];
  return kept === before ? later : { ...later, remote: uploads.withFiles(leg.remote, kept) };
}

/** A network's progress with a file. */
export type FileState = "ready" | "working" | Broken;

interface PolledFile {
  readonly isReady: boolean;
}

/** Asks once about each file that the network still works on. */
export async function pollFiles<Leg extends AnyLeg, File extends PolledFile>(
  uploads: Uploads<Leg, File>,
  leg: Leg,
  look: (file: File, mediaIndex: number) => Promise<FileState | TryLater | Rejection>,
): Promise<{ readonly files: readonly File[] } | NotReady> {
  const before = uploads.filesOf(leg.remote);
  const files: File[] = [];
  for (const [mediaIndex, file] of before.entries()) {
    const state = file.isReady ? "ready" : await look(file, mediaIndex);
    if (typeof state !== "string")
      return state.kind === "broken"
        ? startAgain(uploads, leg, state, before.slice(0, mediaIndex))
        : state;
    files.push({ ...file, isReady: state === "ready" });
  }
  return { files };
}

/** Begins a file again that the network could not use. Ends the leg if that was tried before. */
export function startAgain<Leg extends AnyLeg, File>(
  { restart, restartSeconds = CARRY_ON_SECONDS }: Uploads<Leg, File>,
  leg: Leg,
  { failure, isFinal = false }: Broken,
  made: readonly File[],
): NotReady {
  const again = isFinal ? undefined : restart(leg, made);
  return again === undefined ? { kind: "rejected", failure } : processing(again, restartSeconds);
}
