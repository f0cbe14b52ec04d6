import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { readHostJson } from "../../dev/host/host-json.ts";
import { readLocalSettings } from "../../dev/host/settings.ts";
import { readTriggers } from "../../dev/host/triggers.ts";

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
      newBatchThreshold: 31,
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

test.each([
  ["1st", { type: "httpTrigger" }, "the name must be"],
  ["f", { type: "blobTrigger" }, "has http, queue and timer triggers only"],
  ["f", { type: "httpTrigger", route: "f", authLevel: "function" }, "has no keys"],
  ["f", { type: "timerTrigger" }, "schedule is missing"],
  ["f", { type: "timerTrigger", schedule: "0 0 3 * * *" }, "has no schedule"],
  ["f", { type: "queueTrigger", queueName: "no_name" }, "is no name for a queue"],
])("a function %s with the trigger %j is refused: %s", (name, trigger, message) => {
  const registered = { metadata: { name, bindings: { trigger } }, callback: () => undefined };
  expect(() => readTriggers(new Map([[name, registered]]), {})).toThrow(message);
});
