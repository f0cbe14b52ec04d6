import { describe, expect, test } from "vitest";
import { aPublisher } from "../setup/publisher.ts";
import { type CallOptions } from "../setup/relay.ts";
import { useRelay } from "../setup/use-relay.ts";
import { forFile } from "../setup/for-file.ts";

const relay = useRelay();
const publisher = forFile(() => aPublisher(relay, []));

const call = (method: string, path: string, { headers, ...options }: CallOptions = {}) =>
  relay.call(method, path, {
    key: publisher.key,
    ...options,
    headers: { ...publisher.headers, ...headers },
  });

const BODY = JSON.stringify({ text: "Fresh bread", platforms: ["bluesky"] });
const JSON_TYPE = "application/json";

describe("what integrators' tools send with a body", () => {
  test.each<[what: string, type: string, body: string | Uint8Array, status: number]>([
    ["a charset", "application/json; charset=utf-8", BODY, 200],
    ["another charset, in ASCII", "application/json; charset=iso-8859-1", BODY, 200],
    [
      "another charset, not in ASCII",
      JSON_TYPE,
      Buffer.from('{"text":"B\u00fcro"}', "latin1"),
      400,
    ],
    ["a parameter with a comma", 'application/json; profile="a,b"', BODY, 200],
    ["an upper-case type", "APPLICATION/JSON", BODY, 200],
    ["a type of JSON", "application/vnd.acme+json", BODY, 200],
    ["a byte order mark", JSON_TYPE, `\ufeff${BODY}`, 200],
    ["white space around", JSON_TYPE, `\r\n ${BODY}\n`, 200],
    ["no type", "", BODY, 415],
    ["a form's type", "application/x-www-form-urlencoded", BODY, 415],
    ["a similar type", "application/jsonp", BODY, 415],
    ["text", "text/json", BODY, 415],
    ["a trailing comma", JSON_TYPE, '{"text":"a","platforms":["bluesky"],}', 400],
    ["a comment", JSON_TYPE, `/* a */ ${BODY}`, 400],
    ["two documents", JSON_TYPE, `${BODY}${BODY}`, 400],
    ["JSON in JSON", JSON_TYPE, JSON.stringify(BODY), 400],
    ["a list instead of the object", JSON_TYPE, `[${BODY}]`, 400],
    ["nothing", JSON_TYPE, "", 400],
    ["white space alone", JSON_TYPE, "  ", 400],
  ])("what integrators' tools send with a body: %s", async (_what, type, rawBody, status) => {
    const headers = { "content-type": type };
    const answer = await call("POST", "/v1/posts/validate", { headers, rawBody });
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  });

  test.each([
    ["a number as text", { text: "a", platforms: ["bluesky"], scheduleAt: 1_799_999_999 }],
    ["a choice in upper case", { text: "a", platforms: ["Bluesky"] }],
    ["text instead of a list", { text: "a", platforms: "bluesky" }],
  ])("%s is refused and not guessed at", async (_what, body) => {
    const answer = await call("POST", "/v1/posts/validate", { body });
    expect([answer.status, answer.body.error.code]).toEqual([400, "validation_failed"]);
  });
});

describe("what they send without need", () => {
  test.each<[what: string, method: string, path: string, options: CallOptions]>([
    ["a body of a GET", "GET", "/v1/posts", { rawBody: "{", headers: { "content-type": "x" } }],
    ["a type of a GET", "GET", "/v1/posts", { headers: { "content-type": JSON_TYPE } }],
    ["a coding of a GET", "GET", "/v1/posts", { headers: { "content-encoding": "gzip" } }],
    ["HEAD", "HEAD", "/v1/posts", {}],
    ["another Accept", "GET", "/v1/posts", { headers: { accept: "application/xml" } }],
    ["the method once more", "GET", "/v1/posts", { headers: { "x-http-method-override": "PUT" } }],
    ["an upper-case path", "GET", "/V1/Posts", {}],
    ["a slash at the end", "GET", "/v1/posts/", {}],
  ])("%s changes nothing", async (_what, method, path, options) => {
    expect((await call(method, path, options)).status).toBe(200);
  });
});

test.each(["/v1/posts", "/v1/billing/usage"])(
  "the plus of an offset in the query of %s is explained where it was not encoded",
  async (path) => {
    const plain = await call("GET", `${path}?from=2026-01-01T00:00:00+01:00`);
    expect(plain.status).toBe(400);
    expect(plain.body.error.message).toContain("%2B");
    expect((await call("GET", `${path}?from=2026-01-01T00:00:00%2B01:00`)).status).toBe(200);
  },
);
