import { registerHooks } from "node:module";
import { loadApp } from "../tools/host/app-loader.ts";
import type { HttpData } from "../tools/host/core-types.ts";
import type { HostLog } from "../tools/host/host-log.ts";
import { Invoker } from "../tools/host/invocation.ts";

/** What the program is asked to do, as JSON in its only argument. */
export interface StartOrder {
  readonly entry: string;
  /** Calls that are answered after the start, one after the other. */
  readonly calls: readonly StartCall[];
  /** Whether to note every module that is loaded, which takes time itself. */
  readonly notesModules: boolean;
}

interface StartCall {
  readonly functionName: string;
  readonly http: HttpData;
}

/** What it prints, as one line of JSON. */
export interface StartReport {
  readonly functions: number;
  /** Milliseconds of the process's life. */
  readonly registeredMs: number;
  readonly statuses: readonly string[];
  readonly answeredMs: readonly number[];
  /** CPU time of all threads until all functions were registered and all calls answered. */
  readonly cpuMs: number;
  readonly modules: readonly string[];
}

const WHOLE_LIFE_MS = 60_000;

const silent: HostLog = {
  write(level, line) {
    if (level === "error" || level === "critical") process.stderr.write(`${line}\n`);
  },
};

function noteModules(): string[] {
  const modules: string[] = [];
  registerHooks({
    load(url, context, next) {
      modules.push(url);
      return next(url, context);
    },
  });
  return modules;
}

async function run({ entry, calls, notesModules }: StartOrder): Promise<StartReport> {
  const modules = notesModules ? noteModules() : [];
  const app = await loadApp(entry, silent);
  const registeredMs = performance.now();
  const invoker = new Invoker(app, silent, WHOLE_LIFE_MS);
  const statuses: string[] = [];
  const answeredMs: number[] = [];
  for (const { functionName, http } of calls) {
    const result = await invoker.invoke(functionName, { input: { http }, metadata: {} });
    answeredMs.push(performance.now());
    const answer = result.succeeded ? result.response.returnValue : undefined;
    statuses.push(answer?.http?.statusCode ?? "none");
  }
  const { user, system } = process.cpuUsage();
  return {
    functions: app.functions.size,
    registeredMs,
    statuses,
    answeredMs,
    cpuMs: (user + system) / 1000,
    modules,
  };
}

// Safe: the starter of the program made the argument of this type.
const order = JSON.parse(process.argv[2] ?? "{}") as StartOrder;
process.stdout.write(`${JSON.stringify(await run(order))}\n`, () => process.exit(0));
