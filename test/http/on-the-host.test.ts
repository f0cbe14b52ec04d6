import { assert, property, string } from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { routes } from "../../src/functions/routes.ts";
import { answer } from "../../src/shared/http/answer.ts";
import { headerText } from "../../src/shared/http/headers.ts";
import { parseInput } from "../../src/shared/http/parse-input.ts";
import { Reply } from "../../src/shared/http/reply.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay } = useSandboxedRelay();

const incoming = (method: string, headers: Record<string, string>) => ({
  method,
  url: new URL("https://relay.test/api"),
  headers: new Headers(headers),
  params: {},
  // The host passes on no body without Content-Length.
  body: () => Promise.resolve(new Uint8Array()),
});

describe("a body in chunks", () => {
  test("a body in chunks is answered length_required, with the way out, by every route that takes a body", async () => {
    const withBody = routes.filter(({ spec }) => spec.body !== undefined);
    expect(withBody.length).toBeGreaterThan(20);
    const chunked = { "transfer-encoding": "chunked", "content-type": "application/json" };
    for (const route of withBody) {
      const call = { services: relay.services, scope: undefined, params: {} };
      await expect(parseInput(route, incoming(route.method, chunked), call)).rejects.toMatchObject({
        code: "length_required",
        message: expect.stringMatching(
          /Content-Length.*JsonContent.*LoadIntoBufferAsync/,
        ) as string,
      });
    }
  });

  test("a body in chunks is 411 in the envelope", async () => {
    const headers = { "transfer-encoding": "chunked", "content-type": "application/json" };
    const { status, body } = await relay.call("POST", "/v1/auth/login", { headers, rawBody: "" });
    expect([status, body.error.code]).toEqual([411, "length_required"]);
  });
});

describe("a response header", () => {
  test("a response header that is not ASCII is sent percent-encoded, and the answer stays what it was", async () => {
    const [health] = routes.filter(({ path }) => path === "health");
    if (health === undefined) throw new Error("there is no route health");
    const location = "https://a.test/für?x=€\r\nx-evil: 1";
    const run = () =>
      Promise.resolve(new Reply({ status: 200, headers: [["location", location]] }));
    const route = { ...health, spec: { ...health.spec, run } };
    const { status, headers } = await answer(route, relay.services, incoming("GET", {}));
    expect([status, headers.get("location")]).toEqual([
      200,
      "https://a.test/f%C3%BCr?x=%E2%82%AC%0D%0Ax-evil: 1",
    ]);
  });

  test("a response header of any text is visible ASCII, and of ASCII the same", () => {
    assert(
      property(string({ unit: "binary" }), (text) => {
        expect(headerText(text)).toMatch(/^[\t\x20-\x7e]*$/);
      }),
    );
    expect(headerText("text/html; charset=utf-8")).toBe("text/html; charset=utf-8");
  });
});

describe("a request that does not end", () => {
  afterEach(() => void vi.useRealTimers());

  test("a request that does not end is answered before the host would end the process", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const [health] = routes.filter(({ path }) => path === "health");
    if (health === undefined) throw new Error("there is no route health");
    const run = () => new Promise<never>(() => undefined);
    const route = { ...health, spec: { ...health.spec, run } };
    const answered = answer(route, relay.services, incoming("GET", {}));
    const functionTimeoutMs = 300_000;
    await vi.advanceTimersByTimeAsync(functionTimeoutMs - 1);
    const { status, headers } = await Promise.race([
      answered,
      Promise.resolve({ status: 0, headers: new Headers() }),
    ]);
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
  });
});
