import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { DEQUEUES_MAX } from "../../../src/shared/host/worker.ts";

const level = z.enum(["Trace", "Debug", "Information", "Warning", "Error", "Critical", "None"]);
const time = z.string().regex(/^(\d+\.)?\d{2}:\d{2}:\d{2}(\.\d+)?$/);

/**
 * The parts of host.json that are ours, with every name that the host knows in them. It passes over a name that it does
 * not know without a word; https://learn.microsoft.com/azure/azure-functions/functions-host-json
 */
const HostJson = z.strictObject({
  version: z.literal("2.0"),
  functionTimeout: time,
  extensionBundle: z.strictObject({
    id: z.literal("Microsoft.Azure.Functions.ExtensionBundle"),
    version: z.string().regex(/^\[\d+\.\d+\.\d+, \d+\.\d+\.\d+\)$/),
  }),
  extensions: z.strictObject({
    http: z.strictObject({
      routePrefix: z.string(),
      maxOutstandingRequests: z.int().optional(),
      maxConcurrentRequests: z.int().optional(),
      dynamicThrottlesEnabled: z.boolean().optional(),
      hsts: z.object({}).optional(),
      customHeaders: z.record(z.string(), z.string()).optional(),
    }),
    queues: z.strictObject({
      maxPollingInterval: time,
      visibilityTimeout: time,
      batchSize: z.int().min(1).max(32),
      maxDequeueCount: z.int(),
      newBatchThreshold: z.int(),
      messageEncoding: z.enum(["base64", "none"]),
    }),
  }),
  logging: z.strictObject({
    fileLoggingMode: z.enum(["never", "always", "debugOnly"]).optional(),
    logLevel: z.record(z.string(), level),
    applicationInsights: z.strictObject({
      enableLiveMetrics: z.boolean().optional(),
      samplingSettings: z.strictObject({
        isEnabled: z.boolean(),
        maxTelemetryItemsPerSecond: z.number().optional(),
        excludedTypes: z.string().optional(),
        includedTypes: z.string().optional(),
      }),
    }),
  }),
});

test("host.json has no name that the host does not know, and no value that it does not take", () => {
  const path = resolve(import.meta.dirname, "../../../host.json");
  const parsed = HostJson.safeParse(JSON.parse(readFileSync(path, "utf8")));
  expect(parsed.error).toBeUndefined();
  expect(parsed.data?.extensions.queues.maxDequeueCount).toBe(DEQUEUES_MAX);
});
