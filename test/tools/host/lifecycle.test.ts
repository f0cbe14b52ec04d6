import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { QueueServiceClient } from "@azure/storage-queue";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { runHostProcess, startHostProcess, until, type HostProcess } from "./host-process.ts";

/** Waits until the host takes no connection any more. */
const untilRefused = ({ url }: HostProcess) =>
  until(() =>
    fetch(`${url}/state`).then(
      (answer) => void answer.text(),
      () => true,
    ),
  );

describe("the local host", () => {
  test("lets a running invocation finish when it is asked to end, and takes no new one", async () => {
    const host = await startHostProcess({ env: { FIXTURE_RUN_MS: "1000" } });
    const held = fetch(`${host.url}/hold`);
    await until(() => host.output().includes("holding") || undefined);
    host.signal("SIGTERM");
    const refused = untilRefused(host);
    const response = await held;
    expect([response.status, await response.text()]).toEqual([200, "held"]);
    await refused;
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
    await untilRefused(host);
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
    await untilRefused(host);
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

  test("leaves out a function that can't be indexed, names what it lacks, and serves the others", async () => {
    const host = await startHostProcess({ env: { WORK_QUEUE: "work" } });
    expect(host.output()).toContain(
      "The 'work' function is in error and left out: set FixtureStorage to a connection string",
    );
    expect((await fetch(`${host.url}/state`)).status).toBe(200);
  });

  test("starts a new process for one that ended, twice within half an hour, and ends with the third", async () => {
    const host = await startHostProcess({ env: { FIXTURE_RUN_MS: "60000" } });
    const starts = () => host.output().split("listening on").length - 1;
    const end = async (path: string) => {
      const answer = fetch(`${host.url}/${path}`).then(
        ({ status }) => status,
        () => "cut off",
      );
      return await answer;
    };
    expect(await end("uncaught")).toBe(500);
    await until(() => starts() === 2 || undefined);
    expect((await fetch(`${host.url}/state`)).status).toBe(200);
    expect(await end("exit")).toBe("cut off");
    await until(() => starts() === 3 || undefined);
    expect((await fetch(`${host.url}/state`)).status).toBe(200);
    expect(host.output()).toContain("the app's process ended: it exited with code 7. A new one");
    expect(await end("unhandled")).toBe(500);
    expect(await host.ended()).toBe(1);
    expect(host.output()).toContain("That was the third time within half an hour");
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
      const names = account === "" ? [] : await readdir(join(folder, account));
      return names.length === 0 ? undefined : names;
    });
    expect(files).toEqual(["tick.lock"]);
  });
});
