import { describe, expect, test } from "vitest";
import { routes } from "../../../src/functions/routes.ts";
import { keyExample } from "../../../src/shared/tenants/keys/schema.ts";
import { matchPath } from "../../../src/shared/http/route.ts";
import { checkDeclared } from "../../setup/declared-answer.ts";
import type { Answer } from "../../setup/relay.ts";

// Every answer of every route test passes through `checkDeclared`: these are the proofs that it would object.

const STANDARD = {
  "x-request-id": "req_01M7W9E67FZ0MY7YCJ6NF25H01",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "strict-transport-security": "max-age=31536000; includeSubDomains",
  "content-type": "application/json; charset=utf-8",
};
const COUNTED = { "ratelimit-limit": "300", "ratelimit-remaining": "299", "ratelimit-reset": "60" };

function answered(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return { status, body, headers: new Headers({ ...STANDARD, ...COUNTED, ...headers }) };
}

function uncounted(answer: Answer): Answer {
  return { ...answer, headers: new Headers(STANDARD) };
}

function check(method: string, path: string, answer: Answer): () => void {
  const found = matchPath(routes, path).find(({ route }) => route.method === method);
  return () => checkDeclared(found?.route, `${method} ${path}`, answer);
}

const page = { nextCursor: null, hasMore: false, limit: 25 };
const error = (code: string, details: object = {}) => ({
  error: {
    code,
    message: "Why.",
    details,
    requestId: STANDARD["x-request-id"],
    docUrl: `https://relay.example.net/api/docs#error-${code}`,
  },
});
const issues = [{ path: "limit", code: "too_big", message: "must be smaller" }];

describe("an answer that its route declares", () => {
  test.each([
    ["a list", "GET", "v1/keys", answered(200, { data: [keyExample()], page })],
    ["no content", "DELETE", "v1/keys/key_1", answered(204, undefined)],
    ["an error", "GET", "v1/keys", answered(400, error("validation_failed", { issues }))],
    ["an unknown path", "GET", "v1/nothing", answered(404, error("not_found"))],
    [
      "a refused method",
      "DELETE",
      "v1/nothing",
      answered(405, error("method_not_allowed", { allow: ["GET"] })),
    ],
  ])("passes: %s", (_name, method, path, answer) => {
    expect(check(method, path, answer)).not.toThrow();
  });
});

describe("an answer that its route does not declare", () => {
  const { lastUsedAt: _, ...incomplete } = keyExample();
  const list = (...data: readonly unknown[]) => answered(200, { data, page });

  test.each([
    ["a field too many", list({ ...keyExample(), keyHash: "x" }), "keyHash"],
    ["a field too few", list(incomplete), "lastUsedAt"],
    ["a value of another type", list({ ...keyExample(), createdAt: 1 }), "createdAt"],
    ["a state that there is not", list({ ...keyExample(), status: "asleep" }), "status"],
    ["an id of another kind", list({ ...keyExample(), id: "prf_1" }), "id"],
    ["a list without its page", answered(200, { data: [] }), "page"],
    ["data beside data", answered(200, { data: [], page, debug: 1 }), "debug"],
    ["another status", answered(201, { data: [], page }), "not declared"],
    ["a code that it can't answer", answered(400, error("invalid_json")), "code"],
    ["a code under another's status", answered(401, error("not_found")), "code"],
    ["details that the code has not", answered(404, error("not_found", { id: 1 })), "id"],
    ["an error without its id", answered(404, { error: { code: "not_found" } }), "requestId"],
    ["a page", answered(200, "<p>", { "content-type": "text/html" }), "a page"],
    [
      "JSON that does not say so",
      answered(200, {}, { "content-type": "text/plain" }),
      "text/plain",
    ],
    ["a success without what is left", uncounted(list()), "RateLimit"],
    ["a 401 that names no scheme", answered(401, error("unauthenticated")), "WWW-Authenticate"],
  ])("an answer that its route does not declare is refused: %s", (_name, answer, named) => {
    expect(check("GET", "v1/keys", answer)).toThrow(named);
  });

  test("an answer that its route does not declare is refused without the headers that every answer has", () => {
    const answer = answered(200, { data: [], page });
    for (const name of Object.keys(STANDARD)) {
      if (name === "content-type") continue;
      const headers = new Headers(answer.headers);
      headers.delete(name);
      expect(check("GET", "v1/keys", { ...answer, headers })).toThrow(name);
    }
  });

  test("an answer that its route does not declare is refused where nothing may be said", () => {
    expect(check("DELETE", "v1/keys/key_1", answered(204, { data: null }))).toThrow("a body");
  });
});
