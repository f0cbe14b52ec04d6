import { execFile, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { buildApp } from "../dev/build.ts";
import { END_WITH_PARENT } from "../dev/end-with-parent.ts";
import type { Services } from "../src/shared/compose.ts";
import { startBenchStorage, type BenchStorage } from "./emulator.ts";
import { startInstantNetwork, type InstantNetwork } from "./instant-network.ts";
import {
  acceptAsk,
  BENCH_PREFIX,
  openTenant,
  settingsOf,
  startRelay,
  succeed,
  type Ask,
  type Tenant,
} from "./relay.ts";

const START_MS_MAX = 30_000;
const CALL_MS_MAX = 120_000;
const STOP_MS_MAX = 30_000;
const OUTPUT_KEPT_CHARACTERS = 4_000;

/** The built product in a process of its own under the local host, its storage, and a network that answers at once. */
export interface WholeRelay {
  readonly network: InstantNetwork;
  readonly storage: BenchStorage;
  readonly prefix: string;
  /** The same deployment in this process, for what is prepared and looked at beside the calls. */
  readonly services: Services;
  openTenants(count: number): Promise<Tenant[]>;
  /** Accepts a post of one leg and answers its text. @throws Error on any other answer than 202 */
  post(tenant: Tenant, body?: object): Promise<string>;
  /** Of the process: what it takes of the machine's memory, in bytes. */
  residentBytes(): Promise<number>;
  stop(): Promise<void>;
}

interface Running {
  readonly baseUrl: string;
  readonly child: ChildProcess;
  readonly folder: string;
}

/** The line in which the host says that it is there, with its address. */
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

async function launch(environment: Readonly<Record<string, string>>): Promise<Running> {
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  await copyFile("host.json", join(folder, "host.json"));
  const manifest = { type: "module", main: resolve("dist/main.js") };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  const args = ["--import", END_WITH_PARENT, resolve("dev/host/main.ts")];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...environment, PORT: "0" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const address = (await started(child)).replace(/\/$/, "");
  return { baseUrl: address.endsWith("/api") ? address : `${address}/api`, child, folder };
}

class HttpCaller {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #baseUrl: string;

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  send({ method, path, headers, body }: Ask): Promise<{ status: number; text: string }> {
    const {
      promise,
      resolve: done,
      reject,
    } = Promise.withResolvers<{
      status: number;
      text: string;
    }>();
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
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => done({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    sent.on("timeout", () => sent.destroy(new Error("the product did not answer")));
    sent.on("error", reject);
    sent.end(payload);
    return promise;
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function residentBytesOf(child: ChildProcess): Promise<number> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(child.pid)]);
  return Number(stdout.trim()) * 1024;
}

async function end({ child, folder }: Running): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const closed = once(child, "close");
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
    await closed;
    clearTimeout(timer);
  }
  await rm(folder, { recursive: true, force: true });
}

/** Tenants whose one account is at the instant network, with an endpoint for all their events. */
export async function openLinked(
  services: Services,
  network: InstantNetwork,
  count: number,
): Promise<Tenant[]> {
  const tenants: Tenant[] = [];
  while (tenants.length < count) {
    const tenant = await openTenant(services);
    await succeed(services, {
      method: "POST",
      path: "v1/webhooks",
      headers: { authorization: `Bearer ${tenant.apiKey}` },
      body: { url: network.endpointUrl(tenant.applicationId) },
    });
    tenants.push(tenant);
  }
  return tenants;
}

/** `nodeOptions`: as an operator sets them in `NODE_OPTIONS`. */
export async function startWholeRelay(nodeOptions = ""): Promise<WholeRelay> {
  await buildApp();
  const [storage, network] = await Promise.all([startBenchStorage(), startInstantNetwork()]);
  const prefix = `${BENCH_PREFIX}${randomBytes(6).toString("hex")}`;
  const services = startRelay(storage, prefix, network.settings);
  const environment = {
    ...settingsOf(storage, prefix),
    ...network.settings,
    NODE_OPTIONS: nodeOptions,
  };
  const running = await launch(environment).catch(async (error: unknown) => {
    await Promise.all([storage.stop(), network.stop()]);
    throw error;
  });
  const caller = new HttpCaller(running.baseUrl);
  return {
    network,
    storage,
    prefix,
    services,
    openTenants: (count) => openLinked(services, network, count),
    async post(tenant, body = {}) {
      const ask = acceptAsk(tenant, { platforms: ["mastodon"], ...body });
      const { status, text } = await caller.send(ask);
      if (status !== 202) throw new Error(`a post was answered with ${status}: ${text}`);
      return (JSON.parse(text) as { data: { text: string } }).data.text;
    },
    residentBytes: () => residentBytesOf(running.child),
    async stop() {
      await end(running);
      caller.close();
      await Promise.all([storage.stop(), network.stop()]);
    },
  };
}
