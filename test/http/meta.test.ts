import { describe, expect, test } from "vitest";
import { routes } from "../../src/functions/routes.ts";
import { answerUnrouted } from "../../src/shared/http/answer.ts";
import type { Incoming } from "../../src/shared/http/parse-input.ts";
import { startRelay } from "../setup/relay.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay();

describe("health and readiness", () => {
  test("health answers without asking anybody", async () => {
    const blind = await startRelay({
      settings: {
        AzureWebJobsStorage: "DefaultEndpointsProtocol=http;AccountName=a;AccountKey=Yg==;",
      },
    });
    const answer = await blind.call("GET", "/health");
    expect([answer.status, answer.body]).toEqual([200, { data: { status: "ok" } }]);
    await blind.stop();
  });

  test("a working process is ready, with the time of each check", async () => {
    const { status, body } = await relay.call("GET", "/ready");
    expect(status).toBe(200);
    expect(body.data.status).toBe("ready");
    for (const name of ["tables", "queues", "config"]) {
      expect(body.data.checks[name].status).toBe("ok");
      expect(body.data.checks[name].durationMs).toBeGreaterThanOrEqual(0);
    }
  });

  test("a process whose storage is gone says so in the error envelope", async () => {
    // Port 9 answers nobody on loopback.
    const gone = ["Blob", "Queue", "Table"].map((name) => `${name}Endpoint=http://127.0.0.1:9/a;`);
    const AzureWebJobsStorage = `DefaultEndpointsProtocol=http;AccountName=a;AccountKey=Yg==;${gone.join("")}`;
    const blind = await startRelay({
      emulatedTables: true,
      emulatedQueues: true,
      settings: { AzureWebJobsStorage },
    });
    const { status, headers, body } = await blind.call("GET", "/ready");
    expect(status).toBe(503);
    expect(headers.get("retry-after")).toBe("1");
    expect(body.error.code).toBe("not_ready");
    expect(body.error.details.checks.tables.status).toBe("failed");
    expect(body.error.details.checks.queues.status).toBe("failed");
    expect(body.error.details.checks.config.status).toBe("ok");
    expect(JSON.stringify(body)).not.toContain("127.0.0.1");
    await blind.stop();
  });
});

describe("readiness, asked for many times", () => {
  /** A process that counts its checks of storage, which fail while `isAway`. */
  async function counting() {
    let [checks, isAway] = [0, false];
    const counted = await startRelay({
      tableFault() {
        checks += 1;
        return isAway ? "lose_request" : "pass";
      },
    });
    const ask = async () => (await counted.call("GET", "/ready")).status;
    const asked = async (times: number) => {
      const before = checks;
      const statuses = await Promise.all(Array.from({ length: times }, ask));
      return { checks: checks - before, statuses: [...new Set(statuses)] };
    };
    const setAway = (away: boolean) => (isAway = away);
    return { counted, asked, setAway };
  }

  test("asks storage once a second for all callers", async () => {
    const { counted, asked } = await counting();
    const one = await asked(1);
    counted.advance(1_000);
    expect(await asked(50)).toEqual(one);
    expect(await asked(50)).toEqual({ checks: 0, statuses: [200] });
    counted.advance(1_000);
    expect(await asked(50)).toEqual(one);
    await counted.stop();
  });

  test("tells of a failure for no longer than that, nor of a success", async () => {
    const { counted, asked, setAway } = await counting();
    expect((await asked(1)).statuses).toEqual([200]);
    setAway(true);
    counted.advance(1_000);
    expect((await asked(20)).statuses).toEqual([503]);
    setAway(false);
    counted.advance(1_000);
    expect((await asked(20)).statuses).toEqual([200]);
    await counted.stop();
  });
});

describe("every answer", () => {
  test("an unknown path is 404 in the envelope", async () => {
    const { status, body } = await relay.call("GET", "/v1/nothing-here");
    expect([status, body.error.code, body.error.details]).toEqual([404, "not_found", {}]);
  });

  test("a known path with another method is 405 with Allow", async () => {
    const { status, headers, body } = await relay.call("DELETE", "/v1/me");
    expect([status, body.error.code, headers.get("allow")]).toEqual([
      405,
      "method_not_allowed",
      "GET, HEAD",
    ]);
  });

  test("what can be read can be asked for by HEAD, and is judged alike", async () => {
    for (const path of ["/health", "/v1/openapi.json", "/v1/me"]) {
      const [read, asked] = [await relay.call("GET", path), await relay.call("HEAD", path)];
      expect([path, asked.status]).toEqual([path, read.status]);
      expect(asked.headers.get("content-type")).toBe(read.headers.get("content-type"));
    }
    expect((await relay.call("HEAD", "/v1/posts/pst_1/retry")).status).toBe(405);
  });

  test("a path that only nearly fits is 404, not 405 for a method that it has", async () => {
    const incoming: Incoming = {
      method: "GET",
      url: new URL("https://relay.example.net/api//v1//me"),
      headers: new Headers(),
      params: {},
      body: () => Promise.resolve(new Uint8Array()),
    };
    const { status, headers, body } = await answerUnrouted(
      routes,
      relay.services,
      incoming,
      "/v1//me",
    );
    expect([status, headers.get("allow")]).toEqual([404, null]);
    expect(String(body)).toContain("Leave out the slash at the end of the base address.");
  });

  test.each([
    ["GET", "/v1/post", "Did you mean /v1/posts? "],
    ["GET", "/v1/posts/pst_1/timelines", "Did you mean /v1/posts/{postId}/timeline? "],
    ["GET", "/posts", "Did you mean /v1/posts? "],
    ["GET", "/api/v1/posts", "Did you mean /v1/posts? "],
    ["POST", "/v1/posts/pst_1/cancel", "Did you mean DELETE /v1/posts/{postId}? "],
    ["GET", "/v1/posts/pst_1/legs", "/v1/posts/{postId} accepts GET, PATCH, DELETE. "],
    ["GET", `/v1/${"x".repeat(5_000)}`, ""],
    ["GET", `/v1${"/posts".repeat(500)}`, ""],
  ] as const)(
    "%s %.40s has no route, and the answer names the one meant",
    async (method, path, hint) => {
      const { status, body } = await relay.call(method, path);
      const docs = `${relay.services.config.publicBaseUrl}/docs`;
      expect([status, body.error.message]).toEqual([
        404,
        `There is no such route. ${hint}The routes are listed at ${docs}.`,
      ]);
    },
  );

  test("the log says why a request was refused", async () => {
    const { body } = await relay.call("GET", "/v1/me", { key: "garbage" });
    const line = relay.logLines.find((text) => text.includes(body.error.requestId)) ?? "";
    expect(JSON.parse(line)).toMatchObject({
      message: "request",
      route: "GET v1/me",
      status: 401,
      refusal: "invalid_credentials",
    });
  });

  test.each([
    ["a caller's own request id is used", "my-request.0001", "my-request.0001"],
    ["one that is too short is replaced", "short", undefined],
    ["one that would break a header is replaced", "bad id with spaces", undefined],
  ])("every answer: %s", async (_name, given, expected) => {
    const { headers, body } = await relay.call("GET", "/v1/me", {
      headers: { "x-request-id": given },
    });
    const id = headers.get("x-request-id");
    if (expected === undefined) expect(id).toMatch(/^req_[0-9A-Z]{26}$/);
    else expect(id).toBe(expected);
    expect(body.error.requestId).toBe(id);
  });

  test("carries the standard headers", async () => {
    const { headers } = await relay.call("GET", "/health");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("strict-transport-security")).toContain("max-age=");
  });

  test("a 401 names the scheme", async () => {
    const { status, headers } = await relay.call("GET", "/v1/me");
    expect([status, headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });
});
