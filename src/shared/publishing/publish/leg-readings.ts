import type { ReadByFile } from "../../media/media-reader.ts";
import type { NetworkName } from "../../networks/lookup.ts";
import { MediaFailure } from "../../networks/contract/media.ts";
import { type Draft, legDraft } from "../post.ts";
import type { Leg, Readings } from "../leg.ts";

/** A file is not read again once this many readings in a row began and never ended. */
const UNENDED_READINGS_MAX = 2;
/** How long the end of a reading waits to be written, to be written together with the start of the next one. */
const REST_MS = 250;
/** A file that is none of the draft's media, such as the picture of a link card. */
const OTHER = "other";

/** What the notes need from the worker that has the leg. */
export interface LegWriter {
  /** Writes the leg with its present notes. Returns false when another worker has taken the leg. */
  save(): Promise<boolean>;
  readonly warn: (error: unknown) => void;
}

/**
 * Notes in the leg's row which files are being read. If a file crashes the process, its note stays. A worker that goes
 * on, or stops in order, removes the note however the reading ended.
 */
export class LegReadings {
  #counts: Readings;
  #stored: Readings;
  readonly #underWay = new Map<string, number>();
  #writer: LegWriter | undefined;
  #rest: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor({ readings }: Leg) {
    this.#counts = readings;
    this.#stored = readings;
  }

  get current(): Readings {
    return this.#counts;
  }

  /** Notes that a row with these notes was written. */
  noteStored(stored: Readings): void {
    this.#stored = stored;
  }

  /** Lets the start and end of a reading write the leg from now on. */
  attach(writer: LegWriter): void {
    this.#writer = writer;
  }

  /** Ends the writing of notes, because the leg has ended. */
  detach(): void {
    this.#writer = undefined;
    clearTimeout(this.#rest);
  }

  /** Writes the ends of all readings, because the worker is done with the leg for now. */
  async close(): Promise<void> {
    clearTimeout(this.#rest);
    await this.#save();
    this.detach();
  }

  /**
   * Removes the notes of open readings, because the process stops and the files are not the cause. Writes the leg at
   * once, so that its lease ends with the process.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const file of this.#underWay.keys()) this.#forget(file);
    try {
      await this.#writer?.save();
    } catch (error) {
      this.#writer?.warn(error);
    }
  }

  /** Runs a reading of a file, with a note of it in the leg's row. */
  async reading<T>(file: string, read: () => Promise<T>): Promise<T> {
    await this.#begin(file);
    try {
      return await read();
    } finally {
      this.#end(file);
    }
  }

  async #begin(file: string): Promise<void> {
    const others = this.#underWay.get(file) ?? 0;
    this.#underWay.set(file, others + 1);
    if (others > 0 || this.#isStopping) return;
    clearTimeout(this.#rest);
    const before = this.#stored[file] ?? 0;
    // The file is read again before its last note was removed from the row.
    const isNoted = (this.#counts[file] ?? 0) < before;
    this.#counts = { ...this.#counts, [file]: isNoted ? before : before + 1 };
    if (!isNoted && !(await this.#save())) {
      this.#end(file);
      throw new MediaFailure("media_unreachable", "another worker has taken the leg");
    }
  }

  #end(file: string): void {
    const others = (this.#underWay.get(file) ?? 1) - 1;
    if (others > 0) {
      this.#underWay.set(file, others);
      return;
    }
    this.#underWay.delete(file);
    this.#forget(file);
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => void this.#save(), REST_MS);
  }

  #forget(file: string): void {
    const { [file]: _ended, ...others } = this.#counts;
    this.#counts = others;
  }

  async #save(): Promise<boolean> {
    const writer = this.#writer;
    if (writer === undefined || this.#counts === this.#stored) return writer !== undefined;
    try {
      return await writer.save();
    } catch (error) {
      writer.warn(error);
      return false;
    }
  }
}

/** Returns the file that crashed its readers, by its index in the draft (null: none of its media), if there is one. */
export function fatalFile({ readings, sentAt }: Leg): { mediaIndex: number | null } | undefined {
  if (sentAt !== null) return undefined;
  const found = Object.entries(readings).find(
    ([, begun]) => begun !== undefined && begun >= UNENDED_READINGS_MAX,
  );
  if (found === undefined) return undefined;
  return { mediaIndex: found[0] === OTHER ? null : Number(found[0]) };
}

/** Returns a reader that notes every reading of the leg's files. */
export function notingReadings(
  readings: LegReadings,
  { owner, draft, network }: { owner: string; draft: Draft; network: NetworkName },
): ReadByFile {
  const { media } = legDraft(draft, network);
  return (reader, url) => {
    const index = media.findIndex((item) => item.url === url);
    const file = index < 0 ? OTHER : String(index);
    return {
      owner,
      reader: {
        facts: (by, opened, pieces) =>
          readings.reading(file, () => reader.facts(by, opened, pieces)),
        fit: (by, image, target) => readings.reading(file, () => reader.fit(by, image, target)),
      },
    };
  };
}
