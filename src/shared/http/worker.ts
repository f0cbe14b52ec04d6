import { app } from "@azure/functions";
import type * as z from "zod";
import type { Services } from "../services.ts";

/** A queue function as a value: which messages it takes and which verb it runs. */
export interface Worker {
  readonly name: string;
  readonly queue: string;
  readonly handle: (services: Services, message: unknown) => Promise<void>;
}

/** Declares a worker. A malformed message throws: the host moves it to the poison queue in the end. */
export function worker<Message>(
  name: string,
  queue: string,
  spec: {
    readonly message: z.ZodType<Message>;
    run(services: Services, message: Message): Promise<void>;
  },
): Worker {
  return {
    name,
    queue,
    handle: (services, message) => spec.run(services, spec.message.parse(message)),
  };
}

/** A timer function as a value; its verb must be safe when it is missed, doubled or late. */
export interface Timer {
  readonly name: string;
  schedule(services: Services): string;
  run(services: Services): Promise<void>;
}

/** What the host hands over is an object already, or text when it was no JSON. */
export function registerWorkers(workers: readonly Worker[], services: Services): void {
  for (const { name, queue, handle } of workers) {
    app.storageQueue(name, {
      queueName: services.config.storage.prefix + queue,
      connection: "AzureWebJobsStorage",
      handler: (message) => handle(services, message),
    });
  }
}

export function registerTimers(timers: readonly Timer[], services: Services): void {
  for (const timer of timers) {
    app.timer(timer.name, {
      schedule: timer.schedule(services),
      handler: async (invocation) => {
        if (invocation.isPastDue) services.log.info("timer is late", { timer: timer.name });
        await timer.run(services);
      },
    });
  }
}
