import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { BlobServiceClient } from "@azure/storage-blob";
import { FILES_CONTAINER } from "../src/shared/runtime/storage/blobs.ts";
import { END_WITH_PARENT } from "./end-with-parent.ts";
import { localFolder } from "./local-folder.ts";
import { portOf } from "./ports.ts";

/** The account every Azurite has; its key is public by design. */
const ACCOUNT = "devstoreaccount1";
const ACCOUNT_KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 5_000;
const OUTPUT_POLL_MS = 20;
/** For an emulator on somebody's own machine: a third of the memory, for a little more CPU time. */
const SMALL_HEAP = ["--max-semi-space-size=2"];

const SERVICES = ["blob", "queue", "table"] as const;
type Service = (typeof SERVICES)[number];

/** A port of 0, the default, means any free one. */
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
  /** Resolves when it has ended, for any reason. */
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
  const launched = launch(wanted, folder, options.secured);
  const { child } = launched;
  const ports = await portsOf(launched, wanted);
  const address = connectionString(ports);
  if (options.secured === undefined) await prepareFiles(address);
  return {
    connectionString: address,
    ports,
    ended: once(child, "close").then(() => undefined),
    stop: () => end(child, folder !== undefined),
  };
}

/** Lets browsers upload files, as the template does, and creates the container of files. */
async function prepareFiles(address: string): Promise<void> {
  const service = BlobServiceClient.fromConnectionString(address);
  const abortSignal = AbortSignal.timeout(START_TIMEOUT_MS);
  const uploads = {
    allowedOrigins: "*",
    allowedMethods: "PUT",
    allowedHeaders: "x-ms-blob-type,content-type,content-length",
    exposedHeaders: "",
    maxAgeInSeconds: 86_400,
  };
  await Promise.all([
    service.setProperties({ cors: [uploads] }, { abortSignal }),
    service.getContainerClient(FILES_CONTAINER).createIfNotExists({ abortSignal }),
  ]);
}

interface Launched {
  readonly child: ChildProcess;
  /** The file that has what it prints, open for reading. */
  readonly log: number;
}

/**
 * Starts the process. Its output goes to a file, never to a pipe: when its parent is killed, writing to a pipe would end
 * it before it has saved its tables.
 */
function launch(
  ports: Record<Service, number>,
  folder: string | undefined,
  secured: AzuriteOptions["secured"],
): Launched {
  const entry = createRequire(import.meta.url).resolve("azurite/dist/src/azurite.js");
  const logFolder = folder ?? mkdtempSync(join(tmpdir(), "azurite-"));
  mkdirSync(logFolder, { recursive: true });
  const logFile = join(logFolder, "azurite.log");
  const log = openSync(logFile, "w");
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
      ...(folder === undefined ? [] : SMALL_HEAP),
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
      stdio: ["pipe", log, log],
      detached: true,
      env: {
        ...process.env,
        ...(secured === undefined ? {} : { AZURITE_ACCOUNTS: secured.accounts }),
      },
    },
  );
  closeSync(log);
  const reader = openSync(logFile, "r");
  // What is open stays readable and writable.
  if (folder === undefined) rmSync(logFolder, { recursive: true });
  return { child, log: reader };
}

/** Returns the ports that the output names: the only way to learn those that Azurite chose itself. */
function portsIn(output: string): Record<Service, number> | undefined {
  const found = SERVICES.map((service) => {
    const line = new RegExp(`${service} service is successfully listening at \\S+:(\\d+)`, "i");
    return [service, Number(line.exec(output)?.[1])] as const;
  });
  if (found.some(([, port]) => Number.isNaN(port))) return undefined;
  // Safe: one entry for every service.
  return Object.fromEntries(found) as Record<Service, number>;
}

/** Waits until all services listen. */
async function portsOf(
  { child, log }: Launched,
  wanted: Record<Service, number>,
): Promise<Record<Service, number>> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  let output = "";
  try {
    for (;;) {
      // Asked before the output is read, which is then whole.
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      output += readFileSync(log, "utf8");
      const ports = portsIn(output);
      if (hasEnded) throw startFailure(output, wanted);
      if (ports !== undefined) return ports;
      if (performance.now() > deadline)
        throw new Error(`Azurite did not start in ${START_TIMEOUT_MS / 1000} s:\n${output}`);
      await wait(OUTPUT_POLL_MS);
    }
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  } finally {
    closeSync(log);
  }
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
