import { beforeEach, describe, expect, test } from "vitest";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { Browser, formsOf, locationOf, readable } from "../connections/browser.ts";
import {
  anOwner,
  anotherProfile,
  aSibling,
  balance,
  BASE,
  OWN_INSTANCES,
} from "../connections/world.ts";
import type { Owner, World } from "../connections/world.ts";
import { aKey, linkedCount } from "../setup/factories.ts";
import { BLUESKY, MINUTE, useConnect } from "./connect-calls.ts";
import { connectionsOf, credentialsOf } from "../setup/stored.ts";

let world: World;
let owner: Owner;

const { start, aSession, session, connections, cancel, linkBluesky, towardsCallback } = useConnect(
  (fresh) => {
    ({ world, owner } = fresh);
  },
);

function disableProfile(): Promise<unknown> {
  const { profiles } = world.services.tenants.stores;
  const { platformId, profileId } = owner;
  return profiles.update(platformId, profileId, (profile) => ({ ...profile, status: "disabled" }));
}

describe("connect sessions", () => {
  test("a session names what was asked for and shows its address once", async () => {
    const made = await aSession({ platforms: ["mastodon", "bluesky"], state: "s1" });
    expect(made).toMatchObject({ status: "open", platforms: ["mastodon", "bluesky"], state: "s1" });
    expect(made.connectUrl).toMatch(
      new RegExp(`^${BASE}/v1/connect/ui\\?session=${made.id}&token=[\\w-]{43}\\.plt_\\w+$`),
    );
    const read = await session(made);
    expect(read).not.toHaveProperty("connectUrl");
    expect(JSON.stringify(read)).not.toContain(new URL(made.connectUrl).searchParams.get("token"));
  });

  test("a connect session without a list of networks offers all", async () => {
    const { platforms } = await aSession();
    expect(platforms).toEqual(NETWORK_NAMES);
  });

  test.each([
    ["an unknown network", { platforms: ["myspace"] }, "platforms.0"],
    ["no network", { platforms: [] }, "platforms"],
    ["a network twice", { platforms: ["bluesky", "bluesky"] }, "platforms"],
    ["a return address without https", { returnUrl: "http://a.test/" }, "returnUrl"],
    ["a return address with credentials", { returnUrl: "https://u:p@a.test/" }, "returnUrl"],
    ["a return address with a backslash", { returnUrl: "https://a.test\\@b.test" }, "returnUrl"],
    ["a script as return address", { returnUrl: "javascript:alert(1)" }, "returnUrl"],
    ["a state that is too long", { state: "x".repeat(513) }, "state"],
    ["a life that is too short", { expiresIn: 299 }, "expiresIn"],
    ["a life that is too long", { expiresIn: 172_801 }, "expiresIn"],
    ["a color that is more", { branding: { accentColor: "#ffffff;x" } }, "branding.accentColor"],
    ["a logo without https", { branding: { logoUrl: "http://a.test/l" } }, "branding.logoUrl"],
    ["a name that is too long", { branding: { name: "x".repeat(81) } }, "branding.name"],
    ["a label that is too long", { branding: { backLabel: "x".repeat(41) } }, "branding.backLabel"],
    ["an unknown language", { branding: { locale: "nl" } }, "branding.locale"],
    ["an unknown theme", { branding: { theme: "sepia" } }, "branding.theme"],
    [
      "an icon without https",
      { branding: { faviconUrl: "http://a.test/" } },
      "branding.faviconUrl",
    ],
    ["a script as help", { branding: { supportUrl: "javascript:x" } }, "branding.supportUrl"],
    ["an unknown field", { tokenHash: "x" }, "tokenHash"],
  ])("%s is refused with the field's path", async (_name, body, path) => {
    const answer = await start(body);
    expect(answer.status).toBe(400);
    const { issues } = answer.body.error.details;
    expect(issues).toEqual([expect.objectContaining({ path })]);
  });

  test("a wallet that can't pay for a link starts no session", async () => {
    const poor = await anOwner(world, 4);
    const answer = await start({}, poor);
    expect(answer.status).toBe(402);
    expect(answer.body.error).toMatchObject({
      code: "insufficient_tokens",
      details: { required: 5, available: 4 },
    });
  });

  test("a disabled profile starts no session", async () => {
    await disableProfile();
    const answer = await start();
    expect([answer.status, answer.body.error.code]).toEqual([403, "profile_disabled"]);
  });

  test("a canceled session can't be canceled again, nor used", async () => {
    const made = await aSession();
    const canceled = await cancel(made);
    expect([canceled.status, canceled.body.data.status]).toEqual([200, "canceled"]);
    const again = await cancel(made);
    expect([again.status, again.body.error.code]).toEqual([409, "invalid_state"]);
    const page = await new Browser(world).get(made.connectUrl);
    expect(page.status).toBe(410);
  });

  test("an expired session says so and can't be canceled", async () => {
    const made = await aSession({ expiresIn: 300 });
    world.relay.advance(5 * MINUTE);
    expect((await session(made)).status).toBe("expired");
    expect((await cancel(made)).status).toBe(409);
  });

  test("another tenant's session is as absent as one that never was", async () => {
    const made = await aSession();
    const stranger = await anOwner(world);
    const sibling = await aSibling(world, owner);
    const absent = await world.relay.call(
      "GET",
      "/v1/connect/sessions/cns_01JCZZZZZZZZZZZZZZZZZZZZZZ",
      {
        key: owner.key,
      },
    );
    for (const by of [stranger, sibling]) {
      const read = await world.relay.call("GET", `/v1/connect/sessions/${made.id}`, {
        key: by.key,
      });
      expect([read.status, read.body.error.code]).toEqual([404, "not_found"]);
      expect((await cancel(made, by)).status).toBe(404);
      expect({ ...read.body.error, requestId: "" }).toEqual({
        ...absent.body.error,
        requestId: "",
      });
    }
    expect((await session(made)).status).toBe("open");
  });

  test("a restricted key sees sessions of its own profiles alone", async () => {
    const other = await anotherProfile(world, owner);
    const restricted = (profileId: string) =>
      aKey(world.relay, owner.application, { scope: "restricted", allowedProfileIds: [profileId] });
    const { secret: allowed } = await restricted(owner.profileId);
    const { secret: refused } = await restricted(other.profileId);
    const made = await aSession();
    expect((await session(made, { ...owner, key: allowed })).id).toBe(made.id);
    const answer = await cancel(made, { ...owner, key: refused });
    expect([answer.status, answer.body.error.code]).toEqual([403, "profile_not_allowed"]);
  });

  test("connect sessions tell nothing without a credential", async () => {
    const made = await aSession();
    const answer = await world.relay.call("GET", `/v1/connect/sessions/${made.id}`);
    expect(answer.status).toBe(401);
  });
});

describe("the hosted page", () => {
  test("runs nothing, loads nothing foreign and can't be framed or cached", async () => {
    const { connectUrl } = await aSession({ returnUrl: "https://app.customer.example.org/back" });
    const { headers, body: text, status } = await new Browser(world).get(connectUrl);
    const policy = headers.get("content-security-policy") ?? "";
    const nonce = /style-src 'nonce-([\w-]+)'/.exec(policy)?.[1] ?? "none";
    expect(status).toBe(200);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("base-uri 'none'");
    expect(policy).toContain(`form-action 'self' ${new URL(BASE).origin} ${world.sandbox.url}`);
    expect(policy).not.toContain("unsafe");
    expect(text).toContain(`<style nonce="${nonce}">`);
    expect(text).not.toMatch(/<script|\son\w+=|style="/i);
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("shows the customer's branding and says which networks are not available", async () => {
    const branding = {
      name: "Bäckerei & Söhne",
      logoUrl: "https://cdn.customer.example.org/logo.png",
      accentColor: "#00AA11",
      backLabel: "Back to the bakery",
    };
    const returnUrl = "https://app.customer.example.org/back";
    const { connectUrl } = await aSession({
      branding,
      returnUrl,
      platforms: ["facebook", "bluesky"],
    });
    const page = await new Browser(world).get(connectUrl);
    expect(page.body).toContain('<img src="https://cdn.customer.example.org/logo.png"');
    expect(page.body).toContain("--accent: #00870d");
    expect(readable(page.body)).toContain("Bäckerei & Söhne");
    expect(readable(page.body)).toContain("Back to the bakery");
    expect(readable(page.body)).toContain("Facebook Not available at the moment.");
    expect(formsOf(page.body).map(({ action }) => action)).toEqual([
      `${BASE}/v1/connect/ui/bluesky`,
      `${BASE}/v1/connect/ui/bluesky`,
      `${BASE}/v1/connect/ui/done`,
    ]);
  });

  test("its branding chooses language, theme, icon and links, on the last page as well", async () => {
    const branding = {
      locale: "fr",
      theme: "dark",
      faviconUrl: "https://cdn.customer.example.org/icon.png",
      privacyUrl: "https://customer.example.org/privacy",
      termsUrl: "https://customer.example.org/terms",
      supportUrl: "https://customer.example.org/help",
    };
    const made = await aSession({ branding });
    expect(made).toMatchObject({ branding });
    const browser = new Browser(world);
    const open = await browser.get(made.connectUrl);
    await cancel(made);
    for (const { body } of [open, await browser.get(made.connectUrl)]) {
      expect(body).toContain('<html lang="fr">');
      expect(body).toContain("color-scheme: dark;");
      expect(body).not.toContain("prefers-color-scheme");
      expect(body).toContain('<link rel="icon" href="https://cdn.customer.example.org/icon.png"');
      for (const name of ["privacy", "terms", "help"])
        expect(body).toContain(`href="https://customer.example.org/${name}" target="_blank"`);
    }
  });

  test("a hostile name is shown as the text that it is", async () => {
    const name = `</title><script>alert("1")</script><b a='`;
    const { connectUrl } = await aSession({ branding: { name, backLabel: `"><img src=x>` } });
    const { body: text } = await new Browser(world).get(connectUrl);
    expect(text).not.toMatch(/<script|<b |<img src=x/);
    expect(readable(text)).toContain(name);
  });

  test.each([
    [
      "a wrong token",
      (url: string) => url.replace(/.{3}$/, (end) => (end.startsWith("a") ? "bbb" : "aaa")),
    ],
    ["no token", (url: string) => url.replace(/&token=.*/, "")],
    ["a session that never was", (url: string) => url.replace(/cns_\w{26}/, "cns_x")],
    [
      "a token of another kind",
      (url: string) => url.replace(/&token=.*/, `&token=%00${"é".repeat(300)}`),
    ],
  ])("%s leads to one honest page", async (_name, change) => {
    const { connectUrl } = await aSession();
    const page = await new Browser(world).get(change(connectUrl));
    expect(page.status).toBe(404);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(readable(page.body)).toContain("This link does not work");
  });

  test("an expired session leads back with its status, in GET and in POST", async () => {
    const returnUrl = "https://app.customer.example.org/back?a=1";
    const made = await aSession({ returnUrl, state: "s", expiresIn: 300 });
    const browser = new Browser(world);
    const before = await browser.get(made.connectUrl);
    world.relay.advance(6 * MINUTE);
    for (const page of [
      await browser.get(made.connectUrl),
      await browser.submit(before, "bluesky", BLUESKY),
    ]) {
      expect(page.status).toBe(410);
      expect(readable(page.body)).toContain("This page has expired");
      const back = `${world.sandbox.url}/back?a=1&amp;session=${made.id}&amp;status=expired&amp;connections=&amp;state=s`;
      expect(page.body).toContain(`href="${back}"`);
    }
    expect(await connections()).toEqual([]);
  });

  test("a form from another site does nothing", async () => {
    const made = await aSession();
    const [form] = formsOf((await new Browser(world).get(made.connectUrl)).body);
    const answer = await world.page("POST", `${BASE}/v1/connect/ui/bluesky`, {
      headers: { "sec-fetch-site": "cross-site" },
      form: { ...form?.fields, ...BLUESKY },
    });
    expect(answer.status).toBe(403);
    expect(await connections()).toEqual([]);
  });

  test("a profile that was disabled meanwhile links nothing", async () => {
    const made = await aSession();
    const browser = new Browser(world);
    const page = await browser.get(made.connectUrl);
    await disableProfile();
    expect((await browser.get(made.connectUrl)).status).toBe(410);
    expect((await browser.submit(page, "bluesky", BLUESKY)).status).toBe(410);
    expect(await connectionsOf(world.services, owner)).toEqual([]);
    expect(await balance(world, owner)).toBe(100);
  });

  test("storage that does not answer is told as a page, too", async () => {
    const { connectUrl } = await aSession();
    const { connectSessions } = world.services.connections.stores;
    const find = connectSessions.find.bind(connectSessions);
    connectSessions.find = () => Promise.reject(new Error("no route to host 10.1.2.3"));
    try {
      const page = await new Browser(world).get(connectUrl);
      expect(page.status).toBe(500);
      expect(page.headers.get("content-type")).toContain("text/html");
      expect(page.body).not.toContain("10.1.2.3");
    } finally {
      connectSessions.find = find;
    }
  });
});

describe("leaving the page", () => {
  test.each([
    ["en", 3_600, "the link works for another 60 minutes."],
    ["de", 172_800, "Der Link funktioniert noch 2 Tage."],
    ["fr", 300, "le lien reste valable encore 5 minutes."],
    ["es", 86_400, "el enlace funcionará durante 24 horas más."],
    ["pt", 7_200, "o link funciona por mais 2 horas."],
  ])("without a way back, the page says in %s how long the link works", async (...told) => {
    const [locale, expiresIn, sentence] = told;
    const { connectUrl } = await aSession({ expiresIn, branding: { locale } });
    const page = await new Browser(world).get(connectUrl);
    expect(readable(page.body).replaceAll("\u00a0", " ")).toContain(sentence);
  });

  test("leaving without a way back ends nothing, and leads back to the page", async () => {
    const made = await aSession();
    const browser = new Browser(world);
    const page = await browser.get(made.connectUrl);
    expect(readable(page.body)).toContain("You can also do this later");
    const [form] = formsOf(page.body);
    const fields = { ...form?.fields, action: "cancel" };
    const left = await browser.post(`${BASE}/v1/connect/ui/done`, fields);
    expect([left.status, (await session(made)).status]).toEqual([200, "open"]);
    expect(readable(left.body)).toContain("Nothing is connected yet");
    expect(left.body).toContain(`href="${made.connectUrl.replaceAll("&", "&amp;")}"`);
  });

  test("done without an account keeps the page and says so", async () => {
    const { connectUrl } = await aSession({ returnUrl: "https://app.customer.example.org/back" });
    const browser = new Browser(world);
    const page = await browser.submit(await browser.get(connectUrl), "done", { action: "done" });
    expect(page.status).toBe(422);
    expect(readable(page.body)).toContain("No account is connected yet");
  });

  test("cancel without an account leads back as canceled", async () => {
    const made = await aSession({ returnUrl: "https://app.customer.example.org/back" });
    const browser = new Browser(world);
    const answer = await browser.submit(await browser.get(made.connectUrl), "done", {
      action: "cancel",
    });
    expect(new URL(locationOf(answer)).searchParams.get("status")).toBe("canceled");
    expect((await session(made)).status).toBe("canceled");
  });

  test("pressing done twice leads back twice", async () => {
    const made = await aSession({ returnUrl: "https://app.customer.example.org/back" });
    const browser = new Browser(world);
    const page = await browser.follow(await linkBluesky(made.connectUrl));
    const first = await browser.submit(page, "done", { action: "done" });
    const second = await browser.submit(page, "done", { action: "done" });
    expect(locationOf(second)).toBe(locationOf(first));
  });
});

describe("removing a connection", () => {
  const own = { identifier: "own.bsky.social", appPassword: "ownn-ownn-ownn-ownn" };

  beforeEach(() => {
    const { identifier: handle, appPassword } = own;
    world.sandbox.networks.bluesky.addAccount({ handle, appPassword });
  });

  const remove = (id: string, by: Owner = owner) =>
    world.relay.call("DELETE", `/v1/profiles/${by.profileId}/connections/${id}`, { key: by.key });

  test("purges the tokens, tells the network and may be repeated", async () => {
    await linkBluesky((await aSession()).connectUrl, own);
    const [connection] = await connections();
    if (connection === undefined) throw new Error("nothing was linked");
    expect(await linkedCount(world.relay, owner.platformId)).toBe(1);
    const removed = await remove(connection.id);
    expect([removed.status, removed.body.data]).toEqual([
      200,
      expect.objectContaining({ id: connection.id, status: "revoked" }),
    ]);
    const opened = await credentialsOf(world.services, owner, "bluesky");
    expect(opened).toBeUndefined();
    const asked = world.sandbox.requests().filter(({ path }) => path.endsWith("deleteSession"));
    expect(asked.map(({ status }) => status)).toEqual([200]);
    expect(await linkedCount(world.relay, owner.platformId)).toBe(0);
    expect((await remove(connection.id)).status).toBe(200);
    expect(
      world.sandbox.requests().filter(({ path }) => path.endsWith("deleteSession")),
    ).toHaveLength(1);
  });

  test("works when the network does not", async () => {
    await linkBluesky((await aSession()).connectUrl, own);
    const [connection] = await connections();
    world.intercept(() => Promise.reject(new Error("the network is down")));
    expect((await remove(connection?.id ?? "")).status).toBe(200);
    world.intercept(undefined);
    expect((await connections())[0]?.status).toBe("revoked");
  });

  test("leaves the network's token alone while another profile has the account", async () => {
    const sibling = await anotherProfile(world, owner);
    for (const by of [owner, sibling]) {
      const { browser, callback } = await towardsCallback((await aSession({}, by)).connectUrl, {
        instance: OWN_INSTANCES[1],
      });
      expect((await browser.get(callback)).status).toBe(303);
    }
    const revocations = () =>
      world.sandbox.requests().filter(({ path }) => path.startsWith("/oauth/revoke"));
    const [first] = await connections();
    await remove(first?.id ?? "");
    expect(revocations()).toEqual([]);
    const [second] = await connections(sibling);
    await remove(second?.id ?? "", sibling);
    expect(revocations()).toHaveLength(1);
  });

  test("ends exactly its own session where each profile has one of its own", async () => {
    const sibling = await anotherProfile(world, owner);
    await linkBluesky((await aSession()).connectUrl, own);
    await linkBluesky((await aSession({}, sibling)).connectUrl, own);
    const [first] = await connections();
    await remove(first?.id ?? "");
    const ended = world.sandbox.requests().filter(({ path }) => path.endsWith("deleteSession"));
    expect(ended.map(({ status }) => status)).toEqual([200]);
    const left = await credentialsOf(world.services, sibling, "bluesky");
    const credentials = left as { accessJwt: string; pds: string };
    const answer = await world.services.connections.outbound.request({
      method: "GET",
      url: `${credentials.pds}/xrpc/com.atproto.server.getSession`,
      headers: { authorization: `Bearer ${credentials.accessJwt}` },
    });
    expect(answer.status).toBe(200);
  });

  test("an account that was removed is linked again under its id", async () => {
    await linkBluesky((await aSession()).connectUrl, own);
    const [before] = await connections();
    await remove(before?.id ?? "");
    await linkBluesky((await aSession()).connectUrl, own);
    expect((await connections())[0]).toMatchObject({ id: before?.id, status: "active" });
    expect(await linkedCount(world.relay, owner.platformId)).toBe(1);
  });

  test("another tenant's connection is not there", async () => {
    await linkBluesky((await aSession()).connectUrl, own);
    const [connection] = await connections();
    const stranger = await anOwner(world);
    expect((await remove(connection?.id ?? "", stranger)).status).toBe(404);
    const foreign = await world.relay.call("GET", `/v1/profiles/${owner.profileId}/connections`, {
      key: stranger.key,
    });
    expect(foreign.status).toBe(404);
    expect((await connections())[0]?.status).toBe("active");
  });
});
