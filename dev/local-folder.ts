import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where everything of a local run is kept between starts; never part of the repository. */
export function localFolder(): string {
  const chosen = process.env["LOCAL_FOLDER"] ?? "";
  return chosen === "" ? ".local" : chosen;
}

const HOLDER = "start.pid";

/** Returns the process that runs on this folder; undefined when none does, or when it has died. */
export function holderOf(local: string): number | undefined {
  try {
    const holder = Number(readFileSync(join(local, HOLDER), "utf8"));
    return Number.isInteger(holder) && holder > 1 && isStarting(holder) ? holder : undefined;
  } catch {
    return undefined;
  }
}

/** Reports whether a process is a start of the relay, as far as the system tells. */
function isStarting(pid: number): boolean {
  process.kill(pid, 0);
  if (process.platform !== "linux") return true;
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("dev/start.ts");
}

/** Notes that this process runs on the folder, until it stops: two on one folder would damage its data. */
export function holdLocalFolder(local: string): { stop(): Promise<void> } {
  const path = join(local, HOLDER);
  writeFileSync(path, String(process.pid));
  return {
    stop() {
      rmSync(path, { force: true });
      return Promise.resolve();
    },
  };
}
