import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { IN_FLIGHT_SECONDS } from "./queue-processor.ts";
import type { Settings } from "./settings.ts";

const TIME_SPAN = /^(\d{1,2}):([0-5]?\d):([0-5]?\d(?:\.\d{1,7})?)$/;

/** `hours:minutes:seconds`, in milliseconds. */
const timeSpan = z
  .string()
  .regex(TIME_SPAN, "not a time span such as 00:05:00")
  .transform((text) => {
    const [, hours, minutes, seconds] = TIME_SPAN.exec(text) ?? [];
    return Math.round(((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000);
  });

const BATCH_SIZE_MAX = 32;
/** Limits `functionTimeout`, because this host does not renew the messages of functions that run. */
const FUNCTION_MS_MAX = (IN_FLIGHT_SECONDS * 1000) / 2;

const QueueOptions = z.object({
  batchSize: z.int().min(1).max(BATCH_SIZE_MAX).default(16),
  newBatchThreshold: z.int().min(0).default(8),
  maxPollingInterval: timeSpan.prefault("00:01:00"),
  visibilityTimeout: timeSpan.prefault("00:00:00"),
  maxDequeueCount: z.int().min(1).default(5),
  messageEncoding: z.literal("base64").default("base64"),
});

/** The host's own word for no limit. */
const UNLIMITED = z.literal(-1).transform(() => Infinity);

const HostJson = z.object({
  version: z.literal("2.0"),
  functionTimeout: timeSpan.pipe(z.number().max(FUNCTION_MS_MAX)).prefault("00:05:00"),
  extensions: z
    .object({
      http: z
        .object({
          routePrefix: z.string().default("api"),
          maxConcurrentRequests: z.int().min(1).default(Infinity),
          maxOutstandingRequests: UNLIMITED.or(z.int().min(1)).default(Infinity),
        })
        .prefault({}),
      queues: QueueOptions.prefault({}),
    })
    .prefault({}),
  logging: z.object({ logLevel: z.record(z.string(), z.string()).default({}) }).prefault({}),
});

export type HostOptions = z.output<typeof HostJson>;
export type QueueOptions = z.output<typeof QueueOptions>;

const OVERRIDE = "AzureFunctionsJobHost__";

/** Returns the content of host.json as settings change it: `AzureFunctionsJobHost__extensions__queues__batchSize`. */
function overridden(content: unknown, settings: Settings): unknown {
  const changed = structuredClone(content);
  for (const [name, text] of Object.entries(settings)) {
    if (!name.startsWith(OVERRIDE)) continue;
    const path = name.slice(OVERRIDE.length).split("__");
    const last = path.pop() ?? "";
    let object = changed as Record<string, unknown>;
    for (const key of path) object = (object[key] ??= {}) as Record<string, unknown>;
    // Settings are text; host.json has numbers.
    object[last] = /^\d+$/.test(text ?? "") ? Number(text) : text;
  }
  return changed;
}

/** Reads host.json, with what settings override. Ignores parts that this host does not have: telemetry, the bundle. */
export function readHostJson(appRoot: string, settings: Settings = process.env): HostOptions {
  const path = join(appRoot, "host.json");
  try {
    const content: unknown = JSON.parse(readFileSync(path, "utf8"));
    return HostJson.parse(overridden(content, settings));
  } catch (cause) {
    const text = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message;
    throw new Error(`${path} is not valid: ${text}`, { cause });
  }
}
