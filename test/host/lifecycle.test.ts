import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { QueueServiceClient } from "@azure/storage-queue";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { runHostProcess, startHostProcess, until } from "./host-process.ts";

describe("the local host", () => {
  test("lets a running invocation finish when it is asked to end, and takes no new one", async () => {
    const host = await startHostProcess({ env: { FIXTURE_RUN_MS: "1000" } });
    const held = fetch(`${host.url}/hold`);
    await until(() => host.output().includes("holding") || undefined);
    host.signal("SIGTERM");
    const refused = until(async () => {
      try {
        await (await fetch(`${host.url}/state`)).text();
        return undefined;
      } catch {
        return true;
      }
    });
    const response = await held;
    expect([response.status, await response.text()]).toEqual([200, "held"]);
    expect(await refused).toBe(true);
    expect(await host.ended()).toBe(0);
    expect(host.output()).toContain("appTerminate");
  });

  test("lets a running queue function finish and settles its message", async () => {
    const name = `drain-${Date.now()}`;
    const host = await startHostProcess({
      env: { WORK_QUEUE: name, FixtureStorage: inject("azurite"), FIXTURE_RUN_MS: "1000" },
    });
    const queue = QueueServiceClient.fromConnectionString(inject("azurite")).getQueueClient(name);
    await until(async () => (await queue.exists()) || undefined);
    await queue.sendMessage(Buffer.from("{}").toString("base64"));
    await until(async () => {
      const state = (await (await fetch(`${host.url}/state`)).json()) as { queueRuns: unknown[] };
      return state.queueRuns.length > 0 || undefined;
    });
    host.signal("SIGINT");
    expect(await host.ended()).toBe(0);
    expect((await queue.getProperties()).approximateMessagesCount).toBe(0);
  });

  test("goes on taking messages while requests finish, and ends afterwards", async () => {
    const name = `late-${Date.now()}`;
    const host = await startHostProcess({
      env: { WORK_QUEUE: name, FixtureStorage: inject("azurite"), FIXTURE_RUN_MS: "3000" },
    });
    const queue = QueueServiceClient.fromConnectionString(inject("azurite")).getQueueClient(name);
    await until(async () => (await queue.exists()) || undefined);
    const held = fetch(`${host.url}/hold`);
    await until(() => host.output().includes("holding") || undefined);
    host.signal("SIGTERM");
    await until(async () => {
      try {
        await fetch(`${host.url}/state`);
        return undefined;
      } catch {
        return true;
      }
    });
    await queue.sendMessage(Buffer.from("{}").toString("base64"));
    expect((await held).status).toBe(200);
    expect(await host.ended()).toBe(0);
    expect((await queue.getProperties()).approximateMessagesCount).toBe(0);
  });

  test("ends when nobody reads its output any more", async () => {
    const host = await startHostProcess();
    host.closeOutput();
    await fetch(`${host.url}/state`);
    host.signal("SIGTERM");
    expect(await host.ended()).toBe(0);
  });

  test("ends at once when it is asked a second time", async () => {
    const host = await startHostProcess({ env: { FIXTURE_RUN_MS: "60000" } });
    const held = fetch(`${host.url}/hold`).catch(() => "cut off");
    await until(() => host.output().includes("holding") || undefined);
    host.signal("SIGINT");
    await until(async () => {
      try {
        await fetch(`${host.url}/state`);
        return undefined;
      } catch {
        return true;
      }
    });
    host.signal("SIGINT");
    expect(await host.ended()).toBe(1);
    expect(await held).toBe("cut off");
  });

  test("ends with code 1 and the app's error when the app throws while it loads", async () => {
    const { code, output } = await runHostProcess({ entry: "throws.ts" });
    expect(code).toBe(1);
    expect(output).toContain("Error: the app can't load");
  });

  test("asks for a build where there is none", async () => {
    const { code, output } = await runHostProcess({ entry: "missing.js" });
    expect(code).toBe(1);
    expect(output).toContain('missing.js is not there: run "npm run build" first');
  });

  test("names PORT when its port is taken, and when it is no port", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => {
      server.close();
    });
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const taken = await runHostProcess({ env: { PORT: String(port) } });
    expect(taken.code).toBe(1);
    expect(taken.output).toContain(`port ${port} is in use: set PORT to a free one`);
    const wrong = await runHostProcess({ env: { PORT: "http" } });
    expect(wrong.code).toBe(1);
    expect(wrong.output).toContain("PORT must be a port");
  });

  test("names the setting that a trigger lacks", async () => {
    const { code, output } = await runHostProcess({ env: { WORK_QUEUE: "work" } });
    expect(code).toBe(1);
    expect(output).toContain("set FixtureStorage to a connection string");
  });

  test("takes settings from the environment first and from local.settings.json where it has none", async () => {
    const host = await startHostProcess({
      env: { TICK_SCHEDULE: "*/1 * * * * *" },
      localSettings: { Values: { TICK_SCHEDULE: "no schedule", FIXTURE_RUN_MS: 7 } },
    });
    expect(host.url).toMatch(/^http:\/\/localhost:\d+\/api$/);
  });

  test("keeps a timer's files next to the app, apart for each storage account", async () => {
    const host = await startHostProcess({ env: { TICK_SCHEDULE: "*/1 * * * * *" } });
    const folder = join(host.folder, ".local", "timers");
    const files = await until(async () => {
      const [account = ""] = await readdir(folder).catch(() => []);
      return account === "" ? undefined : readdir(join(folder, account));
    });
    expect(files).toEqual(["tick.lock"]);
  });
});
