import type { RegisteredFunction } from "./core-api.ts";
import type { BindingInfo } from "./core-types.ts";
import type { HttpFunction } from "./http-routing.ts";
import { isTrigger } from "./invocation.ts";
import { resolveExpressions } from "./settings.ts";
import type { Settings } from "./settings.ts";
import { parseSchedule } from "./timer-schedule.ts";
import type { TimerSchedule } from "./timer-schedule.ts";

export interface QueueFunction {
  readonly name: string;
  readonly queueName: string;
  /** The name of the setting that holds the connection. */
  readonly connection: string;
}

export interface TimerFunction {
  readonly name: string;
  readonly schedule: TimerSchedule;
  readonly runOnStartup: boolean;
  readonly useMonitor: boolean;
}

export interface Triggers {
  readonly http: readonly HttpFunction[];
  readonly queues: readonly QueueFunction[];
  readonly timers: readonly TimerFunction[];
}

const FUNCTION_NAME = /^[a-z][a-z0-9_-]{0,127}$/i;
const QUEUE_NAME = /^(?=.{3,63}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** What starts the app's functions. Throws, naming the function, for what the host would refuse or this one lacks. */
export function readTriggers(
  functions: Iterable<RegisteredFunction>,
  settings: Settings,
): Triggers {
  const http: HttpFunction[] = [];
  const queues: QueueFunction[] = [];
  const timers: TimerFunction[] = [];
  for (const { metadata } of functions) {
    const { name } = metadata;
    try {
      if (!FUNCTION_NAME.test(name) || name.toLowerCase() === "host")
        throw new Error("the name must be a letter and up to 127 letters, digits, _ or -");
      const trigger = soleTrigger(metadata.bindings);
      if (metadata.retryOptions !== undefined)
        throw new Error("the local host has no retry policies");
      const type = trigger.type?.toLowerCase();
      if (type === "httptrigger") http.push(readHttp(name, trigger));
      else if (type === "queuetrigger") queues.push(readQueue(name, trigger, settings));
      else if (type === "timertrigger") timers.push(readTimer(name, trigger, settings));
      else if (type !== "warmuptrigger")
        throw new Error(
          `the local host has no ${trigger.type}: http, queue and timer triggers only`,
        );
    } catch (cause) {
      throw new Error(`function "${name}": ${(cause as Error).message}`, { cause });
    }
  }
  return { http, queues, timers };
}

function soleTrigger(bindings: Readonly<Record<string, BindingInfo>>): BindingInfo {
  const triggers = Object.values(bindings).filter(({ type }) => isTrigger(type));
  const [trigger, second] = triggers;
  if (trigger === undefined || second !== undefined)
    throw new Error("exactly one trigger is needed");
  for (const binding of Object.values(bindings))
    if (binding !== trigger && binding.type?.toLowerCase() !== "http")
      throw new Error(`the local host has no "${binding.type}" bindings`);
  return trigger;
}

function readHttp(name: string, { route, methods, authLevel }: BindingInfo): HttpFunction {
  return {
    name,
    needsKey: typeof authLevel !== "string" || authLevel.toLowerCase() !== "anonymous",
    route: typeof route === "string" ? route : undefined,
    methods: Array.isArray(methods) ? methods.map(String) : undefined,
  };
}

function readQueue(name: string, trigger: BindingInfo, settings: Settings): QueueFunction {
  const queueName = resolveExpressions(text(trigger, "queueName"), settings).toLowerCase();
  if (!QUEUE_NAME.test(queueName)) throw new Error(`"${queueName}" is no name for a queue`);
  const { connection } = trigger;
  return {
    name,
    queueName,
    connection:
      typeof connection === "string" && connection !== ""
        ? resolveExpressions(connection, settings)
        : "AzureWebJobsStorage",
  };
}

function readTimer(name: string, trigger: BindingInfo, settings: Settings): TimerFunction {
  return {
    name,
    schedule: parseSchedule(resolveExpressions(text(trigger, "schedule"), settings)),
    runOnStartup: trigger["runOnStartup"] === true,
    useMonitor: trigger["useMonitor"] !== false,
  };
}

function text(binding: BindingInfo, property: string): string {
  const value = binding[property];
  if (typeof value !== "string" || value === "") throw new Error(`${property} is missing`);
  return value;
}
