import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseHostJson, readHostJson } from "../../dev/host/host-json.ts";
import {
  readLocalSettings,
  resolveConnection,
  resolveExpressions,
} from "../../dev/host/settings.ts";
import { readTriggers } from "../../dev/host/triggers.ts";
import type { Bindings } from "../../dev/host/core-types.ts";

describe("host.json", () => {
  test("without settings has the host's defaults", () => {
    expect(parseHostJson({ version: "2.0" })).toEqual({
      version: "2.0",
      functionTimeout: 1_800_000,
      extensions: {
        http: {
          routePrefix: "api",
          maxConcurrentRequests: Infinity,
          maxOutstandingRequests: Infinity,
        },
        queues: {
          batchSize: 16,
          newBatchThreshold: 8,
          maxPollingInterval: 60_000,
          visibilityTimeout: 0,
          maxDequeueCount: 5,
          messageEncoding: "base64",
        },
      },
      logging: { logLevel: {} },
    });
  });

  test("of this app is read", () => {
    const { functionTimeout, extensions } = readHostJson(resolve("."));
    expect(functionTimeout).toBe(300_000);
    expect(extensions.queues.batchSize).toBeLessThanOrEqual(32);
  });

  test("is overridden by settings, whatever their case is, as text or as a number", () => {
    const { extensions } = readHostJson(resolve("."), {
      AzureFunctionsJobHost__extensions__queues__maxPollingInterval: "00:00:02",
      AZUREFUNCTIONSJOBHOST__EXTENSIONS__QUEUES__BATCHSIZE: "7",
      AzureFunctionsJobHost__extensions__http__routePrefix: "v",
    });
    const { queues, http } = extensions;
    expect([queues.maxPollingInterval, queues.batchSize, http.routePrefix]).toEqual([
      2_000,
      7,
      "v",
    ]);
    expect(readHostJson(resolve("."), {}).extensions.queues.maxPollingInterval).toBe(100);
  });

  test("names all that is wrong with it", () => {
    const wrong = {
      version: "2.0",
      extensions: { queues: { batchSize: 33, messageEncoding: "utf8", visibilityTimeout: "soon" } },
    };
    expect(() => parseHostJson(wrong)).toThrow(
      /batchSize[^]*messageEncoding|messageEncoding[^]*batchSize/,
    );
    expect(() => parseHostJson(wrong)).toThrow(/not a time span: "soon"/);
    expect(() => parseHostJson({ version: "1.0" })).toThrow("version");
  });

  test("that is missing is named by its path", () => {
    expect(() => readHostJson("/nowhere")).toThrow("/nowhere/host.json can't be read");
  });
});

describe("local.settings.json", () => {
  async function read(content: string | undefined): Promise<Record<string, string>> {
    const folder = await mkdtemp(join(tmpdir(), "settings-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    if (content !== undefined) await writeFile(join(folder, "local.settings.json"), content);
    return readLocalSettings(folder);
  }

  test("gives its values as text, with or without a byte order mark", async () => {
    const content = JSON.stringify({ IsEncrypted: false, Values: { A: "x", B: 5, C: true } });
    expect(await read(content)).toEqual({ A: "x", B: "5", C: "true" });
    expect(await read(`\uFEFF${content}`)).toEqual({ A: "x", B: "5", C: "true" });
  });

  test("that is not there gives none", async () => {
    expect(await read(undefined)).toEqual({});
  });

  test.each(["{", '{"Values":{"A":{}}}', '{"IsEncrypted":true}'])(
    "%s is refused",
    async (content) => {
      await expect(read(content)).rejects.toThrow("local.settings.json is not");
    },
  );
});

describe("a setting", () => {
  test("stands in for %NAME%", () => {
    expect(resolveExpressions("%A%-%B%-100", { A: "x", B: "y" })).toBe("x-y-100");
    expect(() => resolveExpressions("%A%", { A: "" })).toThrow("there is no setting A");
  });

  test.each([
    [{ Data: "own" }, { kind: "connectionString", value: "own" }],
    [{ AzureWebJobsData: "prefixed" }, { kind: "connectionString", value: "prefixed" }],
    [
      { Data__accountName: "acc" },
      { kind: "identity", queueServiceUri: "https://acc.queue.core.windows.net" },
    ],
    [
      { Data__queueServiceUri: "http://127.0.0.1:1/a" },
      { kind: "identity", queueServiceUri: "http://127.0.0.1:1/a" },
    ],
  ])("of %j is a storage connection", (settings, connection) => {
    expect(resolveConnection("Data", settings)).toEqual(connection);
  });

  test("that is missing is named", () => {
    expect(() => resolveConnection("Data", {})).toThrow("set Data to a connection string");
  });
});

describe("a function", () => {
  const read = (name: string, bindings: Bindings, more: object = {}) =>
    readTriggers(
      [
        {
          callback: () => undefined,
          metadata: {
            name,
            functionId: name,
            bindings,
            rawBindings: [],
            scriptFile: "n/a",
            ...more,
          },
        },
      ],
      { QUEUE: "Work-Items" },
    );

  test("on a queue has its expressions resolved and a default connection", () => {
    expect(read("f", { q: { type: "queueTrigger", queueName: "%QUEUE%" } }).queues).toEqual([
      { name: "f", queueName: "work-items", connection: "AzureWebJobsStorage" },
    ]);
  });

  test.each<[string, Bindings, object, string]>([
    ["1st", { r: { type: "httpTrigger" } }, {}, "the name must be"],
    ["host", { r: { type: "httpTrigger" } }, {}, "the name must be"],
    ["f", {}, {}, "exactly one trigger"],
    ["f", { a: { type: "httpTrigger" }, b: { type: "timerTrigger" } }, {}, "exactly one trigger"],
    ["f", { a: { type: "blobTrigger" } }, {}, "has no blobTrigger"],
    ["f", { a: { type: "httpTrigger" }, o: { type: "queue" } }, {}, 'has no "queue" bindings'],
    ["f", { a: { type: "timerTrigger" } }, {}, "schedule is missing"],
    ["f", { a: { type: "timerTrigger", schedule: "%NONE%" } }, {}, "there is no setting NONE"],
    ["f", { a: { type: "queueTrigger", queueName: "no_name" } }, {}, "is no name for a queue"],
    ["f", { a: { type: "httpTrigger" } }, { retryOptions: {} }, "no retry policies"],
  ])("%s with the bindings %j %j is refused: %s", (name, bindings, more, message) => {
    expect(() => read(name, bindings, more)).toThrow(message);
  });
});
