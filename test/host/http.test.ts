import { request as httpRequest } from "node:http";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, onTestFinished, test } from "vitest";
import { startHostProcess, until } from "./host-process.ts";

interface Echo {
  readonly function: string;
  readonly method: string;
  readonly url: string;
  readonly params: Record<string, string>;
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly trace: { readonly traceParent: string; readonly traceState: string };
}

/** Without fetch's own ideas of a path and of headers. */
async function raw(
  url: string,
  path: string,
  { method = "GET", headers = [] as string[], body = "" } = {},
): Promise<{ status: number | undefined; text: string }> {
  const { hostname, port } = new URL(url);
  const outgoing = httpRequest({
    host: hostname,
    port,
    path,
    method,
    headers: ["Host", "a.test", ...headers],
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return { status: response.statusCode, text: Buffer.concat(chunks).toString() };
}

describe("an HTTP function of the local host", () => {
  test("gets its request as the worker would give it, and its answer goes out unchanged", async () => {
    const { url } = await startHostProcess();

    const posted = await fetch(`${url}/echo/12?a=1&A=2&b=x+y&c`, {
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
      function: "echo",
      method: "POST",
      url: `${url}/echo/12?a=1&A=2&b=x+y&c`,
      params: { id: "12" },
      query: { A: "1,2", b: "x y", c: "" },
      body: Buffer.from([0, 1, 255]).toString("base64"),
      trace: {
        traceParent: expect.stringMatching(
          /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/,
        ) as string,
        traceState: "vendor=1",
      },
    });
    expect(echo.headers["x-thing"]).toBe("one");
    expect(echo.trace.traceParent).not.toContain("b7ad6b7169203331");

    const bare = (await (await fetch(`${url}/echo`)).json()) as Echo;
    expect(bare).toMatchObject({ params: {}, query: {}, body: "" });
    expect(bare.trace.traceParent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);

    const binary = await fetch(`${url}/binary`);
    expect(binary.status).toBe(201);
    expect(binary.headers.get("content-type")).toBe("application/octet-stream");
    expect(binary.headers.get("x-one")).toBe("1");
    expect([...new Uint8Array(await binary.arrayBuffer())]).toEqual([0, 255, 10, 13, 128]);

    const cookies = await fetch(`${url}/cookies`);
    expect(cookies.headers.getSetCookie()).toEqual([
      "a=1%202; path=/x; secure; samesite=lax; httponly",
      "b=2; max-age=60; path=/",
    ]);
  });

  test("is found by the host's routing rules only", async () => {
    const { url } = await startHostProcess();
    const origin = new URL(url).origin;
    const status = async (path: string, method = "GET"): Promise<number> => {
      const response = await fetch(`${origin}${path}`, { method });
      await response.body?.cancel();
      return response.status;
    };

    expect(await status("/api/echo/12")).toBe(200);
    expect(await status("/API/Echo/12/")).toBe(200);
    expect(await status("/api/echo/12", "DELETE")).toBe(200);
    expect(await status("/api/echo/twelve")).toBe(404);
    expect(await status("/echo/12")).toBe(404);
    expect(await status("/api/unknown")).toBe(404);
    expect(await status("/admin/host/status")).toBe(401);
    // The method is part of the route: no function has this one.
    expect(await status("/api/echo/12", "PATCH")).toBe(404);
    expect(await status("/api/echo/12", "HEAD")).toBe(404);
    expect(await status("/api/echo/12", "OPTIONS")).toBe(404);
    expect(await status("/")).toBe(200);

    const unknown = await fetch(`${url}/unknown`);
    expect(await unknown.text()).toBe("");

    const recent = (await (await fetch(`${url}/items/recent`)).json()) as Echo;
    expect(recent.function).toBe("item-recent");
    const item = (await (await fetch(`${url}/items/a%20b%2Fc`)).json()) as Echo;
    expect(item).toMatchObject({ function: "item-z", params: { id: "a b%2Fc" } });
    const files = (await (await fetch(`${url}/files/a/b.txt`)).json()) as Echo;
    expect(files.params).toEqual({ rest: "a/b.txt" });
  });

  test("sees a path with its dots resolved and its repeated headers joined", async () => {
    const { url } = await startHostProcess();
    const { status, text } = await raw(url, "/api/items/../echo/%35", {
      headers: ["X-Many", "1", "X-Many", "2"],
    });
    expect(status).toBe(200);
    const echo = JSON.parse(text) as Echo;
    expect(echo.url).toBe("http://a.test/api/echo/5");
    expect(echo.headers["x-many"]).toBe("1,2");
    expect((await raw(url, "/api/%00")).status).toBe(400);
    expect((await raw(url, "*", { method: "OPTIONS" })).status).toBe(400);
  });

  test("is told the caller's address as Azure's front end tells it, behind what the caller says", async () => {
    const { url } = await startHostProcess();
    const seen = async (headers: string[] = []) => {
      const { text } = await raw(url, "/api/echo", { headers });
      return (JSON.parse(text) as Echo).headers["x-forwarded-for"];
    };
    expect(await seen()).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(await seen(["X-Forwarded-For", "203.0.113.9"])).toMatch(
      /^203\.0\.113\.9, 127\.0\.0\.1:\d+$/,
    );
  });

  test("that throws answers an empty 500, and the error is in the log", async () => {
    const host = await startHostProcess();
    const response = await fetch(`${host.url}/boom`);
    expect(response.status).toBe(500);
    expect(await response.text()).toBe("");
    expect(host.output()).toContain("Executed 'boom' (Failed");
    expect(host.output()).toContain("Error: the fixture threw");
    expect((await fetch(`${host.url}/nothing`)).status).toBe(204);
    expect((await fetch(`${host.url}/empty`)).status).toBe(204);
  });

  test("runs between its hooks, which may replace handler, result and error", async () => {
    const { url } = await startHostProcess();
    expect(await (await fetch(`${url}/hooked`)).json()).toEqual({
      replaced: true,
      original: "the handler's own",
    });
    const forgiven = await fetch(`${url}/forgiven`);
    expect([forgiven.status, await forgiven.text()]).toEqual([202, "forgiven"]);
    const state = (await (await fetch(`${url}/state`)).json()) as { hookCalls: string[] };
    expect(state.hookCalls).toEqual(["appStart", "pre hooked", "post before object"]);
  });

  test("writes its log lines as they are, from the level that host.json names", async () => {
    const host = await startHostProcess();
    await fetch(`${host.url}/log`);
    const lines = host.output().split("\n");
    expect(lines).toContain("an information line");
    expect(lines).toContain("a warning line");
    expect(lines).toContain("[redacted]");
    expect(host.output()).not.toContain("a debug line");
    expect(host.output()).not.toContain("secret");
  });

  test("is spared a body over the limit, and given none that came without its length", async () => {
    const { url } = await startHostProcess({
      env: { FUNCTIONS_REQUEST_BODY_SIZE_LIMIT: "1000" },
    });
    const post = async (body: RequestInit["body"]) => {
      const response = await fetch(`${url}/echo`, {
        method: "POST",
        body: body ?? null,
        duplex: "half",
      });
      const text = await response.text();
      const length =
        text === "" ? null : Buffer.from((JSON.parse(text) as Echo).body, "base64").length;
      return [response.status, length];
    };
    const chunked = (length: number): ReadableStream => new Blob([new Uint8Array(length)]).stream();
    expect(await post(new Uint8Array(1000))).toEqual([200, 1000]);
    expect(await post(new Uint8Array(1001))).toEqual([500, null]);
    expect(await post(chunked(200_000))).toEqual([200, 0]);
    expect(await post("still there")).toEqual([200, 11]);
  });

  test.each([
    ["outlives functionTimeout", "hold", "Timeout value of 0.5 s exceeded by function 'hold'"],
    ["leaves an exception uncaught", "uncaught", "uncaught exception: Error: nobody caught this"],
    ["leaves a rejection unhandled", "unhandled", "uncaught exception: Error: nobody handled this"],
  ])("that %s takes everything that runs with it", async (_what, path, reason) => {
    const host = await startHostProcess({
      env: { FIXTURE_RUN_MS: "60000" },
      hostJson: { version: "2.0", functionTimeout: "00:00:00.5" },
    });
    const others = [fetch(`${host.url}/hold`), fetch(`${host.url}/hold`)];
    await until(() => host.output().split("holding").length > 2 || undefined);
    const statuses = await Promise.all([...others, fetch(`${host.url}/${path}`)]);
    expect(statuses.map(({ status }) => status)).toEqual([500, 500, 500]);
    expect(await host.ended()).toBe(1);
    expect(host.output()).toContain(`the app's process ended: ${reason}`);
  });

  test("is found in an app that was bundled, where the library is part of the bundle", async () => {
    const folder = await mkdtemp(join(tmpdir(), "bundle-test-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const outfile = join(folder, "main.mjs");
    await build({
      entryPoints: ["test/host/fixture/bundled.ts"],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      external: ["@azure/functions-core"],
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
    });
    const { url } = await startHostProcess({ entry: outfile });
    expect(await (await fetch(`${url}/hello`)).text()).toBe("hello");
  });

  test("is one of as many as host.json allows: others wait, and too many are refused", async () => {
    const { url } = await startHostProcess({
      env: { FIXTURE_RUN_MS: "300" },
      hostJson: {
        version: "2.0",
        extensions: { http: { maxConcurrentRequests: 1, maxOutstandingRequests: 2 } },
      },
    });
    const statuses = await Promise.all(
      Array.from({ length: 5 }, async () => (await fetch(`${url}/hold`)).status),
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 429, 429, 429]);
    const refused = await Promise.all(Array.from({ length: 3 }, () => fetch(`${url}/hold`)));
    expect(refused.map(({ headers }) => headers.get("x-function-scaleout"))).toContain("1");
  });
});
