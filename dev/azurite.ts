import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { END_WITH_PARENT } from "./end-with-parent.ts";
import { localFolder } from "./local-folder.ts";
import { portOf } from "./ports.ts";

/** The account every Azurite has; its key is public by design. */
const ACCOUNT = "devstoreaccount1";
const ACCOUNT_KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 5_000;
const OUTPUT_KEPT_CHARACTERS = 4_000;

const SERVICES = ["blob", "queue", "table"] as const;
type Service = (typeof SERVICES)[number];

/** A port of 0, the default, takes a free one. */
export type AzuriteOptions = ({ readonly folder: string } | { readonly inMemory: true }) & {
  readonly blobPort?: number;
  readonly queuePort?: number;
  readonly tablePort?: number;
  /** As in the cloud: HTTPS, and bearer tokens beside keys. Paths of PEM files, and accounts as Azurite reads them. */
  readonly secured?: {
    readonly certificate: string;
    readonly key: string;
    readonly accounts: string;
  };
};

export interface Azurite {
  readonly connectionString: string;
  readonly ports: Readonly<Record<Service, number>>;
  /** Resolves when it has ended, whoever ended it. */
  readonly ended: Promise<void>;
  /** Data that is kept in a folder is saved before this resolves. */
  stop(): Promise<void>;
}

/** Starts the storage emulator as a child process and resolves when all of its ports answer. */
export async function startAzurite(options: AzuriteOptions): Promise<Azurite> {
  const wanted = {
    blob: options.blobPort ?? 0,
    queue: options.queuePort ?? 0,
    table: options.tablePort ?? 0,
  };
  const folder = "folder" in options ? options.folder : undefined;
  const child = launch(wanted, folder, options.secured);
  const ports = await portsOf(child, wanted);
  return {
    connectionString: connectionString(ports),
    ports,
    ended: once(child, "close").then(() => undefined),
    stop: () => end(child, folder !== undefined),
  };
}

function launch(
  ports: Record<Service, number>,
  folder: string | undefined,
  secured: AzuriteOptions["secured"],
): ChildProcess {
  const entry = createRequire(import.meta.url).resolve("azurite/dist/src/azurite.js");
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  const flags = SERVICES.flatMap((service) => [
    `--${service}Host`,
    "127.0.0.1",
    `--${service}Port`,
    String(ports[service]),
    // A client that reuses a connection in the very moment the server drops it sees a reset. Its own idle limit is
    // shorter than this one.
    `--${service}KeepAliveTimeout`,
    "60",
  ]);
  const place = folder === undefined ? ["--inMemoryPersistence"] : ["--location", folder];
  const child = spawn(
    process.execPath,
    [
      "--import",
      END_WITH_PARENT,
      entry,
      ...flags,
      ...place,
      ...(secured === undefined
        ? []
        : ["--oauth", "basic", "--cert", secured.certificate, "--key", secured.key]),
      "--silent",
      "--disableTelemetry",
      "--skipApiVersionCheck",
    ],
    // Apart from the terminal: Ctrl-C must not end it while somebody still writes their last rows.
    {
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      env: {
        ...process.env,
        ...(secured === undefined ? {} : { AZURITE_ACCOUNTS: secured.accounts }),
      },
    },
  );
  if (folder !== undefined) {
    const log = createWriteStream(join(folder, "azurite.log"), { flags: "a" });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.once("close", () => log.end());
  }
  return child;
}

/** The ports that Azurite says it listens on: the only way to learn those it chose itself. */
async function portsOf(
  child: ChildProcess,
  wanted: Record<Service, number>,
): Promise<Record<Service, number>> {
  let output = "";
  const found = new Map<Service, number>();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => reject(new Error(`Azurite did not start in ${START_TIMEOUT_MS / 1000} s:\n${output}`)),
    START_TIMEOUT_MS,
  );
  const read = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-OUTPUT_KEPT_CHARACTERS);
    for (const service of SERVICES) {
      const line = new RegExp(`${service} service is successfully listening at \\S+:(\\d+)`, "i");
      const port = line.exec(output)?.[1];
      if (port !== undefined) found.set(service, Number(port));
    }
    if (found.size === SERVICES.length) resolve();
  };
  child.stdout?.on("data", read);
  child.stderr?.on("data", read);
  child.once("error", reject);
  child.once("close", () => reject(startFailure(output, wanted)));
  try {
    await promise;
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  } finally {
    clearTimeout(timer);
    child.stdout?.off("data", read);
    child.stderr?.off("data", read);
    child.stdout?.resume();
    child.stderr?.resume();
  }
  return { blob: 0, queue: 0, table: 0, ...Object.fromEntries(found) };
}

function startFailure(output: string, wanted: Record<Service, number>): Error {
  const taken = /EADDRINUSE\D*[\d.]*:(\d+)/.exec(output)?.[1];
  const service = SERVICES.find((name) => taken !== undefined && wanted[name] === Number(taken));
  if (service === undefined) return new Error(`Azurite ended while it was starting:\n${output}`);
  const setting = `AZURITE_${service.toUpperCase()}_PORT`;
  return new Error(
    `port ${taken} is in use: Azurite's ${service} service takes it from ${setting}`,
  );
}

function connectionString(ports: Record<Service, number>): string {
  const endpoints = SERVICES.map((service) => {
    const name = `${capitalised(service)}Endpoint`;
    return `${name}=http://127.0.0.1:${ports[service]}/${ACCOUNT};`;
  });
  return `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${ACCOUNT_KEY};${endpoints.join("")}`;
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

async function end(child: ChildProcess, saves: boolean): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill(saves ? "SIGTERM" : "SIGKILL");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await closed;
  clearTimeout(timer);
}

/** The emulator as `npm run azurite` and `npm start` run it: fixed ports, data kept between runs. */
export function startLocalAzurite(): Promise<Azurite> {
  return startAzurite({
    folder: join(localFolder(), "azurite"),
    blobPort: portOf("AZURITE_BLOB_PORT"),
    queuePort: portOf("AZURITE_QUEUE_PORT"),
    tablePort: portOf("AZURITE_TABLE_PORT"),
  });
}

async function main(): Promise<void> {
  const azurite = await startLocalAzurite();
  console.log(`Azurite keeps its data in ${join(localFolder(), "azurite")}`);
  for (const service of SERVICES)
    console.log(`${service.padEnd(6)}http://127.0.0.1:${azurite.ports[service]}/${ACCOUNT}`);
  const ended = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  await ended;
  await azurite.stop();
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
