import { expect, test } from "vitest";
import { DEMO_PAGE } from "../../sandbox/facebook/state.ts";
import { useSandbox } from "./client.ts";
import { pageToken } from "./linked.ts";

const at = useSandbox();

async function post(message: string) {
  const token = await pageToken((...args) => at.call(...args));
  const path = `/v26.0/${DEMO_PAGE}/feed`;
  return await at.call("graph.facebook.com", path, { token, json: { message } });
}

const switchOn = (more: object) =>
  at.call(null, "/_sandbox/faults", { json: { network: "facebook", route: "feed", ...more } });

test("answers a call as it is told, and nothing happens", async () => {
  const answer = { status: 418, headers: { "x-odd": "yes" }, body: { error: { code: 7 } } };
  expect((await switchOn({ answer })).status).toBe(200);
  const { status, headers, json } = await post("Hello");
  expect([status, headers.get("x-odd"), json]).toEqual([418, "yes", answer.body]);
  expect(at.sandbox.posts()).toEqual([]);
  expect((await post("Hello")).status).toBe(200);
});

test("answers so after the effect, with a page as well", async () => {
  await switchOn({ answer: { status: 502, body: "<html>Bad</html>", isAfter: true } });
  const { status, headers, text } = await post("Hello");
  expect([status, text]).toEqual([502, "<html>Bad</html>"]);
  expect(headers.get("content-type")).toContain("text/html");
  expect(at.sandbox.posts()).toHaveLength(1);
});

test("answers so where the call contains a text alone", async () => {
  await switchOn({ answer: { status: 400, contains: "second" } });
  expect((await post("The first")).status).toBe(200);
  expect((await post("The second")).status).toBe(400);
});

test.each([
  [{}, "fault"],
  [{ answer: "no" }, "answer"],
  [{ answer: { status: 99 } }, "answer.status"],
  [{ answer: { status: 400, headers: { a: 1 } } }, "answer.headers"],
  [{ answer: { status: 400, isAfter: 1 } }, "answer.isAfter"],
])("says what is wrong with a switch of %j", async (more, word) => {
  const { status, json } = await switchOn(more);
  expect(status).toBe(400);
  expect(json["error"]).toContain(word);
});
