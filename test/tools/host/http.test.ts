import { request as httpRequest } from "node:http";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { startHostProcess, until } from "./host-process.ts";

interface Echo {
  readonly headers: Record<string, string>;
  readonly trace: { readonly traceParent: string };
}

describe("an HTTP function of the local host", () => {
  test("is not found without the prefix, and the answer names it", async () => {
    const { url } = await startHostProcess();
    for (const path of ["/echo", "/apis/echo"]) {
      const answer = await fetch(new URL(path, url));
      expect([answer.status, await answer.json()]).toMatchObject([
        404,
        {
          error: { code: "not_found", message: "There is no such route. Paths begin with /api/." },
        },
      ]);
    }
    const home = await (await fetch(new URL("/", url))).text();
    expect(home).toContain('<a href="/api/docs">');
    const below = await fetch(`${url}/unknown`);
    expect([below.status, await below.text()]).toEqual([404, ""]);
  });

  test("gets its request as the worker passes it, and its answer is sent unchanged", async () => {
    const { url } = await startHostProcess();

    const posted = await fetch(`${url}/items/a%20b%2Fc?a=1&A=2&b=x+y&c`, {
      method: "POST",
      body: new Uint8Array([0, 1, 255]),
      headers: {
        "X-Thing": "one",
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        tracestate: "vendor=1",
      },
    });
    const echo = (await posted.json()) as Echo;
    expect(echo).toMatchObject({
      function: "item-z",
      method: "POST",
      url: `${url}/items/a%20b%2Fc?a=1&A=2&b=x+y&c`,
      params: { id: "a b%2Fc" },
      headers: { "x-thing": "one" },
      body: Buffer.from([0, 1, 255]).toString("base64"),
      trace: {
        traceParent: expect.stringMatching(
          /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/,
        ) as string,
        traceState: "vendor=1",
      },
    });
    expect(echo.trace.traceParent).not.toContain("b7ad6b7169203331");

    const bare = (await (await fetch(`${url}/echo`)).json()) as Echo;
    expect(bare).toMatchObject({ params: {}, body: "" });
    expect(bare.trace.traceParent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);

    const binary = await fetch(`${url}/binary`);
    expect(binary.status).toBe(201);
    expect(binary.headers.get("content-type")).toBe("application/octet-stream");
    expect(binary.headers.get("x-one")).toBe("1");
    expect([...new Uint8Array(await binary.arrayBuffer())]).toEqual([0, 255, 10, 13, 128]);
  });

  test("gets the caller's address as Azure's front end adds it, behind what the caller says", async () => {
    const { url } = await startHostProcess();
    const seen = async (headers: Record<string, string> = {}) => {
      const response = await fetch(`${url}/echo`, { headers });
      return ((await response.json()) as Echo).headers["x-forwarded-for"];
    };
    expect(await seen()).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(await seen({ "X-Forwarded-For": "203.0.113.9" })).toMatch(
      /^203\.0\.113\.9, 127\.0\.0\.1:\d+$/,
    );
  });

  test("an HTTP function of the local host that throws is answered with an empty 500, and the error is in the log", async () => {
    const host = await startHostProcess();
    const response = await fetch(`${host.url}/boom`);
    expect(response.status).toBe(500);
    expect(await response.text()).toBe("");
    expect(host.output()).toContain("Executed 'boom' (Failed");
    expect(host.output()).toContain("Error: the fixture threw");
    expect((await fetch(`${host.url}/empty`)).status).toBe(204);
  });

  test("writes its log lines as they are, from the level that host.json names", async () => {
    const host = await startHostProcess();
    await fetch(`${host.url}/log`);
    const lines = host.output().split("\n");
    expect(lines).toContain("an information line");
    expect(lines).toContain("a warning line");
    expect(lines).not.toContain("a debug line");
  });

  test("writes lines of the console, in an invocation too, at the levels of the console's category", async () => {
    const logLevel = { default: "Warning", "Function.*.User": "Information" };
    const host = await startHostProcess({ hostJson: { version: "2.0", logging: { logLevel } } });
    await fetch(`${host.url}/console`);
    const lines = host.output().split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        "a line of an invocation",
        "a warning of the console",
        "an error of the console",
      ]),
    );
    expect(lines).not.toContain("a line of the console");
    expect(lines).not.toContain("a line of the other stream");
  });

  test.each([
    ["outlives functionTimeout", "hold", "Timeout value of 0.5 s exceeded by function 'hold'"],
    ["leaves an exception uncaught", "uncaught", "uncaught exception: Error: nobody caught this"],
    ["leaves a rejection unhandled", "unhandled", "uncaught exception: Error: nobody handled this"],
  ])("a function that %s takes everything that runs with it", async (_what, path, reason) => {
    const host = await startHostProcess({
      env: { FIXTURE_RUN_MS: "60000" },
      hostJson: { version: "2.0", functionTimeout: "00:00:00.5" },
    });
    const others = [fetch(`${host.url}/hold`), fetch(`${host.url}/hold`)];
    await until(() => host.output().split("holding").length > 2 || undefined);
    const statuses = await Promise.all([...others, fetch(`${host.url}/${path}`)]);
    expect(statuses.map(({ status }) => status)).toEqual([500, 500, 500]);
    await until(() => host.output().includes(`the app's process ended: ${reason}`) || undefined);
  });

  test("waits where as many run as host.json allows, while unfinished bodies take no slot", async () => {
    const host = await startHostProcess({
      env: { FIXTURE_RUN_MS: "300" },
      hostJson: { version: "2.0", extensions: { http: { maxConcurrentRequests: 1 } } },
    });
    const unfinished = httpRequest(`${host.url}/hold`, {
      method: "POST",
      headers: { "content-length": "5" },
    });
    unfinished.write("hel");
    const answers = Array.from({ length: 3 }, async () => (await fetch(`${host.url}/hold`)).status);
    await until(() => host.output().includes("holding") || undefined);
    expect(host.output().match(/holding/g)).toHaveLength(1);
    expect(await Promise.all(answers)).toEqual([200, 200, 200]);
    unfinished.end("lo");
    const [response] = (await once(unfinished, "response")) as [IncomingMessage];
    expect(await text(response)).toBe("held");
  });
});
