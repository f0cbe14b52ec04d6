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

interface WorkerSpec<Message> {
  readonly message: Shape<z.ZodType<Message>>;
  /** Returns the queue, where its messages may have several hints. */
  hints?(services: HttpDeps): { sendAlone(hint: Message): Promise<void> };
  run(services: HttpDeps, message: Message): Promise<void>;
}

/** Returns the hints of a message: its own fields are the first one, `more` has those that were sent along with it. */
export function hintsOf(message: unknown): readonly unknown[] {
  if (typeof message !== "object" || message === null) return [message];
  const more: unknown = Reflect.get(message, "more");
  return Array.isArray(more) ? [message, ...(more as readonly unknown[])] : [message];
}

/**
 * Works on all hints of a message at once, so that none waits for another one's network. What would be too much for the
 * process gets a message of its own. When one fails, the message is to be handled again: every hint may be repeated.
 */
async function runAll<Message>(
  services: HttpDeps,
  [first, ...others]: readonly unknown[],
  { spec, run }: { spec: WorkerSpec<Message>; run: (hint: unknown) => Promise<void> },
): Promise<void> {
  const runOther = async (hint: unknown) => {
    if (!(await services.companions.run(() => run(hint))))
      await spec.hints?.(services).sendAlone(spec.message().parse(hint));
  };
  const ends = await Promise.allSettled([run(first), ...others.map(runOther)]);
  const errors = ends.flatMap((end): unknown[] => (end.status === "rejected" ? [end.reason] : []));
  if (errors.length > 1) throw new AggregateError(errors, "hints of one message failed");
  for (const error of errors) throw error;
}

/** Declares a worker. A malformed message throws, so that the host moves it to the poison queue in the end. */
export function worker<Message>(name: string, queue: string, spec: WorkerSpec<Message>): Worker {
  return {
    name,
    queue,
    handle(services, message, host) {
      const run = (hint: unknown) =>
        beginWork(
          {
            parents: [traceOfHint(hint), host?.traceParent],
            fields: { worker: name, ...hintFields(hint) },
            host,
          },
          async () => await spec.run(services, spec.message().parse(hint)),
        );
      return spec.hints === undefined
        ? run(message)
        : runAll(services, hintsOf(message), { spec, run });
    },
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
