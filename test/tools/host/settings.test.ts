import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { BindingInfo } from "../../../tools/host/core-types.ts";
import { readHostJson } from "../../../tools/host/host-json.ts";
import { readLocalSettings } from "../../../tools/host/settings.ts";
import type { OnLeftOut } from "../../../tools/host/left-out.ts";
import { readTriggers } from "../../../tools/host/triggers.ts";

async function folderWith(name: string, content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "settings-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, name), content);
  return folder;
}

describe("host.json", () => {
  test("host.json of this app is read", () => {
    const { functionTimeout, extensions } = readHostJson(resolve("."), {});
    expect(functionTimeout).toBe(300_000);
    expect(extensions.queues).toEqual({
      batchSize: 32,
      newBatchThreshold: 63,
      maxPollingInterval: 100,
      visibilityTimeout: 30_000,
      maxDequeueCount: 5,
      messageEncoding: "base64",
    });
  });

  test("host.json is overridden by settings, as text or as a number", () => {
    const { extensions } = readHostJson(resolve("."), {
      AzureFunctionsJobHost__extensions__queues__maxPollingInterval: "00:00:02",
      AzureFunctionsJobHost__extensions__queues__batchSize: "7",
    });
    const { maxPollingInterval, batchSize } = extensions.queues;
    expect([maxPollingInterval, batchSize]).toEqual([2_000, 7]);
  });

  test("names all that is wrong with it", async () => {
    const queues = { batchSize: 33, messageEncoding: "none", visibilityTimeout: "soon" };
    const content = { version: "2.0", functionTimeout: "00:10:00", extensions: { queues } };
    const folder = await folderWith("host.json", JSON.stringify(content));
    for (const part of ["batchSize", "messageEncoding", "not a time span", "functionTimeout"])
      expect(() => readHostJson(folder, {})).toThrow(part);
  });
});

describe("local.settings.json", () => {
  test("gives its values as text", async () => {
    const content = JSON.stringify({ IsEncrypted: false, Values: { A: "x", B: 5, C: true } });
    const { values } = readLocalSettings(await folderWith("local.settings.json", content));
    expect(values).toEqual({ A: "x", B: "5", C: "true" });
  });

  test.each(["{", '{"Values":{"A":{}}}', '{"IsEncrypted":true}'])(
    "%s is refused",
    async (content) => {
      const folder = await folderWith("local.settings.json", content);
      expect(() => readLocalSettings(folder)).toThrow("local.settings.json is not valid");
    },
  );
});

const read = (name: string, trigger: BindingInfo, onLeftOut: OnLeftOut) => {
  const registered = { metadata: { name, bindings: { trigger } }, callback: () => undefined };
  return readTriggers(new Map([[name, registered]]), {}, onLeftOut);
};

test.each([
  [{ type: "blobTrigger" }, "has http, queue and timer triggers only"],
  [{ type: "httpTrigger", route: "f", authLevel: "function" }, "has no keys"],
  [{ type: "timerTrigger", schedule: "0 0 3 * * *" }, "has no schedule"],
  [{ type: "timerTrigger", schedule: "01:00:00" }, "has no schedule"],
])(
  "a function with the trigger %j, which only the local host lacks, is refused: %s",
  (...given) => {
    const [trigger, message] = given;
    expect(() => read("f", trigger, () => undefined)).toThrow(
      `function "f": the local host ${message}`,
    );
  },
);

test.each([
  ["1st", { type: "httpTrigger" }, "the name must be"],
  ["f", { type: "timerTrigger" }, "schedule is missing"],
  ["f", { type: "timerTrigger", schedule: "every hour" }, "is no schedule"],
  ["f", { type: "queueTrigger", queueName: "no_name" }, "is no name for a queue"],
  ["f", { type: "queueTrigger", queueName: "work", connection: "X" }, "set X to a connection"],
])("a function %s with the trigger %j, which no host can index, is left out: %s", (...given) => {
  const [name, trigger, message] = given;
  const leftOut: string[] = [];
  expect(read(name, trigger, (...of) => leftOut.push(...of))).toEqual({
    http: [],
    queues: [],
    timers: [],
  });
  expect(leftOut).toEqual([name, expect.stringContaining(message)]);
});
