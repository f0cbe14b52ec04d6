import { describe, expect, test } from "vitest";
import {
  HttpFailure,
  type HttpRequest,
  type HttpResponse,
} from "../../src/shared/runtime/http-call.ts";
import type { Outbound } from "../../src/shared/runtime/outbound.ts";
import { pacedOutbound } from "../../src/shared/background/account-checks/check-accounts.ts";

const GAP_MS = 30;

function answered(status: number): HttpResponse {
  return { status, headers: {}, body: new Uint8Array(), text: () => "", json: () => ({}) };
}

function world(answer: (request: HttpRequest) => HttpResponse | HttpFailure) {
  const times: { readonly url: string; readonly at: number }[] = [];
  const outbound: Outbound = {
    request(request) {
      times.push({ url: request.url, at: performance.now() });
      const given = answer(request);
      return given instanceof HttpFailure ? Promise.reject(given) : Promise.resolve(given);
    },
    open: () => Promise.reject(new Error("nobody opens")),
    browserUrl: (url) => url,
    close: () => Promise.resolve(),
  };
  return { outbound: pacedOutbound(outbound, GAP_MS), times };
}

const authorized = (url: string): HttpRequest => ({
  method: "GET",
  url,
  headers: { Authorization: "Bearer x" },
});

describe("calls for many accounts", () => {
  test("calls for many accounts to one host are spaced, to others they are not held up", async () => {
    const { outbound, times } = world(() => answered(200));
    const startedAt = performance.now();
    await Promise.all([
      ...[1, 2, 3, 4].map((id) => outbound.request(authorized(`https://a.example/${id}`))),
      outbound.request(authorized("https://b.example/1")),
    ]);
    const at = (host: string) =>
      times.filter(({ url }) => url.includes(host)).map((call) => call.at - startedAt);
    expect(at("b.example")[0]).toBeLessThan(at("a.example")[1] ?? 0);
    for (const [index, time] of at("a.example").entries())
      expect(time).toBeGreaterThanOrEqual(index * GAP_MS - 2);
  });

  test.each([
    ["does not answer", new HttpFailure("in_doubt", "timeout")],
    ["is down", answered(503)],
    ["is asked too often", answered(429)],
  ])("stop for a host that %s three times in a row", async (_what, nothing) => {
    const { outbound, times } = world(() => nothing);
    for (let call = 0; call < 6; call += 1)
      await outbound.request(authorized("https://a.example/1")).catch(() => undefined);
    expect(times).toHaveLength(3);
    await expect(outbound.request(authorized("https://a.example/1"))).rejects.toBeInstanceOf(
      HttpFailure,
    );
  });

  test("go on for a host that answers in between", async () => {
    let call = 0;
    const { outbound, times } = world(() => answered((call += 1) % 3 === 0 ? 401 : 503));
    for (let round = 0; round < 7; round += 1)
      await outbound.request(authorized("https://a.example/1"));
    expect(times).toHaveLength(7);
  });

  test("calls for many accounts that anybody may make are made once; those in somebody's name every time", async () => {
    const { outbound, times } = world(() => answered(200));
    const open: HttpRequest = { method: "GET", url: "https://a.example/instance" };
    const named: HttpRequest = { method: "GET", url: "https://a.example/refresh?token=1" };
    await Promise.all([outbound.request(open), outbound.request(open)]);
    await outbound.request(open);
    for (let twice = 0; twice < 2; twice += 1) {
      await outbound.request(named);
      await outbound.request(authorized("https://a.example/instance"));
      await outbound.request({ ...open, method: "POST" });
    }
    expect(times).toHaveLength(1 + 3 * 2);
  });
});
