import {
  type FittedImage,
  type ImageTarget,
  type MediaFacts,
  IMAGE_SOURCE_BYTES_MAX,
} from "../networks/contract/media.ts";
import type { WebPage, ReadPage } from "../networks/contract/page-card.ts";
import { unreachable } from "../networks/contract/unreachable.ts";
import { mediaRefusal } from "./media-request.ts";
import { FairLimit } from "../runtime/fair-limit.ts";
import type { FileAnswer, FileJob, ImageFacts, Piece } from "./file-job.ts";
import { ReadingProcess, type Reading, type ReadingLimits } from "./reading-process.ts";

/** Facts that the bytes of a file show. */
export interface FileFacts extends Pick<
  MediaFacts,
  "width" | "height" | "durationSeconds" | "film"
> {
  readonly image: ImageFacts | null;
  /** Set for a film in boxes without an index. A network may still accept it, but nobody could play it. */
  readonly isUnreadable?: true;
}

/** `usedMs` is the CPU time of this reading, since one limit holds for all readings of a file. */
export type FactsAnswer = { readonly usedMs: number } & (
  | { readonly kind: "facts"; readonly facts: FileFacts }
  | { readonly kind: "missing"; readonly start: number; readonly end: number }
);

/** The bytes of a file that are in memory, and the CPU time that its earlier readings used. */
export interface FileSoFar {
  readonly pieces: readonly Piece[];
  readonly usedMs: number;
  /** Whether the whole image is wanted. By default, its first bytes suffice. */
  readonly isThorough?: boolean;
}

/** Reads files in isolation. `owner` is the file's owner, so that owners share the readers fairly. */
export interface MediaReader {
  /** Returns the facts of a file, or which bytes are missing to read them. @throws MediaFailure */
  facts(
    owner: string,
    file: Pick<MediaFacts, "contentType" | "size">,
    soFar: FileSoFar,
  ): Promise<FactsAnswer>;
  /** Makes a whole image fit. @throws MediaFailure */
  fit(owner: string, image: WholeImage, target: ImageTarget): Promise<FittedImage>;
  /** Reads what a web page says of itself. @throws MediaFailure */
  page(owner: string, page: WebPage): Promise<ReadPage>;
}

export interface WholeImage extends Pick<MediaFacts, "contentType" | "width" | "height"> {
  readonly bytes: Uint8Array;
}

export interface ReadBy {
  readonly reader: MediaReader;
  readonly owner: string;
}

const MEGABYTE = 1024 * 1024;

export const FACTS_LIMITS: ReadingLimits = {
  cpuMs: 3_000,
  residentBytes: 256 * MEGABYTE,
  answerBytes: 0,
};
export const FIT_LIMITS: ReadingLimits = {
  cpuMs: 20_000,
  residentBytes: 640 * MEGABYTE,
  answerBytes: IMAGE_SOURCE_BYTES_MAX,
};

/** Reading facts is fast. Publishing and validation share these slots. */
const factsLimit = new FairLimit({ capacity: 3, perOwner: 2, waitingMax: 256 });
/** In units of a light image. The total is well below the memory of the smallest instance. */
const fitLimit = new FairLimit({ capacity: 4, perOwner: 3, waitingMax: 64 });
const LIGHT = 1;
const HEAVY = 2;
const LIGHT_PIXELS_MAX = 16_000_000;
const LIGHT_RESIDENT_BYTES = 400 * MEGABYTE;
/** The decoder of this type holds several copies of an image: 630 MB for 30 megapixels. */
const HUNGRY_TYPE = "image/avif";
const HUNGRY_PIXELS_MAX = 8_000_000;
const HUNGRIEST = 3;

const IDLE_MS = 30_000;
/** A process that died may have been killed because the machine ran out of memory, so its file gets a second try. */
const ATTEMPTS_MAX = 2;

interface Idle {
  readonly process: ReadingProcess;
  readonly timer: NodeJS.Timeout;
}

/** The processes that read files. They are started on demand, used again, and ended when idle. */
class ReadingProcesses {
  readonly #idle: Idle[] = [];

  async run(job: FileJob, input: readonly Uint8Array[], limits: ReadingLimits): Promise<Reading> {
    for (let attempt = 1; ; attempt += 1) {
      const process = this.#take();
      if (process === undefined) return { kind: "unavailable" };
      const reading = await process.run(job, input, limits);
      this.#keep(process);
      if (reading.kind !== "died" || attempt >= ATTEMPTS_MAX) return reading;
    }
  }

  /** Takes an idle process or starts one. Undefined when none can be started. */
  #take(): ReadingProcess | undefined {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      clearTimeout(idle.timer);
      if (idle.process.isUsable) return idle.process;
    }
    try {
      return new ReadingProcess();
    } catch {
      return undefined;
    }
  }

  #keep(process: ReadingProcess): void {
    if (!process.isUsable) return;
    const timer = setTimeout(() => {
      const index = this.#idle.findIndex((idle) => idle.process === process);
      if (index >= 0) this.#idle.splice(index, 1);
      process.stop();
    }, IDLE_MS).unref();
    this.#idle.push({ process, timer });
  }
}

/** One set for the whole process, because each reading process costs memory and a core. */
const processes = new ReadingProcesses();

const busy = () => unreachable("busy");

async function readInSlot(
  slots: FairLimit,
  { owner, weight }: { readonly owner: string; readonly weight: number },
  ask: () => Promise<Reading>,
): Promise<Omit<Extract<Reading, { kind: "answered" }>, "kind">> {
  const reading = (await slots.run(owner, weight, ask))?.result;
  switch (reading?.kind) {
    case undefined:
    case "unavailable":
      throw busy();
    case "stopped":
      throw mediaRefusal(reading.reason, `its reading was stopped: ${reading.reason}`);
    case "died":
      if (!reading.hasBegun) throw busy();
      throw mediaRefusal("crash", `its reading ended: ${reading.signal ?? "exit"}`);
    case "answered":
  }
  const { answer, bytes, usedMs } = reading;
  if (answer.kind === "refused") throw mediaRefusal(answer.reason, answer.message);
  return { answer, bytes, usedMs };
}

const unexpected = (answer: FileAnswer) => new Error(`a reading process answered ${answer.kind}`);

/** Makes a reader that works in child processes, with limits of memory and CPU time for each job. */
export function createMediaReader(limits: {
  readonly facts: ReadingLimits;
  readonly fit: ReadingLimits;
}): MediaReader {
  return {
    async facts(owner, { contentType, size }, { pieces, usedMs: before, isThorough = false }) {
      const cpuMs = limits.facts.cpuMs - before;
      if (cpuMs <= 0) throw mediaRefusal("time", "its readings were stopped: time");
      const parts = pieces.map(({ start, bytes }) => ({ start, length: bytes.length }));
      const input = pieces.map(({ bytes }) => bytes);
      const job: FileJob = { kind: "facts", contentType, size, pieces: parts, isThorough };
      const { answer, usedMs } = await readInSlot(factsLimit, { owner, weight: LIGHT }, () =>
        processes.run(job, input, { ...limits.facts, cpuMs }),
      );
      if (answer.kind === "missing") return { ...answer, usedMs };
      if (answer.kind !== "facts") throw unexpected(answer);
      const { width, height, durationSeconds, image, film } = answer;
      const facts = { width, height, durationSeconds, image, ...(film === null ? {} : { film }) };
      return { kind: "facts", facts, usedMs };
    },

    async fit(owner, image, target) {
      const { bytes } = image;
      const job: FileJob = { kind: "fit", target };
      const weight = pixelWeight(image);
      // By the size that the server stated. An image that is heavier must not use the memory of others.
      const residentBytes = weight === LIGHT ? LIGHT_RESIDENT_BYTES : limits.fit.residentBytes;
      const { answer, bytes: made } = await readInSlot(fitLimit, { owner, weight }, () =>
        processes.run(job, [bytes], { ...limits.fit, residentBytes }),
      );
      if (answer.kind !== "fitted") throw unexpected(answer);
      const { contentType, width, height, repairs } = answer;
      return { bytes: made ?? bytes, contentType, width, height, repairs };
    },

    async page(owner, { url, contentType, body }) {
      const job: FileJob = { kind: "page", url, contentType };
      const { answer } = await readInSlot(factsLimit, { owner, weight: LIGHT }, () =>
        processes.run(job, [body], limits.facts),
      );
      if (answer.kind !== "page") throw unexpected(answer);
      const { card, next } = answer;
      return { card: card ?? undefined, next: next ?? undefined };
    },
  };
}

/** The reader of this process: 3 s and 256 MB to read facts, 20 s and 640 MB to make an image fit. */
export const mediaReader = createMediaReader({ facts: FACTS_LIMITS, fit: FIT_LIMITS });

/** For files that don't belong to a customer. */
export const READ_BY_NOBODY: ReadBy = { reader: mediaReader, owner: "" };

function pixelWeight({ contentType, width, height }: WholeImage): number {
  const pixels = width === null || height === null ? Infinity : width * height;
  if (contentType === HUNGRY_TYPE) return pixels <= HUNGRY_PIXELS_MAX ? HEAVY : HUNGRIEST;
  return pixels <= LIGHT_PIXELS_MAX ? LIGHT : HEAVY;
}
