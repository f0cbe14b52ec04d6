import type { ReadByFile } from "../../media/media-reader.ts";
import type { NetworkName } from "../../networks/lookup.ts";
import { MediaFailure } from "../../networks/contract/media.ts";
import { type Draft, legDraft } from "../post.ts";
import type { Leg, Readings } from "../leg.ts";

/** A file whose reading was begun this often in a row and never ended is not read again. */
const UNENDED_READINGS_MAX = 2;
/** What follows at once on the end of a reading, the reading of the next file as a rule, is written along with it. */
const REST_MS = 250;
/** A file that is none of the draft's media, such as the picture of a link card. */
const OTHER = "other";

/** What notes need of the worker that has the leg. */
export interface LegInHand {
  /** Writes the leg with its notes as they are now; false when another worker took it meanwhile. */
  save(): Promise<boolean>;
  readonly warn: (error: unknown) => void;
}

/**
 * Notes in the leg's row which files are being read. A file that ends the process that works on the leg leaves a note
 * behind; a worker that lives on, or is told to stop, takes its note away however the reading ended.
 */
export class LegReadings {
  #counts: Readings;
  #stored: Readings;
  readonly #open = new Map<string, number>();
  #inHand: LegInHand | undefined;
  #rest: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor({ readings }: Leg) {
    this.#counts = readings;
    this.#stored = readings;
  }

  /** The notes that the leg's next row has to carry. */
  get current(): Readings {
    return this.#counts;
  }

  /** To be called when a row with `current` in it was written. */
  noteStored(stored: Readings): void {
    this.#stored = stored;
  }

  /** From now on the leg may be written whenever a reading begins or ends. */
  open(inHand: LegInHand): void {
    this.#inHand = inHand;
  }

  /** The leg has ended, and its notes with it. */
  leave(): void {
    this.#inHand = undefined;
    clearTimeout(this.#rest);
  }

  /** The worker is done with the leg for now, in whatever way: what it has read has ended. */
  async close(): Promise<void> {
    clearTimeout(this.#rest);
    await this.#save();
    this.leave();
  }

  /** The process stops: what it breaks off now is not the file's doing. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const file of this.#open.keys()) this.#forget(file);
    await this.#save();
  }

  /** Does what reads a file, with a note of it in the leg's row. */
  async reading<T>(file: string, read: () => Promise<T>): Promise<T> {
    await this.#begin(file);
    try {
      return await read();
    } finally {
      this.#end(file);
    }
  }

  async #begin(file: string): Promise<void> {
    const others = this.#open.get(file) ?? 0;
    this.#open.set(file, others + 1);
    if (others > 0 || this.#isStopping) return;
    clearTimeout(this.#rest);
    const before = this.#stored[file] ?? 0;
    // Read again at once: the note of the last time still stands.
    const isNoted = (this.#counts[file] ?? 0) < before;
    this.#counts = { ...this.#counts, [file]: isNoted ? before : before + 1 };
    if (!isNoted && !(await this.#save())) {
      this.#end(file);
      throw new MediaFailure("media_unreachable", "another worker has taken the leg");
    }
  }

  #end(file: string): void {
    const others = (this.#open.get(file) ?? 1) - 1;
    if (others > 0) {
      this.#open.set(file, others);
      return;
    }
    this.#open.delete(file);
    this.#forget(file);
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => void this.#save(), REST_MS);
  }

  #forget(file: string): void {
    const { [file]: _ended, ...others } = this.#counts;
    this.#counts = others;
  }

  async #save(): Promise<boolean> {
    const inHand = this.#inHand;
    if (inHand === undefined || this.#counts === this.#stored) return inHand !== undefined;
    try {
      return await inHand.save();
    } catch (error) {
      inHand.warn(error);
      return false;
    }
  }
}

/** The file that ended its readers, by its place in the draft (null: none of its media), if there is one. */
export function fatalFile({ readings, sentAt }: Leg): { mediaIndex: number | null } | undefined {
  if (sentAt !== null) return undefined;
  const found = Object.entries(readings).find(
    ([, begun]) => begun !== undefined && begun >= UNENDED_READINGS_MAX,
  );
  if (found === undefined) return undefined;
  return { mediaIndex: found[0] === OTHER ? null : Number(found[0]) };
}

/** Has every reading of a leg's files noted. */
export function notingReadings(
  readings: LegReadings,
  { owner, draft, network }: { owner: string; draft: Draft; network: NetworkName },
): ReadByFile {
  const { media } = legDraft(draft, network);
  return (reader, url) => {
    const place = media.findIndex((item) => item.url === url);
    const file = place < 0 ? OTHER : String(place);
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
