import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { AppLoadError } from "./app-loader.ts";
import { startHost } from "./host.ts";
import { errorText } from "./host-log.ts";

const DEFAULT_PORT = 7071;

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

async function main(): Promise<void> {
  const appRoot = process.cwd();
  const host = await startHost(appRoot, entryOf(appRoot), port());
  console.log(`listening on ${host.url}`);

  let isStopping = false;
  const stop = (): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    host.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(errorText(error));
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // The reader of the output may end first. Without a listener, each failed write would be an uncaught exception, and
  // its report the next failed write.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  // An unhandled rejection comes here as well.
  process.on("uncaughtException", (error: unknown) => {
    console.error(errorText(error));
    host.fail(new Error(`uncaught exception: ${String(error)}`));
  });
  void host.ended.then((reason) => {
    console.error(
      `the app's process ended: ${reason.message}. The Functions host would start a new one here.`,
    );
    process.exit(1);
  });
}

try {
  await main();
} catch (error) {
  // What the host refuses is said in its message; what the app throws needs its stack.
  const reason = error instanceof AppLoadError ? errorText(error.cause) : (error as Error).message;
  console.error(`the host did not start: ${reason}`);
  process.exit(1);
}
