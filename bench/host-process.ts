import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { END_WITH_PARENT } from "../dev/end-with-parent.ts";
import type { ProcessFigures } from "./process-figures.ts";
import type { Ask } from "./relay.ts";

const START_MS_MAX = 30_000;
const CALL_MS_MAX = 120_000;
const STOP_MS_MAX = 30_000;
const OUTPUT_KEPT_CHARACTERS = 4_000;
const FIGURES = new URL("process-figures.ts", import.meta.url).href;
/** The kernel's unit of CPU time. */
const TICK_MS = 10;

/** Waits for the line in which the host says that it listens, and returns its address. */
async function started(child: ChildProcess): Promise<string> {
  let output = "";
  const { promise, resolve: found, reject } = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      output = (output + chunk).slice(-OUTPUT_KEPT_CHARACTERS);
      const address = /listening on (\S+)/.exec(output)?.[1];
      if (address !== undefined) found(address);
    });
  child.once("exit", () => reject(new Error(`the product did not start:\n${output}`)));
  const timer = setTimeout(() => reject(new Error("the product did not start")), START_MS_MAX);
  return await promise.finally(() => clearTimeout(timer));
}

/** The built product in a process of its own under the local host, as `npm run host` starts it. */
export class HostProcess {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #baseUrl: string;
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(child: ChildProcess, folder: string, address: string) {
    this.#child = child;
    this.#folder = folder;
    const base = address.replace(/\/$/, "");
    this.#baseUrl = base.endsWith("/api") ? base : `${base}/api`;
  }

  static async start(environment: Readonly<Record<string, string>>): Promise<HostProcess> {
    const folder = await mkdtemp(join(tmpdir(), "bench-"));
    await copyFile("host.json", join(folder, "host.json"));
    const manifest = { type: "module", main: resolve("dist/main.js") };
    await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
    const imports = ["--import", END_WITH_PARENT, "--import", FIGURES];
    const child = spawn(process.execPath, [...imports, resolve("tools/host/main.ts")], {
      cwd: folder,
      env: { ...environment, PORT: "0" },
      stdio: ["pipe", "pipe", "pipe", "ipc"],
    });
    return new HostProcess(child, folder, await started(child));
  }

  /** Returns the CPU time that the process has used so far, in milliseconds. */
  async cpuMs(): Promise<number> {
    const stat = await readFile(`/proc/${this.#child.pid}/stat`, "utf8");
    const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14);
    return (Number(user) + Number(system)) * TICK_MS;
  }

  /** Asks the process for its figures; "collect" frees first what is in use no more. */
  async figures(how: "collect" | "as it is" = "as it is"): Promise<ProcessFigures> {
    const answer = once(this.#child, "message") as Promise<[ProcessFigures]>;
    this.#child.send(how);
    return (await answer)[0];
  }

  /** Returns what the process takes of the machine's memory, in bytes. */
  async residentBytes(): Promise<number> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024;
  }

  send({ method, path, headers, body }: Ask): Promise<{ status: number; text: string }> {
    const answered = Promise.withResolvers<{ status: number; text: string }>();
    const payload = body === undefined ? "" : JSON.stringify(body);
    const sent = request(`${this.#baseUrl}/${path}`, {
      method,
      agent: this.#agent,
      timeout: CALL_MS_MAX,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(payload),
        ...headers,
      },
    });
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => answered.resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", answered.reject);
    });
    sent.on("timeout", () => sent.destroy(new Error("the product did not answer")));
    sent.on("error", answered.reject);
    sent.end(payload);
    return answered.promise;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, "close");
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
      await closed;
      clearTimeout(timer);
    }
    this.#agent.destroy();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
