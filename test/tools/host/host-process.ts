import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { outputOf } from "../../setup/child-output.ts";

const HOST = resolve("tools/host/main.ts");
const WAIT_MS = 60_000;
const POLL_MS = 20;

export interface HostProcess {
  readonly url: string;
  readonly folder: string;
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** From now on nobody reads what it writes, as when the process that started it was killed. */
  closeOutput(): void;
  /** Resolves with the exit code, or the signal that ended it. */
  ended(): Promise<number | string>;
}

export interface HostProcessOptions {
  readonly entry?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly hostJson?: object;
  readonly localSettings?: object;
}

const HOST_JSON = {
  version: "2.0",
  extensions: { queues: { maxPollingInterval: "00:00:00.250" } },
};

/** A host on the fixture app, in a folder of its own, on a free port. It is ended with the test. */
export async function startHostProcess(options: HostProcessOptions = {}): Promise<HostProcess> {
  const host = await launch(options);
  const url = await Promise.race([
    until(() => /^listening on (\S+)$/m.exec(host.output())?.[1]),
    host.ended().then((code) => {
      throw new Error(`the host ended with ${code}:\n${host.output()}`);
    }),
  ]);
  return { ...host, url };
}

/** The same for a host that is expected to end by itself. */
export async function runHostProcess(
  options: HostProcessOptions = {},
): Promise<{ code: number | string; output: string }> {
  const host = await launch(options);
  const code = await host.ended();
  return { code, output: host.output() };
}

async function launch(options: HostProcessOptions): Promise<Omit<HostProcess, "url">> {
  const folder = await appFolder(options);
  const child = spawn(process.execPath, [HOST], {
    cwd: folder,
    env: { PATH: process.env["PATH"], PORT: "0", ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = outputOf(child);
  const closed = once(child, "close").then(() => child.exitCode ?? child.signalCode ?? "unknown");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await closed;
    await rm(folder, { recursive: true });
  });
  return {
    folder,
    output,
    signal: (name) => child.kill(name),
    closeOutput() {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    ended: () => closed,
  };
}

async function appFolder({ entry, hostJson, localSettings }: HostProcessOptions): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "host-test-"));
  const files = {
    "package.json": { type: "module", main: resolve("test/tools/host/fixture", entry ?? "app.ts") },
    "host.json": hostJson ?? HOST_JSON,
    ...(localSettings === undefined ? {} : { "local.settings.json": localSettings }),
  };
  for (const [name, content] of Object.entries(files))
    await writeFile(join(folder, name), JSON.stringify(content));
  return folder;
}

/** Asks again until there is an answer; what stays away fails the test. */
export async function until<Value>(
  ask: () => Value | undefined | Promise<Value | undefined>,
): Promise<Value> {
  const deadline = Date.now() + WAIT_MS;
  while (Date.now() < deadline) {
    const value = await ask();
    if (value !== undefined && value !== false) return value;
    await delay(POLL_MS);
  }
  throw new Error("what the test waits for did not come");
}
