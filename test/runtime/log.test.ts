import { describe, expect, test } from "vitest";
import { createLog, redact } from "../../src/shared/runtime/log.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import { newApiKey } from "../../src/shared/runtime/secrets.ts";

function capture(level: "debug" | "info" | "warn" | "error" = "debug") {
  const lines: { level: string; line: string }[] = [];
  const log = createLog({ level, sink: (level, line) => lines.push({ level, line }) });
  return { log, lines };
}

const { secret } = newApiKey(newId("key", new Date()));
const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3JfMSJ9.c2lnbmF0dXJl";
const signing = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

describe("log lines", () => {
  test("log lines are one JSON object each, with the fields of their log", () => {
    const { log, lines } = capture();
    log.with({ requestId: "req_1" }).with({ route: "GET v1/me" }).info("request", { status: 200 });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]?.line ?? "")).toEqual({
      at: expect.stringMatching(/Z$/),
      level: "info",
      message: "request",
      requestId: "req_1",
      route: "GET v1/me",
      status: 200,
    });
  });

  test("below the level are not written", () => {
    const { log, lines } = capture("warn");
    log.debug("a");
    log.info("b");
    log.warn("c");
    log.error("d");
    expect(lines.map(({ level }) => level)).toEqual(["warn", "error"]);
  });

  test("log lines can't be split by a line break in a value", () => {
    const { log, lines } = capture();
    log.info("request", { path: "a\nb\u2028c" });
    expect(lines[0]?.line.split("\n")).toHaveLength(1);
  });
});

describe("redaction", () => {
  test.each([
    "authorization",
    "Authorization",
    "accessToken",
    "refresh_token",
    "password",
    "clientSecret",
    "apiKey",
    "api-key",
    "code",
    "state",
    "X-Social-Restapi-Signature",
    "set-cookie",
    "credentials",
    "jwt",
  ])("a text named %s is not shown, however deep", (name) => {
    const line = JSON.stringify(redact({ outer: [{ [name]: "hidden-value" }] }));
    expect(line).not.toContain("hidden-value");
    expect(line).toContain("[redacted]");
  });

  test.each([
    ["an API key", secret],
    ["a signing secret", signing],
    ["a token", jwt],
  ])("%s is not shown wherever it stands", (_name, value) => {
    const error = new Error(`failed with ${value}`, { cause: new Error(value) });
    for (const holder of [value, `text ${value} text`, { note: value }, [value], error])
      expect(JSON.stringify(redact(holder))).not.toContain(value);
  });

  test("the query of a URL is dropped, its path stays", () => {
    expect(redact("GET https://api.example.com/v1/x?code=abc&a=b failed")).toBe(
      "GET https://api.example.com/v1/x?[redacted] failed",
    );
  });

  test("what tells nothing stays as it is", () => {
    const fields = { status: 200, ok: true, none: null, keyId: "key_1", tokens: 10, code: 7 };
    expect(redact(fields)).toEqual(fields);
  });

  test("an error shows its name, code, stack and cause", () => {
    const error = Object.assign(new Error("outer", { cause: new TypeError("inner") }), {
      code: "not_found",
    });
    expect(redact({ error })).toMatchObject({
      error: {
        name: "Error",
        message: "outer",
        code: "not_found",
        stack: expect.stringContaining("log.test.ts"),
        cause: { name: "TypeError", message: "inner" },
      },
    });
  });

  test("size and depth are bounded, and a circle ends", () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    expect(JSON.stringify(redact(circle)).length).toBeLessThan(1_000);
    expect(String(redact("x".repeat(100_000))).length).toBeLessThan(5_000);
  });
});
