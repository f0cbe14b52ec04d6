import { readFileSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { AppLoadError } from "./app-loader.ts";
import { startHost } from "./host.ts";
import { errorText } from "./host-log.ts";

const DEFAULT_PORT = 7071;
/** The Functions host ends with the third end of its worker within half an hour. */
const WORKER_ENDS_MAX = 3;
const WORKER_ENDS_MS = 30 * 60_000;

function port(): number {
  const text = process.env["PORT"] ?? "";
  if (text === "") return DEFAULT_PORT;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new Error(`PORT must be a port from 0 to 65535, not ${JSON.stringify(text)}`);
  return Number(text);
}

/** Returns the file that package.json's `main` names, which is where the Functions worker finds an app too. */
function entryOf(appRoot: string): string {
  const text = readFileSync(join(appRoot, "package.json"), "utf8");
  const { main } = JSON.parse(text) as { main?: unknown };
  if (typeof main !== "string") throw new Error(`${appRoot}/package.json has no "main"`);
  return resolve(appRoot, main);
}

/** The environment as it was given, before the host and the app add to it. */
const environment = { ...process.env };

/**
 * Starts this program again in the same process and on the same port: the Functions host, which has another process for
 * the app, starts a new one. Returns why not.
 */
function restart(reason: string, url: string): string {
  const now = Date.now();
  const ends = process.argv.slice(2).map(Number);
  const recent = [...ends.filter((at) => now - at < WORKER_ENDS_MS), now];
  const ended = `the app's process ended: ${reason}.`;
  if (recent.length >= WORKER_ENDS_MAX)
    return `${ended} That was the third time within half an hour, at which the Functions host ends too.`;
  // Not on Windows.
  if (process.execve === undefined) return `${ended} The Functions host would start a new one.`;
  writeSync(2, `${ended} A new one starts, as under the Functions host.\n`);
  const { execPath, execArgv, argv } = process;
  const args = [execPath, ...execArgv, argv[1] ?? "", ...recent.map(String)];
  process.execve(execPath, args, { ...environment, PORT: new URL(url).port });
  return ended;
}

async function main(): Promise<void> {
  const appRoot = process.cwd();
  const host = await startHost(appRoot, entryOf(appRoot), port());
  process.stdout.write(`listening on ${host.url}\n`);

  let isStopping = false;
  const end = (code: number, words?: string): void => {
    isStopping = true;
    if (words !== undefined) process.stderr.write(`${words}\n`);
    process.exit(code);
  };
  const stop = (): void => {
    if (isStopping) return end(1);
    isStopping = true;
    host.stop().then(
      () => end(0),
      (error: unknown) => end(1, errorText(error)),
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // The reader of the output may end first. Without a listener, each failed write would be an uncaught exception, and
  // its report the next failed write.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  // An unhandled rejection comes here as well.
  process.on("uncaughtException", (error: unknown) => {
    process.stderr.write(`${errorText(error)}\n`);
    host.fail(new Error(`uncaught exception: ${String(error)}`));
  });
  // The app may end the process itself.
  process.on("exit", (code) => {
    if (isStopping) return;
    isStopping = true;
    process.stderr.write(`${restart(`it exited with code ${code}`, host.url)}\n`);
    process.exitCode = 1;
  });
  const reason = await host.ended;
  if (!isStopping) end(1, restart(reason.message, host.url));
}

try {
  await main();
} catch (error) {
  // What the host refuses is said in its message; what the app throws needs its stack.
  const reason = error instanceof AppLoadError ? errorText(error.cause) : (error as Error).message;
  process.stderr.write(`the host did not start: ${reason}\n`);
  process.exit(1);
}
