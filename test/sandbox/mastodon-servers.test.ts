import { expect, test } from "vitest";
import * as hosts from "../../sandbox/mastodon/state.ts";
import { traitsOf } from "../../src/shared/networks/mastodon/servers.ts";
import { useSandbox } from "./client.ts";

const at = useSandbox();
const SEEN = [hosts.STRICT_HOST, hosts.LENIENT_HOST, hosts.FRIENDICA_HOST, hosts.SHARKEY_HOST];

let keys = 0;
const postAs = (host: string) => {
  const key = `key-${(keys += 1)}`;
  const { accessToken: token } = at.sandbox.networks.mastodon.issueToken({
    host,
    username: "demo",
  });
  return (status: string, more: object = {}) => {
    const headers = { "idempotency-key": key };
    return at.call(host, "/api/v1/statuses", { token, headers, json: { status, ...more } });
  };
};

test.each(SEEN)("%s makes a post after it refused the same key", async (host) => {
  const post = postAs(host);
  expect((await post("")).status).toBeGreaterThan(400);
  expect((await post("Words")).status).toBe(200);
});

test.each([
  [hosts.AKKOMA_HOST, 422],
  [hosts.PLEROMA_HOST, 422],
  [hosts.ICESHRIMP_HOST, 408],
  [hosts.FIREFISH_HOST, 408],
  [hosts.PIXELFED_HOST, 400],
])("%s refuses a key again that it refused", async (host, status) => {
  const post = postAs(host);
  expect((await post("")).status).toBeGreaterThan(400);
  expect((await post("Words")).status).toBe(status);
});

test("each server that the sandbox plays does what the relay takes it to do", async () => {
  for (const host of hosts.MASTODON_HOSTS) {
    const nodeinfo = await at.call(host, "/nodeinfo/2.0");
    const { software } = nodeinfo.json as { software: { name: string } };
    const { needsMedia, hasDirect } = traitsOf(software.name.toLowerCase());
    const post = postAs(host);
    const { status } = await post("Words", { visibility: hasDirect ? "direct" : "public" });
    expect([host, status === 200]).toEqual([host, !needsMedia]);
  }
});
