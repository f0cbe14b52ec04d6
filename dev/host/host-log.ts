import type { LogLevel } from "./core-types.ts";

const ORDER: readonly LogLevel[] = [
  "trace",
  "debug",
  "information",
  "warning",
  "error",
  "critical",
  "none",
];

/** Where lines end up. Tests collect them instead of printing them. */
export interface HostLog {
  write(level: LogLevel, line: string): void;
}

/** Prints plain lines: warnings and errors on standard error, the rest on standard output. */
export function consoleLog(minimum: LogLevel): HostLog {
  return {
    write(level, line) {
      if (level === "none" || rank(level) < rank(minimum)) return;
      const stream = rank(level) >= rank("warning") ? process.stderr : process.stdout;
      stream.write(`${line}\n`);
    },
  };
}

/** Returns the level of host.json for an app's own lines; unknown words mean Information. */
export function minimumLevel(levels: Readonly<Record<string, string>>): LogLevel {
  const own = levels["Function.*.User"] ?? levels["Function"] ?? levels["default"];
  return ORDER.find((level) => level === own?.toLowerCase()) ?? "information";
}

function rank(level: LogLevel): number {
  return ORDER.indexOf(level);
}

/** Returns a thrown value as text, with its stack and its cause where it has those. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === "string" ? error : JSON.stringify(error);
  const text = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? text : `${text}\n  caused by: ${errorText(error.cause)}`;
}
