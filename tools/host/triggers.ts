import type { WorkerApp } from "./app-loader.ts";
import type { BindingInfo } from "./core-types.ts";
import type { HttpFunction } from "./http-routing.ts";
import { isTrigger } from "./invocation.ts";
import { LackError, type OnLeftOut } from "./left-out.ts";
import type { Settings } from "./settings.ts";
import { parseSchedule } from "./timer-schedule.ts";
import type { TimerSchedule } from "./timer-schedule.ts";

interface QueueFunction {
  readonly name: string;
  readonly queueName: string;
  readonly connectionString: string;
}

interface TimerFunction {
  readonly name: string;
  readonly schedule: TimerSchedule;
}

export interface Triggers {
  readonly http: readonly HttpFunction[];
  readonly queues: readonly QueueFunction[];
  readonly timers: readonly TimerFunction[];
}

const FUNCTION_NAME = /^[a-z][a-z0-9_-]{0,127}$/i;
const QUEUE_NAME = /^(?=.{3,63}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

/**
 * Reads what starts the app's functions. One that the Functions host can't index is left out, as there, and reported.
 * @throws LackError for what this host alone can't run
 */
export function readTriggers(
  functions: WorkerApp["functions"],
  settings: Settings,
  onLeftOut: OnLeftOut,
): Triggers {
  const http: HttpFunction[] = [];
  const queues: QueueFunction[] = [];
  const timers: TimerFunction[] = [];
  for (const [name, { metadata }] of functions) {
    try {
      if (!FUNCTION_NAME.test(name))
        throw new Error("the name must be a letter and up to 127 letters, digits, _ or -");
      const trigger = Object.values(metadata.bindings).find(({ type }) => isTrigger(type)) ?? {};
      if (trigger.type === "httpTrigger") http.push(readHttp(name, trigger));
      else if (trigger.type === "queueTrigger") queues.push(readQueue(name, trigger, settings));
      else if (trigger.type === "timerTrigger")
        timers.push({ name, schedule: parseSchedule(text(trigger, "schedule")) });
      else throw new LackError("the local host has http, queue and timer triggers only");
    } catch (error) {
      const { message } = error as Error;
      if (error instanceof LackError) throw new LackError(`function "${name}": ${message}`);
      onLeftOut(name, message);
    }
  }
  return { http, queues, timers };
}

function readHttp(name: string, trigger: BindingInfo): HttpFunction {
  if (trigger["authLevel"] !== "anonymous")
    throw new LackError('the local host has no keys: authLevel must be "anonymous"');
  const { methods } = trigger;
  if (!Array.isArray(methods)) throw new LackError("methods are missing");
  // A function without a route has its name for one.
  const route = trigger["route"] === undefined ? name : text(trigger, "route");
  return { name, route, methods: methods.map(String) };
}

function readQueue(name: string, trigger: BindingInfo, settings: Settings): QueueFunction {
  const queueName = text(trigger, "queueName");
  if (!QUEUE_NAME.test(queueName)) throw new Error(`"${queueName}" is no name for a queue`);
  const setting = text(trigger, "connection");
  const connectionString = settings[setting] ?? "";
  if (connectionString === "") throw new Error(`set ${setting} to a connection string`);
  return { name, queueName, connectionString };
}

function text(binding: BindingInfo, property: string): string {
  const value = binding[property];
  if (typeof value !== "string" || value === "") throw new Error(`${property} is missing`);
  return value;
}
