import { setTimeout as delay } from "node:timers/promises";
import { fitImage } from "../../src/shared/media/fit-image.ts";
import { openMedia } from "../../src/shared/media/open-media.ts";
import {
  createMediaReader,
  FACTS_LIMITS,
  FIT_LIMITS,
} from "../../src/shared/media/media-reader.ts";
import type { ReadBy } from "../../src/shared/media/media-reader.ts";
import { MediaFailure, type ImageTarget } from "../../src/shared/networks/contract/media.ts";
import { watchThread } from "../setup/blocked.ts";
import { inMemory } from "./in-memory.ts";
import { mutantOf, seedFiles } from "./mutants.ts";

export interface FuzzFigures {
  readonly files: number;
  /** How many ended so: `taken`, or the code and reason of a refusal. */
  readonly ends: Readonly<Record<string, number>>;
  /** Longest time for which the process paused. */
  readonly blockedMs: number;
  /** By how much the process grew at the most, after it had settled. */
  readonly grownBytes: number;
  /** Mutants that ended in a way nobody has foreseen. */
  readonly unforeseen: readonly string[];
}

const AT_ONCE = 3;
const SETTLING = 50;

/** All that would be done to an image by any network. */
const TARGET: ImageTarget = {
  types: ["image/jpeg", "image/png", "image/gif", "image/webp"],
  bytesMax: 1_000_000,
  edgeMax: 2_000,
  plays: ["image/gif", "image/png", "image/webp"],
  turnsByExif: false,
};

async function endOf(bytes: Buffer, readBy: ReadBy): Promise<string> {
  try {
    const url = "https://files.example.test/mutant";
    const file = await openMedia(inMemory(bytes), url, { bytesMax: 100_000_000, readBy });
    if (file.contentType.startsWith("image/")) await fitImage(file, TARGET, readBy);
    return "taken";
  } catch (error) {
    if (error instanceof MediaFailure) return `${error.code} ${error.reason}`;
    throw error;
  }
}

/**
 * Reads so many mutants of good files as publishing would, and watches the process meanwhile. `factsMs`: how long each
 * may be looked at, where a run has less time than the service.
 */
export async function fuzzFiles(
  count: number,
  { firstSeed = 1, factsMs = FACTS_LIMITS.cpuMs } = {},
): Promise<FuzzFigures> {
  const facts = { ...FACTS_LIMITS, cpuMs: factsMs };
  const reader = createMediaReader({ facts, fit: FIT_LIMITS });
  const seeds = Object.entries(await seedFiles());
  const ends: Record<string, number> = {};
  const unforeseen: string[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const seed = firstSeed + next;
      next += 1;
      const [type, file] = seeds[seed % seeds.length] ?? ["none", Buffer.alloc(0)];
      try {
        // Each a customer's of its own, so that all processes are used.
        const end = await endOf(mutantOf(file, seed), { reader, owner: `seed ${seed}` });
        ends[end] = (ends[end] ?? 0) + 1;
      } catch (error) {
        unforeseen.push(`${type} ${seed}: ${String(error)}`);
      }
    }
  };
  const settled = async () => {
    while (next < Math.min(SETTLING, count / 2)) await delay(10);
    return process.memoryUsage().rss;
  };
  const watching = watch(settled);
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { files: count, ends, unforeseen, ...(await watching.end()) };
}

/** Looks at the process every few milliseconds. What it tells counts from when it has settled. */
function watch(settled: () => Promise<number>) {
  const thread = watchThread(10);
  let before: number | undefined;
  const begin = async () => {
    before = await settled();
    thread.restart();
  };
  void begin();
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 10);
  return {
    async end() {
      await delay(20);
      clearInterval(timer);
      return { blockedMs: thread.end(), grownBytes: most - (before ?? most) };
    },
  };
}
