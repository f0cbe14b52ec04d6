import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { dataOf } from "../setup/factories.ts";
import { unique, uniqueKey } from "../setup/publisher.ts";
import { Browser, decide, locationOf, readable } from "./browser.ts";
import { anOwner, BASE, openWorld, type Owner, type World } from "./world.ts";
import { forgetHost } from "../setup/stored.ts";

const HONEST = "mastodon.sandbox.test";
/** The attacker's server. */
const HOSTILE = "evil.hostile.test";
const OTHERS = NETWORK_NAMES.filter((name) => name !== "mastodon");
const CALLBACK = `${BASE}/v1/connect/callback`;

let world: World;
let server: Server;
let attacker: Owner;
let victim: Owner;
/** The codes that the relay sent to the attacker's server. */
const codes: string[] = [];

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** Answers as a Mastodon server does, and writes down the codes that it gets. */
async function playHostile(request: IncomingMessage): Promise<[status: number, body: object]> {
  const body = await bodyOf(request);
  switch (`${request.method} ${request.url?.split("?")[0]}`) {
    case "GET /api/v2/instance":
      return [200, { domain: HOSTILE, version: "4.5.2", configuration: {} }];
    case "GET /.well-known/oauth-authorization-server":
      return [200, { code_challenge_methods_supported: ["S256"] }];
    case "POST /api/v1/apps":
      return [200, { client_id: "client", client_secret: "secret" }];
    case "POST /oauth/token": {
      const code = new URLSearchParams(body).get("code");
      if (code !== null) codes.push(code);
      return [400, { error: "invalid_grant" }];
    }
    default:
      return [404, {}];
  }
}

beforeAll(async () => {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [status, body] = await playHostile(request);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  server = createServer((request, response) => void answer(request, response)).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  world = await openWorld({}, { [HOSTILE]: `http://127.0.0.1:${port}` });
});
afterAll(async () => {
  await world.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  codes.length = 0;
  world.sandbox.reset();
  await forgetHost(world.services, HONEST);
  [attacker, victim] = [await anOwner(world), await anOwner(world)];
});

const as = (owner: Owner) => ({ key: owner.key, headers: { "x-profile-id": owner.profileId } });

async function connectionsOf(owner: Owner): Promise<readonly object[]> {
  const path = `/v1/profiles/${owner.profileId}/connections`;
  return dataOf(await world.relay.call("GET", path, as(owner)));
}

/** Starts linking at a server, up to its authorization page. */
async function startAt(owner: Owner, instance: string) {
  const path = `/v1/profiles/${owner.profileId}/connect/sessions`;
  const body = { platforms: ["mastodon"] };
  const made = dataOf(await world.relay.call("POST", path, { ...as(owner), body }));
  const browser = new Browser(world);
  const page = await browser.get(made.connectUrl);
  const url = new URL(locationOf(await browser.submit(page, "mastodon", { instance })));
  return { browser, url, state: url.searchParams.get("state") ?? "" };
}

/** Publishes a text for the profile, and returns the texts that appeared at the network. */
async function publish(owner: Owner): Promise<readonly string[]> {
  const text = unique("Written by the attacker");
  await world.relay.call("POST", "/v1/posts", {
    key: owner.key,
    headers: { "x-profile-id": owner.profileId, "idempotency-key": uniqueKey() },
    body: { text, platforms: ["mastodon"] },
  });
  await world.relay.drain();
  return world.sandbox.posts("mastodon").map((post) => post.text);
}

/** What the attacker's server makes of the two starts: a page of the honest server with the state of the victim. */
function lure(own: { readonly url: URL }, theirs: { readonly state: string; readonly url: URL }) {
  const url = new URL(own.url);
  url.searchParams.set("state", theirs.state);
  return url;
}

describe("a server that sends people on to another one with its own state", () => {
  test("gets no code of the other server, and the attacker publishes nothing as the victim", async () => {
    const own = await startAt(attacker, HONEST);
    const theirs = await startAt(victim, HOSTILE);
    const callback = await decide(lure(own, theirs).href, "allow");
    const answer = await theirs.browser.get(callback);
    for (const code of codes) {
      const redeemed = new URL(callback);
      redeemed.search = new URLSearchParams({ code, state: own.state }).toString();
      await own.browser.get(redeemed.href);
    }
    expect(await publish(attacker)).toEqual([]);
    expect(codes).toEqual([]);
    expect(answer.status).toBe(410);
    expect(readable(answer.body)).toContain("This step has expired");
    expect(await connectionsOf(attacker)).toEqual([]);
    expect(await connectionsOf(victim)).toEqual([]);
  });

  test("a server that sends people on to another one with its own state can't have the other server lead back to the address of its own", async () => {
    const own = await startAt(attacker, HONEST);
    const theirs = await startAt(victim, HOSTILE);
    const page = lure(own, theirs);
    page.searchParams.set("redirect_uri", theirs.url.searchParams.get("redirect_uri") ?? "");
    expect(await decide(page.href, "allow")).toBe("no redirect but 400");
    page.searchParams.set("redirect_uri", `${CALLBACK}/mastodon`);
    expect(await decide(page.href, "allow")).toBe("no redirect but 400");
  });

  test("leaves the visit open: the victim may still go on at the right server", async () => {
    const own = await startAt(attacker, HONEST);
    const theirs = await startAt(victim, HOSTILE);
    const before = codes.length;
    const callback = new URL(await decide(lure(own, theirs).href, "allow"));
    await theirs.browser.get(callback.href);
    callback.pathname = callback.pathname.replace(HONEST, HOSTILE);
    callback.searchParams.set("code", "a code of its own");
    expect((await theirs.browser.get(callback.href)).status).toBe(303);
    expect(codes.slice(before)).toEqual(["a code of its own"]);
  });
});

describe("the address that a server leads back to", () => {
  test("the address that a server leads back to is the server's own, and the only one that is registered there", async () => {
    const { url } = await startAt(victim, HONEST);
    const redirect = `${CALLBACK}/mastodon/${HONEST}`;
    expect(url.searchParams.get("redirect_uri")).toBe(redirect);
    const apps = world.sandbox.requests().filter(({ path }) => path === "/api/v1/apps");
    expect(apps).toHaveLength(1);
    for (const other of [`${CALLBACK}/mastodon`, `${CALLBACK}/mastodon/${HOSTILE}`]) {
      const page = new URL(url);
      page.searchParams.set("redirect_uri", other);
      expect(await decide(page.href, "allow")).toBe("no redirect but 400");
    }
  });

  test.each([
    "Mastodon.SANDBOX.test",
    "https://mastodon.sandbox.test:443/@demo",
    "mastodon.sandbox.test.",
    "@demo@mastodon.sandbox.test",
  ])("the address that a server leads back to is the same for %s", async (typed) => {
    const { url } = await startAt(victim, typed);
    expect(url.searchParams.get("redirect_uri")).toBe(`${CALLBACK}/mastodon/${HONEST}`);
  });

  test.each<[string, string]>([
    ["no server", "mastodon"],
    ["another server", `mastodon/${HOSTILE}`],
    ["a part of the server", "mastodon/sandbox.test"],
    ["more than the server", `mastodon/${HONEST}_443`],
    ...OTHERS.map((name): [string, string] => [`the network ${name}`, name]),
  ])("an answer at the address of %s is refused, and nothing is sent", async (_what, path) => {
    const { browser, url } = await startAt(victim, HONEST);
    const callback = new URL(await decide(url.href, "allow"));
    const at = new URL(`${CALLBACK}/${path}`);
    at.search = callback.search;
    const before = world.sandbox.requests().length;
    expect((await browser.get(at.href)).status).toBe(410);
    expect(world.sandbox.requests()).toHaveLength(before);
    expect(await connectionsOf(victim)).toEqual([]);
    expect((await browser.get(callback.href)).status).toBe(200);
  });
});

describe("an attempt that the attacker began", () => {
  test("an attempt that the attacker began is not finished by the victim's browser, and the code stays unused", async () => {
    const own = await startAt(attacker, HONEST);
    const callback = await decide(own.url.href, "allow");
    const theirs = await startAt(victim, HONEST);
    for (const browser of [theirs.browser, new Browser(world)]) {
      expect((await browser.get(callback)).status).toBe(403);
    }
    expect(await connectionsOf(attacker)).toEqual([]);
    expect(await connectionsOf(victim)).toEqual([]);
  });

  test("takes no code that was given to another attempt, even at the same server", async () => {
    const theirs = await startAt(victim, HONEST);
    const stolen = new URL(await decide(theirs.url.href, "allow")).searchParams.get("code") ?? "";
    const own = await startAt(attacker, HONEST);
    const injected = new URL(`${CALLBACK}/mastodon/${HONEST}`);
    injected.search = new URLSearchParams({ code: stolen, state: own.state }).toString();
    expect(readable((await own.browser.follow(await own.browser.get(injected.href))).body)).toMatch(
      /permission/i,
    );
    expect(await connectionsOf(attacker)).toEqual([]);
  });

  test("an attempt that the attacker began is not begun by a form on the attacker's page", async () => {
    const path = `/v1/profiles/${attacker.profileId}/connect/sessions`;
    const body = { platforms: ["mastodon"] };
    const made = dataOf(await world.relay.call("POST", path, { ...as(attacker), body }));
    const query = new URL(made.connectUrl).searchParams;
    const answer = await world.page("POST", `${BASE}/v1/connect/ui/mastodon`, {
      headers: { "sec-fetch-site": "cross-site" },
      form: { ...Object.fromEntries(query), instance: HONEST },
    });
    expect(answer.status).toBe(403);
    expect(answer.headers.get("set-cookie")).toBeNull();
  });
});
