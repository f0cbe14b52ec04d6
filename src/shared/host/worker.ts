import type * as z from "zod";
import { recordPoison } from "../background/background.ts";
import type { SystemScope } from "../callers/scope.ts";
import { newId } from "../runtime/ids.ts";
import type { HttpDeps } from "../http/deps.ts";
import { NewerRow } from "../runtime/storage/damaged-row.ts";
import type { Shape } from "../runtime/shape.ts";
import {
  type Invocation,
  hintFields,
  newWork,
  traceOfHint,
  works,
} from "../runtime/telemetry/work-context.ts";

/** `maxDequeueCount` of `host.json`. The host would move a message that fails this often to a poison queue. */
export const DEQUEUES_MAX = 5;

/** A queue function as a value, named after its queue. */
export interface Worker {
  readonly queue: string;
  readonly handle: (deps: HttpDeps, message: unknown, host?: Invocation) => Promise<void>;
}

interface WorkerSpec<Message> {
  readonly message: Shape<z.ZodType<Message>>;
  /** Sends a hint again, in a message of its own. */
  resend(deps: HttpDeps, hint: Message): Promise<void>;
  run(deps: HttpDeps, message: Message): Promise<void>;
}

/** Returns the hints of a message. Its own fields are the first one, and `more` has the others. */
export function hintsOf(message: unknown): readonly unknown[] {
  if (typeof message !== "object" || message === null) return [message];
  const more: unknown = Reflect.get(message, "more");
  return Array.isArray(more) ? [message, ...(more as readonly unknown[])] : [message];
}

/**
 * Declares a worker. It works on all hints of a message in parallel, so that none waits for another one's network; those
 * that are too many for the process get a message of their own. A hint that fails or is malformed throws, so that the
 * host delivers the message again: every hint may be repeated. At the last delivery the message is recorded and
 * completed, so that the host moves nothing to a poison queue.
 */
export function worker<Message>(queue: string, spec: WorkerSpec<Message>): Worker {
  return {
    queue,
    async handle(deps, message, host) {
      const { companions } = deps.access;
      const workOn = (hint: unknown) => {
        const parents = [traceOfHint(hint), host?.traceParent];
        const fields = { worker: queue, ...hintFields(hint) };
        return newWork({ parents, isBackground: true, fields, host });
      };
      const underWay: Promise<void>[] = [];
      for (const [index, hint] of hintsOf(message).entries()) {
        const isCompanion = index > 0;
        const work = workOn(hint);
        const ended = works.run(work, async () => {
          const parsed = spec.message().parse(hint);
          if (isCompanion && !companions.take("", 1)) return spec.resend(deps, parsed);
          try {
            await spec.run(deps, parsed);
          } catch (error) {
            // A row of a later build is left to an instance of that build. Reading it was logged.
            if (!(error instanceof NewerRow)) throw error;
          } finally {
            if (isCompanion) companions.giveBack("", 1);
          }
        });
        underWay.push(ended.finally(work.end));
      }
      const ends = await Promise.allSettled(underWay);
      const errors = ends.flatMap((end): unknown[] =>
        end.status === "rejected" ? [end.reason] : [],
      );
      if (errors.length === 0) return;
      const error =
        errors.length === 1 ? errors[0] : new AggregateError(errors, "hints of one message failed");
      if ((host?.dequeueCount ?? 1) < DEQUEUES_MAX) throw error;
      const work = workOn(message);
      await works
        .run(work, async () => recordPoison(deps.background, queue, { message, error }))
        .finally(work.end);
    },
  };
}

/** A timer function as a value. A run of its verb may be missed, repeated or late. */
export interface Timer {
  readonly name: string;
  schedule(settings: Pick<HttpDeps, "config">): string;
  run(deps: HttpDeps, system: SystemScope): Promise<void>;
}

/** Makes the scope of a worker or timer. The audit trail shows its name, and its run as a request id. */
export function systemScope({ clock }: Pick<HttpDeps, "clock">, worker: string): SystemScope {
  return { requestId: newId("request", clock.now()), ip: "", caller: { kind: "system", worker } };
}

export async function runTimer(
  deps: HttpDeps,
  timer: Timer,
  isPastDue: boolean,
  host: Invocation,
): Promise<void> {
  const { name } = timer;
  const system = systemScope(deps, name);
  const { requestId } = system;
  const parents = [host.traceParent];
  const fields = { timer: name };
  const work = newWork({ parents, requestId, isBackground: true, fields, host });
  await works
    .run(work, async () => {
      if (isPastDue) deps.log.info("timer is late", { timer: name });
      await timer.run(deps, system);
    })
    .finally(work.end);
}
