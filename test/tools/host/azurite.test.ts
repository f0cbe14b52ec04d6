import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { QueueServiceClient } from "@azure/storage-queue";
import { expect, onTestFinished, test } from "vitest";
import { startAzurite } from "../../../dev/azurite.ts";
import { isAnswered } from "../../../dev/ports.ts";
import { until } from "./host-process.ts";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "azurite-test-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

const answers = (port: number) => isAnswered("127.0.0.1", port);

test("the emulator finds its data again after a restart on the same folder", async () => {
  const path = await folder();
  const first = await startAzurite({ folder: path });
  const queues = QueueServiceClient.fromConnectionString(first.connectionString);
  await queues.createQueue("kept");
  await first.stop();
  expect(await answers(first.ports.queue)).toBe(false);

  const second = await startAzurite({ folder: path, queuePort: first.ports.queue });
  onTestFinished(() => second.stop());
  expect(second.ports.queue).toBe(first.ports.queue);
  expect(await queues.getQueueClient("kept").exists()).toBe(true);
});

test("a port that is taken is named with the setting that changes it", async () => {
  const first = await startAzurite({ inMemory: true });
  onTestFinished(() => first.stop());
  await expect(startAzurite({ inMemory: true, tablePort: first.ports.table })).rejects.toThrow(
    `port ${first.ports.table} is in use: Azurite's table service takes it from AZURITE_TABLE_PORT`,
  );
});

test("the emulator ends with its parent, even one that was killed", async () => {
  const parent = spawn(
    process.execPath,
    [
      "--input-type=module",
      "--eval",
      `import { startAzurite } from ${JSON.stringify(resolve("dev/azurite.ts"))};
       const { ports } = await startAzurite({ inMemory: true });
       console.log(ports.queue);
       setInterval(() => {}, 1000);`,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const port = Number(line.toString());
  expect(await answers(port)).toBe(true);
  parent.kill("SIGKILL");
  expect(await until(async () => !(await answers(port)) || undefined)).toBe(true);
});
