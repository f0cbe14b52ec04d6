import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  DEMO_FACEBOOK_APP,
  DEMO_PAGE,
  FRIEND_USER,
  SECOND_PAGE,
} from "../../sandbox/facebook/state.ts";
import { DEMO_INSTAGRAM_APP, PERSONAL_ACCOUNT } from "../../sandbox/instagram/state.ts";
import { answer } from "../networks/scripted-tools.ts";
import type { Answer } from "../setup/relay.ts";
import { Browser, formsOf, locationOf, readable } from "./browser.ts";
import type { Form } from "./browser.ts";
import { anOwner, anotherProfile, balance, openWorld, type Owner } from "./world.ts";
import { credentialsOf, findConnection } from "../setup/stored.ts";
import { forFile } from "../setup/for-file.ts";

const MINUTE = 60_000;

let owner: Owner;

const world = forFile(() =>
  openWorld({
    FACEBOOK_APP_ID: DEMO_FACEBOOK_APP.id,
    FACEBOOK_APP_SECRET: DEMO_FACEBOOK_APP.secret,
    INSTAGRAM_APP_ID: DEMO_INSTAGRAM_APP.id,
    INSTAGRAM_APP_SECRET: DEMO_INSTAGRAM_APP.secret,
  }),
);
beforeEach(async () => {
  world.intercept(undefined);
  world.sandbox.reset();
  owner = await anOwner(world);
});

/** The person behind all these pages is one and the same: what a test leaves linked would keep the authorization. */
const visited = new Set<Owner>();
afterEach(async () => {
  const store = world.services.connections.stores.connections;
  for (const owner of visited)
    for (const connection of await store.listOfProfile(owner)) await store.revoke(connection);
  visited.clear();
});

async function connectUrl(network: string, by: Owner = owner): Promise<string> {
  const path = `/v1/profiles/${by.profileId}/connect/sessions`;
  visited.add(by);
  const body = { platforms: [network, "bluesky"] };
  const answer = await world.relay.call("POST", path, { key: by.key, body });
  expect(answer.status).toBe(201);
  return answer.body.data.connectUrl as string;
}

async function connections(by: Owner = owner) {
  const path = `/v1/profiles/${by.profileId}/connections`;
  const answer = await world.relay.call("GET", path, { key: by.key });
  return answer.body.data as readonly {
    readonly id: string;
    readonly platform: string;
    readonly status: string;
    readonly account: { readonly id: string; readonly displayName: string };
  }[];
}

async function unlink(id: string, by: Owner = owner): Promise<number> {
  const path = `/v1/profiles/${by.profileId}/connections/${id}`;
  return (await world.relay.call("DELETE", path, { key: by.key })).status;
}

/** What the person answers on the network's own page; leads to our callback. */
async function authorize(page: string, form: Readonly<Record<string, string>>): Promise<string> {
  const body = new URLSearchParams({ decision: "allow", ...form });
  const answer = await fetch(page, { method: "POST", redirect: "manual", body });
  return (answer.headers.get("location") ?? "").split("#")[0] ?? "";
}

interface Visit {
  readonly by?: Owner;
  readonly form?: Readonly<Record<string, string>>;
  readonly network?: string;
}

/** Through the network's own page and back to ours. */
async function visit({ by = owner, form = {}, network = "facebook" }: Visit = {}) {
  const browser = new Browser(world);
  const page = await browser.get(await connectUrl(network, by));
  const callback = await authorize(locationOf(await browser.submit(page, network, {})), form);
  const back = await browser.get(callback);
  return { browser, callback, back, shown: await browser.follow(back) };
}

function choiceOf(page: Answer): Form {
  const form = formsOf(page.body).find(({ fields }) => "choice" in fields);
  if (form === undefined) throw new Error(`no choice: ${readable(page.body)}`);
  return form;
}

async function choose(browser: Browser, page: Answer, candidate: string): Promise<Answer> {
  const { action, fields } = choiceOf(page);
  return browser.post(action, { ...fields, candidate });
}

async function link(candidate: string, by: Owner = owner): Promise<void> {
  const { browser, shown } = await visit({ by });
  expect((await choose(browser, shown, candidate)).status).toBe(303);
}

describe("an authorization that covers several accounts", () => {
  test("links the one that is chosen, and charges for it", async () => {
    const { browser, shown } = await visit();
    expect(shown.status).toBe(200);
    const words = readable(shown.body);
    for (const name of ["Demo Bakery", "@demobakery", "Demo Coffee Bar", "Demo Wholesale"])
      expect(words).toContain(name);
    // A page on which the person may not publish is shown with the reason, and can't be chosen.
    expect(words).toMatch(/Bakers' Guild @bakersguild Your role on this page doesn't allow posts/);
    const guild = /<input[^>]*value="[^"]*"[^>]*disabled[^>]*>/.exec(shown.body)?.[0] ?? "";
    expect(shown.body.match(/<input[^>]*disabled/g)).toHaveLength(1);
    const [, barred = ""] = /value="([^"]*)"/.exec(guild) ?? [];
    expect((await choose(browser, shown, barred)).status).toBe(422);
    expect(await connections()).toEqual([]);
    const linked = await browser.follow(await choose(browser, shown, SECOND_PAGE));
    expect(readable(linked.body)).toContain("Connected Facebook · democoffeebar");
    expect(await connections()).toMatchObject([
      { platform: "facebook", status: "active", account: { id: SECOND_PAGE } },
    ]);
    expect(await balance(world, owner)).toBe(95);
  });

  test("an authorization for more accounts than the page can show says so, and offers the first hundreds", async () => {
    const page = (id: number) => ({ id: `${id}`, name: `Page ${id}`, access_token: "token" });
    let asked = 0;
    world.intercept(async (request, send) => {
      if (!request.url.includes("/me/accounts")) return await send(request);
      const data = Array.from({ length: 100 }, (_, index) => page(100 * (asked += 1) + index));
      return answer(200, { data, paging: { next: "x", cursors: { after: "A" } } });
    });
    const { shown } = await visit();
    expect(shown.body.match(/name="candidate"/g)).toHaveLength(500);
    expect(readable(shown.body)).toContain("Not all of your pages are shown.");
  });

  test("an authorization that covers several accounts is asked about with a choice for the eye and the keyboard, and nothing chosen beforehand", async () => {
    const { shown } = await visit();
    const [form = ""] = /<form\b[^>]*>(?:(?!<\/form>)[\s\S])*name="candidate"[\s\S]*?<\/form>/.exec(
      shown.body,
    ) ?? [""];
    expect(form.match(/<input[^>]*type="radio"[^>]*required/g)).toHaveLength(3);
    expect(form).not.toMatch(/\schecked/);
    expect(form).toContain("<legend ");
  });

  test("keeps its tokens from the browser", async () => {
    const { back, shown } = await visit();
    expect(`${locationOf(back)} ${shown.body}`).not.toMatch(/EAA\w{20}/);
  });

  test("an authorization that covers several accounts can be looked at again, but is used once", async () => {
    const { browser, back, shown } = await visit();
    expect(choiceOf(await browser.follow(back))).toEqual(choiceOf(shown));
    expect((await choose(browser, shown, DEMO_PAGE)).status).toBe(303);
    const again = await choose(browser, shown, SECOND_PAGE);
    expect(again.status).toBe(422);
    expect(readable(again.body)).toContain("took too long or was already used");
    expect(await connections()).toMatchObject([{ account: { id: DEMO_PAGE } }]);
    const reloaded = await browser.follow(back);
    expect(readable(reloaded.body)).toContain("took too long or was already used");
  });

  test("of two choices at once in one authorization, one counts", async () => {
    const { browser, shown } = await visit();
    const answers = await Promise.all(
      [DEMO_PAGE, SECOND_PAGE].map((page) => choose(browser, shown, page)),
    );
    expect(answers.map(({ status }) => `${status}`).toSorted()).toEqual(["303", "422"]);
    expect(await connections()).toHaveLength(1);
    expect(await balance(world, owner)).toBe(95);
  });

  test.each(["", "102000000000004", "nonsense", "__proto__"])(
    "takes nothing that it did not offer (%j), and stays open",
    async (candidate) => {
      const { browser, shown } = await visit();
      const refused = await choose(browser, shown, candidate);
      expect(refused.status).toBe(422);
      expect(readable(refused.body)).toContain("Choose a page first.");
      expect(await connections()).toEqual([]);
      expect((await choose(browser, refused, DEMO_PAGE)).status).toBe(303);
    },
  );

  test("belongs to the browser that was authorized", async () => {
    const { back, shown } = await visit();
    const stranger = new Browser(world);
    const seen = await stranger.follow(back);
    expect(seen.body).not.toContain("Demo Bakery");
    expect((await choose(stranger, shown, DEMO_PAGE)).status).toBe(422);
    const other = new Browser(world);
    await other.submit(await other.get(await connectUrl("facebook")), "facebook", {});
    expect((await choose(other, shown, DEMO_PAGE)).status).toBe(422);
    expect(await connections()).toEqual([]);
  });

  test("belongs to its session", async () => {
    const { browser, shown } = await visit();
    const another = new URL(await connectUrl("facebook", await anotherProfile(world, owner)));
    const { action, fields } = choiceOf(shown);
    const given = { ...fields, ...Object.fromEntries(another.searchParams), candidate: DEMO_PAGE };
    expect((await browser.post(action, given)).status).toBe(422);
    expect(await connections()).toEqual([]);
  });

  test("an authorization that covers several accounts is no way around the network's own state, nor the other way round", async () => {
    const { browser, callback, shown } = await visit();
    const url = new URL(callback);
    url.searchParams.set("state", choiceOf(shown).fields["choice"] ?? "");
    expect((await browser.get(url.href)).status).toBe(410);
    expect((await browser.get(callback)).status).toBe(410);
    expect((await choose(browser, shown, DEMO_PAGE)).status).toBe(303);
  });

  test("runs out", async () => {
    const { browser, shown } = await visit();
    world.relay.advance(16 * MINUTE);
    expect((await choose(browser, shown, DEMO_PAGE)).status).toBe(422);
    expect(await connections()).toEqual([]);
  });

  test("links nothing after a cancel", async () => {
    const { browser, shown } = await visit();
    const sessionId = choiceOf(shown).fields["session"] ?? "";
    const path = `/v1/connect/sessions/${sessionId}/cancel`;
    expect((await world.relay.call("POST", path, { key: owner.key })).status).toBe(200);
    expect((await choose(browser, shown, DEMO_PAGE)).status).toBe(410);
    expect(await connections()).toEqual([]);
  });

  test("links nothing from a form of another site", async () => {
    const { shown } = await visit();
    const { action, fields } = choiceOf(shown);
    const answer = await world.page("POST", action, {
      headers: { "sec-fetch-site": "cross-site" },
      form: { ...fields, candidate: DEMO_PAGE },
    });
    expect(answer.status).toBe(403);
    expect(await connections()).toEqual([]);
  });

  test("shows a page's hostile name as text", async () => {
    world.sandbox.networks.facebook.addPage({ name: `<script>alert("1")</script>` });
    const { shown } = await visit();
    expect(shown.body).not.toContain("<script");
    expect(readable(shown.body)).toContain(`<script>alert("1")</script>`);
  });
});

describe("an authorization that leads nowhere is told in words that help", () => {
  test.each([
    ["facebook", { account: FRIEND_USER }, "did not list any page that you can publish to"],
    ["facebook", { decision: "deny" }, "You did not grant permission on Facebook"],
    ["instagram", { account: PERSONAL_ACCOUNT }, "Switch to a professional account"],
  ])("a useless authorization is told in words that help: %s %j", async (network, form, words) => {
    const { shown } = await visit({ network, form });
    expect(shown.status).toBe(200);
    expect(readable(shown.body)).toContain(words);
    expect(await connections()).toEqual([]);
  });
});

describe("an account among others of one authorization", () => {
  const canPublish = async (by: Owner): Promise<boolean> => {
    if ((await findConnection(world.services, by, "facebook")) === undefined) return false;
    const credentials = await credentialsOf(world.services, by, "facebook");
    const answer = await world.services.connections.outbound.request({
      method: "GET",
      url: "https://graph.facebook.com/v26.0/me?fields=id",
      headers: { authorization: `Bearer ${String(credentials?.["pageToken"])}` },
    });
    return answer.status === 200;
  };

  test("an account among others of one authorization is unlinked without ending the others, and the last one ends it", async () => {
    const other = await anotherProfile(world, owner);
    await link(DEMO_PAGE);
    await link(SECOND_PAGE, other);
    const [first] = await connections();
    const [second] = await connections(other);
    expect(await unlink(first?.id ?? "")).toBe(200);
    expect(await canPublish(other)).toBe(true);
    const revocations = () =>
      world.sandbox.requests().filter(({ route }) => route === "removeApp").length;
    expect(revocations()).toBe(0);
    expect(await unlink(second?.id ?? "", other)).toBe(200);
    expect(revocations()).toBe(1);
  });

  test("takes the place of another one and can be published to", async () => {
    await link(DEMO_PAGE);
    await link(SECOND_PAGE);
    expect(await connections()).toMatchObject([{ account: { id: SECOND_PAGE } }]);
    expect(await canPublish(owner)).toBe(true);
  });

  test("an account of several that can't be paid for leaves the others as they are", async () => {
    const poor = await anOwner(world, 9);
    const other = await anotherProfile(world, poor);
    await link(DEMO_PAGE, poor);
    const answer = await world.relay.call(
      "POST",
      `/v1/profiles/${other.profileId}/connect/sessions`,
      { key: other.key, body: { platforms: ["facebook"] } },
    );
    expect(answer.status).toBe(402);
    expect(await canPublish(poor)).toBe(true);
  });
});

describe("a network whose app is not configured", () => {
  test("a network whose app is not configured is shown as not available, and a leg for it can't start", async () => {
    const path = `/v1/profiles/${owner.profileId}/connect/sessions`;
    const body = { platforms: ["linkedin"] };
    const made = await world.relay.call("POST", path, { key: owner.key, body });
    const browser = new Browser(world);
    const page = await browser.get(made.body.data.connectUrl as string);
    expect(readable(page.body)).toContain("Not available at the moment.");
    const address = new URL(made.body.data.connectUrl as string);
    const posted = await browser.post(
      `${address.origin}${address.pathname}/linkedin`,
      Object.fromEntries(address.searchParams),
    );
    expect(posted.status).toBe(422);
    expect(readable(posted.body)).toContain("can't be connected at the moment");
    const judged = await world.relay.call("POST", "/v1/posts/validate", {
      key: owner.key,
      headers: { "x-profile-id": owner.profileId },
      body: { text: "Hello", platforms: ["linkedin"] },
    });
    expect(judged.body.data.platforms.linkedin).toMatchObject({
      valid: false,
      errors: [{ code: "app_misconfigured", rule: "linkedin.network.notConfigured" }],
    });
  });
});
