import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { END_WITH_PARENT } from "./end-with-parent.ts";

/** Longer than the host itself lets running invocations finish. */
const STOP_MS = 35_000;
const TAIL_CHARACTERS = 2_000;

export interface HostProcess {
  /** Resolves with how it ended and its last words. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

/** The local host as a child. Everything it says goes to the log file; warnings and errors come to the terminal too. */
export function startHostProcess(
  environment: Readonly<Record<string, string>>,
  logFile: string,
): HostProcess {
  const child = spawn(process.execPath, ["--import", END_WITH_PARENT, "dev/host/main.ts"], {
    env: environment,
    stdio: ["pipe", "pipe", "pipe"],
    // Apart from the terminal: its Ctrl-C would reach the host twice, and a second signal means "at once".
    detached: true,
  });
  const log = createWriteStream(logFile);
  let tail = "";
  const keep = (chunk: Buffer): void => {
    log.write(chunk);
    tail = (tail + chunk.toString()).slice(-TAIL_CHARACTERS);
  };
  const isLoud = (process.env["VERBOSE"] ?? "") !== "";
  child.stdout.on("data", (chunk: Buffer) => {
    keep(chunk);
    if (isLoud) process.stdout.write(chunk);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    keep(chunk);
    process.stderr.write(chunk);
  });
  const closed = once(child, "close");
  return {
    ended: closed.then(() => {
      log.end();
      return `the host ended with ${child.signalCode ?? `code ${child.exitCode}`}. Its last words:\n${tail}`;
    }),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}
