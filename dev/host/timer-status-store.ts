import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { HostLog } from "./host-log.ts";

/** When a timer ran last and is due next. `last` is missing until it has run for the first time. */
export interface TimerStatus {
  readonly last: Date | undefined;
  readonly next: Date;
  readonly lastUpdated: Date;
}

export interface TimerStatusStore {
  read(functionName: string): Promise<TimerStatus | undefined>;
  write(functionName: string, status: TimerStatus): Promise<void>;
}

const StoredStatus = z.object({
  last: z.coerce.date().optional(),
  next: z.coerce.date(),
  lastUpdated: z.coerce.date(),
});

/** One small file per timer. The Functions host keeps them as blobs; here no blob service has to run. */
export function fileTimerStatusStore(folder: string, log: HostLog): TimerStatusStore {
  const path = (functionName: string): string => join(folder, `${functionName}.json`);
  return {
    async read(functionName) {
      try {
        const { last, ...rest } = StoredStatus.parse(
          JSON.parse(await readFile(path(functionName), "utf8")),
        );
        return { last, ...rest };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT")
          log.write(
            "warning",
            `the status of timer ${functionName} is passed over: ${String(error)}`,
          );
        return undefined;
      }
    },
    async write(functionName, status) {
      try {
        await mkdir(folder, { recursive: true });
        const draft = `${path(functionName)}.${process.pid}`;
        await writeFile(draft, JSON.stringify(status));
        await rename(draft, path(functionName));
      } catch (error) {
        log.write("warning", `the status of timer ${functionName} is not kept: ${String(error)}`);
      }
    },
  };
}
