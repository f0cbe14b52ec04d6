import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { z } from "zod";
import { PORT_SETTINGS, isAnswered } from "../../../dev/ports.ts";
import type { Ports } from "../../../dev/ports.ts";
import { outputOf } from "../../setup/child-output.ts";
import { freePorts } from "../../setup/free-ports.ts";

const READY = "Ctrl-C stops everything";
const READY_MS = 150_000;
const SETTLE_MS = 60_000;
const POLL_MS = 50;
const run = promisify(execFile);

/** A working copy of the local data and a set of ports, for several starts one after the other. */
export interface Place {
  readonly folder: string;
  readonly ports: Ports;
  remove(): Promise<void>;
}

export async function newPlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "start-test-"));
  const free = await freePorts(PORT_SETTINGS.length);
  // Safe: one entry for every setting.
  const ports = Object.fromEntries(PORT_SETTINGS.map((name, at) => [name, free[at]])) as Ports;
  // Azurite has a group of its own, and may still save what it has when the start has ended.
  const patiently = { maxRetries: 20, retryDelay: 250 };
  const remove = () => rm(folder, { recursive: true, force: true, ...patiently });
  return { folder, ports, remove };
}

export interface Started {
  readonly pid: number;
  output(): string;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  signal(name: NodeJS.Signals): void;
  /** Resolves when everything is up and shown. */
  ready(): Promise<void>;
}

/** The start script as a child, with the environment of nobody but the test. */
export function launch(place: Place, more: Readonly<Record<string, string>> = {}): Started {
  const ports = Object.entries(place.ports).map(([setting, port]) => [setting, String(port)]);
  const child = spawn(process.execPath, ["dev/start.ts"], {
    env: {
      PATH: process.env["PATH"],
      LOCAL_FOLDER: place.folder,
      ...(Object.fromEntries(ports) as Record<string, string>),
      ...more,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = outputOf(child);
  // "exit", not "close": a process that is left behind would hold the pipes open.
  const ended = once(child, "exit").then(() => child.exitCode ?? child.signalCode ?? "unknown");
  return {
    pid: child.pid ?? 0,
    output,
    ended,
    signal: (name) => child.kill(name),
    ready: async () => {
      const isUp = until(() => output().includes(READY), READY_MS).then(() => "up");
      if ((await Promise.race([isUp, ended.then(() => "ended")])) === "ended")
        throw new Error(`the start script ended:\n${output()}`);
    },
  };
}

/** The same, with everything up and shown. */
export async function start(
  place: Place,
  more: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const started = launch(place, more);
  await started.ready();
  return started;
}

/** Ends the start script outright and waits until nothing that it started listens any more. */
export async function kill(started: Started, place: Place): Promise<void> {
  started.signal("SIGKILL");
  await started.ended;
  await until(async () => (await listeningPorts(place)).length === 0, SETTLE_MS);
}

const DemoFile = z.object({
  baseUrl: z.string(),
  sandboxUrl: z.string(),
  apiKey: z.string(),
  profileId: z.string(),
  operatorToken: z.string(),
  connectUrl: z.string(),
});

export function readDemo({ folder }: Place): z.output<typeof DemoFile> {
  return DemoFile.parse(JSON.parse(readFileSync(join(folder, "demo.json"), "utf8")));
}

/** What a shell makes of a pasted line; its standard output as JSON. */
export async function paste(line: string): Promise<unknown> {
  const { stdout } = await run("bash", ["-c", line], { timeout: 20_000 });
  return JSON.parse(stdout) as unknown;
}

export async function listeningPorts({ ports }: Place): Promise<number[]> {
  const found = await Promise.all(
    Object.values(ports).map(async (port) => ((await isAnswered("127.0.0.1", port)) ? [port] : [])),
  );
  return found.flat();
}

/** Lists the processes that a start script runs. */
export async function childrenOf({ pid }: Started): Promise<{ pid: number; command: string }[]> {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid=,args="]);
  return stdout.split("\n").flatMap((line) => {
    const [own, parent, ...words] = line.trim().split(/\s+/);
    return parent === String(pid) ? [{ pid: Number(own), command: words.join(" ") }] : [];
  });
}

/** The local host that a start script runs. */
export async function hostPidOf(started: Started): Promise<number> {
  const children = await childrenOf(started);
  const host = children.find(({ command }) => command.includes("tools/host/main.ts"));
  if (host === undefined) throw new Error("the start script has no host");
  return host.pid;
}

export async function until(
  holds: () => boolean | Promise<boolean>,
  longestMs: number,
  pollMs = POLL_MS,
): Promise<void> {
  const deadline = Date.now() + longestMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error("what the test waits for did not come");
    await wait(pollMs);
  }
}
