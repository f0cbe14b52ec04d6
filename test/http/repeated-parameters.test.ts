import { describe, expect, test } from "vitest";
import { routes } from "../../src/functions/routes.ts";
import { duplicateKeys } from "../../src/shared/http/duplicate-json-keys.ts";
import type { Route } from "../../src/shared/http/route.ts";
import { aPublisher } from "../setup/publisher.ts";
import { type Answer, type CallOptions } from "../setup/relay.ts";
import { useRelay } from "../setup/use-relay.ts";
import { forFile } from "../setup/for-file.ts";

const relay = useRelay();
const publisher = forFile(() => aPublisher(relay, []));

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const pathOf = ({ path }: Route) =>
  `/${path.replace(/\{network\}/, "bluesky").replace(/[{}]/g, "")}`;
const isPage = ({ spec }: Route) => spec.produces === "page";

/** Public routes that only read an address: what they don't know of it is somebody else's. */
const ADDRESS_ONLY = routes.filter(
  ({ spec }) => spec.access.contract.credentials.length === 0 && spec.body === undefined,
);
const READING = routes.filter((route) => !ADDRESS_ONLY.includes(route));

/** The code, and for `validation_failed` what is named. */
function refusalOf({ status, body }: Answer): string {
  const { code, details } = body.error;
  const paths = (details.issues ?? []).map(({ path }: { path: string }) => path);
  return [status, code, ...paths].join(" ");
}

/** Both hosts join the lines of one header with a comma. */
const ONCE: readonly (readonly [name: string, joined: string, refusal: string])[] = [
  ["Authorization", "Bearer sk_live_a,Bearer sk_live_a", "400 validation_failed Authorization"],
  ["Content-Type", "application/json,application/json", "400 validation_failed Content-Type"],
  ["Content-Type", "application/json, text/plain", "400 validation_failed Content-Type"],
  ["Idempotency-Key", "the-same-key,the-same-key", "400 idempotency_key_invalid"],
  ["Idempotency-Key", "one-key-and,another-key", "400 idempotency_key_invalid"],
  ["Idempotency-Key", ",", "400 idempotency_key_invalid"],
  ["X-Profile-Id", "prf_a,prf_a", "400 validation_failed X-Profile-Id"],
  ["Profile-Id", "prf_a, prf_b", "400 validation_failed Profile-Id"],
  ["X-Application-Id", "app_a,app_b", "400 validation_failed X-Application-Id"],
  ["X-Profile-Grant", "a.b.c,a.b.c", "400 validation_failed X-Profile-Grant"],
];

describe("a header that has one value and comes twice is refused before the credential", () => {
  test.each(READING.map((route) => [nameOf(route), route] as const))(
    "a header that comes twice is refused before the credential: %s",
    async (_name, route) => {
      for (const [name, joined, refusal] of ONCE) {
        const headers = { [name]: joined };
        const answer = await relay.call(route.method, pathOf(route), { headers });
        if (isPage(route)) expect(answer.status, name).toBe(400);
        else expect(refusalOf(answer), name).toBe(refusal);
      }
    },
  );

  test("all that came twice is named in one answer", async () => {
    const headers = {
      authorization: "Bearer a,Bearer a",
      "idempotency-key": "the-same-key,the-same-key",
      "x-profile-id": "prf_a,prf_a",
    };
    const answer = await relay.call("POST", "/v1/posts?a=1&a=1", { headers, body: {} });
    expect(refusalOf(answer)).toBe(
      "400 validation_failed Authorization Idempotency-Key X-Profile-Id a",
    );
  });

  test("X-Profile-Id next to another Profile-Id is refused, next to the same it is not", async () => {
    const both = (id: string) => ({
      key: publisher.key,
      headers: { "x-profile-id": publisher.profileId, "profile-id": id },
    });
    expect(refusalOf(await relay.call("GET", "/v1/posts", both("prf_other")))).toBe(
      "400 validation_failed X-Profile-Id",
    );
    const same = await relay.call("GET", "/v1/posts", both(publisher.profileId));
    expect(same.status).toBe(200);
  });
});

test.each(["X-Request-Id", "traceparent", "Accept", "X-Forwarded-For", "User-Agent"])(
  "%s may come twice: it names nothing that the request depends on",
  async (name) => {
    const value = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const headers = { [name]: `${value},${value}`, "x-profile-id": publisher.profileId };
    const answer = await relay.call("GET", "/v1/posts", { key: publisher.key, headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
  },
);

describe("a query parameter that comes twice is refused", () => {
  test.each(READING.map((route) => [nameOf(route), route] as const))(
    "a parameter that comes twice is refused: %s",
    async (_name, route) => {
      const path = `${pathOf(route)}?limit=1&cursor=a&limit=1&%63ursor=b`;
      const answer = await relay.call(route.method, path, {});
      if (isPage(route)) expect(answer.status).toBe(400);
      else expect(refusalOf(answer)).toBe("400 validation_failed limit cursor");
    },
  );

  test.each(["session", "token", "linked"])("%s of the hosted page", async (name) => {
    const answer = await relay.call("GET", `/v1/connect/ui?${name}=a&${name}=a`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      400,
      "text/html; charset=utf-8",
    ]);
  });

  test.each(["state", "code", "iss", "error"])("%s of a network's answer", async (name) => {
    const path = `/v1/connect/callback/bluesky?state=s&code=c&${name}=a&${name}=b`;
    const answer = await relay.call("GET", path);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      400,
      "text/html; charset=utf-8",
    ]);
  });

  test.each(["/health?probe=1&probe=1", "/v1/connect/ui?utm_source=a&utm_source=b"])(
    "what a public address does not know may come twice: %s",
    async (path) => {
      expect((await relay.call("GET", path)).status).not.toBe(400);
    },
  );
});

describe("a field of a body that comes twice is refused", () => {
  const send = (rawBody: string, options: CallOptions = {}) =>
    relay.call("POST", "/v1/posts/validate", {
      key: publisher.key,
      headers: { "x-profile-id": publisher.profileId, "content-type": "application/json" },
      rawBody,
      ...options,
    });

  test.each([
    ['{"text":"a","text":"b","platforms":["bluesky"]}', "text"],
    ['{"text":"a","te\\u0078t":"a","platforms":["bluesky"]}', "text"],
    [
      '{"text":"a","platforms":["bluesky"],"platformOptions":{"bluesky":{"text":"a","text":"b"}}}',
      "platformOptions.bluesky.text",
    ],
    ['{"text":"a","platforms":["bluesky"],"metadata":{"a":"1","a":"2"}}', "metadata.a"],
  ])("a field of a body that comes twice is refused: %s", async (body, path) => {
    expect(refusalOf(await send(body))).toBe(`400 validation_failed ${path}`);
  });

  test("a field of a form of the hosted page that comes twice is refused", async () => {
    const answer = await relay.call("POST", "/v1/connect/ui/done", {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      rawBody: "session=a&session=a&token=b",
    });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  });
});

test.each([
  ["{}", []],
  ["3", []],
  ['"{\\"a\\":1,\\"a\\":2}"', []],
  ['{"a":[1,{"b":2},{"b":3}],"b":{"a":1}}', []],
  ['{"a":"a","b":"a","c":["a","a"]}', []],
  ['{"a":1,"a":1,"a":1}', ["a"]],
  ['[{"x":1},{"y":[0,{"z":"}","z":"{,"}]}]', ["1.y.1.z"]],
  ['{"a":{"a":{"a":[],"a":{}}},"a":"\\\\"}', ["a.a.a", "a"]],
  ['{"__proto__":1,"__proto__":2}', ["__proto__"]],
])("the names that %s has twice", (text, paths) => {
  expect(duplicateKeys(text, 10)).toEqual(paths);
});
