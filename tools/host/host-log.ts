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

/** The category of what the host says itself. */
const HOST_CATEGORY = "Host";
/** The category of what the app writes to its console, in an invocation or outside. */
export const CONSOLE_CATEGORY = "Host.Function.Console";
export const userCategory = (functionName: string) => `Function.${functionName}.User`;

/** Where lines end up. Tests collect them instead of printing them. */
export interface HostLog {
  write(level: LogLevel, line: string, category?: string): void;
}

/**
 * Prints plain lines: warnings and errors on standard error, the rest on standard output. `levels` are those of
 * host.json, by category.
 */
export function consoleLog(levels: Readonly<Record<string, string>>): HostLog {
  return {
    write(level, line, category = HOST_CATEGORY) {
      if (level === "none" || rank(level) < rank(minimumLevel(levels, category))) return;
      const stream = rank(level) >= rank("warning") ? process.stderr : process.stdout;
      stream.write(`${line}\n`);
    },
  };
}

/** Returns the level of the longest rule that a category falls under. A star in a rule stands for any part of a name. */
function minimumLevel(levels: Readonly<Record<string, string>>, category: string): LogLevel {
  const isUnder = (rule: string): boolean => {
    const [start = "", end = ""] = rule.toLowerCase().split("*");
    const name = category.toLowerCase();
    return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
  };
  const [longest = "default"] = Object.keys(levels)
    .filter((rule) => rule !== "default" && isUnder(rule))
    .toSorted((one, other) => other.length - one.length);
  const word = levels[longest]?.toLowerCase();
  return ORDER.find((level) => level === word) ?? "information";
}

/** Returns the level that the host gives a line of the app's standard error, by its words. */
export function levelOfErrorLine(line: string): LogLevel {
  if (/warn/i.test(line)) return "warning";
  return /error|fail|severe/i.test(line) ? "error" : "information";
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
