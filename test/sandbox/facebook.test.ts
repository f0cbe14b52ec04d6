import { describe, expect, test } from "vitest";
import { DEMO_PAGE } from "../../dev/networks/facebook/state.ts";
import { GRAPH, dataOf, errorOf, useFacebook } from "./facebook-calls.ts";

let page: string;

const { at, graph, feed, photo, shown } = useFacebook((fresh) => {
  page = fresh.page;
});

describe("magic words", () => {
  test.each([
    ["network_unavailable", 500, 2, undefined],
    ["rate_limited", 400, 80001, undefined],
    ["quota_exceeded", 400, 80001, undefined],
    ["permission_missing", 403, 200, undefined],
    ["account_restricted", 400, 368, 4854002],
    ["duplicate_content", 400, 506, undefined],
    ["content_rejected", 400, 368, 1346003],
    ["link_rejected", 400, 100, 1609005],
    ["text_too_long", 400, 100, undefined],
    ["invalid_request", 400, 100, undefined],
  ])("[fail:%s] is said in Graph's words", async (code, status, number, subcode) => {
    const reply = await feed({ message: `x [fail:${code}]` });
    expect(reply.status).toBe(status);
    expect([errorOf(reply)["code"], errorOf(reply)["error_subcode"]]).toEqual([number, subcode]);
    expect(shown()).toHaveLength(0);
  });

  test("[fail:connection_needs_reauth] ends the token for good", async () => {
    expect(errorOf(await feed({ message: "x [fail:connection_needs_reauth]" }))["code"]).toBe(190);
    expect(errorOf(await feed({ message: "y" }))["error_subcode"]).toBe(460);
  });

  test("[drop-answer] and [error-after] publish; the post is found in the list", async () => {
    await expect(feed({ message: "one [drop-answer]" })).rejects.toThrow("fetch failed");
    expect((await feed({ message: "two [error-after]" })).status).toBe(502);
    const listed = dataOf(await graph(`/${DEMO_PAGE}/published_posts`));
    expect(listed.map(({ message }) => message)).toEqual([
      "two [error-after]",
      "one [drop-answer]",
    ]);
  });

  test("[processing:2] in an alt text hides the photo from two looks", async () => {
    const id = await photo({ alt_text_custom: "a lake [processing:2]" });
    const statuses: number[] = [];
    for (let look = 0; look < 3; look += 1) statuses.push((await graph(`/${id}`)).status);
    expect(statuses).toEqual([400, 400, 200]);
  });
});

test("accounts, tokens and posts are kept as JSON and read back", async () => {
  await feed({ message: "kept" });
  const { facebook } = at.sandbox.networks;
  const dumped: unknown = JSON.parse(JSON.stringify(facebook.dump()));
  facebook.reset();
  expect(shown()).toHaveLength(0);
  facebook.restore(dumped);
  expect(shown()).toMatchObject([{ text: "kept" }]);
  expect((await graph("/me")).status).toBe(200);
});

test("calls are counted in Meta's headers", async () => {
  const reply = await graph("/me");
  expect(JSON.parse(reply.headers.get("x-app-usage") ?? "")).toHaveProperty("call_count");
  expect(reply.headers.get("x-business-use-case-usage")).toContain(DEMO_PAGE);
});

test.each([
  ["revokeToken", {}, 460],
  ["expireToken", {}, 463],
  ["loseRole", { pageId: DEMO_PAGE }, 492],
])("%s is a switch over HTTP", async (control, json, subcode) => {
  const reply = await at.call(null, `/_sandbox/controls/facebook/${control}`, { json });
  expect(reply.status).toBe(200);
  expect(errorOf(await graph("/me"))["error_subcode"]).toBe(subcode);
});

test("the log keeps tokens and proofs to itself", async () => {
  await at.call(GRAPH, `/v26.0/me?access_token=${page}&appsecret_proof=secret-proof`);
  const { text } = await at.call(null, "/_sandbox/requests");
  expect(text).toContain("/v26.0/me");
  expect(text).not.toContain(page);
  expect(text).not.toContain("secret-proof");
});
