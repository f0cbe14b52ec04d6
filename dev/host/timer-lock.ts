import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

const RENEW_MS = 5_000;
/** A lock that was not renewed for so long belongs to nobody. */
const STALE_MS = 20_000;

/** Decides which of the hosts on one storage runs a timer; the Functions host leases a blob for it. */
export interface TimerLock {
  /** Whether this host holds the timer from now on. `onLost` is called when another one took it. */
  take(onLost: () => void): Promise<boolean>;
  release(): Promise<void>;
}

/** A file that names its holder and is touched as long as the holder lives. */
export function fileTimerLock(folder: string, functionName: string): TimerLock {
  const path = join(folder, `${functionName}.lock`);
  const mine = `${process.pid} ${randomUUID()}`;
  let renewal: NodeJS.Timeout | undefined;
  const isMine = async (): Promise<boolean> => (await holderOf(path)) === mine;

  const create = async (): Promise<boolean> => {
    try {
      await mkdir(folder, { recursive: true });
      await writeFile(path, mine, { flag: "wx" });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
  };
  const renew = async (onLost: () => void): Promise<void> => {
    if (await isMine()) return utimes(path, new Date(), new Date());
    clearInterval(renewal);
    onLost();
  };
  return {
    async take(onLost) {
      if (!(await create())) {
        if (!(await isAbandoned(path))) return false;
        await rm(path, { force: true });
        if (!(await create())) return false;
      }
      renewal = setInterval(() => void renew(onLost).catch(() => undefined), RENEW_MS);
      return true;
    },
    async release() {
      clearInterval(renewal);
      if (await isMine()) await rm(path, { force: true });
    },
  };
}

async function holderOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  try {
    if (Date.now() - (await stat(path)).mtimeMs > STALE_MS) return true;
    const pid = Number((await readFile(path, "utf8")).split(" ")[0]);
    return Number.isInteger(pid) && pid > 0 && !isAlive(pid);
  } catch {
    // Removed meanwhile, or not readable: the next try tells.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
