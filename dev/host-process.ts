import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { END_WITH_PARENT } from "./end-with-parent.ts";

/** Longer than the host itself lets running invocations finish. */
const STOP_MS = 40_000;
const TAIL_CHARACTERS = 2_000;

export interface HostProcess {
  /** Resolves with how it ended and its last words. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

export interface HostOutput {
  /** Keeps every line. */
  readonly logFile: string;
  /** Called with every line, as it comes. */
  readonly onLine: (line: string, stream: "stdout" | "stderr") => void;
}

/** The local host as a child. */
export function startHostProcess(
  environment: Readonly<Record<string, string>>,
  { logFile, onLine }: HostOutput,
): HostProcess {
  const child = spawn(process.execPath, ["--import", END_WITH_PARENT, "tools/host/main.ts"], {
    env: environment,
    stdio: ["pipe", "pipe", "pipe"],
    // Apart from the terminal: its Ctrl-C would reach the host twice, and a second signal means "at once".
    detached: true,
  });
  const log = createWriteStream(logFile);
  let tail = "";
  const reading = (["stdout", "stderr"] as const).map((stream) => {
    const lines = createInterface({ input: child[stream], crlfDelay: Infinity });
    lines.on("line", (line) => {
      log.write(`${line}\n`);
      tail = `${tail}${line}\n`.slice(-TAIL_CHARACTERS);
      onLine(line, stream);
    });
    return once(lines, "close");
  });
  const closed = Promise.all([once(child, "close"), ...reading]);
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
