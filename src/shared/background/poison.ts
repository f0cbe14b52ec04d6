import type { TakeStep } from "../runtime/walk-step.ts";
import type { BackgroundDeps } from "./deps.ts";

const TEXT_MAX = 4_000;

interface PoisonMessage {
  readonly message: unknown;
  /** Absent if the host moved the message. */
  readonly error?: unknown;
}

/**
 * Logs a message that failed at every delivery. An alert finds the line by its `event`. The work is not lost with the
 * message, because its row still exists and the sweep finds it.
 */
export function recordPoison(
  deps: Pick<BackgroundDeps, "log" | "tenants" | "work">,
  queue: string,
  { message, error }: PoisonMessage,
): void {
  const text = typeof message === "string" ? message : (JSON.stringify(message) ?? "");
  deps.work.metrics.count("queues.poisoned", { queue });
  deps.log.error("poison message", {
    event: "poison_message",
    queue,
    hint: text.slice(0, TEXT_MAX),
    error,
  });
  deps.tenants.audit.record(
    { requestId: "", ip: "", caller: { kind: "system", worker: queue } },
    { action: "message.poisoned", target: { type: "queue", id: queue } },
  );
}

/**
 * Makes the steps that log and remove the messages which the host itself moved to a poison queue: those that ended the
 * process at each delivery, and those that aren't base64 text.
 */
export function clearPoisonQueues(deps: BackgroundDeps): TakeStep {
  return async () => {
    let logged = 0;
    for (const { name, poison } of deps.stores.poisonQueues)
      for (const { text, remove } of await poison.receive()) {
        recordPoison(deps, name, { message: text });
        await remove();
        logged += 1;
      }
    return { next: logged > 0 ? "more" : undefined, counts: { logged } };
  };
}
