import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parseTimeSpan } from "./time-span.ts";

const timeSpan = z.string().transform((text, context) => {
  const milliseconds = parseTimeSpan(text);
  if (milliseconds !== undefined) return milliseconds;
  context.addIssue({ code: "custom", message: `not a time span: ${JSON.stringify(text)}` });
  return z.NEVER;
});

/** -1 means no limit, which is the host's default where it does not run on a Consumption plan. */
const limit = z
  .int()
  .refine((value) => value === -1 || value > 0, "must be -1 or more than 0")
  .transform((value) => (value === -1 ? Infinity : value))
  .default(Infinity);

const BATCH_SIZE_MAX = 32;

const QueueOptions = z
  .object({
    batchSize: z.int().min(1).max(BATCH_SIZE_MAX).default(16),
    newBatchThreshold: z.int().min(0).optional(),
    maxPollingInterval: timeSpan.default(60_000).refine((value) => value >= 100, "at least 100 ms"),
    visibilityTimeout: timeSpan.default(0),
    maxDequeueCount: z.int().min(1).default(5),
    messageEncoding: z
      .string()
      .default("base64")
      .transform((text) => text.toLowerCase())
      .pipe(z.enum(["base64", "none"])),
  })
  .transform((options) => ({
    ...options,
    newBatchThreshold: options.newBatchThreshold ?? Math.floor(options.batchSize / 2),
  }));

const HttpOptions = z.object({
  routePrefix: z.string().default("api"),
  maxConcurrentRequests: limit,
  maxOutstandingRequests: limit,
});

const HostJson = z.object({
  version: z.literal("2.0"),
  functionTimeout: timeSpan.or(z.literal("-1").transform(() => Infinity)).default(30 * 60_000),
  extensions: z
    .object({
      http: HttpOptions.prefault({}),
      queues: QueueOptions.prefault({}),
    })
    .prefault({}),
  logging: z
    .object({
      logLevel: z.record(z.string(), z.string()).default({}),
    })
    .prefault({}),
});

export type HostOptions = z.output<typeof HostJson>;
export type QueueOptions = z.output<typeof QueueOptions>;
type HttpOptions = z.output<typeof HttpOptions>;

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const OVERRIDE = "azurefunctionsjobhost__";

/** Returns the object with one value set at a path whose names match whatever their case is. */
function withValue(object: Json, [name = "", ...rest]: readonly string[], text: string): Json {
  const known = Object.keys(object).find((key) => key.toLowerCase() === name.toLowerCase()) ?? name;
  const before = object[known];
  // Settings are text; host.json has numbers.
  const value = /^-?\d+$/.test(text) ? Number(text) : text;
  const after = rest.length === 0 ? value : withValue(isObject(before) ? before : {}, rest, text);
  return { ...object, [known]: after };
}

/**
 * Returns the content of host.json as settings change it: `AzureFunctionsJobHost__extensions__queues__batchSize` stands
 * for that path, whatever its case is.
 */
function overridden(content: unknown, settings: Readonly<Record<string, string | undefined>>) {
  if (!isObject(content)) return content;
  return Object.entries(settings)
    .filter(([name, text]) => name.toLowerCase().startsWith(OVERRIDE) && text !== undefined)
    .reduce(
      (made, [name, text = ""]) => withValue(made, name.slice(OVERRIDE.length).split("__"), text),
      content,
    );
}

/**
 * Reads host.json, with what settings override. Settings of parts that this host does not have (telemetry, the bundle)
 * are passed over.
 */
export function readHostJson(
  appRoot: string,
  settings: Readonly<Record<string, string | undefined>> = process.env,
): HostOptions {
  const path = join(appRoot, "host.json");
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new Error(`${path} can't be read: ${(cause as Error).message}`, { cause });
  }
  return parseHostJson(overridden(content, settings));
}

/** Throws one message that names every wrong setting. */
export function parseHostJson(content: unknown): HostOptions {
  const parsed = HostJson.safeParse(content);
  if (parsed.success) return parsed.data;
  throw new Error(`host.json is not valid:\n${z.prettifyError(parsed.error)}`);
}
