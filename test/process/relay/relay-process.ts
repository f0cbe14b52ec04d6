import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { copyFile, cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { END_WITH_PARENT } from "../../../dev/end-with-parent.ts";
import { freePort } from "../../setup/free-ports.ts";

const HOST = resolve("tools/host/main.ts");
const BUNDLE = "dist";

const START_MS_MAX = 120_000;
const STOP_MS_MAX = 60_000;
const CALL_MS_MAX = 60_000;
const POLL_MS = 100;
const OUTPUT_KEPT_CHARACTERS = 20_000;
/** The host's line on an app that ended by itself, after which it starts a new one. */
const ENDED_BY_ITSELF = /^the app's process ended: .*/;
const REQUEST_WITHOUT_ERROR = /"message":"request".*"status":[23]\d\d\b/;

/** Waits and leases as short as a test needs them, and long enough for a busy machine. */
const SHORT_TIMES = {
  NETWORK_TIMEOUT_MS: "3000",
  LEG_LEASE_SECONDS: "6",
  LEG_RETRY_SECONDS: "0.5,1,1,2,2",
  WORK_CHECK_SECONDS: "1",
  TICK_SECONDS: "1",
} as const;

export interface RelayProcessOptions {
  /** Where the app lies, removed at the end; otherwise one is made of the current bundle. */
  readonly folder?: string;
  /** On top of the harness's own; each wins over one of those. With a storage account the test run's is not asked for. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Gets every line that the process prints. */
  readonly onLine?: (line: string) => void;
}

interface CallOptions {
  /** An API key, a session or an operator's token. */
  readonly bearer?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as a browser sends a form. */
  readonly form?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, or the text when it is none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read answers field by field and assert what they find
  readonly body: any;
}

/** The built product under the local host, as a process of its own with storage of its own. */
export interface RelayProcess {
  /** `PUBLIC_BASE_URL`: what paths of the contract are added to. */
  readonly baseUrl: string;
  /** A path of the contract, or a whole URL. Redirects are not followed. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Returns what the process takes of the machine's memory, in bytes. */
  residentBytes(): Promise<number>;
  /** What the process has printed lately, over all its lives; requests without an error are left out. */
  output(): string;
  /** Ends it as a power cut does. Its storage stays. */
  kill9(): Promise<void>;
  /** Starts it again, on the same storage and port; when it still runs, it is killed before. */
  restart(): Promise<void>;
  /** The same, so much later: its clock goes ahead from then on. */
  restartLater(milliseconds: number): Promise<void>;
  /** Asks it to end, as an operator does; answers its exit code. */
  end(): Promise<number | string>;
  /** For the end of the tests: kills it and removes its folder. @throws Error if the app ever ended by itself */
  stop(): Promise<void>;
}

/** Only a test run has one: vitest is not to be loaded without it. */
async function storageOfTheRun(): Promise<string> {
  const { inject } = await import("vitest");
  const bundleError = inject("bundleError");
  if (bundleError !== "") throw new Error(`the product could not be built: ${bundleError}`);
  return inject("azurite");
}

/** Starts the product and waits until it answers. */
export async function startRelayProcess(options: RelayProcessOptions = {}): Promise<RelayProcess> {
  // Kept over restarts: addresses that were given out name it.
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}/api`;
  const environment = {
    PATH: process.env["PATH"] ?? "",
    PORT: String(port),
    PUBLIC_BASE_URL: baseUrl,
    AZURE_FUNCTIONS_ENVIRONMENT: "Development",
    AzureWebJobsStorage: options.settings?.["AzureWebJobsStorage"] ?? (await storageOfTheRun()),
    STORAGE_PREFIX: `w${randomBytes(5).toString("hex")}`,
    ALLOW_SIGNUP: "true",
    BCRYPT_COST: "4",
    // A test that waits asks often.
    RATE_LIMIT_PER_MINUTE: "1000000",
    AUTH_RATE_PER_MINUTE: "1000000",
    SIGNUPS_PER_ADDRESS_DAY: "1000000",
    // Several such processes wait side by side on few cores.
    AzureFunctionsJobHost__extensions__queues__maxPollingInterval: "00:00:00.300",
    ...SHORT_TIMES,
    ...options.settings,
  };
  const folder = options.folder ?? (await appFolder());
  let output = "";
  let child: ChildProcess | undefined;
  let clockAheadMs = 0;
  const endings: string[] = [];

  const start = async (): Promise<void> => {
    const started = launch(folder, environment, clockAheadMs);
    child = started;
    for (const stream of [started.stdout, started.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        options.onLine?.(line);
        if (ENDED_BY_ITSELF.test(line)) endings.push(line);
        // A test that waits asks often: what it asked would push out everything else.
        if (REQUEST_WITHOUT_ERROR.test(line)) return;
        output = `${output}${line}\n`.slice(-OUTPUT_KEPT_CHARACTERS);
      });
    }
    await untilHealthy(baseUrl, started, () => output);
  };
  const kill9 = async (): Promise<void> => {
    if (child !== undefined) await killed(child);
  };

  const restart = async (): Promise<void> => {
    await kill9();
    await start();
  };

  await start();
  return {
    baseUrl,
    call: (method, path, callOptions) =>
      send(path.startsWith("http") ? path : baseUrl + path, method, callOptions),
    async residentBytes() {
      const status = await readFile(`/proc/${child?.pid}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024;
    },
    output: () => output,
    kill9,
    restart,
    async restartLater(milliseconds) {
      clockAheadMs += milliseconds;
      await restart();
    },
    async end() {
      if (child === undefined || hasEnded(child)) throw new Error("the product is not running");
      const closed = once(child, "close");
      child.kill("SIGTERM");
      const timer = setTimeout(() => child?.kill("SIGKILL"), STOP_MS_MAX);
      await closed;
      clearTimeout(timer);
      return child.exitCode ?? child.signalCode ?? "unknown";
    },
    async stop() {
      await kill9();
      await rm(folder, { recursive: true, force: true });
      if (endings.length > 0) throw new Error(`${endings.join("\n")}\n${output}`);
    },
  };
}

/** Returns whether a path is needed: no source map, and no draft of a build that another test makes at the moment. */
const isOfBundle = (path: string) => !/\.map$|\.\d+$/.test(path);

/**
 * A folder of its own, so that a developer's local.settings.json plays no part, with the bundle as it is now: a restart
 * must not find another one.
 */
async function appFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "relay-"));
  await Promise.all([
    cp(BUNDLE, folder, { recursive: true, filter: isOfBundle }),
    copyFile("host.json", join(folder, "host.json")),
    // What the bundle loads when first needed is looked for beside it.
    symlink(resolve("node_modules"), join(folder, "node_modules")),
    writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", main: "main.js" })),
  ]);
  return folder;
}

function launch(
  folder: string,
  environment: Readonly<Record<string, string>>,
  clockAheadMs: number,
): ChildProcess {
  const preloads = [END_WITH_PARENT, ...(clockAheadMs === 0 ? [] : [clockAhead(clockAheadMs)])];
  const imports = preloads.flatMap((module) => ["--import", module]);
  return spawn(process.execPath, [...imports, HOST], {
    cwd: folder,
    env: { ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** Only the reading of the time changes; timers run as ever. */
function clockAhead(milliseconds: number): string {
  const code = `const RealDate = Date;
globalThis.Date = class Date extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + ${milliseconds});
    else super(...given);
  }
  static now() { return RealDate.now() + ${milliseconds}; }
};`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

async function untilHealthy(
  baseUrl: string,
  child: ChildProcess,
  output: () => string,
): Promise<void> {
  const deadline = Date.now() + START_MS_MAX;
  while (Date.now() < deadline && !hasEnded(child)) {
    const answer = await send(`${baseUrl}/health`, "GET").catch(() => undefined);
    if (answer?.status === 200) return;
    await delay(POLL_MS);
  }
  await killed(child);
  throw new Error(`the product did not start:\n${output()}`);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function killed(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}

async function send(url: string, method: string, options: CallOptions = {}): Promise<Answer> {
  const { bearer, body, form } = options;
  const json = body === undefined ? undefined : JSON.stringify(body);
  const payload = form === undefined ? json : new URLSearchParams(form);
  const response = await fetch(url, {
    method,
    redirect: "manual",
    headers: {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...options.headers,
    },
    ...(payload === undefined ? {} : { body: payload }),
    signal: AbortSignal.timeout(options.timeoutMs ?? CALL_MS_MAX),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true && text !== "";
  const { status, headers } = response;
  return { status, headers, body: isJson ? JSON.parse(text) : text };
}

/** The `data` of an answer that has to be a success. */
export function dataOf({ status, body }: Answer) {
  if (status < 200 || status >= 300)
    throw new Error(`unexpected ${status}: ${JSON.stringify(body)}`);
  return body.data;
}

/** Asks again until there is an answer. @throws Error when it stays away */
export async function eventually<Value>(
  what: string,
  ask: () => Promise<Value | undefined> | Value | undefined,
  timeoutMs = 90_000,
): Promise<Value> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const value = await ask();
    if (value !== undefined) return value;
    await delay(POLL_MS);
  }
  throw new Error(`waited ${timeoutMs / 1000} s in vain for ${what}`);
}
