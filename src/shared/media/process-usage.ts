import { readFileSync } from "node:fs";

/** What a process has used so far. */
export interface ProcessUsage {
  readonly cpuMs: number;
  readonly residentBytes: number;
}

/** Linux counts a process's time in hundredths of a second on every kind of machine (`USER_HZ`). */
const TICK_MS = 10;
/** Behind the name, which is in brackets and may hold anything: user and system time. */
const USER_TIME = 11;
const SYSTEM_TIME = 12;
const RESIDENT = "VmRSS:";

/**
 * Returns the CPU time and resident memory of a process of ours, or undefined when it has ended or the system does not
 * tell: only Linux, where the service runs, keeps them as files.
 */
export function usageOf(pid: number): ProcessUsage | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME]);
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const kilobytes = Number.parseInt(status.slice(status.indexOf(RESIDENT) + RESIDENT.length), 10);
    if (Number.isNaN(kilobytes)) return undefined;
    return { cpuMs: ticks * TICK_MS, residentBytes: kilobytes * 1024 };
  } catch {
    return undefined;
  }
}
