import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { QueueServiceClient } from "@azure/storage-queue";
import { localFolder } from "../../dev/local-folder.ts";
import { loadApp } from "./app-loader.ts";
import type { WorkerApp } from "./app-loader.ts";
import { consoleLog, errorText } from "./host-log.ts";
import type { HostLog } from "./host-log.ts";
import { readHostJson } from "./host-json.ts";
import type { HostOptions } from "./host-json.ts";
import { RouteTable } from "./http-routing.ts";
import { bodyBytesMax, HttpServer } from "./http-server.ts";
import { Invoker } from "./invocation.ts";
import type { OnLeftOut } from "./left-out.ts";
import { QueueListener } from "./queue-listener.ts";
import { readLocalSettings } from "./settings.ts";
import type { LocalSettings } from "./settings.ts";
import { timerFiles } from "./timer-files.ts";
import { TimerListener } from "./timer-listener.ts";
import { readTriggers } from "./triggers.ts";
import type { Triggers } from "./triggers.ts";

/** What the Functions host leaves to HTTP requests when it is told to end. */
const HTTP_DRAIN_MS = 30_000;
/** What it leaves to queue and timer functions; messages go on being taken meanwhile. */
const WORK_DRAIN_MS = 10_000;
const IDLE_CHECK_MS = 20;
const TERMINATE_HOOKS_MS = 5_000;
/** For the answers of what was cut off when the worker ended. */
const LAST_ANSWERS_MS = 1_000;

/** Short, because the listener has its own way of waiting for a storage that is away. */
const QUEUE_OPTIONS = {
  retryOptions: {
    maxTries: 3,
    retryDelayInMs: 200,
    maxRetryDelayInMs: 1_000,
    tryTimeoutInMs: 15_000,
  },
};

export interface RunningHost {
  /** With the route prefix, without a slash at the end. */
  readonly url: string;
  /** Resolves with the reason when the worker ended and everything that ran was answered as failed. */
  readonly ended: Promise<Error>;
  /** Ends the worker, as an uncaught exception does. */
  fail(reason: Error): void;
  /** Takes no new connection. HTTP requests may finish for 30 seconds, then queue and timer functions for 10. */
  stop(): Promise<void>;
}

/**
 * Starts the app in this process, on a free port where `port` is 0. The environment comes first, local.settings.json
 * fills the gaps, and Core Tools' own default comes last. `appRoot` is the folder of the two settings files.
 */
export async function startHost(
  appRoot: string,
  entry: string,
  port: number,
): Promise<RunningHost> {
  if (!existsSync(entry)) throw new Error(`${entry} is not there: run "npm run build" first`);
  const local = readLocalSettings(appRoot);
  const values = { AZURE_FUNCTIONS_ENVIRONMENT: "Development", ...local.values };
  for (const [name, value] of Object.entries(values)) process.env[name] ??= value;
  const options = readHostJson(appRoot);
  const log = consoleLog(options.logging.logLevel);
  const app = await loadApp(entry, log);
  return new Host(app, options, log).start(appRoot, port, local.cors);
}

interface Listener {
  readonly isBusy: boolean;
  start(): void;
  stop(): Promise<void>;
}

class Host {
  readonly #app: WorkerApp;
  readonly #options: HostOptions;
  readonly #log: HostLog;
  readonly #invoker: Invoker;

  constructor(app: WorkerApp, options: HostOptions, log: HostLog) {
    this.#app = app;
    this.#options = options;
    this.#log = log;
    this.#invoker = new Invoker(app, log, options.functionTimeout);
  }

  async start(appRoot: string, port: number, cors: LocalSettings["cors"]): Promise<RunningHost> {
    const onLeftOut: OnLeftOut = (name, reason) =>
      this.#log.write("error", `The '${name}' function is in error and left out: ${reason}`);
    const triggers = readTriggers(this.#app.functions, process.env, onLeftOut);
    const { routePrefix, maxConcurrentRequests, maxOutstandingRequests } =
      this.#options.extensions.http;
    const server = new HttpServer({
      routePrefix,
      routes: new RouteTable(triggers.http, routePrefix, onLeftOut),
      invoker: this.#invoker,
      log: this.#log,
      maxConcurrentRequests,
      maxOutstandingRequests,
      bodyBytesMax: bodyBytesMax(process.env),
      cors,
      showsHomepage: process.env["AzureWebJobsDisableHomepage"]?.toLowerCase() !== "true",
    });
    const listeners: readonly Listener[] = [
      ...triggers.queues.map((queue) => this.#queueListener(queue)),
      ...triggers.timers.map((timer) => this.#timerListener(timer, appRoot)),
    ];
    const boundPort = await server.listen(port, "127.0.0.1");
    for (const listener of listeners) listener.start();
    return {
      url: `http://localhost:${boundPort}/${routePrefix}`,
      ended: this.#ended(server, listeners),
      fail: (reason) => this.#invoker.end(reason),
      stop: () => this.#stop(server, listeners),
    };
  }

  async #ended(server: HttpServer, listeners: readonly Listener[]): Promise<Error> {
    const reason = await this.#invoker.ended;
    const stopped = listeners.map((listener) => listener.stop());
    await within(LAST_ANSWERS_MS, Promise.all([server.drain(), ...stopped]));
    return reason;
  }

  #queueListener({ name, queueName, connectionString }: Triggers["queues"][number]): Listener {
    const service = QueueServiceClient.fromConnectionString(connectionString, QUEUE_OPTIONS);
    return new QueueListener({
      queue: service.getQueueClient(queueName),
      poisonQueue: service.getQueueClient(`${queueName}-poison`),
      options: this.#options.extensions.queues,
      invoke: (trigger) => this.#invoker.invoke(name, trigger),
      log: this.#log,
    });
  }

  #timerListener({ name, schedule }: Triggers["timers"][number], appRoot: string): Listener {
    // Kept apart by storage account, as blobs would be: another storage knows nothing of this one's runs.
    const storage = process.env["AzureWebJobsStorage"] ?? "";
    const account = createHash("sha256").update(storage).digest("hex").slice(0, 12);
    return new TimerListener({
      functionName: name,
      schedule,
      files: timerFiles(resolve(appRoot, localFolder(), "timers", account), name),
      invoke: (trigger) => this.#invoker.invoke(name, trigger),
      log: this.#log,
    });
  }

  async #stop(server: HttpServer, listeners: readonly Listener[]): Promise<void> {
    // Work is still taken and begun while requests finish, and has its own time afterwards.
    await within(HTTP_DRAIN_MS, server.drain());
    await stopWork(listeners);
    if (this.#invoker.runningCount > 0)
      this.#log.write("warning", `${this.#invoker.runningCount} invocations were cut off`);
    try {
      await within(TERMINATE_HOOKS_MS, this.#app.end());
    } catch (error) {
      this.#log.write("error", `an appTerminate hook failed\n${errorText(error)}`);
    }
    server.close();
  }
}

/** Stops the listeners when none of them has anything in hand any more, or the time is up. */
async function stopWork(listeners: readonly Listener[]): Promise<void> {
  const endsAt = performance.now() + WORK_DRAIN_MS;
  while (listeners.some(({ isBusy }) => isBusy) && performance.now() < endsAt)
    await delay(IDLE_CHECK_MS);
  const left = Math.max(0, endsAt - performance.now());
  await within(left, Promise.all(listeners.map((listener) => listener.stop())));
}

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, delay(milliseconds, undefined, { ref: false })]);
}
