import type { InvocationContext } from "@azure/functions";
import type { Invocation } from "../runtime/telemetry/work-context.ts";

/** The host's part of an invocation, as the log and the trace need it. */
export function toInvocation(context: InvocationContext): Invocation {
  return {
    traceParent: context.traceContext?.traceParent,
    write(level, line) {
      switch (level) {
        // The setting LOG_LEVEL has judged it already; the host's own level would hide it.
        case "debug":
        case "info":
          return context.info(line);
        case "warn":
          return context.warn(line);
        case "error":
          return context.error(line);
      }
    },
  };
}
