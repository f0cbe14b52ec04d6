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

/** Where lines end up. Tests take them instead of printing them. */
export interface HostLog {
  write(level: LogLevel, line: string): void;
}

/** Plain lines: warnings and errors on standard error, the rest on standard output. */
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
  const word = (own ?? "Information").toLowerCase();
  return ORDER.find((level) => level === word) ?? "information";
}

function rank(level: LogLevel): number {
  return ORDER.indexOf(level);
}

/** A thrown value as text, with its stack and what caused it where it has those. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === "string" ? error : JSON.stringify(error);
  const text = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? text : `${text}\n  caused by: ${errorText(error.cause)}`;
}
