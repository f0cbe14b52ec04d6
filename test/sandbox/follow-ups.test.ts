import { describe, expect, test } from "vitest";
import { useSandbox } from "./client.ts";

const at = useSandbox();
const HOST = "mastodon.sandbox.test";

function token(): string {
  return at.sandbox.networks.mastodon.issueToken({ host: HOST, username: "demo" }).accessToken;
}

async function publish(status: string, as: string): Promise<string> {
  const reply = await at.call(HOST, "/api/v1/statuses", { token: as, json: { status } });
  return String(reply.json["id"]);
}

const remove = (id: string, as: string) =>
  at.call(HOST, `/api/v1/statuses/${id}?delete_media=true`, { method: "DELETE", token: as });

describe("a post that its author took down", () => {
  test("a post that its author took down is shown as removed to developers, and to no reader", async () => {
    const own = token();
    const id = await publish("Sold out", own);
    const [post] = at.sandbox.posts();
    expect((await at.call(null, post?.page ?? "")).status).toBe(200);
    expect((await remove(id, own)).json).toMatchObject({ id, text: "Sold out" });
    expect(at.sandbox.posts()).toEqual([]);
    expect((await at.call(null, post?.page ?? "")).status).toBe(404);
    expect((await at.call(HOST, `/api/v1/statuses/${id}`)).status).toBe(404);
    const page = await at.call(null, "/");
    expect(page.text).toContain("Nobody sees this post any more.");
    expect(page.text).toContain("Sold out");
    expect(page.text).toContain("<span>0 posts</span>");
    expect((await remove(id, own)).status).toBe(404);
  });

  test.each([
    ["[remove:fail:rate_limited:1]", 429],
    ["[remove:fail:permission_missing:1]", 403],
    ["[remove:html-502]", 502],
  ])("suffers %s when it is removed, and not when it is published", async (word, status) => {
    const own = token();
    const id = await publish(`Sold out ${word}`, own);
    expect((await remove(id, own)).status).toBe(status);
    expect(at.sandbox.posts()).toHaveLength(1);
    expect((await remove(id, own)).status).toBe(200);
  });
});

test("Mastodon takes 30 removals in 30 minutes", async () => {
  const own = token();
  const ids: string[] = [];
  for (let index = 0; index < 31; index += 1) ids.push(await publish(`Post ${index}`, own));
  const answers: number[] = [];
  for (const id of ids) answers.push((await remove(id, own)).status);
  expect(answers).toEqual([...ids.slice(1).map(() => 200), 429]);
  at.sandbox.advance(30 * 60_000);
  expect((await remove(ids.at(-1) ?? "", own)).status).toBe(200);
});
