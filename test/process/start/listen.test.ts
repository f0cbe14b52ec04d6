import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { outputOf } from "../../setup/child-output.ts";
import { anApplication, dataOf, type TestApplication } from "../../setup/factories.ts";
import { freePort } from "../../setup/free-ports.ts";
import { serveRelay, type RelayServer } from "../../setup/relay-server.ts";
import { startRelay, type Relay } from "../../setup/relay.ts";
import { happen } from "../../webhooks/subscriber.ts";
import { until } from "./started.ts";

const READY_MS = 60_000;
const FAILURE = { code: "text_too_long", message: "It is too long.", remediation: "Cut it." };

describe("npm run listen", () => {
  let relay: Relay;
  let server: RelayServer;
  let application: TestApplication;
  let folder: string;
  let port: number;
  beforeAll(async () => {
    relay = await startRelay({ settings: { OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32" } });
    server = await serveRelay(relay);
    application = await anApplication(relay);
    folder = await mkdtemp(join(tmpdir(), "listen-test-"));
    port = await freePort();
    const demo = { baseUrl: server.baseUrl, apiKey: application.key };
    await writeFile(join(folder, "demo.json"), JSON.stringify(demo));
  });
  afterAll(async () => {
    await server.close();
    await relay.stop();
    await rm(folder, { recursive: true });
  });

  function launch(more: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, ["dev/listen.ts"], {
      env: { PATH: process.env["PATH"], LOCAL_FOLDER: folder, LISTEN_PORT: String(port), ...more },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = outputOf(child);
    const ended = once(child, "exit").then(() => child.exitCode);
    onTestFinished(() => void child.kill("SIGKILL"));
    const says = (text: string) => until(() => output().includes(text), READY_MS);
    return { output, ended, says, stop: () => child.kill("SIGTERM") };
  }
  const endpoints = async () =>
    dataOf(await relay.call("GET", "/v1/webhooks", { key: application.key })) as {
      id: string;
      url: string;
      status: string;
    }[];

  test("receives, verifies and prints what happens, and refuses what is not signed", async () => {
    const listener = launch({ VERBOSE: "1" });
    await listener.says("Listening at");
    // A signature holds for five minutes, by the clock of the listener.
    relay.advance(Date.now() - relay.clock.now().getTime());
    await happen(relay, application, "connection.linked", {
      connection: { platform: "bluesky", status: "active" },
    });
    await happen(relay, application, "leg.failed", {
      leg: { platform: "mastodon", url: null, error: FAILURE },
    });
    await relay.drain();
    await listener.says("applicationId");
    expect(listener.output()).toMatch(
      /^[0-9:]{8} {2}connection\.linked +verified {2}bluesky {2}active$/m,
    );
    await listener.says("mastodon   text_too_long: It is too long. Cut it.");
    const { secret } = JSON.parse(await readFile(join(folder, "listen.json"), "utf8"));
    const time = Math.floor(Date.now() / 1_000);
    for (const headers of [
      {},
      { "x-social-restapi-signature": `t=${time},v1=${"00".repeat(32)}` },
    ]) {
      const answer = await fetch(`http://127.0.0.1:${port}/`, {
        method: "POST",
        headers,
        body: '{"type":"post.succeeded"}',
      });
      expect(answer.status).toBe(400);
    }
    expect(listener.output()).toContain("without a valid signature");
    expect(listener.output()).not.toContain(secret);
    listener.stop();
    expect(await listener.ended).toBe(0);
  });

  test("gets what waited while it was off as soon as it is started again", async () => {
    relay.advance(Date.now() - relay.clock.now().getTime());
    for (const number of [1, 2, 3, 4, 5, 6]) {
      await happen(relay, application, "connection.linked", {
        connection: { platform: "bluesky", status: `attempt ${number}` },
      });
      await relay.drain();
    }
    const again = launch();
    await again.says("waited while nothing listened are sent now");
    await relay.drain();
    // The sixth came after five failures in a row, and would wait for the endpoint's next try.
    await again.says("attempt 6");
    again.stop();
    await again.ended;
  });

  test("uses its endpoint again, at another port too, and makes one where it is gone", async () => {
    const [before] = await endpoints();
    const { key } = application;
    const body = { status: "disabled" };
    await relay.call("PATCH", `/v1/webhooks/${before?.id}`, { key, body });
    const other = String(await freePort());
    const again = launch({ LISTEN_PORT: other });
    await again.says("Listening at");
    again.stop();
    await again.ended;
    const url = `http://localhost:${other}/`;
    expect(await endpoints()).toMatchObject([{ id: before?.id, url, status: "active" }]);
    await relay.call("DELETE", `/v1/webhooks/${before?.id}`, { key });
    const third = launch();
    await third.says("Listening at");
    const [made, ...more] = await endpoints();
    expect(more).toEqual([]);
    expect(made?.id).not.toBe(before?.id);
  });

  test("says what to do where the port is taken, or no relay was started", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    onTestFinished(() => void taken.close());
    const address = taken.address();
    const inUse = typeof address === "object" ? String(address?.port) : "";
    const refused = launch({ LISTEN_PORT: inUse });
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toMatch(/LISTEN_PORT=\d+ npm run listen/);
    const alone = launch({ LOCAL_FOLDER: join(folder, "nothing") });
    expect(await alone.ended).toBe(1);
    expect(alone.output()).toContain("npm start");
  });
});
