import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const StoredStatus = z.object({ last: z.coerce.date(), next: z.coerce.date() });

/** When a timer ran last and is due next. */
export type TimerStatus = z.output<typeof StoredStatus>;

export interface TimerFiles {
  /** Returns whether this host is the one that runs the timer, which it becomes where no living host is. */
  take(): Promise<boolean>;
  release(): Promise<void>;
  /** Returns undefined until the timer has run for the first time. */
  readStatus(): Promise<TimerStatus | undefined>;
  writeStatus(status: TimerStatus): Promise<void>;
}

/**
 * Keeps which of the hosts on one storage runs a timer, and the timer's status, in two small files. The Functions host
 * has blobs for them; here no blob service has to run.
 */
export function timerFiles(folder: string, functionName: string): TimerFiles {
  const lock = join(folder, `${functionName}.lock`);
  const status = join(folder, `${functionName}.json`);
  const mine = String(process.pid);
  const take = async (): Promise<boolean> => {
    const holder = await readText(lock);
    if (holder === mine) return true;
    if (holder !== undefined) {
      if (isAlive(Number(holder))) return false;
      await rm(lock, { force: true });
    }
    await mkdir(folder, { recursive: true });
    try {
      await writeFile(lock, mine, { flag: "wx" });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
  };
  return {
    take,
    async release() {
      if ((await readText(lock)) === mine) await rm(lock, { force: true });
    },
    async readStatus() {
      const text = await readText(status);
      return text === undefined ? undefined : StoredStatus.parse(JSON.parse(text));
    },
    async writeStatus(written) {
      const draft = `${status}.${mine}`;
      await writeFile(draft, JSON.stringify(written));
      await rename(draft, status);
    },
  };
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
