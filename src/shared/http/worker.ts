import type * as z from "zod";
import type { SystemScope } from "../callers/scope.ts";
import { newId } from "../runtime/ids.ts";
import type { HttpDeps } from "./deps.ts";
import type { Shape } from "../runtime/shape.ts";
import {
  beginWork,
  type Invocation,
  hintFields,
  traceOfHint,
} from "../runtime/telemetry/work-context.ts";

/** A queue function as a value: the messages that it takes and the verb that it runs. */
export interface Worker {
  readonly name: string;
  readonly queue: string;
  readonly handle: (services: HttpDeps, message: unknown, host?: Invocation) => Promise<void>;
}

/** Declares a worker. A malformed message throws, so that the host moves it to the poison queue in the end. */
export function worker<Message>(
  name: string,
  queue: string,
  spec: {
    readonly message: Shape<z.ZodType<Message>>;
    run(services: HttpDeps, message: Message): Promise<void>;
  },
): Worker {
  return {
    name,
    queue,
    handle: (services, message, host) =>
      beginWork(
        {
          parents: [traceOfHint(message), host?.traceParent],
          fields: { worker: name, ...hintFields(message) },
          host,
        },
        async () => await spec.run(services, spec.message().parse(message)),
      ),
  };
}

/** A timer function as a value. Its verb must be safe when a run is missed, doubled or late. */
export interface Timer {
  readonly name: string;
  schedule(settings: Pick<HttpDeps, "config">): string;
  run(services: HttpDeps, system: SystemScope): Promise<void>;
}

/** Returns the scope of a worker or timer. The audit trail shows its name, and its run as a request id. */
export function systemScope({ clock }: Pick<HttpDeps, "clock">, worker: string): SystemScope {
  return { requestId: newId("request", clock.now()), ip: "", caller: { kind: "system", worker } };
}

export async function runTimer(
  services: HttpDeps,
  timer: Timer,
  isPastDue: boolean,
  host: Invocation,
): Promise<void> {
  const { name } = timer;
  const system = systemScope(services, name);
  const { requestId } = system;
  await beginWork(
    { parents: [host.traceParent], requestId, fields: { timer: name }, host },
    async () => {
      if (isPastDue) services.log.info("timer is late", { timer: name });
      await timer.run(services, system);
    },
  );
}
