import { recordAudit } from "../audit/record.ts";
import type { BackgroundDeps } from "./deps.ts";

const TEXT_MAX = 4_000;

function textOfMessage(message: unknown): string {
  return (typeof message === "string" ? message : (JSON.stringify(message) ?? "")).slice(
    0,
    TEXT_MAX,
  );
}

/**
 * Stores and logs a message that failed at every attempt; an alert finds it by its `event`. What the message hinted at
 * is not lost with it: the row that stands for the work is still there, and its timer finds it. Never throws: a message
 * that came this far has nowhere else to go.
 */
export async function recordPoison(
  services: BackgroundDeps,
  queue: string,
  message: unknown,
): Promise<void> {
  const text = textOfMessage(message);
  services.metrics.count("queues.poisoned", { queue });
  let count: number | null = null;
  try {
    count = await services.housekeeping.recordPoison(queue, text, services.clock.now());
  } catch (error) {
    services.log.error("poison message not kept", {
      event: "poison_message_not_kept",
      queue,
      error,
    });
  }
  services.log.error("poison message", { event: "poison_message", queue, hint: text, count });
  const caller = { kind: "system", worker: `${queue}-poison` } as const;
  recordAudit(
    services,
    { requestId: "", ip: "", caller },
    { action: "message.poisoned", target: { type: "queue", id: queue } },
  );
}
